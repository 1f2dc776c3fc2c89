//===- ScoreRange.h - Between which limits scores lie -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_ATTN_SCORERANGE_H
#define ATTNC_PASSES_ATTN_SCORERANGE_H

#include "dialect/attn/AttnOps.h"
#include <optional>

namespace attnc::attn {

/// Limits of a number; infinite where nothing is known.
struct ScoreRange {
  double low, high;
};

/// Where the score lies that `score` gives for any logit, in natural units: interval arithmetic over its operations. A
/// soft cap limits it, an added bias does not. Rounding is not looked at. An empty region gives the logit itself.
ScoreRange findScoreRange(mlir::Region &score);

/// The same for the slope of a score: what its derivative, of the region of that name, yields for the logit where the
/// gradient of the score is 1.
ScoreRange findSlopeRange(mlir::Region &derivative);

/// The limits of the scores of `kernel` where they are so near to each other that the weights of all rows can be
/// relative to one number: with a reference at three quarters of the way from the least to the greatest, weights of 146
/// octaves in all lie between 2^-111 and 2^37, and neither they nor sums of them times values leave the range of bf16.
/// A cap of 50 is 144 octaves. Sinks have no limits. Nor are there any for scores beyond 1024, whose rounding in f32 is
/// a part of their differences.
std::optional<ScoreRange> findNarrowRange(KernelOpInterface kernel);

/// What the weights of all rows are relative to where scores have the limits `range` and weights are rounded to
/// `digits` significant bits: within an octave of three quarters of the way from the least score to the greatest, and
/// there where the weights of both ends are nearest to numbers that need no rounding. Where caps or clamps bind, many
/// weights are those of an end: rounded, they would all be off by the same part, and the sum that divides them is not.
double findCommonReference(ScoreRange range, unsigned digits);

} // namespace attnc::attn

#endif // ATTNC_PASSES_ATTN_SCORERANGE_H
