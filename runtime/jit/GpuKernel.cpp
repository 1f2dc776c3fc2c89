//===- GpuKernel.cpp - A kernel image loaded on a GPU -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/jit/GpuKernel.h"
#include "runtime/cuda/Event.h"
#include "runtime/cuda/Staging.h"

using namespace attnc;
using namespace attnc::jit;
using cuda::Event;
using cuda::Staging;
using image::Result;
using image::Span;
using image::Status;
using runtime::ArgValue;

namespace {

/// Everything happens on the default stream, which the copies of `Staging` are ordered with.
constexpr cuda::StreamHandle defaultStream = nullptr;

/// Runs on twins of the arguments, with an event between each run and the next.
class GpuMeasurement : public Measurement {
public:
  GpuMeasurement(cuda::DeviceRef device, cuda::GpuLaunch &gpu, Staging staging)
      : device(std::move(device)), gpu(gpu), staging(std::move(staging)) {}

  Result<std::vector<double>> time(int runs) override {
    while (events.size() < static_cast<size_t>(runs) + 1) {
      Result<Event> event = Event::create(device);
      if (!event)
        return event.takeError();
      events.push_back(std::move(*event));
    }
    // One launch as by a caller: its context is there.
    cuda::ContextScope scope(*device);
    // A run that is not counted keeps the GPU busy while the host queues the first that is: else that one's time would
    // begin before it is launched.
    Status status = gpu.launch(staging.arguments(), defaultStream);
    if (status)
      status = events[0].record(defaultStream);
    for (int i = 0; status && i < runs; ++i) {
      status = gpu.launch(staging.arguments(), defaultStream);
      if (status)
        status = events[i + 1].record(defaultStream);
    }
    if (status)
      status = device->synchronize("run kernel '" + gpu.image().name + "' on the GPU");
    if (!status)
      return status.takeError();
    std::vector<double> seconds;
    for (int i = 0; i < runs; ++i) {
      Result<double> time = events[i + 1].secondsSince(events[i]);
      if (!time)
        return time.takeError();
      seconds.push_back(*time);
    }
    return seconds;
  }

private:
  cuda::DeviceRef device;
  cuda::GpuLaunch &gpu;
  Staging staging;
  std::vector<Event> events;
};

} // namespace

Result<std::unique_ptr<GpuKernel>> GpuKernel::load(cuda::DeviceRef device, image::KernelImage image) {
  Result<std::unique_ptr<cuda::GpuLaunch>> gpu = cuda::GpuLaunch::load(device, image);
  if (!gpu)
    return gpu.takeError();
  return std::unique_ptr<GpuKernel>(new GpuKernel(std::move(image), std::move(device), std::move(*gpu)));
}

Status GpuKernel::run(Span<const ArgValue> values) {
  cuda::ContextScope scope(*device);
  Result<Staging> staging = Staging::copy(device, image(), values);
  if (!staging)
    return staging.takeError();
  if (Status status = gpu->launch(staging->arguments(), defaultStream); !status)
    return status;
  // Faults of the kernel show when it is waited for.
  if (Status status = device->synchronize("run kernel '" + image().name + "' on the GPU"); !status)
    return status;
  return staging->copyBack();
}

Result<std::unique_ptr<Measurement>> GpuKernel::measure(Span<const ArgValue> values) {
  Result<Staging> staging = Staging::copy(device, image(), values);
  if (!staging)
    return staging.takeError();
  return std::unique_ptr<Measurement>(std::make_unique<GpuMeasurement>(device, *gpu, std::move(*staging)));
}
