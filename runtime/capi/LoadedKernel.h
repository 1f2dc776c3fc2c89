//===- LoadedKernel.h - Kernels behind handles of C -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_CAPI_LOADEDKERNEL_H
#define ATTNC_RUNTIME_CAPI_LOADEDKERNEL_H

#include "attnc/attnc.h"
#include "runtime/Arguments.h"
#include "runtime/capi/LaunchCache.h"

#include <memory>

namespace attnc::capi {

/// A kernel that is ready to launch, whatever carries it out. Threads may use it at the same time.
class LoadedKernel {
public:
  virtual ~LoadedKernel() = default;

  /// What it was made from, without its code.
  virtual const image::KernelImage &image() const = 0;

  /// Enters what is known of its code in `info`.
  virtual void describe(attnc_kernel_info &info) const = 0;

  /// The device memory of its own that a launch with `options` takes, in bytes.
  virtual image::Result<int64_t> countWorkspace(const attnc_launch_options &options) = 0;

  /// Launches.
  virtual image::Status launch(const attnc_launch_options &options) = 0;
};

/// The code of a kernel for this CPU, linked into the process. Threads may run it at the same time.
class CpuProgram {
public:
  virtual ~CpuProgram() = default;

  /// Checks `values` and does the kernel's work on them.
  virtual image::Status run(image::Span<const runtime::ArgValue> values) = 0;
};

/// A kernel on a GPU, of the number `ordinal`.
std::shared_ptr<LoadedKernel> makeGpuKernel(std::unique_ptr<cuda::GpuLaunch> launch, int ordinal);

/// A kernel on this CPU.
std::shared_ptr<LoadedKernel> makeCpuKernel(image::KernelImage image, std::shared_ptr<CpuProgram> program);

} // namespace attnc::capi

#endif // ATTNC_RUNTIME_CAPI_LOADEDKERNEL_H
