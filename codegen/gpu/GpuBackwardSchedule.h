//===- GpuBackwardSchedule.h - Tiles of gradients on a GPU ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_GPU_GPUBACKWARDSCHEDULE_H
#define ATTNC_CODEGEN_GPU_GPUBACKWARDSCHEDULE_H

#include "dialect/attn/AttnOps.h"

namespace attnc::gpu {

/// The schedules of the programs of a backward on a GPU.
llvm::SmallVector<attn::ScheduleAttr> selectBackwardSchedules(attn::BackwardOp op, attn::GpuTargetAttr target);

/// Checks a schedule of a spec's own for `op`; what does not suit the machine is an error at the operation.
mlir::LogicalResult checkBackwardSchedule(attn::BackwardOp op, attn::ScheduleAttr schedule, attn::GpuTargetAttr target);

} // namespace attnc::gpu

#endif // ATTNC_CODEGEN_GPU_GPUBACKWARDSCHEDULE_H
