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

def NvrtcPrint : Pass<"nvrtc-print", "::mlir::ModuleOp"> {
  let summary = "Prints the CUDA C++ of a module";
  let description = [{
    For tests: prints what `attnc compile --emit cuda` does, to standard output. The module stays as it is.
  }];
}

#endif // ATTNC_CODEGEN_NVRTC_PASSES
