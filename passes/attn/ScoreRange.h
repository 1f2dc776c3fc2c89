//===- ScoreRange.h - Between which limits scores lie -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_ATTN_SCORERANGE_H
#define ATTNC_PASSES_ATTN_SCORERANGE_H

#include "mlir/IR/Region.h"

namespace attnc::attn {

/// Limits of a number; infinite where nothing is known.
struct ScoreRange {
  double low, high;
};

/// Where the score lies that `score` gives for any logit, in natural units: interval arithmetic over its operations. A
/// soft cap limits it, an added bias does not. Rounding is not looked at. An empty region gives the logit itself.
ScoreRange findScoreRange(mlir::Region &score);

} // namespace attnc::attn

#endif // ATTNC_PASSES_ATTN_SCORERANGE_H
