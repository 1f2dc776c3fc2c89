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
  Buckets,     ///< one for each of few values of a computed index: the same for each
  Scattered,   ///< any other: each element that reads it adds to a sum in memory, in no order
};

/// By which coordinate each dimension of a tensor is addressed; nothing for a computed index.
using Axes = llvm::SmallVector<std::optional<Coordinate>>;

/// A captured tensor of an `attn.backward` that has a gradient; or a scalar, which counts as a tensor of one element,
/// as a tensor without dimensions does.
struct CapturedGradient {
  unsigned number;              ///< among those of the kernel
  mlir::Value tensor, gradient; ///< the operand and the result
  /// By which coordinate each dimension is addressed: at each read, where one is by a computed index or they differ.
  llvm::SmallVector<Axes, 1> reads;
  CapturedForm form = CapturedForm::Tiles;
  unsigned yielded = 0; ///< its place among what the derivative region yields

  /// The axes at all reads, or at the first.
  const Axes &axes() const { return reads.front(); }
  /// Whether the tensor has a dimension along `axis` that is not of size 1.
  bool isAlong(Coordinate axis) const { return dimAlong(axis).has_value(); }
  /// That dimension.
  std::optional<unsigned> dimAlong(Coordinate axis) const;
  /// The dimension of the computed index, and its size, or 1 where there is none.
  std::optional<unsigned> dimOfBuckets() const;
  int64_t countBuckets() const;
  /// Numbers that the program of queries or keys leaves for each row of a head: sums, one for each bucket.
  int64_t countStatistics() const;
  /// The dimensions that are not of size 1; and those of them for which a read has computed indices.
  llvm::SmallVector<unsigned> indexedDims() const;
  llvm::SmallVector<unsigned> computedDims(const Axes &read) const;
  /// What the derivative region yields for it: its gradient; with a bucket, that as an f32; where it is scattered, for
  /// each read the gradient and, as i32, the computed indices, which are at least 0.
  llvm::SmallVector<mlir::Type> yieldedTypes() const;
};

/// Whether the gradients of `op` are to have the same bits in every run.
bool isDeterministic(BackwardOp op);

/// The type of the gradient of a captured value: that of a tensor, and of a scalar or a tensor without dimensions one
/// element.
mlir::RankedTensorType getGradientType(mlir::Value captured);

/// The captured tensors of `op` that have gradients, in order. The operation is verified.
llvm::SmallVector<CapturedGradient> getCapturedGradients(BackwardOp op);

/// Those of one form.
llvm::SmallVector<CapturedGradient> getCapturedGradients(BackwardOp op, llvm::ArrayRef<CapturedForm> forms);

/// The programs of `op` besides those of queries, keys and values: of sinks, and of captured tensors.
llvm::SmallVector<Program> getOtherPrograms(BackwardOp op);

/// The axes that an entry of `captured_axes` names, a letter of "bhijn" for each dimension, where "n" is a computed
/// index; nothing for other letters. Several reads follow each other, with a comma between.
std::optional<Axes> parseAxes(llvm::StringRef letters);
std::optional<llvm::SmallVector<Axes>> parseReads(llvm::StringRef letters);

/// The letter of an axis.
char getAxisLetter(std::optional<Coordinate> axis);

/// Checks the operands `captured` against the results and `captured_axes` (S15).
mlir::LogicalResult verifyCaptured(BackwardOp op);

/// Checks that the score region reads the captured tensors that have gradients as `captured_axes` says.
mlir::LogicalResult verifyCapturedReads(BackwardOp op);

/// Calls `visit` with each captured tensor that `op`, of a score or mask region, reads, and the number of the first of
/// its indices among those of `op` (see IndexedOpInterface).
void forCapturedReads(mlir::Operation *op, llvm::function_ref<void(mlir::Value tensor, unsigned firstIndex)> visit);

} // namespace attnc::attn

#endif // ATTNC_DIALECT_ATTN_CAPTUREDGRADIENTS_H
