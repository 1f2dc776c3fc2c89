//===- CudaCopyTest.cpp - Tests of copies before launches ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#include "CudaLaunchFixture.h"

#include <algorithm>
#include <cstring>
#include <numeric>

using namespace attnc::cuda;
using namespace attnc::image;
using namespace attnc::runtime;

namespace {

/// Launches whose tensors the copy unit cannot take as they lie in memory.
class CudaCopy : public attnc::test::CudaLaunch {};

/// Does on the host what the kernel that copies rows does.
void copyRows(const RowCopy::Parameters &p) {
  for (int64_t row = 0; row < p.rows; ++row) {
    const char *from = reinterpret_cast<const char *>(p.from);
    char *to = reinterpret_cast<char *>(p.to);
    int64_t rest = row;
    for (int d = RowCopyParameters::maxDims - 1; d >= 0; --d) {
      from += rest % p.sizes[d] * p.fromStrides[d];
      to += rest % p.sizes[d] * p.toStrides[d];
      rest /= p.sizes[d];
    }
    std::memcpy(to, from, static_cast<size_t>(p.units * RowCopyParameters::unitBytes));
  }
}

TEST_F(CudaCopy, CopiesWhatTheCopyUnitCannotTake) {
  image.entries[0].tensorMaps.push_back({Out, {1, 64, 64}, 128});
  auto launch = load();
  // Rows of 65 elements, from an odd address on; batch entries backwards; and one row of keys for all.
  constexpr int64_t b = 2, sq = 3, sk = 5;
  std::vector<uint16_t> q(1000), k(64), out(1000, 0xEEEE);
  for (size_t i = 0; i < q.size(); ++i)
    q[i] = static_cast<uint16_t>(i);
  std::iota(k.begin(), k.end(), uint16_t{7000});
  const auto view = [](const uint16_t *data, Span<const int64_t> shape, Span<const int64_t> strides) {
    return Tensor::deviceView(reinterpret_cast<uint64_t>(data), DType::BF16, shape, strides);
  };
  std::vector<ArgValue> given = values(b, sq, sk);
  given[Q] = view(q.data() + 401, {b, sq, 64}, {-200, 65, 1});
  given[K] = view(k.data(), {b, sk, 64}, {0, 0, 1});
  given[Out] = view(out.data() + 1, {b, sq, 64}, {65 * sq, 65, 1});

  std::vector<std::string> functions;
  fake.onLaunch = [&](void **parameters) {
    functions.push_back(fake.launches.back().function);
    if (functions.back() == "attnc_copy_rows")
      return copyRows(*static_cast<const RowCopy::Parameters *>(*parameters));
    read(parameters);
    // The block and the maps speak of the copies.
    const std::vector<int64_t> offsets = slotOffsets(image);
    const auto *copyOfQ = reinterpret_cast<const uint16_t *>(slots[offsets[Q]]);
    auto *copyOfOut = reinterpret_cast<uint16_t *>(slots[offsets[Out]]);
    const auto *copyOfK = reinterpret_cast<const uint16_t *>(slots[offsets[K]]);
    EXPECT_EQ(slots[offsets[Q] + 4], sq * 64);
    EXPECT_EQ(slots[offsets[Q] + 5], 64);
    ASSERT_EQ(fake.encoded.size(), 3u);
    EXPECT_EQ(fake.encoded[0].address, copyOfQ);
    EXPECT_EQ(fake.encoded[1].address, copyOfK);
    EXPECT_EQ(fake.encoded[2].address, copyOfOut);
    EXPECT_EQ(fake.encoded[1].strides, (std::vector<uint64_t>{128, sk * 128}));
    for (int64_t i = 0; i < b * sk * 64; ++i)
      EXPECT_EQ(copyOfK[i], 7000 + i % 64);
    for (int64_t i = 0; i < b * sq * 64; ++i)
      copyOfOut[i] = static_cast<uint16_t>(copyOfQ[i] + 1);
  };
  const auto isRight = [&] {
    EXPECT_EQ(functions,
              (std::vector<std::string>{"attnc_copy_rows", "attnc_copy_rows", "forward_entry", "attnc_copy_rows"}));
    for (int64_t batch = 0; batch < b; ++batch)
      for (int64_t row = 0; row < sq; ++row)
        for (int64_t d = 0; d < 64; ++d)
          ASSERT_EQ(out[1 + (batch * sq + row) * 65 + d], 401 - 200 * batch + row * 65 + d + 1);
    EXPECT_EQ(out[0], 0xEEEE) << "nothing is written beside the rows";
    EXPECT_EQ(out[1 + 64], 0xEEEE);
    functions.clear();
    fake.clear();
    std::fill(out.begin(), out.end(), 0xEEEE);
  };
  Status status = launch->launch(given, stream);
  ASSERT_TRUE(status) << status.message();
  isRight();
  EXPECT_EQ(fake.memory.size(), 1u) << "the copies are gone";

  // In the caller's workspace.
  auto arguments = bindArguments(image, given, MemorySpace::Device);
  auto prepared = launch->prepare(*arguments);
  ASSERT_TRUE(prepared) << prepared.message();
  EXPECT_EQ(prepared->workspaceBytes, 768 + 1280 + 768);
  alignas(256) static char workspace[4096];
  ASSERT_TRUE(launch->launch(*prepared, stream, reinterpret_cast<DeviceAddress>(workspace)));
  EXPECT_EQ(std::count(fake.calls.begin(), fake.calls.end(), "cuMemAllocAsync"), 0);
  isRight();

  // Tensors that it can take are not copied.
  fake.clear();
  functions.clear();
  given[Q] = values(b, sq, sk)[Q];
  given[Out] = values(b, sq, sk)[Out];
  fake.onLaunch = [&](void **) { functions.push_back(fake.launches.back().function); };
  ASSERT_TRUE(launch->launch(given, stream));
  EXPECT_EQ(functions, (std::vector<std::string>{"attnc_copy_rows", "forward_entry"}));
  // Nor those without elements.
  given = values(b, sq, 0);
  ASSERT_TRUE(launch->launch(given, stream));
  EXPECT_EQ(functions.size(), 3u);
}

TEST_F(CudaCopy, NamesWhatCannotBeCopied) {
  auto launch = load();
  std::vector<ArgValue> given = values(1, 128, 16);
  const auto messageOf = [&](Span<const int64_t> shape, Span<const int64_t> strides) {
    given[K] = Tensor::deviceView(0x20000, DType::BF16, shape, strides);
    return launch->launch(given, stream).message();
  };
  EXPECT_EQ(messageOf({1, 16, 64}, {2048, 128, 2}), "argument 'k': expected stride 1 in the last dimension, got 2");
  EXPECT_EQ(messageOf({1, int64_t{1} << 40, 64}, {0, 0, 1}),
            "argument 'k': expected dimension 1 to be at most 4294967296, got 1099511627776");
  fake.failures["cuModuleLoadDataEx"] = 2;
  EXPECT_EQ(messageOf({1, 16, 64}, {2048, 0, 1}),
            "cannot load kernel 'copy_rows' on the GPU: cuModuleLoadDataEx: CUDA_ERROR_OUT_OF_MEMORY (out of memory)");
  fake.failures.clear();
  fake.failures["cuLaunchKernelEx"] = 2;
  EXPECT_EQ(messageOf({1, 16, 64}, {2048, 0, 1}),
            "cannot copy argument 'k' of kernel 'forward': cuLaunchKernelEx: CUDA_ERROR_OUT_OF_MEMORY (out of memory)");
  EXPECT_EQ(fake.memory.size(), 1u) << "the workspace was given back";
}

} // namespace
