//===- GpuRoleSchedule.h - Tiles of kernels with roles ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Schedules of forward kernels whose products are those of warpgroups (docs/rationale/hopper-schedule.md): how the
// entries of tables are fitted to a kernel.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_ATTN_GPUROLESCHEDULE_H
#define ATTNC_PASSES_ATTN_GPUROLESCHEDULE_H

#include "passes/attn/ScheduleTables.h"

namespace attnc::attn {

/// Octaves of headroom that the schedules of a kernel have, and those that a spec's own may have.
struct Headroom {
  int64_t usual, most;
  llvm::StringRef where; ///< what the limit comes from
};

/// Those of `kernel`.
Headroom findHeadroom(KernelOpInterface kernel);

/// Whether tiles of few queries, which hold so many heads, go over parts of their keys: those of steps that no list
/// has, and without a window, which may leave too few. Ungrouped heads have tiles enough of their own in most problems;
/// where the type does not say that queries are few, a kernel more to compile would cost more than it gives.
bool isSplittable(KernelOpInterface kernel, const ScheduleTables &tables, int64_t heads);

/// `schedule` over as many parts as multiprocessors have blocks for: those with roles one each, of others two
/// (docs/rationale/split-rows.md).
ScheduleAttr splitOverBlocks(ScheduleAttr schedule, GpuTargetAttr target);

/// The schedules of `kernel` by roles, from its head dims and its mask: one, or one each for short and long sequences.
/// None where no table has entries for it.
llvm::SmallVector<ScheduleAttr> selectRoles(KernelOpInterface kernel, const ScheduleTables &tables,
                                            GpuTargetAttr target);

} // namespace attnc::attn

#endif // ATTNC_PASSES_ATTN_GPUROLESCHEDULE_H
