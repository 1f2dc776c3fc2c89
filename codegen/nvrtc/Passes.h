//===- Passes.h - Kernels before they are CUDA C++ --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_NVRTC_PASSES_H
#define ATTNC_CODEGEN_NVRTC_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace attnc::nvrtc {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "codegen/nvrtc/Passes.h.inc"

} // namespace attnc::nvrtc

#endif // ATTNC_CODEGEN_NVRTC_PASSES_H
