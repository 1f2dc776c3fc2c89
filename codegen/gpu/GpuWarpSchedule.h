//===- GpuWarpSchedule.h - Tiles of kernels without roles -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Schedules of forward kernels whose products are those of warps: where a GPU has none of warpgroups, and of f32
// (docs/rationale/warps.md).
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_GPU_GPUWARPSCHEDULE_H
#define ATTNC_CODEGEN_GPU_GPUWARPSCHEDULE_H

#include "codegen/gpu/ScheduleTables.h"

namespace attnc::gpu {

/// The schedules of `kernel` for many queries: of launches of each size, that of the first entry that there is room
/// for. None where no table has any.
llvm::SmallVector<attn::ScheduleAttr> selectWarps(attn::KernelOpInterface kernel, const ScheduleTables &tables,
                                                  attn::GpuTargetAttr target);

/// Its schedules for few queries, of which tiles hold `heads` heads: of entries whose tiles have the rows of one
/// warpgroup.
llvm::SmallVector<attn::ScheduleAttr> selectWarpsOfFew(attn::KernelOpInterface kernel, const ScheduleTables &tables,
                                                       attn::GpuTargetAttr target, int64_t heads);

} // namespace attnc::gpu

#endif // ATTNC_CODEGEN_GPU_GPUWARPSCHEDULE_H
