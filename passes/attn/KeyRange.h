//===- KeyRange.h - Solving a mask for the key position ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Turns the condition that a mask region yields into an interval of key positions in closed form, for a range of query
// positions.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_ATTN_KEYRANGE_H
#define ATTNC_PASSES_ATTN_KEYRANGE_H

#include "dialect/attn/Limits.h"
#include "passes/attn/BoxEvaluator.h"
#include "llvm/ADT/DenseSet.h"

namespace attnc::attn {

/// A position that no key has.
constexpr int64_t beyondKeys = int64_t(1) << 30;
static_assert(beyondKeys > maxSize + maxTile);

/// Key positions [low, high); a null end is unbounded.
struct KeyInterval {
  mlir::Value low, high;
};

/// What is known of the keys that a condition keeps.
struct KeyRange {
  KeyInterval possible; ///< no key outside is kept for any query of the tile
  KeyInterval full;     ///< every key inside is kept for every query of the tile
  bool exact;           ///< a tile that meets `possible` and is not inside `full` is partial indeed
};

/// Solves conditions of a mask region, building into another region.
class KeySolver {
public:
  /// `evaluator` knows b, h and the range of i, but not j.
  KeySolver(mlir::OpBuilder &builder, mlir::Region &mask, BoxEvaluator &evaluator);

  /// The keys that `condition` (negated: its opposite) keeps.
  KeyRange solve(mlir::Value condition, bool negated = false);

private:
  /// An integer as `factor * j + rest`, with the range of the part that does not depend on j.
  struct Linear {
    int64_t factor;
    Interval rest;
  };
  std::optional<Linear> decompose(mlir::Value value);
  std::optional<Linear> decomposeOp(mlir::Value value);
  KeyRange solveOp(mlir::Value condition, bool negated);
  KeyRange solveCompare(mlir::Operation *op, bool negated);
  std::optional<KeyRange> solveQuotient(mlir::arith::CmpIPredicate predicate, mlir::Value lhs, mlir::Value rhs);
  KeyRange solveLinear(mlir::arith::CmpIPredicate predicate, int64_t factor, Interval rest);
  KeyRange uniform(Interval condition, bool negated);
  KeyRange unknown();
  KeyRange conjunction(const KeyRange &a, const KeyRange &b);
  KeyRange disjunction(const KeyRange &a, const KeyRange &b);

  mlir::Value constant(int64_t value);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value least(mlir::Value a, mlir::Value b);
  mlir::Value greatest(mlir::Value a, mlir::Value b);
  KeyInterval nothing();

  mlir::OpBuilder &builder;
  mlir::Region &mask;
  BoxEvaluator &evaluator;
  mlir::Location loc;
  llvm::DenseSet<mlir::Value> keyDependent; ///< values of the region that depend on j
  /// What is solved already: values that are used twice must not cost twice.
  llvm::DenseMap<mlir::Value, KeyRange> solved[2]; ///< second: negated
  llvm::DenseMap<mlir::Value, std::optional<Linear>> decomposed;
};

} // namespace attnc::attn

#endif // ATTNC_PASSES_ATTN_KEYRANGE_H
