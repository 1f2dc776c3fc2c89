//===- ReferenceArrayTest.cpp - Elements of host arrays ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/reference/Reference.h"
#include "llvm/ADT/APFloat.h"
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace attnc::attn;

namespace {

/// The bits that APFloat rounds `value` to.
uint16_t expectedBits(double value, const llvm::fltSemantics &semantics) {
  llvm::APFloat number(value);
  bool lost;
  number.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &lost);
  return static_cast<uint16_t>(number.bitcastToAPInt().getZExtValue());
}

struct Format {
  ElementKind kind;
  const llvm::fltSemantics &semantics;
};

class ReferenceArray16 : public testing::TestWithParam<int> {
protected:
  Format format() const {
    return GetParam() ? Format{ElementKind::BF16, llvm::APFloat::BFloat()}
                      : Format{ElementKind::F16, llvm::APFloat::IEEEhalf()};
  }
};

TEST_P(ReferenceArray16, EveryValueComesBack) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    auto stored = static_cast<uint16_t>(bits);
    llvm::APFloat expected(format().semantics, llvm::APInt(16, bits));
    double value = loadElement(format().kind, &stored, 0);
    if (expected.isNaN()) {
      ASSERT_TRUE(std::isnan(value));
      continue;
    }
    ASSERT_EQ(value, expected.convertToDouble());
    uint16_t again;
    storeElement(format().kind, &again, 0, value);
    ASSERT_EQ(again, stored);
  }
}

TEST_P(ReferenceArray16, RoundsAsAPFloatDoes) {
  for (unsigned bits = 0; bits < 0x7fff; ++bits) {
    auto stored = static_cast<uint16_t>(bits), next = static_cast<uint16_t>(bits + 1);
    double low = loadElement(format().kind, &stored, 0), high = loadElement(format().kind, &next, 0);
    if (!std::isfinite(high))
      continue;
    double middle = low + (high - low) / 2;
    for (double value : {middle, std::nextafter(middle, 0), std::nextafter(middle, 1e300), -middle}) {
      uint16_t rounded;
      storeElement(format().kind, &rounded, 0, value);
      ASSERT_EQ(rounded, expectedBits(value, format().semantics)) << value;
      ASSERT_EQ(roundToKind(format().kind, value), loadElement(format().kind, &rounded, 0));
    }
  }
  for (double value : {65519.0, 65520.0, 65536.0, 3.39e38, 3.4e38, 1e300, -1e300, 1e-300, -0.0}) {
    uint16_t rounded;
    storeElement(format().kind, &rounded, 0, value);
    EXPECT_EQ(rounded, expectedBits(value, format().semantics)) << value;
  }
  EXPECT_TRUE(std::isnan(roundToKind(format().kind, std::nan(""))));
}

INSTANTIATE_TEST_SUITE_P(Formats, ReferenceArray16, testing::Values(0, 1));

TEST(ReferenceArray, Integers) {
  uint8_t flags[] = {0, 7};
  EXPECT_EQ(loadElement(ElementKind::I1, flags, 0), 0);
  EXPECT_EQ(loadElement(ElementKind::I1, flags, 1), 1);
  int8_t bytes[] = {-3};
  EXPECT_EQ(loadIntegerElement(ElementKind::I8, bytes, 0), -3);
  int64_t large[] = {std::numeric_limits<int64_t>::max()};
  EXPECT_EQ(loadIntegerElement(ElementKind::I64, large, 0), large[0]);
}

TEST(ReferenceArray, Strides) {
  mlir::MLIRContext context;
  float data[6] = {0, 1, 2, 3, 4, 5};
  HostArray array = HostArray::dense(mlir::Float32Type::get(&context), data, {2, 3});
  EXPECT_EQ(array.load({1, 2}), 5);
  array.strides = {0, 2};
  EXPECT_EQ(array.load({1, 2}), 4);
}

} // namespace
