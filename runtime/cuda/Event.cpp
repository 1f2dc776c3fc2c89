//===- Event.cpp - Points in time on a GPU ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/cuda/Event.h"

using attnc::image::Result;
using attnc::image::Status;

namespace attnc::cuda {

Result<Event> Event::create(DeviceRef device) {
  const Driver &driver = device->driver();
  ContextScope scope(*device);
  EventHandle handle = nullptr;
  if (Status status = driver.check(driver->eventCreate(&handle, 0), "cuEventCreate", "measure time on the GPU");
      !status)
    return status.takeError();
  return Event(std::move(device), handle);
}

Event::~Event() {
  if (!handle)
    return;
  ContextScope scope(*device);
  device->driver()->eventDestroy(handle);
}

Status Event::record(StreamHandle stream) const {
  const Driver &driver = device->driver();
  ContextScope scope(*device);
  return driver.check(driver->eventRecord(handle, stream), "cuEventRecord", "measure time on the GPU");
}

Status Event::wait() const {
  const Driver &driver = device->driver();
  ContextScope scope(*device);
  return driver.check(driver->eventSynchronize(handle), "cuEventSynchronize", "wait for the GPU");
}

Result<double> Event::secondsSince(const Event &begin) const {
  const Driver &driver = device->driver();
  ContextScope scope(*device);
  float milliseconds = 0;
  if (Status status = driver.check(driver->eventElapsedTime(&milliseconds, begin.handle, handle), "cuEventElapsedTime",
                                   "measure time on the GPU");
      !status)
    return status.takeError();
  return 1e-3 * static_cast<double>(milliseconds);
}

} // namespace attnc::cuda
