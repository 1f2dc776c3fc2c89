//===- BoxEvaluator.h - Region values over ranges of positions --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Interval arithmetic (Moore 1966) on the operations of a mask region: given ranges of query and key positions, builds
// the operations that compute the range of an integer, or whether a condition holds somewhere and everywhere.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_ATTN_BOXEVALUATOR_H
#define ATTNC_PASSES_ATTN_BOXEVALUATOR_H

#include "dialect/attn/AttnInterfaces.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>

namespace attnc::attn {

/// Least and greatest value of an integer, both inside. For a condition: whether it holds everywhere, and somewhere.
struct Interval {
  mlir::Value least, greatest;
};

/// Evaluates values of a mask region over a box of positions, building into another region.
class BoxEvaluator {
public:
  /// `coordinates`: the ranges of b, h, i and j; the range of j may be null, and then values that depend on j have no
  /// range.
  BoxEvaluator(mlir::OpBuilder &builder, mlir::Region &mask, llvm::ArrayRef<Interval> coordinates);

  /// The range of an integer or condition, or nothing where it cannot be bounded.
  std::optional<Interval> evaluate(mlir::Value value);

  /// The same for a condition, in the worst case "somewhere, but not everywhere".
  Interval evaluateCondition(mlir::Value value);

  /// Whether an integer of the region, as computed, may differ from its mathematical value. Positions are below 2^30,
  /// as the launch checks, and captured scalars are taken to be below 2^61.
  bool mayWrap(mlir::Value value) const;

private:
  void inferLimits();
  std::optional<Interval> evaluateOp(mlir::Operation *op, unsigned result);
  std::optional<Interval> evaluateCompare(mlir::Operation *op);
  std::optional<Interval> evaluateLoad(mlir::Operation *op);
  std::optional<Interval> cloneUniform(mlir::Operation *op, unsigned result);
  mlir::Value boolean(bool value);

  mlir::OpBuilder &builder;
  mlir::Region &mask;
  llvm::DenseMap<mlir::Value, std::optional<Interval>> ranges;
  llvm::DenseMap<mlir::Value, mlir::ConstantIntRanges> limits; ///< of the integers of the region, for all positions
};

} // namespace attnc::attn

#endif // ATTNC_PASSES_ATTN_BOXEVALUATOR_H
