//===- Passes.td - Tile programs to NVVM ------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_NVPTX_PASSES
#define ATTNC_CODEGEN_NVPTX_PASSES

include "mlir/Pass/PassBase.td"

def TileToNvvm : Pass<"tile-to-nvvm", "::mlir::ModuleOp"> {
  let summary = "Lowers tile programs to the threads of a block, in NVVM";
  let description = [{
    Every `tile.program` becomes a kernel, an `llvm.func` with `nvvm.kernel`, of the form that `NvptxCodegen.h`
    describes. How it is launched is in its attribute `tile.launch`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
                           "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def NvptxExpandMath : Pass<"nvptx-expand-math"> {
  let summary = "Expands math functions to device instructions";
  let description = [{
    `math.exp2` is one instruction, accurate to 2 ulp. `math.exp`, `math.tanh` and `math.rsqrt` of f32 are a few around
    one, as accurate; logarithms, sines and the rest take MLIR's own polynomials. 16-bit floats are computed in f32.

    Quotients and remainders of words by an unknown divisor are written out too, so that what the divisor alone decides
    can leave loops that it does not change in.

    Functions with the flag `afn` are the device's own approximations, as are reciprocals in a function with the attribute
    `attnc.approximate_math`, whose results are of 16 bits.

    | | otherwise | approximated |
    |---|---|---|
    | `exp2` | `ex2.approx.ftz`: 2 ulp | the same |
    | `exp` | 2 ulp | relative error `(2 + abs(x)) * 2^-23` |
    | `tanh` | 2 ulp; with `attn.error_of_one` absolute error 2^-22, or 2^-20 with `tile.shared_reciprocal` | `tanh.approx`: relative error 2^-11 |
    | `log`, `log2` | polynomial | `lg2.approx.ftz`: absolute error 2^-22 between 1/2 and 2, else relative |
    | `rsqrt` | `rsqrt.approx`: 2 ulp | the same |
    | `1 / x` | exact | `rcp.approx`: 1 ulp |

    Example:

    ```mlir
    %e = math.exp2 %x : f32
    // becomes
    %e = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"(%x) : (f32) -> f32
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
                           "::mlir::vector::VectorDialect"];
}

def NvptxToLlvm : Pass<"nvptx-to-llvm"> {
  let summary = "Lowers arith, math, cf and vector to the LLVM dialect";
  let description = [{
    One conversion for the dialects that MLIR lowers by a pass each: arith, cf, math, ub and vector, and those operations
    of NVVM that LLVM has no intrinsic for. It does not simplify: LLVM's passes do, in less time.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def NvptxPrint : Pass<"nvptx-print", "::mlir::ModuleOp"> {
  let summary = "Prints the LLVM IR, PTX or machine code of a module";
  let description = [{
    For people and tests: optimises and translates the module, which stays as it is, for the GPU in its attribute
    `attn.target`, and prints the result to standard output.
  }];
  let options = [Option<"as", "as", "std::string", /*default=*/"\"ptx\"", "What to print: llvm, ptx, report (of the assembler) or sass">];
}

#endif // ATTNC_CODEGEN_NVPTX_PASSES
