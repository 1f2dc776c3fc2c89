//===- Staging.h - Host tensors brought to a GPU ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// For callers whose tensors lie on the host: a twin of each on the device, with
// the same strides and the same content, gaps included, so that a kernel meets
// what the caller has.
//
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_CUDA_STAGING_H
#define ATTNC_RUNTIME_CUDA_STAGING_H

#include "runtime/Arguments.h"
#include "runtime/cuda/DeviceBuffer.h"

namespace attnc::cuda {

/// The arguments of a kernel on a device.
class Staging {
public:
  /// Checks `values`, tensors of the host, as `bindArguments` does, and copies
  /// them to `device`. Results are copied too: what a kernel leaves out shows as
  /// what was there.
  static image::Result<Staging> copy(const DeviceRef &device, const image::KernelImage &image,
                                     image::Span<const runtime::ArgValue> values);

  /// The arguments as a launch takes them.
  const runtime::BoundArguments &arguments() const { return bound; }

  /// Copies the results to the host tensors that they stand for, and waits for
  /// earlier work on the default stream.
  image::Status copyBack() const;

private:
  /// A tensor of the host, and its twin.
  struct Twin {
    runtime::Tensor host;
    /// From the first byte of memory that an element lies in to the last.
    DeviceBuffer memory;
    /// How far the element with index 0 lies from the first byte.
    int64_t offset;
    bool isOutput;
  };

  runtime::BoundArguments bound;
  std::vector<Twin> twins;
};

} // namespace attnc::cuda

#endif // ATTNC_RUNTIME_CUDA_STAGING_H
