//===- CApi.h - The door between C and the runtime --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_CAPI_CAPI_H
#define ATTNC_RUNTIME_CAPI_CAPI_H

#include "attnc/attnc.h"
#include "runtime/capi/LaunchCache.h"

/// What a handle of C stands for.
struct attnc_kernel {
  std::unique_ptr<attnc::cuda::GpuLaunch> launch;
  mutable attnc::capi::LaunchCache launches = {}; ///< remembers, and changes nothing of what the kernel is
};

/// Likewise.
struct attnc_error {
  std::string message;
};

namespace attnc::capi {

/// Loads `image`, a serialized kernel image, on `device`; a handle of C, which the caller destroys.
runtime::Result<attnc_kernel *> loadKernel(cuda::DeviceRef device, runtime::Span<const uint8_t> image);

} // namespace attnc::capi

#endif // ATTNC_RUNTIME_CAPI_CAPI_H
