//===- Values.h - Arguments of a launch as C has them -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_CAPI_VALUES_H
#define ATTNC_RUNTIME_CAPI_VALUES_H

#include "attnc/attnc.h"
#include "runtime/Arguments.h"

namespace attnc::capi {

/// Where a kernel's tensors must lie.
struct Place {
  runtime::MemorySpace space;
  int ordinal; ///< the number of the GPU
};

/// The values of a launch without those that DLPack describes: each is written as the tensor that it is.
class PlainValues {
public:
  /// `options`, with values that lie in this object where some of them are DLPack's, which must lie at `place`.
  image::Result<attnc_launch_options> replace(const attnc_launch_options &options, const image::KernelImage &image,
                                              Place place);

private:
  std::vector<attnc_value> values;
};

/// The plain values of a launch, tensors in `space`.
image::Result<std::vector<runtime::ArgValue>>
readValues(const image::KernelImage &image, const attnc_launch_options &options, runtime::MemorySpace space);

/// Whether a launch of `image` has one value for each argument: `count`. To be asked before any is read.
image::Status checkCount(const image::KernelImage &image, size_t count);

/// The GPU of the first of the values of `options` that is a tensor of DLPack and lies on one; -1 where none does.
int findDevice(const attnc_launch_options &options);

} // namespace attnc::capi

#endif // ATTNC_RUNTIME_CAPI_VALUES_H
