//===- RegionRanges.h - Integer ranges in regions ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// What the integers of a kernel's region can be, for every launch: from the limits of positions, by the operations' own
// rules (InferIntRangeInterface). Regions have no control flow, so one walk is the whole analysis.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_ATTN_REGIONRANGES_H
#define ATTNC_PASSES_ATTN_REGIONRANGES_H

#include "dialect/attn/AttnInterfaces.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>

namespace attnc::attn {

/// More than any tile has rows or keys: the last one of a tensor may reach so far past its end.
constexpr int64_t maxTile = int64_t(1) << 16;

/// Ranges of the integers of one region of a kernel.
class RegionRanges {
public:
  /// With `scalarBits`, captured 64-bit scalars are taken to lie in [-2^scalarBits, 2^scalarBits); without, they may be
  /// anything.
  explicit RegionRanges(mlir::Region &region, std::optional<unsigned> scalarBits = std::nullopt);

  /// Those of the region's arguments alone, for a walk that changes operations and infers each when it is done.
  static RegionRanges ofArguments(mlir::Region &region);

  /// Infers the results of `op`, whose operands' ranges are known.
  void infer(mlir::Operation &op);

  /// Infers what stands in `block` after `first`, or from its start where that is null, and before `last`, or to its
  /// end: what a walk has put in the place of an operation.
  void inferBetween(mlir::Block &block, mlir::Operation *first, mlir::Operation *last);

  /// The range of an integer that the region computes or uses; all numbers of its type where nothing is known. An index
  /// has 64 bits.
  mlir::ConstantIntRanges get(mlir::Value value) const;

  /// Whether the numbers of `range`, as signed ones, fit `bits` bits.
  static bool fits(const mlir::ConstantIntRanges &range, unsigned bits);
  /// Whether `value`, as a signed number, is known to.
  bool fits(mlir::Value value, unsigned bits) const { return fits(get(value), bits); }

  /// Gives `to`, which replaces `from`, its range.
  void copy(mlir::Value from, mlir::Value to) { ranges.insert_or_assign(to, get(from)); }

  /// Whether a result of `op`, as computed, may differ from its value in mathematics, for numbers within these ranges.
  bool mayWrap(mlir::Operation *op) const;

private:
  struct ArgumentsOnly {};
  RegionRanges(mlir::Region &region, std::optional<unsigned> scalarBits, ArgumentsOnly);

  mlir::Region &region;
  std::optional<unsigned> scalarBits;
  llvm::DenseMap<mlir::Value, mlir::ConstantIntRanges> ranges;
};

} // namespace attnc::attn

#endif // ATTNC_PASSES_ATTN_REGIONRANGES_H
