//===- DeviceBuffer.h - Device memory --------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Owned memory of a GPU, and copies to and from it.
//
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_CUDA_DEVICEBUFFER_H
#define ATTNC_RUNTIME_CUDA_DEVICEBUFFER_H

#include "runtime/cuda/Device.h"

namespace attnc::cuda {

/// Memory of a GPU, freed with the buffer. Moved, not copied.
class DeviceBuffer {
public:
  /// No memory.
  DeviceBuffer() = default;

  /// `bytes` of memory with unspecified content, aligned to 256 bytes; address
  /// 0 for 0 bytes.
  static image::Result<DeviceBuffer> allocate(DeviceRef device, int64_t bytes);

  ~DeviceBuffer() { release(); }
  DeviceBuffer(DeviceBuffer &&other) noexcept { swap(other); }
  DeviceBuffer &operator=(DeviceBuffer &&other) noexcept {
    swap(other);
    return *this;
  }

  /// Where the memory begins.
  DeviceAddress address() const { return begin; }

  /// How much there is.
  int64_t size() const { return bytes; }

  /// Copies all of it from `host`; work that starts later on the default stream
  /// finds it.
  image::Status copyFrom(const void *host) const;

  /// Copies all of it to `host`, once earlier work on the default stream is
  /// done.
  image::Status copyTo(void *host) const;

  /// Sets all bytes to 0; done when it returns, for work on any stream.
  image::Status clear() const;

private:
  /// Frees the memory.
  void release();

  /// Exchanges two buffers.
  void swap(DeviceBuffer &other) noexcept;

  DeviceRef device;
  DeviceAddress begin = 0;
  int64_t bytes = 0;
};

} // namespace attnc::cuda

#endif // ATTNC_RUNTIME_CUDA_DEVICEBUFFER_H
