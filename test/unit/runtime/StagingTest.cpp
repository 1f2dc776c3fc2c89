//===- StagingTest.cpp - Tests of host tensors on GPUs ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#include "runtime/cuda/Staging.h"
#include "FakeDriver.h"

#include <gtest/gtest.h>

using namespace attnc::cuda;
using namespace attnc::image;
using namespace attnc::runtime;
using attnc::test::FakeDriver;

namespace {

/// lengths[N] to N, x[N, M] and y[N, M] in f32.
KernelImage makeImage() {
  KernelImage image;
  image.name = "twice";
  image.symbols = {"N", "M"};
  image.args.resize(3);
  image.args[0].name = "lengths";
  image.args[0].dtype = DType::I32;
  image.args[0].dims = {{-1, 0}};
  image.args[0].content = ContentRule::Lengths;
  image.args[0].contentSymbols = {0};
  image.args[1].name = "x";
  image.args[1].dims = {{-1, 0}, {-1, 1}};
  image.args[2] = image.args[1];
  image.args[2].name = "y";
  image.args[2].role = ArgRole::Output;
  return image;
}

/// Argument `index` of the image as the argument block has it.
Tensor tensorOf(const BoundArguments &arguments, size_t index) {
  const int64_t *slots = arguments.slots.data() + slotOffsets(makeImage())[index];
  return Tensor::deviceView(static_cast<uint64_t>(slots[0]), DType::F32, {slots + 1, 2}, {slots + 3, 2});
}

/// y = 2 x on the twins, which the fake driver keeps in host memory.
void run(const BoundArguments &arguments) {
  const Tensor x = tensorOf(arguments, 1), y = tensorOf(arguments, 2);
  for (int64_t i = 0; i < x.dim(0); ++i)
    for (int64_t j = 0; j < x.dim(1); ++j)
      y.data<float>()[y.offsetOf({i, j})] = 2 * x.data<float>()[x.offsetOf({i, j})];
}

Tensor lengths(std::initializer_list<double> values) {
  Tensor tensor = *Tensor::allocate(DType::I32, {static_cast<int64_t>(values.size())});
  int64_t i = 0;
  for (double value : values)
    tensor.storeLinear(i++, value);
  return tensor;
}

TEST(Staging, KeepsStridesAndGaps) {
  FakeDriver fake;
  const DeviceRef device = fake.device();
  // x broadcasts its rows and runs backwards; y is every second column of a larger tensor.
  std::vector<float> row = {1, 2, 3}, memory(12, -1);
  Tensor x = Tensor::stridedView(&row[2], DType::F32, {2, 3}, {0, -1});
  Tensor y = Tensor::stridedView(memory.data(), DType::F32, {2, 3}, {6, 2});
  Result<Staging> staging = Staging::copy(device, makeImage(), {lengths({0, 2}), x, y});
  ASSERT_TRUE(staging) << staging.message();
  const BoundArguments &arguments = staging->arguments();
  EXPECT_EQ(tensorOf(arguments, 1).strides(), x.strides());
  EXPECT_EQ(tensorOf(arguments, 2).strides(), y.strides());
  EXPECT_EQ(fake.memory.size(), 3u);
  run(arguments);
  EXPECT_EQ(memory[0], -1) << "the host's memory is not the device's";
  memory[1] = -2;
  ASSERT_TRUE(staging->copyBack());
  EXPECT_EQ(memory, (std::vector<float>{6, -2, 4, -1, 2, -1, 6, -1, 4, -1, 2, -1}));
}

TEST(Staging, CopiesWhatResultsHeld) {
  FakeDriver fake;
  const DeviceRef device = fake.device();
  Tensor x = *Tensor::allocate(DType::F32, {1, 2}), y = *Tensor::allocate(DType::F32, {1, 2});
  x.fill(1);
  y.fill(7);
  {
    Result<Staging> staging = Staging::copy(device, makeImage(), {lengths({1}), x, y});
    ASSERT_TRUE(staging) << staging.message();
    y.fill(0);
    ASSERT_TRUE(staging->copyBack());
  }
  EXPECT_EQ(y.loadLinear(1), 7) << "a result that no kernel wrote";
  EXPECT_TRUE(fake.memory.empty());
}

TEST(Staging, ChecksContentOnTheHost) {
  FakeDriver fake;
  const DeviceRef device = fake.device();
  Tensor x = *Tensor::allocate(DType::F32, {2, 0}), y = *Tensor::allocate(DType::F32, {2, 0});
  EXPECT_EQ(Staging::copy(device, makeImage(), {lengths({0, 3}), x, y}).message(),
            "argument 'lengths': expected lengths from 0 to 2 (N), got 3 at index 1");
  Result<Staging> empty = Staging::copy(device, makeImage(), {lengths({0, 0}), x, y});
  ASSERT_TRUE(empty) << empty.message();
  EXPECT_TRUE(empty->copyBack());
  fake.failures["cuMemAlloc_v2"] = 2;
  EXPECT_EQ(Staging::copy(device, makeImage(), {lengths({0, 0}), x, y}).message(),
            "argument 'lengths': cannot allocate 8 bytes on the GPU: cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (out of "
            "memory)");
}

} // namespace
