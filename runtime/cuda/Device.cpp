//===- Device.cpp - A GPU and its primary context --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/cuda/Device.h"

#include <cstdio>

using attnc::image::Error;
using attnc::image::Result;
using attnc::image::Status;

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

/// The GPU number `ordinal`.
static Result<DeviceHandle> findDevice(const Driver &driver, int ordinal) {
  int count = 0;
  if (Status status = driver.check(driver->deviceGetCount(&count), "cuDeviceGetCount", "count GPUs"); !status)
    return status.takeError();
  if (ordinal < 0 || ordinal >= count)
    return Error{count == 0
                     ? std::string("there is no GPU")
                     : "there is no GPU " + std::to_string(ordinal) + ", expected one below " + std::to_string(count)};
  DeviceHandle handle = 0;
  if (Status status =
          driver.check(driver->deviceGet(&handle, ordinal), "cuDeviceGet", "open GPU " + std::to_string(ordinal));
      !status)
    return status.takeError();
  return handle;
}

Result<DeviceFacts> Device::describe(const Driver &driver, int ordinal) {
  Result<DeviceHandle> handle = findDevice(driver, ordinal);
  if (!handle)
    return handle.takeError();
  DeviceFacts facts;
  const auto ask = [&](auto &value, DeviceAttribute attribute, std::string_view what) {
    int number = 0;
    Status status = driver.check(driver->deviceGetAttribute(&number, attribute, *handle), "cuDeviceGetAttribute",
                                 "read " + std::string(what) + " of a GPU");
    value = number;
    return status;
  };
  char name[128] = {};
  Status status =
      driver.check(driver->deviceGetName(name, sizeof(name) - 1, *handle), "cuDeviceGetName", "read the name of a GPU");
  facts.name = name;
  if (status)
    status = ask(facts.major, DeviceAttribute::ComputeCapabilityMajor, "the compute capability");
  if (status)
    status = ask(facts.minor, DeviceAttribute::ComputeCapabilityMinor, "the compute capability");
  if (status)
    status = ask(facts.multiprocessors, DeviceAttribute::MultiprocessorCount, "the multiprocessors");
  if (status)
    status = ask(facts.sharedBytes, DeviceAttribute::MaxSharedMemoryPerBlockOptin, "the shared memory");
  if (!status)
    return status.takeError();
  // What follows is for people and for heuristics; 0 where a driver does not say.
  (void)ask(facts.registersPerMultiprocessor, DeviceAttribute::MaxRegistersPerMultiprocessor, "the registers");
  (void)ask(facts.l2Bytes, DeviceAttribute::L2CacheSize, "the L2 cache");
  (void)ask(facts.clockKHz, DeviceAttribute::ClockRate, "the clock");
  size_t bytes = 0;
  if (driver->deviceTotalMem(&bytes, *handle) == driverSuccess)
    facts.memoryBytes = static_cast<int64_t>(bytes);
  if (driver->driverGetVersion(&facts.driverVersion) != driverSuccess)
    facts.driverVersion = 0;
  return facts;
}

Result<DeviceFacts> Device::describeFirst() {
  Result<const Driver *> driver = Driver::open();
  if (!driver)
    return driver.takeError();
  return describe(**driver);
}

Result<DeviceRef> Device::open(const Driver &driver, int ordinal) {
  Result<DeviceHandle> handle = findDevice(driver, ordinal);
  if (!handle)
    return handle.takeError();
  Result<DeviceFacts> facts = describe(driver, ordinal);
  if (!facts)
    return facts.takeError();
  std::shared_ptr<Device> device(new Device(driver, *handle, std::move(*facts)));
  if (Status status = driver.check(driver->primaryContextRetain(&device->primary, *handle), "cuDevicePrimaryCtxRetain",
                                   "make a context on GPU " + std::to_string(ordinal));
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

RelaxedCaptureScope::RelaxedCaptureScope(const Driver &driver)
    : driver(driver), exchanged(driver->exchangeCaptureMode && driver->exchangeCaptureMode(&before) == driverSuccess) {}

RelaxedCaptureScope::~RelaxedCaptureScope() {
  if (exchanged)
    driver->exchangeCaptureMode(&before);
}

} // namespace attnc::cuda
