//===- Candidates.h - Schedules to try for a kernel -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_ATTN_CANDIDATES_H
#define ATTNC_PASSES_ATTN_CANDIDATES_H

#include "dialect/attn/AttnOps.h"

namespace attnc::attn {

/// Schedules that a tuner tries in the place of `base`, a schedule of `kernel` for one of its programs: `base` itself,
/// and then those that the target offers and allows, the nearest to `base` first. `kernel` has its bounds, and its
/// module a target; all are for every number of queries.
llvm::SmallVector<ScheduleAttr> listCandidates(KernelOpInterface kernel, ScheduleAttr base);

} // namespace attnc::attn

#endif // ATTNC_PASSES_ATTN_CANDIDATES_H
