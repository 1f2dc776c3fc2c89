//===- CpuBackend.h - Code for this CPU -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_CPU_CPUBACKEND_H
#define ATTNC_CODEGEN_CPU_CPUBACKEND_H

#include "codegen/target/Backend.h"

namespace attnc::cpu {

/// "cpu": the CPU that the compiler runs on (`#attn.cpu`). Stages: llvm, asm.
const target::Backend &getBackend();

} // namespace attnc::cpu

#endif // ATTNC_CODEGEN_CPU_CPUBACKEND_H
