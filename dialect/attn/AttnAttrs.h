//===- AttnAttrs.h - Attributes of the attn dialect -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_DIALECT_ATTN_ATTNATTRS_H
#define ATTNC_DIALECT_ATTN_ATTNATTRS_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include <limits>

#include "dialect/attn/AttnEnums.h.inc"

namespace attnc::attn {

/// Name of the module attribute that carries the target, which has `TargetInterface`.
inline constexpr llvm::StringLiteral targetAttrName = "attn.target";

/// Marks an argument of a spec's function, a tensor that a score reads, whose gradient is wanted (a unit).
inline constexpr llvm::StringLiteral requiresGradAttrName = "attn.requires_grad";

/// Marks a spec's function whose gradients are to have the same bits in every run (a unit): no sum is added up in
/// memory in whatever order blocks come by.
inline constexpr llvm::StringLiteral deterministicAttrName = "attn.deterministic";

/// Marks a spec's function whose products of f32 may round what they multiply to the eleven bits of TF32 (a unit).
inline constexpr llvm::StringLiteral tf32AttrName = "attn.tf32";

/// Marks a function in a score region whose error may be one of 1, not of its result: 2^-22, or 2^-20 where that does
/// not reach the score too often. An f64: how many times it does.
inline constexpr llvm::StringLiteral errorOfOneAttrName = "attn.error_of_one";

/// The tables of schedules that a spec's function brings along: an array of `#attn.schedule_table`, which are asked
/// before those of its target.
inline constexpr llvm::StringLiteral scheduleTablesAttrName = "attn.schedule_tables";

/// A limit that is none.
inline constexpr int64_t unlimited = std::numeric_limits<int64_t>::max();

/// Launches that have a size from `min` to `max`.
struct SizeRange {
  Size size;
  int64_t min = 0;
  int64_t max = unlimited;

  /// Whether it says nothing.
  bool isUniversal() const { return min == 0 && max == unlimited; }

  friend bool operator==(SizeRange a, SizeRange b) { return a.size == b.size && a.min == b.min && a.max == b.max; }
  friend bool operator!=(SizeRange a, SizeRange b) { return !(a == b); }
  friend llvm::hash_code hash_value(const SizeRange &range) {
    return llvm::hash_combine(range.size, range.min, range.max);
  }
};

/// `ranges` in the order of their sizes, without those that say nothing.
llvm::SmallVector<SizeRange> canonicalizeRanges(llvm::ArrayRef<SizeRange> ranges);

/// A step of the loop of a tile: its columns, and buffers of the rings that it goes through.
struct TileStep {
  int64_t columns, stages;
  int64_t logitStages = 0; ///< as in `#attn.gradient_steps`

  friend bool operator==(TileStep a, TileStep b) {
    return a.columns == b.columns && a.stages == b.stages && a.logitStages == b.logitStages;
  }
  friend bool operator!=(TileStep a, TileStep b) { return !(a == b); }
  friend llvm::hash_code hash_value(const TileStep &step) {
    return llvm::hash_combine(step.columns, step.stages, step.logitStages);
  }
};

/// Whether tiles of `program` are of keys, or of sinks, and steps of queries.
bool tilesKeys(Program program);

} // namespace attnc::attn

#include "dialect/attn/PipelineInterface.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/attn/AttnAttrs.h.inc"

#endif // ATTNC_DIALECT_ATTN_ATTNATTRS_H
