//===- Staging.cpp - Host tensors brought to a GPU -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/cuda/Staging.h"

#include <algorithm>
#include <cstring>

using attnc::image::Error;
using attnc::image::KernelImage;
using attnc::image::Result;
using attnc::image::Span;
using attnc::image::Status;
using attnc::runtime::ArgValue;
using attnc::runtime::BoundArguments;
using attnc::runtime::Tensor;

namespace attnc::cuda {
namespace {

/// The bytes that elements lie in, relative to the element with index 0.
struct Extent {
  int64_t begin, end;
};

Extent findExtent(const Tensor &tensor) {
  if (tensor.numElements() == 0)
    return {0, 0};
  const int64_t elementBytes = byteSize(tensor.dtype());
  Extent extent = {0, elementBytes};
  for (int64_t d = 0; d < tensor.rank(); ++d) {
    const int64_t reach = (tensor.dim(d) - 1) * tensor.stride(d) * elementBytes;
    (reach < 0 ? extent.begin : extent.end) += reach;
  }
  return extent;
}

} // namespace

Result<Staging> Staging::copy(const DeviceRef &device, const KernelImage &image, Span<const ArgValue> values) {
  // On the host first: there the content of length tensors can be checked.
  if (Result<BoundArguments> onHost = runtime::bindArguments(image, values); !onHost)
    return onHost.takeError();
  Staging staging;
  std::vector<ArgValue> onDevice = values.toVector();
  for (size_t i = 0; i < values.size(); ++i) {
    const auto *host = std::get_if<Tensor>(&values[i]);
    if (!host)
      continue;
    const Extent extent = findExtent(*host);
    Result<DeviceBuffer> memory = DeviceBuffer::allocate(device, extent.end - extent.begin);
    if (!memory)
      return Error{"argument '" + image.args[i].name + "': " + memory.message()};
    if (Status status = memory->copyFrom(static_cast<const char *>(host->data()) + extent.begin); !status)
      return Error{"argument '" + image.args[i].name + "': " + status.message()};
    onDevice[i] = Tensor::deviceView(memory->address() - extent.begin, host->dtype(), host->shape(), host->strides());
    staging.twins.push_back({*host, std::move(*memory), -extent.begin, image.args[i].role == image::ArgRole::Output});
  }
  Result<BoundArguments> bound = runtime::bindArguments(image, onDevice, runtime::MemorySpace::Device);
  if (!bound)
    return bound.takeError();
  staging.bound = std::move(*bound);
  return staging;
}

Status Staging::copyBack() const {
  for (const Twin &twin : twins) {
    if (!twin.isOutput || twin.memory.size() == 0)
      continue;
    if (twin.host.isContiguous()) {
      if (Status status = twin.memory.copyTo(twin.host.data()); !status)
        return status;
      continue;
    }
    // The gaps between elements are not ours to write: another result may lie there.
    std::vector<char> bytes(static_cast<size_t>(twin.memory.size()));
    if (Status status = twin.memory.copyTo(bytes.data()); !status)
      return status;
    const int64_t elementBytes = byteSize(twin.host.dtype());
    const char *first = static_cast<const char *>(twin.host.data()) - twin.offset;
    twin.host.forEach([&](int64_t, void *element) {
      std::memcpy(element, bytes.data() + (static_cast<const char *>(element) - first), elementBytes);
    });
  }
  return {};
}

} // namespace attnc::cuda
