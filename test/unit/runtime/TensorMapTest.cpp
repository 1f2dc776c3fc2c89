//===- TensorMapTest.cpp - Tests of tensor maps ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#include "FakeDriver.h"
#include "runtime/cuda/TensorMapCache.h"

#include <gtest/gtest.h>
#include <set>

using namespace attnc::cuda;
using namespace attnc::image;
using attnc::test::EncodedMap;
using attnc::test::FakeDriver;

namespace {

constexpr DeviceAddress zeros = 0x9000;

/// Argument 'k' of rank `rank` and type `dtype`.
ArgSpec makeArg(int rank, DType dtype = DType::BF16) {
  ArgSpec arg;
  arg.name = "k";
  arg.dtype = dtype;
  arg.dims.resize(rank);
  return arg;
}

/// The key of a tensor [B, S, H, D] of these slots and a box of 128 rows of 64.
Result<TensorMapKey> makeKey(const std::vector<int64_t> &slots) {
  return makeTensorMapKey(makeArg(4), {0, {1, 128, 1, 64}, 128}, slots.data(), zeros);
}

TEST(TensorMap, DescribesATensorInnermostFirst) {
  FakeDriver fake;
  Result<TensorMapKey> key = makeKey({0x1000, 2, 500, 16, 128, 1024000, 2048, 128, 1});
  ASSERT_TRUE(key) << key.message();
  TensorMap map;
  ASSERT_EQ(encodeTensorMap(fake.driver(), *key, map), driverSuccess);
  ASSERT_EQ(fake.encoded.size(), 1u);
  const EncodedMap &encoded = fake.encoded[0];
  EXPECT_EQ(encoded.type, TensorMapType::BFloat16);
  EXPECT_EQ(encoded.address, reinterpret_cast<void *>(0x1000));
  EXPECT_EQ(encoded.sizes, (std::vector<uint64_t>{128, 16, 500, 2}));
  EXPECT_EQ(encoded.strides, (std::vector<uint64_t>{256, 4096, 2048000}));
  EXPECT_EQ(encoded.box, (std::vector<uint32_t>{64, 1, 128, 1}));
  EXPECT_EQ(encoded.swizzle, TensorMapSwizzle::Bytes128);
  EXPECT_EQ(encoded.promotion, TensorMapPromotion::L2Bytes256);
}

TEST(TensorMap, OrdersDimensionsAsABoxHoldsThem) {
  FakeDriver fake;
  // [B, H, S, K], of which a box holds the heads of each row one behind the other.
  const std::vector<int64_t> slots = {0x1000, 2, 16, 500, 128, 1024000, 64000, 128, 1};
  Result<TensorMapKey> key = makeTensorMapKey(makeArg(4), {0, {1, 2, 8, 64}, 128, {0, 2, 1, 3}}, slots.data(), zeros);
  ASSERT_TRUE(key) << key.message();
  EXPECT_EQ(std::vector<uint64_t>(key->sizes, key->sizes + 4), (std::vector<uint64_t>{128, 16, 500, 2}));
  EXPECT_EQ(std::vector<uint64_t>(key->strides, key->strides + 3), (std::vector<uint64_t>{128000, 256, 2048000}));
  EXPECT_EQ(std::vector<uint32_t>(key->box, key->box + 4), (std::vector<uint32_t>{64, 2, 8, 1}));
}

TEST(TensorMap, KnowsTypesAndSwizzles) {
  const std::vector<int64_t> slots = {0x1000, 2, 8, 64, 512, 64, 1};
  const auto key = [&](DType dtype, int swizzle) {
    return *makeTensorMapKey(makeArg(3, dtype), {0, {1, 8, 8}, swizzle}, slots.data(), zeros);
  };
  EXPECT_EQ(key(DType::F32, 64).type, TensorMapType::Float32);
  EXPECT_EQ(key(DType::F16, 64).type, TensorMapType::Float16);
  EXPECT_EQ(key(DType::F64, 64).type, TensorMapType::Float64);
  EXPECT_EQ(key(DType::I32, 64).type, TensorMapType::Int32);
  EXPECT_EQ(key(DType::I64, 64).type, TensorMapType::Int64);
  EXPECT_EQ(key(DType::F32, 64).swizzle, TensorMapSwizzle::Bytes64);
  EXPECT_EQ(key(DType::F32, 32).swizzle, TensorMapSwizzle::Bytes32);
  EXPECT_EQ(key(DType::F32, 0).swizzle, TensorMapSwizzle::None);
  EXPECT_EQ(key(DType::F32, 0).strides[0], 256u);
}

TEST(TensorMap, GivesStridesToDimensionsThatTakeNoStep) {
  // A dimension that broadcasts has size 1 and stride 0, which the driver refuses.
  Result<TensorMapKey> key = makeKey({0x1000, 1, 500, 1, 72, 0, 72, 7, 1});
  ASSERT_TRUE(key) << key.message();
  EXPECT_EQ(key->strides[0], 144u);
  EXPECT_EQ(key->strides[1], 144u);
  EXPECT_EQ(key->strides[2], 144u);
  EXPECT_EQ(key->sizes[3], 1u);
  // One element a row: its stride means nothing either.
  key = makeKey({0x1000, 1, 1, 1, 1, 3, 3, 3, 3});
  ASSERT_TRUE(key) << key.message();
  EXPECT_EQ(key->strides[0], 16u);
}

TEST(TensorMap, MapsATensorWithoutElementsToZeros) {
  Result<TensorMapKey> key = makeKey({0, 2, 0, 16, 128, 0, 2048, 128, 1});
  ASSERT_TRUE(key) << key.message();
  EXPECT_EQ(key->address, zeros);
  for (int d = 0; d < 4; ++d)
    EXPECT_EQ(key->sizes[d], 1u);
}

TEST(TensorMap, NamesTheArgumentThatCannotBeMapped) {
  EXPECT_EQ(makeKey({0x1008, 2, 500, 16, 128, 1024000, 2048, 128, 1}).message(),
            "argument 'k': expected data aligned to 16 bytes, got an address 8 bytes past");
  EXPECT_EQ(makeKey({0x1000, 2, 500, 16, 128, 1024000, 2048, 128, 2}).message(),
            "argument 'k': expected stride 1 in the last dimension, got 2");
  EXPECT_EQ(makeKey({0x1000, 2, 500, 16, 100, 800000, 1600, 100, 1}).message(),
            "argument 'k': expected a stride that is a positive multiple of 16 bytes in dimension 2, got 200 bytes");
  EXPECT_EQ(makeKey({0x1000, 2, 500, 16, 128, 1024000, 0, 128, 1}).message(),
            "argument 'k': expected a stride that is a positive multiple of 16 bytes in dimension 1, got 0 bytes");
  EXPECT_EQ(makeKey({0x1000, 2, 500, 16, 128, -1024000, 2048, 128, 1}).message(),
            "argument 'k': expected a stride that is a positive multiple of 16 bytes in dimension 0, got -2048000 "
            "bytes");
  EXPECT_EQ(makeKey({0x1000, 2, (int64_t{1} << 32) + 1, 16, 128, 1024000, 2048, 128, 1}).message(),
            "argument 'k': expected dimension 1 to be at most 4294967296, got 4294967297");
}

TEST(TensorMapCache, EncodesWhatItDoesNotHold) {
  FakeDriver fake;
  TensorMapCache cache;
  const std::vector<int64_t> base = {0x1000, 2, 500, 16, 128, 1024000, 2048, 128, 1};
  const auto get = [&](const std::vector<int64_t> &slots, Span<const int64_t> box, int swizzle, DType dtype) {
    TensorMapKey key = *makeTensorMapKey(makeArg(4, dtype), {0, box.toVector(), swizzle}, slots.data(), zeros);
    TensorMap map;
    EXPECT_EQ(cache.get(fake.driver(), key, map), driverSuccess);
    return map.words[0];
  };
  const uint64_t first = get(base, {1, 128, 1, 64}, 128, DType::BF16);
  EXPECT_EQ(get(base, {1, 128, 1, 64}, 128, DType::BF16), first);
  // Everything that a map depends on makes another.
  std::set<uint64_t> others = {get(base, {1, 64, 1, 64}, 128, DType::BF16), get(base, {1, 128, 1, 32}, 64, DType::BF16),
                               get(base, {1, 128, 1, 32}, 128, DType::BF16),
                               get(base, {1, 128, 1, 64}, 128, DType::F16)};
  for (size_t i : {0, 1, 2, 5}) {
    std::vector<int64_t> slots = base;
    slots[i] *= 2;
    others.insert(get(slots, {1, 128, 1, 64}, 128, DType::BF16));
  }
  EXPECT_EQ(others.size(), 8u);
  EXPECT_EQ(others.count(first), 0u);
}

TEST(TensorMapCache, KeepsTheLastOnes) {
  FakeDriver fake;
  TensorMapCache cache;
  const auto get = [&](int64_t address) {
    TensorMap map;
    EXPECT_EQ(cache.get(fake.driver(), *makeKey({address, 2, 500, 16, 128, 1024000, 2048, 128, 1}), map), 0);
    return map.words[0];
  };
  for (int64_t i = 0; i < 1000; ++i)
    EXPECT_EQ(get(0x100000 * (i + 1)), static_cast<uint64_t>(i + 1)) << "another address, another map";
  const size_t before = fake.encoded.size();
  EXPECT_EQ(get(int64_t{0x100000} * 1000), 1000u);
  EXPECT_EQ(fake.encoded.size(), before);
  fake.failures["cuTensorMapEncodeTiled"] = 1;
  TensorMap map;
  EXPECT_EQ(cache.get(fake.driver(), *makeKey({0x10, 2, 500, 16, 128, 1024000, 2048, 128, 1}), map), 1);
}

} // namespace
