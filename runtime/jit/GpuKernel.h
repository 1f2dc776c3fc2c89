//===- GpuKernel.h - A kernel image loaded on a GPU -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_JIT_GPUKERNEL_H
#define ATTNC_RUNTIME_JIT_GPUKERNEL_H

#include "runtime/cuda/GpuLaunch.h"
#include "runtime/jit/Executable.h"

namespace attnc::jit {

/// A kernel image on a GPU, for host tensors: each run copies the arguments to the device and the results back.
/// Threads may run it at the same time; what they run goes one after the other. `measure` copies once, and counts the
/// time of the GPU alone.
class GpuKernel : public Executable {
public:
  /// Loads `image`, a cubin or PTX with the facts of its launch, on `device`.
  static image::Result<std::unique_ptr<GpuKernel>> load(cuda::DeviceRef device, image::KernelImage image);

  image::Status run(image::Span<const runtime::ArgValue> values) override;
  image::Result<std::unique_ptr<Measurement>> measure(image::Span<const runtime::ArgValue> values) override;

  /// What the functions of the kernel take, in the order of the image's entries.
  image::Span<const cuda::Function> functions() const { return gpu->functions(); }

private:
  GpuKernel(image::KernelImage image, cuda::DeviceRef device, std::unique_ptr<cuda::GpuLaunch> gpu)
      : Executable(std::move(image)), device(std::move(device)), gpu(std::move(gpu)) {}

  cuda::DeviceRef device;
  std::unique_ptr<cuda::GpuLaunch> gpu;
};

} // namespace attnc::jit

#endif // ATTNC_RUNTIME_JIT_GPUKERNEL_H
