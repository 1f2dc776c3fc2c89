//===- PositionRange.h - Solving a mask for a position ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Turns the condition that a mask region yields into an interval of positions along one axis in closed form, for a
// range of positions along the other: the keys that a tile of queries sees, or the queries that see a tile of keys.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_ATTN_POSITIONRANGE_H
#define ATTNC_PASSES_ATTN_POSITIONRANGE_H

#include "dialect/attn/AttnInterfaces.h"
#include "dialect/attn/Limits.h"
#include "passes/attn/BoxEvaluator.h"
#include "llvm/ADT/DenseSet.h"

namespace attnc::attn {

/// An axis of the scores that a mask is solved along.
struct Axis {
  unsigned argument; ///< of the mask region: the position that is solved for
  int64_t first;     ///< no position is before it
  int64_t beyond;    ///< all are before it
};

/// Keys are counted from 0 on, and bounds on them are numbers of 32 bits.
inline constexpr Axis keyAxis = {3, 0, int64_t(1) << 30};
static_assert(keyAxis.beyond > maxSize + maxTile);

/// Queries may stand before the first key, and with an offset far past the last.
inline constexpr Axis queryAxis = {2, -(int64_t(1) << 40), int64_t(1) << 40};

/// Positions [low, high); a null end is unbounded.
struct PositionInterval {
  mlir::Value low, high;
};

/// What is known of the positions that a condition keeps.
struct PositionRange {
  PositionInterval possible; ///< none outside is kept for any position of the tile along the other axis
  PositionInterval full;     ///< every one inside is kept for every position of that tile
  bool exact;                ///< a tile that meets `possible` and is not inside `full` is partial indeed
};

/// Solves conditions of a mask region, building into another region.
class PositionSolver {
public:
  /// `evaluator` knows b, h and the range of positions along the other axis, but none along `axis`.
  PositionSolver(mlir::OpBuilder &builder, mlir::Region &mask, BoxEvaluator &evaluator, const Axis &axis);

  /// The positions along the axis that `condition` (negated: its opposite) keeps.
  PositionRange solve(mlir::Value condition, bool negated = false);

private:
  /// A number that others are decomposed by: the position that is solved for, or a quotient of it.
  struct Variable {
    mlir::Value value;
    unsigned bits; ///< numbers that are made of it must fit
  };
  /// An integer as `factor * x + rest` with a variable x, and the range of what does not depend on the position.
  struct Linear {
    int64_t factor;
    Interval rest;
  };
  /// floor(numerator / divisor).
  struct Quotient {
    Variable variable;
    Linear numerator; ///< by the position, with a factor of 0 or more
    int64_t divisor;
  };
  std::optional<Linear> decompose(mlir::Value value, const Variable &variable);
  std::optional<Linear> decomposeOp(mlir::Value value, const Variable &variable);
  std::optional<Linear> subtract(mlir::Value lhs, mlir::Value rhs, const Variable &variable);
  mlir::Operation *findDivision(mlir::Value lhs, mlir::Value rhs);
  std::optional<Quotient> readQuotient(mlir::Operation *op);
  PositionRange solveOp(mlir::Value condition, bool negated);
  PositionRange solveCompare(mlir::arith::CmpIPredicate predicate, mlir::Value lhs, mlir::Value rhs);
  std::optional<PositionRange> solveChoice(mlir::arith::CmpIPredicate predicate, mlir::Value lhs, mlir::Value rhs);
  PositionRange solveQuotient(mlir::arith::CmpIPredicate predicate, const Quotient &quotient, Linear difference);
  PositionRange solveLinear(mlir::arith::CmpIPredicate predicate, int64_t factor, Interval rest);
  PositionRange uniform(Interval condition, bool negated);
  PositionRange unknown();
  PositionRange conjunction(const PositionRange &a, const PositionRange &b);
  PositionRange disjunction(const PositionRange &a, const PositionRange &b);

  mlir::Value constant(int64_t value);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value min(mlir::Value a, mlir::Value b);
  mlir::Value max(mlir::Value a, mlir::Value b);
  PositionInterval nothing();

  mlir::OpBuilder &builder;
  BoxEvaluator &evaluator;
  Axis axis;
  mlir::Value position; ///< that is solved for
  mlir::Location loc;
  llvm::DenseSet<mlir::Value> dependent; ///< values of the region that depend on the position
  /// What is solved already: values that are used twice must not cost twice.
  llvm::DenseMap<mlir::Value, PositionRange> solved[2];                                  ///< second: negated
  llvm::DenseMap<std::pair<mlir::Value, mlir::Value>, std::optional<Linear>> decomposed; ///< second: the variable
  unsigned choices = 0;                                                                  ///< that were taken apart
};

/// What the mask of a kernel says of positions along an axis.
struct Bounds {
  llvm::SmallVector<mlir::Value, 4>
      ends;   ///< `possible.low`, `full.low`, `full.high`, `possible.high`, none of them null
  bool exact; ///< as in `PositionRange`, where run-time scalars are small
};

/// Solves the mask of `kernel` along `axis`, for batch entry b and head h and the positions `other` along the other
/// axis. Where a closed form holds for small run-time scalars only, it stands after a check of the scalars.
Bounds buildBounds(mlir::OpBuilder &builder, KernelOpInterface kernel, const Axis &axis, mlir::Value b, mlir::Value h,
                   Interval other);

} // namespace attnc::attn

#endif // ATTNC_PASSES_ATTN_POSITIONRANGE_H
