//===- CpuSchedule.h - Tiles on a CPU ---------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_ATTN_CPUSCHEDULE_H
#define ATTNC_PASSES_ATTN_CPUSCHEDULE_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace attnc::attn {

/// Gives `#attn.cpu` its `TargetInterface` (docs/rationale/cpu-kernel.md).
void registerCpuSchedules(mlir::DialectRegistry &registry);

} // namespace attnc::attn

#endif // ATTNC_PASSES_ATTN_CPUSCHEDULE_H
