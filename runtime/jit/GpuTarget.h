//===- GpuTarget.h - What to compile for a GPU at hand ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_JIT_GPUTARGET_H
#define ATTNC_RUNTIME_JIT_GPUTARGET_H

#include "dialect/attn/AttnAttrs.h"
#include "runtime/cuda/Device.h"
#include "runtime/jit/Target.h"

namespace attnc::jit {

/// Why `gpu` cannot run code of `architecture` ("sm_80"), or of any where that is empty. Empty where it can.
std::string explainGpu(const cuda::DeviceFacts &gpu, llvm::StringRef architecture);

/// What to compile for `gpu` as the target called `name`, "KIND:ARCH", or "KIND" for the best architecture.
image::Result<attn::GpuTargetAttr> chooseGpuTarget(mlir::MLIRContext *context, const cuda::DeviceFacts &gpu,
                                                   llvm::StringRef name);

/// The targets that run kernels on a GPU.
llvm::ArrayRef<Target> getGpuTargets();

} // namespace attnc::jit

#endif // ATTNC_RUNTIME_JIT_GPUTARGET_H
