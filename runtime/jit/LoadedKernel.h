//===- LoadedKernel.h - A kernel image linked into the process --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_JIT_LOADEDKERNEL_H
#define ATTNC_RUNTIME_JIT_LOADEDKERNEL_H

#include "runtime/CpuLaunch.h"
#include "runtime/jit/Executable.h"
#include "runtime/jit/Target.h"
#include <memory>

namespace llvm::orc {
class LLJIT;
} // namespace llvm::orc

namespace attnc::jit {

/// A kernel image for this CPU whose object code ORC has linked into the process. Threads may run it at the same time.
class LoadedKernel : public Executable {
public:
  /// Links the object code of `image`. Fails where it needs a symbol that is not there, or lacks one of its entries.
  static image::Result<std::unique_ptr<LoadedKernel>> load(image::KernelImage image);

  ~LoadedKernel() override;

  image::Status run(image::Span<const runtime::ArgValue> values) override;

private:
  LoadedKernel(image::KernelImage image, std::unique_ptr<llvm::orc::LLJIT> jit, std::vector<runtime::CpuEntry> entries);

  std::unique_ptr<llvm::orc::LLJIT> jit; ///< owns the code that `entries` points into
  std::vector<runtime::CpuEntry> entries;
};

/// The target that runs kernels on this CPU.
llvm::ArrayRef<Target> getHostTargets();

} // namespace attnc::jit

#endif // ATTNC_RUNTIME_JIT_LOADEDKERNEL_H
