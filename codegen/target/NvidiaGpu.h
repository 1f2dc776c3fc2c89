//===- NvidiaGpu.h - Facts about NVIDIA's GPUs ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_TARGET_NVIDIAGPU_H
#define ATTNC_CODEGEN_TARGET_NVIDIAGPU_H

#include "codegen/image/Error.h"
#include "dialect/attn/AttnAttrs.h"

namespace attnc::target {

/// The GPU that kernels are compiled for when nobody names one.
inline constexpr llvm::StringLiteral defaultNvidiaGpu = "sm_90a";

/// Describes the architecture called `arch` ("sm_90a") by the largest of its GPUs in common use, or gives nothing where
/// it is not known. The runtime may replace the number of multiprocessors and the caches by those of its device.
attn::GpuTargetAttr getNvidiaGpu(mlir::MLIRContext *context, llvm::StringRef arch);

/// The machine of a target's name, "KIND" or "KIND:ARCH": the default without an architecture, and an error with one
/// that is not known.
image::Result<attn::GpuTargetAttr> parseNvidiaGpu(mlir::MLIRContext *context, llvm::StringRef name);

/// The same machine, with CUDA C++ in the place of LLVM on the way to its code.
attn::GpuTargetAttr throughCuda(attn::GpuTargetAttr gpu);

/// The architecture that serves a device of this compute capability best: "sm_90a" for 9.0. Empty where none does.
llvm::StringRef findNvidiaGpu(int major, int minor);

/// The names of all architectures, "sm_80, sm_86, ...", for messages.
std::string getNvidiaGpuNames();

} // namespace attnc::target

#endif // ATTNC_CODEGEN_TARGET_NVIDIAGPU_H
