//===- GpuWarpSchedule.h - Tiles of kernels without roles -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Schedules of forward kernels whose products are those of warps: where a GPU has none of warpgroups, and of f32
// (docs/rationale/warps.md).
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_ATTN_GPUWARPSCHEDULE_H
#define ATTNC_PASSES_ATTN_GPUWARPSCHEDULE_H

#include "passes/attn/ScheduleTables.h"

namespace attnc::attn {

/// The schedules of `kernel` for many queries: of launches of each size, that of the first entry that there is room
/// for. None where no table has any.
llvm::SmallVector<ScheduleAttr> selectWarps(KernelOpInterface kernel, const ScheduleTables &tables,
                                            GpuTargetAttr target);

/// Its schedules for few queries, of which tiles hold `heads` heads: of entries whose tiles have the rows of one
/// warpgroup.
llvm::SmallVector<ScheduleAttr> selectWarpsOfFew(KernelOpInterface kernel, const ScheduleTables &tables,
                                                 GpuTargetAttr target, int64_t heads);

} // namespace attnc::attn

#endif // ATTNC_PASSES_ATTN_GPUWARPSCHEDULE_H
