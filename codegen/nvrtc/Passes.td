//===- Passes.td - Kernels before they are CUDA C++ -------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_NVRTC_PASSES
#define ATTNC_CODEGEN_NVRTC_PASSES

include "mlir/Pass/PassBase.td"

def NvrtcFuseProducts : Pass<"nvrtc-fuse-products"> {
  let summary = "Fuses products and sums that may be";
  let description = [{
    A product with the flag `contract` and a sum or difference with the flag that reads it become one operation, which
    rounds once. LLVM's back end for NVPTX fuses the same. CUDA C++ has no flag on an operation: kernels are compiled
    with `--fmad=false`, and what is to be fused is written so.

    Example:

    ```mlir
    %p = arith.mulf %a, %b fastmath<contract> : f32
    %s = arith.subf %p, %c fastmath<contract> : f32
    // becomes
    %n = arith.negf %c : f32
    %s = math.fma %a, %b, %n : f32
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def NvrtcDefineBitMasks : Pass<"nvrtc-define-bit-masks"> {
  let summary = "Makes masks of conditions that keep bits in loops, where the condition is known";
  let description = [{
    A selection between bits and 0 whose condition is that of another block becomes an `and` with a mask, which is made
    once, behind the condition. ptxas makes such masks by itself, in the first of two loops that use one, and reads the
    register in the second also where the first had no step (codegen/nvptx/BitMasks.h). The mask is assembly, which NVRTC
    does not make a selection again.

    Example:

    ```mlir
    scf.for … {
      %w = arith.select %c, %bits, %zero : i32
    // becomes
    %m = llvm.inline_asm "selp.b32 $0, -1, 0, $1;", "=r,b" %c : (i1) -> i32
    scf.for … {
      %w = arith.andi %bits, %m : i32
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect"];
}

def NvrtcPrint : Pass<"nvrtc-print", "::mlir::ModuleOp"> {
  let summary = "Prints the CUDA C++ of a module";
  let description = [{
    For tests: prints what `attnc compile --emit cuda` does, to standard output. The module stays as it is.
  }];
}

#endif // ATTNC_CODEGEN_NVRTC_PASSES
