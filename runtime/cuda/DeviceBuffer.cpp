//===- DeviceBuffer.cpp - Device memory ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/cuda/DeviceBuffer.h"

using attnc::image::Result;
using attnc::image::Status;

namespace attnc::cuda {

Result<DeviceBuffer> DeviceBuffer::allocate(DeviceRef device, int64_t bytes) {
  DeviceBuffer buffer;
  buffer.device = std::move(device);
  buffer.bytes = bytes;
  if (bytes == 0)
    return buffer;
  const Driver &driver = buffer.device->driver();
  ContextScope scope(*buffer.device);
  RelaxedCaptureScope relaxed(driver);
  if (Status status = driver.check(driver->memAlloc(&buffer.begin, bytes), "cuMemAlloc_v2",
                                   "allocate " + std::to_string(bytes) + " bytes on the GPU");
      !status)
    return status.takeError();
  return buffer;
}

Status DeviceBuffer::copyFrom(const void *host) const {
  if (bytes == 0)
    return {};
  const Driver &driver = device->driver();
  ContextScope scope(*device);
  return driver.check(driver->memcpyHostToDevice(begin, host, bytes), "cuMemcpyHtoD_v2",
                      "copy " + std::to_string(bytes) + " bytes to the GPU");
}

Status DeviceBuffer::copyTo(void *host) const {
  if (bytes == 0)
    return {};
  const Driver &driver = device->driver();
  ContextScope scope(*device);
  return driver.check(driver->memcpyDeviceToHost(host, begin, bytes), "cuMemcpyDtoH_v2",
                      "copy " + std::to_string(bytes) + " bytes from the GPU");
}

Status DeviceBuffer::clear() const {
  if (bytes == 0)
    return {};
  const Driver &driver = device->driver();
  ContextScope scope(*device);
  RelaxedCaptureScope relaxed(driver);
  if (Status status = driver.check(driver->memset8(begin, 0, bytes), "cuMemsetD8_v2",
                                   "clear " + std::to_string(bytes) + " bytes on the GPU");
      !status)
    return status;
  // The driver may return before it is done, and orders it with the default stream only.
  return device->synchronize("clear memory on the GPU");
}

void DeviceBuffer::release() {
  if (begin == 0)
    return;
  ContextScope scope(*device);
  RelaxedCaptureScope relaxed(device->driver());
  device->driver()->memFree(begin);
  begin = 0;
}

void DeviceBuffer::swap(DeviceBuffer &other) noexcept {
  std::swap(device, other.device);
  std::swap(begin, other.begin);
  std::swap(bytes, other.bytes);
}

} // namespace attnc::cuda
