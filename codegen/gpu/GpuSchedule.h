//===- GpuSchedule.h - Tiles and overlap on a GPU ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_GPU_GPUSCHEDULE_H
#define ATTNC_CODEGEN_GPU_GPUSCHEDULE_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace attnc::gpu {

/// Gives `#attn.gpu` its `TargetInterface` (docs/rationale/hopper-schedule.md).
void registerSchedules(mlir::DialectRegistry &registry);

} // namespace attnc::gpu

#endif // ATTNC_CODEGEN_GPU_GPUSCHEDULE_H
