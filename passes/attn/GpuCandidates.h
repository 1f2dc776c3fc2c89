//===- GpuCandidates.h - Schedules to try on a GPU --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_ATTN_GPUCANDIDATES_H
#define ATTNC_PASSES_ATTN_GPUCANDIDATES_H

#include "dialect/attn/AttnOps.h"

namespace attnc::attn {

/// Schedules that may be faster than `base` on `target`, some of which may not fit it. What follows from the kernel
/// alone (headroom, block mask, heads of a tile) is that of `base`.
llvm::SmallVector<ScheduleAttr> enumerateGpuSchedules(KernelOpInterface kernel, ScheduleAttr base,
                                                      GpuTargetAttr target);

} // namespace attnc::attn

#endif // ATTNC_PASSES_ATTN_GPUCANDIDATES_H
