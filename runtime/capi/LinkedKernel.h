//===- LinkedKernel.h - The kernel of a shared object -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_CAPI_LINKEDKERNEL_H
#define ATTNC_RUNTIME_CAPI_LINKEDKERNEL_H

#include "attnc/object.h"
#include "runtime/capi/LoadedKernel.h"
#include "runtime/capi/TvmFfi.h"

#include <map>
#include <mutex>

namespace attnc::capi {

/// What the kernel of a shared object has become in one process. Threads may use it at the same time.
class LinkedState {
public:
  /// That of `linked`, which is made at the first call in a process.
  static LinkedState &of(attnc_linked_kernel &linked);

  /// Ends that of `linked`, unless it is a parent's, whose threads and locks are not those of this process, or the
  /// process itself is ending.
  static void end(attnc_linked_kernel &linked);

  /// The kernel on GPU `device`, or on the CPU; -1 for the GPU of the thread's current context. It is loaded where this
  /// is the first that asks.
  image::Result<std::shared_ptr<LoadedKernel>> open(int device);

  /// The number of the GPU that `options` are for, as `open` takes it, where they have a value for each argument.
  image::Result<int> chooseDevice(const attnc_launch_options &options);

  /// What the host has of TVM FFI.
  TvmFfiHost host;

private:
  explicit LinkedState(const attnc_linked_kernel &linked);

  /// The image of the shared object.
  image::Result<image::KernelImage> readImage() const;

  image::Result<std::shared_ptr<LoadedKernel>> load(int device);

  const attnc_linked_kernel linked;
  const pid_t process;

  std::mutex mutex;
  std::map<int, std::shared_ptr<LoadedKernel>> kernels; ///< by the number of the GPU; a CPU's is at 0
  std::optional<image::KernelImage> described;          ///< the image without its code, once somebody asked
};

} // namespace attnc::capi

#endif // ATTNC_RUNTIME_CAPI_LINKEDKERNEL_H
