//===- GpuRoleSchedule.h - Tiles of kernels with roles ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Schedules of forward kernels whose products are those of warpgroups (docs/rationale/hopper-schedule.md): how the
// entries of tables are fitted to a kernel.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_GPU_GPUROLESCHEDULE_H
#define ATTNC_CODEGEN_GPU_GPUROLESCHEDULE_H

#include "codegen/gpu/ScheduleTables.h"

namespace attnc::gpu {

/// Octaves of headroom that the schedules of a kernel have, and those that a spec's own may have.
struct Headroom {
  int64_t usual, most;
  llvm::StringRef where; ///< what the limit comes from
};

/// Those of `kernel`.
Headroom findHeadroom(attn::KernelOpInterface kernel);

/// Whether tiles of few queries, which hold so many heads, go over parts of their keys: those of steps that no list
/// has, and without a window, which may leave too few. Ungrouped heads have tiles enough of their own in most problems;
/// where the type does not say that queries are few, a kernel more to compile would cost more than it gives.
bool isSplittable(attn::KernelOpInterface kernel, const ScheduleTables &tables, int64_t heads);

/// `schedule` over as many parts as multiprocessors have blocks for: those with roles one each, of others two
/// (docs/rationale/split-rows.md).
attn::ScheduleAttr splitOverBlocks(attn::ScheduleAttr schedule, attn::GpuTargetAttr target);

/// The schedules of `kernel` by roles, from its head dims and its mask: one, or one each for short and long sequences.
/// None where no table has entries for it.
llvm::SmallVector<attn::ScheduleAttr> selectRoles(attn::KernelOpInterface kernel, const ScheduleTables &tables,
                                                  attn::GpuTargetAttr target);

} // namespace attnc::gpu

#endif // ATTNC_CODEGEN_GPU_GPUROLESCHEDULE_H
