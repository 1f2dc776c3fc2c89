//===- HostCost.cpp - What a launch costs the host --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "tools/attnc/HostCost.h"
#include "runtime/capi/CApi.h"
#include "runtime/cuda/Staging.h"

#include <algorithm>
#include <chrono>

using namespace attnc;
using namespace attnc::cli;
using image::ArgKind;
using image::ArgSpec;
using image::Error;
using image::KernelImage;
using image::Result;
using image::Span;
using image::Status;
using runtime::ArgValue;
using Clock = std::chrono::steady_clock;

/// Launches of a series, few enough that the driver's queue never fills, and series.
static constexpr int fewestLaunches = 4, mostLaunches = 50, fewestSeries = 5, mostSeries = 21;
/// Seconds for which kernels run at most, but for the fewest of both.
static constexpr double secondsToMeasure = 1;

static Status toStatus(attnc_error *error) {
  if (!error)
    return {};
  Error taken{attnc_error_message(error)};
  attnc_error_destroy(error);
  return taken;
}

/// `values` as C passes them, tensors as the argument block `slots` has them, which they point into.
static std::vector<attnc_value> describe(const KernelImage &image, Span<const ArgValue> values,
                                         const std::vector<int64_t> &slots) {
  std::vector<attnc_value> described;
  const int64_t *slot = slots.data();
  for (const ArgSpec &arg : image.args) {
    const ArgValue &given = values[described.size()];
    attnc_value value = {};
    if (arg.kind == ArgKind::Tensor) {
      const auto rank = static_cast<int32_t>(arg.dims.size());
      value.kind = ATTNC_TENSOR;
      value.as.tensor = {static_cast<uint64_t>(*slot), static_cast<int32_t>(arg.dtype), rank, slot + 1,
                         slot + 1 + rank};
    } else if (const auto *integer = std::get_if<int64_t>(&given)) {
      value.kind = ATTNC_INTEGER;
      value.as.integer = *integer;
    } else {
      value.kind = ATTNC_REAL;
      value.as.real = std::get<double>(given);
    }
    described.push_back(value);
    slot += runtime::numSlots(arg);
  }
  return described;
}

Result<double> cli::measureHostCost(const KernelImage &image, Span<const ArgValue> values, double secondsOfRun) {
  Result<cuda::DeviceRef> device = cuda::Device::openFirst();
  if (!device)
    return device.takeError();
  // As in a program of a user, whose context is the current one.
  cuda::ContextScope scope(**device);
  Result<cuda::Staging> staging = cuda::Staging::copy(*device, image, values);
  if (!staging)
    return staging.takeError();
  Result<attnc_kernel *> loaded = capi::loadKernel(*device, image::serialize(image));
  if (!loaded)
    return loaded.takeError();
  const std::unique_ptr<attnc_kernel, void (*)(attnc_kernel *)> kernel(*loaded, attnc_kernel_destroy);

  const std::vector<attnc_value> described = describe(image, values, staging->arguments().slots);
  attnc_launch_options options = {};
  options.struct_size = sizeof(options);
  options.values = described.data();
  options.num_values = described.size();
  options.value_size = sizeof(attnc_value);
  const auto fitting = [&](double seconds, int fewest, int most) {
    return static_cast<int>(std::clamp<double>(secondsToMeasure / seconds, fewest, most));
  };
  const int launches = fitting(mostSeries * secondsOfRun, fewestLaunches, mostLaunches);
  const int series = fitting(launches * secondsOfRun, fewestSeries, mostSeries);
  std::vector<double> seconds;
  for (int round = 0; round < series; ++round) {
    const Clock::time_point start = Clock::now();
    for (int i = 0; i < launches; ++i)
      if (Status status = toStatus(attnc_kernel_launch(kernel.get(), &options)); !status)
        return status.takeError();
    seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count() / launches);
    if (Status status = (*device)->synchronize("run kernel '" + image.name + "' on the GPU"); !status)
      return status.takeError();
  }
  std::nth_element(seconds.begin(), seconds.begin() + series / 2, seconds.end());
  return seconds[series / 2];
}
