//===- HostCpu.h - Facts about the machine we run on ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_TARGET_HOSTCPU_H
#define ATTNC_CODEGEN_TARGET_HOSTCPU_H

#include "dialect/attn/AttnAttrs.h"

namespace attnc::target {

/// Describes the host: its name, features, SIMD registers (AVX-512, AVX2 with FMA, or baseline) and caches.
attn::CpuTargetAttr getHostCpu(mlir::MLIRContext *context);

} // namespace attnc::target

#endif // ATTNC_CODEGEN_TARGET_HOSTCPU_H
