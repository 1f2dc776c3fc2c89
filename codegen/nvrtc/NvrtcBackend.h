//===- NvrtcBackend.h - NVIDIA's GPUs by way of CUDA C++ --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_NVRTC_NVRTCBACKEND_H
#define ATTNC_CODEGEN_NVRTC_NVRTCBACKEND_H

#include "codegen/target/Backend.h"

namespace attnc::nvrtc {

/// What `tile-to-nvvm` leaves to what CUDA C++ is printed from: functions written out, products fused that may be, and
/// what is computed twice or folds made short.
void buildNvrtcPipeline(mlir::OpPassManager &pm);

/// The CUDA C++ of a module that has gone through it: a file that includes `attnc_device.cuh`.
mlir::FailureOr<std::string> emitCuda(mlir::ModuleOp module);

/// Registers the passes, and the pipeline `attnc-nvrtc` by name.
void registerNvrtcPasses();

/// "nvrtc:sm_90a" is a GPU of that architecture, and "nvrtc" the one that is compiled for by default: the same
/// machines, schedules and images as those of `nvptx`, with CUDA C++ and NVRTC in the place of LLVM. Stages: nvvm,
/// cuda, ptx, cubin, sass.
const target::Backend &getBackend();

} // namespace attnc::nvrtc

#endif // ATTNC_CODEGEN_NVRTC_NVRTCBACKEND_H
