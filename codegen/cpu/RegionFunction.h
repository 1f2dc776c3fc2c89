//===- RegionFunction.h - Regions as functions of their own -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A region's code is written once for each vector of a block of columns, 24 times in the loop of a product with
// AVX-512. For a short region that is fastest, as all stays in registers. A long one would fill the instruction cache
// and take minutes to compile: it becomes a function, which is called for each vector.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_CPU_REGIONFUNCTION_H
#define ATTNC_CODEGEN_CPU_REGIONFUNCTION_H

#include "codegen/cpu/Lanes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/IRMapping.h"

namespace attnc::cpu {

/// The function of one region of a program. Not for callers outside of the entry that it was made for.
class RegionFunction {
public:
  /// Whether a region is to be a function where its code would be written `copies` times. If not, `context` counts it.
  static bool isWorthwhile(EmitContext &context, mlir::Block &body, int64_t copies);

  /// Writes the function, before the entry that the builder is in. What the launch brings, views above all, it reads
  /// from the argument block; constants are its own. `outside`: what stands for values of the program; `arguments`: for
  /// each argument of the region an element, as in a call.
  RegionFunction(EmitContext &context, mlir::Block &body, const mlir::IRMapping &outside, mlir::ValueRange arguments);

  /// Writes a call. Takes and returns what RegionEmitter::emit does.
  Lanes call(EmitContext &context, const mlir::IRMapping &outside, mlir::ValueRange arguments) const;

private:
  mlir::LLVM::LLVMFuncOp function;
  llvm::SmallVector<mlir::Value> captured; ///< scalars that the program computes, which the function takes
};

} // namespace attnc::cpu

#endif // ATTNC_CODEGEN_CPU_REGIONFUNCTION_H
