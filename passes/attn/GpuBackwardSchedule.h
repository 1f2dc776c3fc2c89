//===- GpuBackwardSchedule.h - Tiles of gradients on a GPU ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_ATTN_GPUBACKWARDSCHEDULE_H
#define ATTNC_PASSES_ATTN_GPUBACKWARDSCHEDULE_H

#include "dialect/attn/AttnOps.h"

namespace attnc::attn {

/// The schedules of the programs of a backward on a GPU.
llvm::SmallVector<ScheduleAttr> selectBackwardSchedules(BackwardOp op, GpuTargetAttr target);

/// Checks a schedule of a spec's own for `op`; what does not suit the machine is an error at the operation.
mlir::LogicalResult checkBackwardSchedule(BackwardOp op, ScheduleAttr schedule, GpuTargetAttr target);

} // namespace attnc::attn

#endif // ATTNC_PASSES_ATTN_GPUBACKWARDSCHEDULE_H
