//===- GpuSchedule.h - Tiles and overlap on a GPU ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_ATTN_GPUSCHEDULE_H
#define ATTNC_PASSES_ATTN_GPUSCHEDULE_H

#include "dialect/attn/AttnOps.h"

namespace attnc::attn {

/// The schedule of `kernel` on `target`, from its head dims and its mask (docs/rationale/hopper-schedule.md).
ScheduleAttr selectGpuSchedule(KernelOpInterface kernel, GpuTargetAttr target);

/// Checks that a spec's own schedule suits `target`; an error names what does not and the sum that shows it.
mlir::LogicalResult checkGpuSchedule(KernelOpInterface kernel, GpuTargetAttr target);

} // namespace attnc::attn

#endif // ATTNC_PASSES_ATTN_GPUSCHEDULE_H
