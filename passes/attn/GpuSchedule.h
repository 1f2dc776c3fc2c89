//===- GpuSchedule.h - Tiles and overlap on a GPU ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_ATTN_GPUSCHEDULE_H
#define ATTNC_PASSES_ATTN_GPUSCHEDULE_H

#include "dialect/attn/AttnOps.h"

namespace attnc::attn {

/// The schedules of `kernel` on `target`, from its head dims and its mask (docs/rationale/hopper-schedule.md): one, or
/// one each for short and long sequences.
llvm::SmallVector<ScheduleAttr> selectGpuSchedules(KernelOpInterface kernel, GpuTargetAttr target);

/// Checks that a schedule of the spec's own suits `target`; an error names what does not and the sum that shows it.
mlir::LogicalResult checkGpuSchedule(KernelOpInterface kernel, ScheduleAttr schedule, GpuTargetAttr target);

} // namespace attnc::attn

#endif // ATTNC_PASSES_ATTN_GPUSCHEDULE_H
