//===- GpuCandidates.h - Schedules to try on a GPU --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_GPU_GPUCANDIDATES_H
#define ATTNC_CODEGEN_GPU_GPUCANDIDATES_H

#include "dialect/attn/AttnOps.h"

namespace attnc::gpu {

/// Schedules that may be faster than `base` on `target`, some of which may not fit it. What follows from the kernel
/// alone (headroom, block mask, heads of a tile) is that of `base`.
llvm::SmallVector<attn::ScheduleAttr> enumerateGpuSchedules(attn::KernelOpInterface kernel, attn::ScheduleAttr base,
                                                            attn::GpuTargetAttr target);

} // namespace attnc::gpu

#endif // ATTNC_CODEGEN_GPU_GPUCANDIDATES_H
