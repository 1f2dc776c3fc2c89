//===- BoxEvaluator.h - Region values over ranges of positions --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Interval arithmetic (Moore 1966) on the operations of a mask region: given ranges of query and key positions, builds
// the operations that compute the range of an integer, or whether a condition holds somewhere and everywhere.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_ATTN_BOXEVALUATOR_H
#define ATTNC_PASSES_ATTN_BOXEVALUATOR_H

#include "mlir/IR/Builders.h"
#include "passes/attn/RegionRanges.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>

namespace attnc::attn {

/// The greatest multiple of a position that is solved for: with one of 32 bits, it stays far from the ends of 64.
inline constexpr int64_t maxFactor = int64_t(1) << 30;

/// Least and greatest value of an integer, both inside. For a condition: whether it holds everywhere, and somewhere.
struct Interval {
  mlir::Value min, max;
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

  /// Whether an integer of the region, as computed, may differ from its value in mathematics.
  bool mayWrap(mlir::Value value);

  /// Whether an integer of the region fits `bits` bits as a signed number.
  bool fits(mlir::Value value, unsigned bits);

  /// The condition under which what was evaluated so far is right: no captured scalar that the region uses is beyond
  /// 2^scalarBits. Built here; null where that is proven or does not matter.
  mlir::Value buildScalarCheck();

private:
  /// Captured scalars beyond this are met by a check instead of a closed form: sums and products of a few numbers so
  /// small stay far from the ends of 64 bits.
  static constexpr unsigned scalarBits = 40;

  std::optional<Interval> evaluateOp(mlir::Operation *op, unsigned result);
  std::optional<Interval> evaluateLogic(mlir::Operation *op);
  std::optional<Interval> evaluateCast(mlir::Operation *op);
  std::optional<Interval> evaluateArithmetic(mlir::Operation *op);
  std::optional<Interval> evaluateCompare(mlir::Operation *op);
  std::optional<Interval> evaluateLoad(mlir::Operation *op);
  std::optional<Interval> cloneUniform(mlir::Operation *op, unsigned result);
  mlir::Value boolean(bool value);

  mlir::OpBuilder &builder;
  mlir::Region &mask;
  llvm::DenseMap<mlir::Value, std::optional<Interval>> ranges;
  RegionRanges exact;          ///< for any captured scalars
  RegionRanges limited;        ///< for those within 2^scalarBits
  bool assumesScalars = false; ///< whether an answer holds for those only
};

} // namespace attnc::attn

#endif // ATTNC_PASSES_ATTN_BOXEVALUATOR_H
