//===- CudaDriverTest.cpp - Tests of devices, modules, memory --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#include "FakeDriver.h"
#include "runtime/cuda/DeviceBuffer.h"
#include "runtime/cuda/Event.h"
#include "runtime/cuda/Module.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>

using namespace attnc::cuda;
using attnc::image::Result;
using attnc::image::Span;
using attnc::test::FakeDriver;

namespace {

/// A text as the bytes of a module.
Span<const uint8_t> bytes(const char *text) {
  return Span<const uint8_t>(reinterpret_cast<const uint8_t *>(text), std::strlen(text));
}

TEST(CudaDriver, SaysWhatFailedAndWhy) {
  FakeDriver fake;
  EXPECT_TRUE(fake.driver().check(driverSuccess, "cuInit", "start"));
  EXPECT_EQ(fake.driver().check(2, "cuMemAlloc_v2", "allocate 4 bytes").message(),
            "cannot allocate 4 bytes: cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (out of memory)");
  EXPECT_EQ(fake.driver().check(201, "cuLaunchKernel", "launch").message(),
            "cannot launch: cuLaunchKernel: CUDA_ERROR_INVALID_CONTEXT");
  EXPECT_EQ(fake.driver().check(777, "cuInit", "start").message(), "cannot start: cuInit: error 777");
}

TEST(CudaDriver, OpensOrSaysWhyNot) {
  // Whichever this machine has.
  Result<const Driver *> driver = Driver::open();
  if (driver)
    EXPECT_NE((*driver)->operator->()->launchKernel, nullptr);
  else
    EXPECT_NE(driver.message().find("NVIDIA driver"), std::string::npos) << driver.message();
}

TEST(CudaDevice, KnowsItsFacts) {
  FakeDriver fake;
  {
    DeviceRef device = fake.device();
    EXPECT_EQ(device->facts().architecture(), "sm_90");
    EXPECT_EQ(device->facts().multiprocessors, 132);
    EXPECT_EQ(device->facts().toString(),
              "NVIDIA H200, sm_90, 132 multiprocessors at 1.98 GHz, 227 KiB of shared memory for a block, L2 60 MiB, "
              "memory 139 GiB, driver for CUDA 13.0");
    EXPECT_EQ(fake.retained, 1);
  }
  EXPECT_EQ(fake.retained, 0);
}

TEST(CudaDevice, SaysWhatIsMissing) {
  FakeDriver fake;
  EXPECT_EQ(Device::open(fake.driver(), 1).message(), "there is no GPU 1, expected one below 1");
  fake.numDevices = 0;
  EXPECT_EQ(Device::open(fake.driver()).message(), "there is no GPU");
  fake.numDevices = 1;
  fake.failures["cuDevicePrimaryCtxRetain"] = 2;
  EXPECT_EQ(Device::open(fake.driver()).message(), "cannot make a context on GPU 0: cuDevicePrimaryCtxRetain: "
                                                   "CUDA_ERROR_OUT_OF_MEMORY (out of memory)");
}

TEST(CudaModule, LoadsCubinsAsTheyAre) {
  FakeDriver fake;
  constexpr uint8_t cubin[] = {0x7F, 'E', 'L', 'F'};
  auto module = Module::load(fake.device(), cubin, "forward");
  ASSERT_TRUE(module) << module.message();
  EXPECT_EQ(fake.code, std::string(std::begin(cubin), std::end(cubin)));
  fake.staticSharedBytes = 1024;
  Result<Function> function = (*module)->prepare("forward_entry", 384, 231424);
  ASSERT_TRUE(function) << function.message();
  EXPECT_EQ(function->registers, 168);
  EXPECT_EQ(fake.dynamicSharedBytes, 231424);
  EXPECT_EQ(fake.depth, 0);
  EXPECT_EQ((*module)->prepare("forward_entry", 384, 231425).message(),
            "cannot launch function 'forward_entry' of kernel 'forward': expected at most 231424 bytes of dynamic "
            "shared memory on NVIDIA H200, got 231425");
  EXPECT_EQ((*module)->prepare("forward_entry", 385, 0).message(),
            "cannot launch function 'forward_entry' of kernel 'forward': expected blocks of at most 384 threads, since "
            "a thread has 168 registers, got 385");
}

TEST(CudaModule, TellsWhatTheAssemblerSaid) {
  FakeDriver fake;
  ASSERT_TRUE(Module::load(fake.device(), bytes(".version 8.3"), "forward"));
  EXPECT_EQ(fake.code, ".version 8.3");
  EXPECT_EQ(std::count(fake.calls.begin(), fake.calls.end(), "cuLinkDestroy"), 1);
  fake.failures["cuLinkAddData_v2"] = 218;
  fake.log = "ptxas error : Unknown symbol 'x'\nptxas fatal : aborted\n\n";
  EXPECT_EQ(Module::load(fake.device(), bytes(".version 8.3"), "forward").message(),
            "cannot load kernel 'forward' on the GPU: cuLinkAddData_v2: CUDA_ERROR_INVALID_PTX (a PTX JIT compilation "
            "failed): ptxas error : Unknown symbol 'x'; ptxas fatal : aborted");
  EXPECT_EQ(std::count(fake.calls.begin(), fake.calls.end(), "cuLinkDestroy"), 2);
}

TEST(CudaModule, EndsNoCaptureOfItsThread) {
  FakeDriver fake;
  {
    auto module = Module::load(fake.device(), bytes(".version 8.3"), "forward");
    ASSERT_TRUE(module) << module.message();
    ASSERT_TRUE((*module)->prepare("forward_entry", 384, 1024));
    DeviceBuffer buffer = *DeviceBuffer::allocate(fake.device(), 8);
    ASSERT_TRUE(buffer.clear());
    EXPECT_EQ(fake.captureMode, CaptureMode::Global);
  }
  for (const char *call :
       {"cuModuleLoadDataEx", "cuFuncLoad", "cuMemAlloc_v2", "cuMemsetD8_v2", "cuMemFree_v2", "cuModuleUnload"})
    EXPECT_EQ(std::count(fake.calls.begin(), fake.calls.end(), call), 1) << call;
  EXPECT_TRUE(fake.unsafeCalls.empty()) << fake.unsafeCalls.front();
  EXPECT_EQ(fake.captureMode, CaptureMode::Global);
}

TEST(CudaDeviceBuffer, OwnsItsMemory) {
  FakeDriver fake;
  DeviceRef device = fake.device();
  {
    DeviceBuffer buffer = *DeviceBuffer::allocate(device, 8);
    EXPECT_EQ(buffer.address() % 256, 0u);
    ASSERT_TRUE(buffer.copyFrom("1234567"));
    char text[8];
    DeviceBuffer moved = std::move(buffer);
    ASSERT_TRUE(moved.copyTo(text));
    EXPECT_STREQ(text, "1234567");
    ASSERT_TRUE(moved.clear());
    ASSERT_TRUE(moved.copyTo(text));
    EXPECT_STREQ(text, "");
    EXPECT_EQ(fake.memory.size(), 1u);
  }
  EXPECT_TRUE(fake.memory.empty());
  EXPECT_EQ(DeviceBuffer::allocate(device, 0)->address(), 0u);
  fake.failures["cuMemAlloc_v2"] = 2;
  EXPECT_EQ(DeviceBuffer::allocate(device, 100).message(),
            "cannot allocate 100 bytes on the GPU: cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (out of memory)");
}

TEST(CudaEvent, MeasuresSeconds) {
  FakeDriver fake;
  DeviceRef device = fake.device();
  Event begin = *Event::create(device), end = *Event::create(device);
  ASSERT_TRUE(begin.record(nullptr));
  ASSERT_TRUE(end.record(nullptr));
  ASSERT_TRUE(end.wait());
  EXPECT_DOUBLE_EQ(*end.secondsSince(begin), 0.5e-3);
  EXPECT_EQ(fake.depth, 0);
}

} // namespace
