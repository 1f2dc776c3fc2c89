//===- Passes.td - Tile programs to LLVM on a CPU ---------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_CPU_PASSES
#define ATTNC_CODEGEN_CPU_PASSES

include "mlir/Pass/PassBase.td"

def TileToCpu : Pass<"tile-to-cpu", "::mlir::ModuleOp"> {
  let summary = "Lowers tile programs to SIMD code";
  let description = [{
    Every `tile.program` becomes a function of the runtime's form (runtime/CpuLaunch.h): it takes the argument block, the
    number of the tile and scratch memory. Row operations are written for one panel of rows at a time, on vectors of the
    width in `attn.target`; key and value tiles are staged in scratch memory in f32. The function's attribute
    `attn.scratch_bytes` says how much scratch memory it needs.
  }];
  let dependentDialects = ["::mlir::amx::AMXDialect", "::mlir::x86vector::X86VectorDialect", "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def CpuExpandMath : Pass<"cpu-expand-math"> {
  let summary = "Expands vector math functions to polynomials";
  let description = [{
    `math.exp2`, `math.exp` and `math.log2` of f32 become a few fused operations, accurate to about 1 ulp on the range
    that softmax uses; other functions take MLIR's own polynomial approximations.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::vector::VectorDialect"];
}

#endif // ATTNC_CODEGEN_CPU_PASSES
