//===- CapturedGradients.h - What gradients of captures sum -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The gradient of a captured tensor is a sum over all that reads the same element (S15). Which axes of the problem its
// dimensions lie along says over what, and so by which programs it is computed.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_DIALECT_ATTN_CAPTUREDGRADIENTS_H
#define ATTNC_DIALECT_ATTN_CAPTUREDGRADIENTS_H

#include "dialect/attn/AttnOps.h"
#include "dialect/attn/Coordinates.h"

namespace attnc::attn {

/// How the gradient of a captured tensor comes about.
enum class CapturedForm {
  Tiles,       ///< a number for each query and key of each head: the program of queries' gradients stores it
  SharedTiles, ///< one for each query and key that heads or batch entries share: a program of its own
  QuerySums,   ///< one for each query: sums of rows, then over the heads and batch entries that share it
  KeySums,     ///< one for each key: the same of columns
  Sums,        ///< one for all queries and keys: sums of rows, then of all rows
};

/// A captured tensor of an `attn.backward` that has a gradient.
struct CapturedGradient {
  unsigned number;                    ///< among those of the kernel
  mlir::Value tensor, gradient;       ///< the operand and the result
  llvm::SmallVector<Coordinate> axes; ///< by which coordinate each dimension is addressed
  CapturedForm form;

  /// Whether the tensor has a dimension along `axis` that is not of size 1.
  bool isAlong(Coordinate axis) const { return dimAlong(axis).has_value(); }
  /// That dimension.
  std::optional<unsigned> dimAlong(Coordinate axis) const;
};

/// The captured tensors of `op` that have gradients, in order. The operation is verified.
llvm::SmallVector<CapturedGradient> getCapturedGradients(BackwardOp op);

/// Those of one form.
llvm::SmallVector<CapturedGradient> getCapturedGradients(BackwardOp op, llvm::ArrayRef<CapturedForm> forms);

/// The programs of `op` besides those of queries, keys and values: of sinks, and of captured tensors.
llvm::SmallVector<Program> getOtherPrograms(BackwardOp op);

/// The axes that an entry of `captured_axes` names, a letter of "bhij" for each dimension; nothing for other letters.
std::optional<llvm::SmallVector<Coordinate>> parseAxes(llvm::StringRef letters);

/// The letter of an axis.
char getAxisLetter(Coordinate axis);

/// Checks the operands `captured` against the results and `captured_axes` (S15).
mlir::LogicalResult verifyCaptured(BackwardOp op);

/// Checks that the score region reads the captured tensors that have gradients as `captured_axes` says.
mlir::LogicalResult verifyCapturedReads(BackwardOp op);

/// Calls `visit` with each captured tensor that `op`, of a score or mask region, reads, and the number of the first of
/// its indices among those of `op` (see IndexedOpInterface).
void forCapturedReads(mlir::Operation *op, llvm::function_ref<void(mlir::Value tensor, unsigned firstIndex)> visit);

} // namespace attnc::attn

#endif // ATTNC_DIALECT_ATTN_CAPTUREDGRADIENTS_H
