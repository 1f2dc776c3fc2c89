//===- GpuSchedule.h - Tiles and overlap on a GPU ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_ATTN_GPUSCHEDULE_H
#define ATTNC_PASSES_ATTN_GPUSCHEDULE_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace attnc::attn {

/// Gives `#attn.gpu` its `TargetInterface` (docs/rationale/hopper-schedule.md).
void registerGpuSchedules(mlir::DialectRegistry &registry);

} // namespace attnc::attn

#endif // ATTNC_PASSES_ATTN_GPUSCHEDULE_H
