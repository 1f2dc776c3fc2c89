//===- GpuKernelTest.cpp - Tests of kernels on GPUs ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// On the fake driver, whose device memory and launches are those of the host.

#include "runtime/jit/GpuKernel.h"
#include "../runtime/FakeDriver.h"
#include "dialect/attn/AttnDialect.h"
#include "runtime/jit/GpuTarget.h"
#include "runtime/jit/Target.h"

#include <gtest/gtest.h>

using namespace attnc;
using namespace attnc::image;
using namespace attnc::runtime;
using attnc::test::FakeDriver;

namespace {

/// y = 2 x, for x[N] and y[N] in f32.
std::unique_ptr<jit::GpuKernel> loadTwice(FakeDriver &fake) {
  KernelImage image;
  image.name = "twice";
  image.symbols = {"N"};
  image.args.resize(2);
  image.args[0].name = "x";
  image.args[0].dims = {{-1, 0}};
  image.args[1] = image.args[0];
  image.args[1].name = "y";
  image.args[1].role = ArgRole::Output;
  KernelEntry entry = {"twice_entry", GridRule::symbol(0)};
  entry.threads = 32;
  image.entries = {entry};
  image.bytes = {0x7F, 'E', 'L', 'F'};
  fake.onLaunch = [](void **parameters) {
    const auto *slots = static_cast<const int64_t *>(parameters[0]);
    const auto *x = reinterpret_cast<const float *>(slots[0]);
    auto *y = reinterpret_cast<float *>(slots[3]);
    for (int64_t i = 0; i < slots[1]; ++i)
      y[i] = 2 * x[i];
  };
  auto kernel = jit::GpuKernel::load(fake.device(), image);
  EXPECT_TRUE(kernel) << kernel.message();
  return kernel ? std::move(*kernel) : nullptr;
}

TEST(GpuKernel, RunsOnHostTensors) {
  FakeDriver fake;
  {
    auto kernel = loadTwice(fake);
    ASSERT_TRUE(kernel);
    Tensor x = *Tensor::allocate(DType::F32, {5}), y = *Tensor::allocate(DType::F32, {5});
    x.fill(3);
    Status status = kernel->run({x, y});
    ASSERT_TRUE(status) << status.message();
    EXPECT_EQ(y.loadLinear(4), 6);
    EXPECT_TRUE(fake.memory.empty()) << "nothing stays on the device";
    EXPECT_EQ(kernel->run({x, 1.0}).message(), "argument 'y': expected a tensor, got a scalar");
    fake.failures["cuStreamSynchronize"] = 2;
    EXPECT_EQ(kernel->run({x, y}).message(),
              "cannot run kernel 'twice' on the GPU: cuStreamSynchronize: CUDA_ERROR_OUT_OF_MEMORY (out of memory)");
  }
  EXPECT_EQ(fake.depth, 0);
  EXPECT_EQ(fake.retained, 0);
}

TEST(GpuKernel, MeasuresWithoutCopies) {
  FakeDriver fake;
  auto kernel = loadTwice(fake);
  ASSERT_TRUE(kernel);
  Tensor x = *Tensor::allocate(DType::F32, {5}), y = *Tensor::allocate(DType::F32, {5});
  auto measurement = kernel->measure({x, y});
  ASSERT_TRUE(measurement) << measurement.message();
  for (int runs : {1, 4, 2}) {
    fake.clear();
    Result<std::vector<double>> seconds = (*measurement)->time(runs);
    ASSERT_TRUE(seconds) << seconds.message();
    EXPECT_EQ(*seconds, std::vector<double>(static_cast<size_t>(runs), 0.5e-3)) << "of the fake's clock";
    EXPECT_EQ(fake.launches.size(), static_cast<size_t>(runs) + 1) << "one is not counted";
    for (const std::string &call : fake.calls)
      EXPECT_EQ(call.find("cuMem"), std::string::npos) << call;
  }
}

TEST(GpuTarget, UnknownArchitecturesAreNamed) {
  mlir::MLIRContext context;
  context.loadDialect<attn::AttnDialect>();
  cuda::DeviceFacts gpu;
  gpu.major = 9;
  for (bool cuda : {false, true})
    for (const char *architecture : {"sm_1", "sm_81", "foo"}) {
      const std::string target = std::string(cuda ? "nvrtc:" : "nvptx:") + architecture;
      const std::string message = jit::chooseGpuTarget(&context, gpu, target).message();
      EXPECT_EQ(message.find("unknown architecture '" + std::string(architecture) + "' in target '" + target +
                             "'; there are sm_"),
                0U)
          << message;
    }
}

TEST(GpuTarget, CodeIsAssembledForTheGpuAtHand) {
  mlir::MLIRContext context;
  context.loadDialect<attn::AttnDialect>();
  const auto machineOf = [&](int major, int minor, llvm::StringRef architecture) {
    cuda::DeviceFacts gpu;
    gpu.major = major;
    gpu.minor = minor;
    Result<attn::GpuTargetAttr> target = jit::chooseGpuTarget(&context, gpu, ("nvptx:" + architecture).str());
    EXPECT_TRUE(target) << target.message();
    return target ? target->getMachineArch().str() : "";
  };
  EXPECT_EQ(machineOf(9, 0, "sm_90a"), "sm_90a");
  EXPECT_EQ(machineOf(8, 6, "sm_80"), "sm_80");
  EXPECT_EQ(machineOf(9, 0, "sm_80"), "sm_90");
  EXPECT_EQ(machineOf(12, 1, "sm_80"), "sm_121");
}

TEST(GpuTarget, CanBeNamedWhereNoGpuIs) {
  for (const char *name : {"nvptx", "nvptx:sm_90a", "nvptx:sm_80"}) {
    Result<const jit::Target *> target = jit::findTarget(name, jit::Use::Compile);
    ASSERT_TRUE(target) << target.message();
    EXPECT_EQ((*target)->name, name);
    const std::string why = (*target)->whyUnavailable();
    Result<const jit::Target *> here = jit::findTarget(name);
    EXPECT_EQ(static_cast<bool>(here), why.empty());
    if (!here)
      EXPECT_EQ(here.message(), "target '" + std::string(name) + "' cannot be used here: " + why);
  }
  EXPECT_EQ((*jit::findTarget("auto"))->name, "cpu");
}

} // namespace
