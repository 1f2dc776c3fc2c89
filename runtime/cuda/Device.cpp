//===- Device.cpp - A GPU and its primary context --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/cuda/Device.h"

#include <cstdio>

using attnc::runtime::Error;
using attnc::runtime::Result;
using attnc::runtime::Status;

namespace attnc::cuda {

std::string DeviceFacts::toString() const {
  char text[256];
  std::snprintf(text, sizeof(text),
                "%s, %s, %d multiprocessors at %.2f GHz, %lld KiB of shared memory for a block, L2 %lld MiB, "
                "memory %lld GiB, driver for CUDA %d.%d",
                name.c_str(), architecture().c_str(), multiprocessors, clockKHz * 1e-6,
                static_cast<long long>(sharedBytes >> 10), static_cast<long long>(l2Bytes >> 20),
                static_cast<long long>(memoryBytes >> 30), driverVersion / 1000, driverVersion % 1000 / 10);
  return text;
}

Result<DeviceRef> Device::open(const Driver &driver, int ordinal) {
  int count = 0;
  if (Status status = driver.check(driver->deviceGetCount(&count), "cuDeviceGetCount", "count GPUs"); !status)
    return status.takeError();
  if (ordinal < 0 || ordinal >= count)
    return Error{count == 0
                     ? std::string("there is no GPU")
                     : "there is no GPU " + std::to_string(ordinal) + ", expected one below " + std::to_string(count)};
  const std::string which = "GPU " + std::to_string(ordinal);
  DeviceHandle handle = 0;
  if (Status status = driver.check(driver->deviceGet(&handle, ordinal), "cuDeviceGet", "open " + which); !status)
    return status.takeError();
  std::shared_ptr<Device> device(new Device(driver, handle));
  if (Status status = device->ask(); !status)
    return status.takeError();
  if (Status status = driver.check(driver->primaryContextRetain(&device->primary, handle), "cuDevicePrimaryCtxRetain",
                                   "make a context on " + which);
      !status)
    return status.takeError();
  return DeviceRef(std::move(device));
}

Result<DeviceRef> Device::openFirst() {
  Result<const Driver *> driver = Driver::open();
  if (!driver)
    return driver.takeError();
  return open(**driver);
}

Device::~Device() {
  if (primary)
    cudaDriver->primaryContextRelease(handle);
}

Status Device::ask() {
  const auto fact = [&](auto &value, DeviceAttribute attribute, std::string_view what) {
    int number = 0;
    Status status = cudaDriver.check(cudaDriver->deviceGetAttribute(&number, attribute, handle), "cuDeviceGetAttribute",
                                     "read " + std::string(what) + " of a GPU");
    value = number;
    return status;
  };
  char name[128] = {};
  if (Status status = cudaDriver.check(cudaDriver->deviceGetName(name, sizeof(name) - 1, handle), "cuDeviceGetName",
                                       "read the name of a GPU");
      !status)
    return status;
  known.name = name;
  if (Status status = fact(known.major, DeviceAttribute::ComputeCapabilityMajor, "the compute capability"); !status)
    return status;
  if (Status status = fact(known.minor, DeviceAttribute::ComputeCapabilityMinor, "the compute capability"); !status)
    return status;
  if (Status status = fact(known.multiprocessors, DeviceAttribute::MultiprocessorCount, "the multiprocessors"); !status)
    return status;
  if (Status status = fact(known.sharedBytes, DeviceAttribute::MaxSharedMemoryPerBlockOptin, "the shared memory");
      !status)
    return status;
  // What follows is for people and for heuristics; 0 where a driver does not say.
  (void)fact(known.registersPerMultiprocessor, DeviceAttribute::MaxRegistersPerMultiprocessor, "the registers");
  (void)fact(known.l2Bytes, DeviceAttribute::L2CacheSize, "the L2 cache");
  (void)fact(known.clockKHz, DeviceAttribute::ClockRate, "the clock");
  size_t bytes = 0;
  if (cudaDriver->deviceTotalMem(&bytes, handle) == driverSuccess)
    known.memoryBytes = static_cast<int64_t>(bytes);
  if (cudaDriver->driverGetVersion(&known.driverVersion) != driverSuccess)
    known.driverVersion = 0;
  return {};
}

Status Device::synchronize(std::string_view attempt) const {
  ContextScope scope(*this);
  return cudaDriver.check(cudaDriver->streamSynchronize(nullptr), "cuStreamSynchronize", attempt);
}

ContextScope::ContextScope(const Device &device)
    : driver(device.driver()), pushed(driver->contextPush(device.context()) == driverSuccess) {}

ContextScope::~ContextScope() {
  ContextHandle popped = nullptr;
  if (pushed)
    driver->contextPop(&popped);
}

} // namespace attnc::cuda
