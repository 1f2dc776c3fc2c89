//===- CpuSchedule.h - Tiles on a CPU ---------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_CPU_CPUSCHEDULE_H
#define ATTNC_CODEGEN_CPU_CPUSCHEDULE_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace attnc::cpu {

/// Gives `#attn.cpu` its `TargetInterface` (docs/rationale/cpu-kernel.md).
void registerSchedules(mlir::DialectRegistry &registry);

} // namespace attnc::cpu

#endif // ATTNC_CODEGEN_CPU_CPUSCHEDULE_H
