//===- Event.h - Points in time on a GPU -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_CUDA_EVENT_H
#define ATTNC_RUNTIME_CUDA_EVENT_H

#include "runtime/cuda/Device.h"

namespace attnc::cuda {

/// A point in a stream's work, with the time at which the GPU came to it. Moved,
/// not copied.
class Event {
public:
  /// An event that is not recorded.
  static image::Result<Event> create(DeviceRef device);

  ~Event();
  Event(Event &&other) noexcept : device(std::move(other.device)), handle(std::exchange(other.handle, nullptr)) {}
  Event &operator=(Event &&other) noexcept {
    std::swap(device, other.device);
    std::swap(handle, other.handle);
    return *this;
  }

  /// Stands after all work that `stream` has been given.
  image::Status record(StreamHandle stream) const;

  /// Waits until the GPU has come to it.
  image::Status wait() const;

  /// The seconds from `begin` to this event. The GPU must have come to both. The
  /// clock ticks every half of a microsecond.
  image::Result<double> secondsSince(const Event &begin) const;

private:
  Event(DeviceRef device, EventHandle handle) : device(std::move(device)), handle(handle) {}

  DeviceRef device;
  EventHandle handle;
};

} // namespace attnc::cuda

#endif // ATTNC_RUNTIME_CUDA_EVENT_H
