//===- CudaLaunchFixture.h - A kernel to launch on a fake GPU --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef ATTNC_TEST_UNIT_RUNTIME_CUDALAUNCHFIXTURE_H
#define ATTNC_TEST_UNIT_RUNTIME_CUDALAUNCHFIXTURE_H

#include "FakeDriver.h"
#include "runtime/cuda/GpuLaunch.h"

#include <gtest/gtest.h>

namespace attnc::test {

/// q[B, Sq, 64] and k[1|B, Sk, 64] in bf16, lengths[B] in i32, scale, out[B, Sq, 64]; tiles of 128 rows.
class CudaLaunch : public ::testing::Test {
protected:
  enum { Q, K, Lengths, Scale, Out };

  void SetUp() override {
    image.name = "forward";
    image.symbols = {"B", "Sq", "Sk"};
    image.args.resize(5);
    const char *names[] = {"q", "k", "lengths", "scale", "out"};
    for (int i = 0; i < 5; ++i)
      image.args[i].name = names[i];
    for (int i : {int(Q), int(K), int(Out)}) {
      image.args[i].dtype = image::DType::BF16;
      image.args[i].dims = {{-1, 0, i == K}, {-1, i == K ? 2 : 1, false}, {64, -1, false}};
    }
    image.args[Lengths].dtype = image::DType::I32;
    image.args[Lengths].dims = {{-1, 0, false}};
    image.args[Lengths].content = image::ContentRule::Lengths;
    image.args[Lengths].contentSymbols = {2};
    image.args[Scale].kind = image::ArgKind::Scalar;
    image.args[Out].role = image::ArgRole::Output;
    image::KernelEntry entry;
    entry.symbol = "forward_entry";
    using Op = image::GridRule::Op;
    entry.grid = image::GridRule::combine(
        Op::Mul, image::GridRule::combine(Op::CeilDiv, image::GridRule::symbol(1), image::GridRule::constant(128)),
        image::GridRule::symbol(0));
    entry.threads = 384;
    entry.sharedBytes = 200000;
    entry.persistent = true;
    entry.takesCounter = true;
    entry.tensorMaps = {{Q, {1, 128, 64}, 128}, {K, {1, 80, 64}, 128}};
    image.entries = {entry};
    image.bytes = {0x7F, 'E', 'L', 'F', 0};
    fake.onLaunch = [this](void **parameters) { read(parameters); };
  }

  /// Reads the parameters of a launch by the contract of `KernelEntry`.
  void read(void **parameters) {
    const int64_t numSlots = runtime::slotOffsets(image).back();
    const auto *block = static_cast<const int64_t *>(*parameters++);
    slots.assign(block, block + numSlots);
    maps.clear();
    for (size_t i = 0; i < image.entries[0].tensorMaps.size(); ++i) {
      EXPECT_EQ(reinterpret_cast<uintptr_t>(*parameters) % 64, 0u);
      maps.push_back(static_cast<const cuda::TensorMap *>(*parameters++)->words[0]);
    }
    tiles = *static_cast<const int64_t *>(*parameters++);
    counter = image.entries[0].takesCounter ? *static_cast<const cuda::DeviceAddress *>(*parameters) : 0;
  }

  std::unique_ptr<cuda::GpuLaunch> load() {
    auto launch = cuda::GpuLaunch::load(fake.device(), image);
    EXPECT_TRUE(launch) << launch.message();
    fake.clear();
    return std::move(*launch);
  }

  static runtime::Tensor device(uint64_t address, image::DType dtype, image::Span<const int64_t> shape) {
    return runtime::Tensor::deviceView(address, dtype, shape, runtime::rowMajorStrides(shape));
  }

  /// Arguments of these sizes.
  std::vector<runtime::ArgValue> values(int64_t b, int64_t sq, int64_t sk) {
    return {device(0x10000, image::DType::BF16, {b, sq, 64}), device(0x20000, image::DType::BF16, {b, sk, 64}),
            device(0x30000, image::DType::I32, {b}), 0.125, device(0x40000000000, image::DType::BF16, {b, sq, 64})};
  }

  FakeDriver fake;
  image::KernelImage image;
  std::vector<int64_t> slots;
  std::vector<uint64_t> maps;
  int64_t tiles = -1;
  cuda::DeviceAddress counter = 0;
  const cuda::StreamHandle stream = reinterpret_cast<cuda::StreamHandle>(0x77);
};

} // namespace attnc::test

#endif // ATTNC_TEST_UNIT_RUNTIME_CUDALAUNCHFIXTURE_H
