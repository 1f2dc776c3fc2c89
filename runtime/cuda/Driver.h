//===- Driver.h - The CUDA driver, opened at run time ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The library is looked for once, when it is first asked for: on a machine
// without NVIDIA's driver all that fails is what needs it.
//
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_CUDA_DRIVER_H
#define ATTNC_RUNTIME_CUDA_DRIVER_H

#include "codegen/image/Error.h"
#include "runtime/cuda/DriverApi.h"

#include <string_view>

namespace attnc::cuda {

/// A driver that is there and initialised: its functions, and errors in words.
/// Threads may use it at the same time.
class Driver {
public:
  /// A driver of these functions, which are the caller's affair.
  explicit Driver(const DriverApi &api) : api(api) {}

  /// The driver of this process: libcuda, opened and initialised at the first
  /// call. An error says what is missing. It is never closed.
  static image::Result<const Driver *> open();

  /// The functions: `driver->launchKernel(...)`.
  const DriverApi *operator->() const { return &api; }

  /// The error for `result` of function `call`, during an attempt to do what
  /// `attempt` says: "cannot allocate 4 bytes: cuMemAlloc_v2:
  /// CUDA_ERROR_OUT_OF_MEMORY (out of memory)".
  image::Error error(DriverResult result, std::string_view call, std::string_view attempt) const;

  /// Success, or that error.
  image::Status check(DriverResult result, std::string_view call, std::string_view attempt) const;

private:
  DriverApi api;
};

} // namespace attnc::cuda

#endif // ATTNC_RUNTIME_CUDA_DRIVER_H
