//===- TensorTest.cpp - Tests of host tensors ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#include "runtime/Tensor.h"

#include <cmath>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace attnc::image;
using namespace attnc::runtime;

namespace {

/// A row-major tensor whose n-th element is n.
Tensor iota(Span<const int64_t> shape, DType dtype = DType::F32) {
  Tensor tensor = *Tensor::allocate(dtype, shape);
  for (int64_t i = 0; i < tensor.numElements(); ++i)
    tensor.storeLinear(i, static_cast<double>(i));
  return tensor;
}

TEST(Tensor, AllocatesAligned) {
  for (const Dims &shape : {Dims{}, Dims{0}, Dims{1}, Dims{3, 5}, Dims{1024, 1024}}) {
    Result<Tensor> tensor = Tensor::allocate(DType::F32, shape);
    ASSERT_TRUE(tensor);
    EXPECT_NE(tensor->data(), nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor->data()) % 64, 0u);
    EXPECT_TRUE(tensor->isContiguous());
  }
}

/// The resident memory of this process, in bytes.
int64_t residentBytes() {
  int64_t size = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

TEST(Tensor, LargeTensorsTakeNoMemoryUntilWritten) {
  constexpr int64_t row = int64_t{1} << 30;
  const int64_t before = residentBytes();
  Result<Tensor> tensor = Tensor::allocate(DType::I8, {3, row});
  if (!tensor)
    GTEST_SKIP() << tensor.message();
  // Rule S17: the last element lies beyond any 32-bit offset.
  EXPECT_EQ(tensor->offsetOf({2, row - 1}), 3 * row - 1);
  tensor->storeAsDouble({2, row - 1}, 3);
  EXPECT_EQ(tensor->loadLinear(3 * row - 1), 3);
  EXPECT_EQ(tensor->slicedView(0, 2, 1).loadAsDouble({0, row - 1}), 3);
  EXPECT_EQ(static_cast<int8_t *>(tensor->data())[3 * row - 1], 3);
  EXPECT_LT(residentBytes() - before, int64_t{64} << 20);
}

TEST(Tensor, RefusesImpossibleShapes) {
  EXPECT_FALSE(Tensor::allocate(DType::F32, {2, -1}));
  EXPECT_FALSE(Tensor::allocate(DType::F32, {INT64_MAX, 2}));
  EXPECT_FALSE(Tensor::allocate(DType::F32, {INT64_MAX / 2}));
  EXPECT_FALSE(Tensor::allocate(DType::F32, {0, INT64_MAX, INT64_MAX}));
  Result<Tensor> huge = Tensor::allocate(DType::I8, {int64_t{1} << 62});
  ASSERT_FALSE(huge);
  EXPECT_NE(huge.message().find("out of memory"), std::string::npos) << huge.message();
}

TEST(Tensor, CountsElements) {
  EXPECT_EQ(countElements({}), 1);
  EXPECT_EQ(countElements({2, 3, 4}), 24);
  EXPECT_EQ(countElements({5, 0}), 0);
  EXPECT_EQ(countElements({-5}), std::nullopt);
  EXPECT_EQ(countElements({int64_t{1} << 32, int64_t{1} << 31}), std::nullopt);
  EXPECT_EQ(rowMajorStrides({2, 3, 4}), (Dims{12, 4, 1}));
  EXPECT_EQ(shapeString({2, 3}), "2x3");
  EXPECT_EQ(shapeString({}), "scalar");
}

TEST(Tensor, IndexedAndLinearAccessAgree) {
  Tensor tensor = iota({2, 3, 4}).transposedView({2, 0, 1});
  EXPECT_EQ(tensor.shape(), (Dims{4, 2, 3}));
  EXPECT_EQ(tensor.strides(), (Dims{1, 12, 4}));
  EXPECT_FALSE(tensor.isContiguous());
  int64_t linear = 0;
  for (int64_t a = 0; a < 4; ++a)
    for (int64_t b = 0; b < 2; ++b)
      for (int64_t c = 0; c < 3; ++c, ++linear) {
        EXPECT_EQ(tensor.loadAsDouble({a, b, c}), b * 12 + c * 4 + a);
        EXPECT_EQ(tensor.loadLinear(linear), b * 12 + c * 4 + a);
      }
}

TEST(Tensor, ForEachVisitsInRowMajorOrder) {
  Tensor tensor = iota({3, 2, 5}).transposedView({1, 2, 0}).slicedView(1, 1, 3);
  int64_t expected = 0;
  tensor.forEach([&](int64_t linear, void *element) {
    EXPECT_EQ(linear, expected++);
    EXPECT_EQ(loadScalar(DType::F32, element), tensor.loadLinear(linear));
  });
  EXPECT_EQ(expected, 2 * 3 * 3);
  Tensor scalar = iota({});
  int visits = 0;
  scalar.forEach([&](int64_t, void *) { ++visits; });
  EXPECT_EQ(visits, 1);
  iota({4, 0, 3}).forEach([&](int64_t, void *) { FAIL(); });
}

TEST(Tensor, ContiguousCopiesOnlyWhenNeeded) {
  Tensor tensor = iota({2, 3});
  EXPECT_EQ(tensor.contiguous()->data(), tensor.data());
  Tensor copy = *tensor.transposedView({1, 0}).contiguous();
  EXPECT_NE(copy.data(), tensor.data());
  const float expected[] = {0, 3, 1, 4, 2, 5};
  EXPECT_EQ(std::memcmp(copy.data(), expected, sizeof(expected)), 0);
  // The stride of a dimension of size 1 does not matter, and becomes regular.
  float value = 7;
  Tensor single = Tensor::stridedView(&value, DType::F32, {1, 1}, {99, -3});
  EXPECT_TRUE(single.isContiguous());
  EXPECT_EQ(single.contiguous()->strides(), (Dims{1, 1}));
}

TEST(Tensor, FillPoisonAndConvert) {
  for (unsigned i = 0; i < numDTypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    Tensor whole = *Tensor::allocate(dtype, {4, 4});
    whole.fill(1);
    whole.transposedView({1, 0}).slicedView(0, 1, 2).poison();
    for (int64_t n = 0; n < 16; ++n) {
      const bool poisoned = n % 4 == 1 || n % 4 == 2;
      if (!poisoned)
        EXPECT_EQ(whole.loadLinear(n), 1);
      else if (isFloat(dtype))
        EXPECT_TRUE(std::isnan(whole.loadLinear(n)));
      else
        EXPECT_EQ(static_cast<uint8_t *>(whole.data())[n * byteSize(dtype)], 0xFF);
    }
    whole.poison();
    if (isFloat(dtype))
      EXPECT_TRUE(std::isnan(whole.loadLinear(15)));
  }
  Tensor converted = *iota({2, 2}).transposedView({1, 0}).converted(DType::BF16);
  EXPECT_EQ(converted.dtype(), DType::BF16);
  EXPECT_EQ(converted.loadAsDouble({0, 1}), 2);
}

TEST(Tensor, ViewsShareAndKeepAlive) {
  auto owner = std::make_shared<std::vector<float>>(6, 2.f);
  std::weak_ptr<void> watch = owner;
  float *data = owner->data();
  Tensor slice;
  {
    Tensor tensor = Tensor::view(data, DType::F32, {2, 3}, std::move(owner));
    slice = tensor.slicedView(0, 1, 1);
  }
  EXPECT_FALSE(watch.expired());
  slice.storeLinear(0, 5);
  EXPECT_EQ(data[3], 5);
  EXPECT_EQ(slice.data<float>(), data + 3);
  slice = Tensor();
  EXPECT_TRUE(watch.expired());
  // A stride of 0 repeats, a negative one reverses.
  float values[] = {1, 2};
  Tensor reversed = Tensor::stridedView(values + 1, DType::F32, {3, 2}, {0, -1});
  EXPECT_EQ(reversed.loadAsDouble({2, 0}), 2);
  EXPECT_EQ(reversed.loadLinear(5), 1);
}

} // namespace
