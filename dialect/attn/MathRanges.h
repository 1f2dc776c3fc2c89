//===- MathRanges.h - Integer ranges of math operations ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_DIALECT_ATTN_MATHRANGES_H
#define ATTNC_DIALECT_ATTN_MATHRANGES_H

namespace mlir {
class MLIRContext;
} // namespace mlir

namespace attnc::attn {

/// Gives the integer operations of the math dialect, which is loaded, models of InferIntRangeInterface.
void attachMathRanges(mlir::MLIRContext *context);

} // namespace attnc::attn

#endif // ATTNC_DIALECT_ATTN_MATHRANGES_H
