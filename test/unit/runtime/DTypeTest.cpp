//===- DTypeTest.cpp - Tests of element types ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#include "codegen/image/DType.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace attnc::image;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// The value that `value` has after it was stored as `dtype`.
double roundTrip(DType dtype, double value) {
  unsigned char element[9];
  storeScalar(dtype, element + 1, value); // an odd address: no alignment needed
  return loadScalar(dtype, element + 1);
}

TEST(DType, NamesAndSizes) {
  const char *names[] = {"f32", "f16", "bf16", "f64", "i1", "i8", "i32", "i64"};
  const char *fileNames[] = {"F32", "F16", "BF16", "F64", "BOOL", "I8", "I32", "I64"};
  const int64_t sizes[] = {4, 2, 2, 8, 1, 1, 4, 8};
  for (unsigned i = 0; i < numDTypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(name(dtype), names[i]);
    EXPECT_EQ(safetensorsName(dtype), fileNames[i]);
    EXPECT_EQ(byteSize(dtype), sizes[i]);
    EXPECT_EQ(isFloat(dtype), i < 4);
    EXPECT_EQ(parseDType(names[i]), dtype);
    EXPECT_EQ(parseSafetensorsDType(fileNames[i]), dtype);
  }
  EXPECT_FALSE(parseDType("F32"));
  EXPECT_FALSE(parseSafetensorsDType("F8_E4M3"));
}

TEST(DType, EveryF16IsItsOwnNearest) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const double value = decodeF16(bits);
    if (std::isnan(value))
      EXPECT_EQ(encodeF16(value), bits | 0x200); // made quiet
    else
      ASSERT_EQ(encodeF16(value), bits);
  }
}

TEST(DType, EveryBF16IsItsOwnNearest) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const double value = decodeBF16(bits);
    if (std::isnan(value))
      EXPECT_EQ(encodeBF16(value), bits | 0x40);
    else
      ASSERT_EQ(encodeBF16(value), bits);
  }
}

/// Between each two neighbours: the middle goes to the even one, and anything
/// off the middle to the nearer.
template <typename Encode, typename Decode>
void checkRounding(uint32_t largest, Encode encode, Decode decode) {
  for (uint32_t bits = 0; bits < largest; ++bits) {
    const double lower = decode(bits), upper = decode(bits + 1);
    const double middle = (lower + upper) / 2;
    const uint32_t even = bits & 1 ? bits + 1 : bits;
    ASSERT_EQ(encode(middle), even);
    ASSERT_EQ(encode(-middle), even | 0x8000);
    ASSERT_EQ(encode(std::nextafter(middle, 0.0)), bits);
    ASSERT_EQ(encode(std::nextafter(middle, infinity)), bits + 1);
  }
}

TEST(DType, RoundsToNearestEven) {
  checkRounding(0x7BFF, encodeF16, decodeF16);
  checkRounding(0x7F7F, encodeBF16, decodeBF16);
}

TEST(DType, RoundsOnce) {
  // Just above the middle of two bf16; as a float it is the middle, and would
  // then go to the even one below.
  const double value = 1 + 0x1p-8 + 0x1p-40;
  EXPECT_EQ(encodeBF16(value), 0x3F81);
  EXPECT_EQ(encodeBF16(static_cast<float>(value)), 0x3F80);
}

TEST(DType, EdgesOfTheRange) {
  EXPECT_EQ(encodeF16(65504), 0x7BFF);
  EXPECT_EQ(encodeF16(65519.999), 0x7BFF);
  EXPECT_EQ(encodeF16(65520), 0x7C00); // the middle to 2^16 is odd below
  EXPECT_EQ(encodeF16(1e300), 0x7C00);
  EXPECT_EQ(encodeF16(-infinity), 0xFC00);
  EXPECT_EQ(encodeF16(-0.0), 0x8000);
  EXPECT_EQ(encodeF16(0x1p-25), 0); // half of the smallest, ties to 0
  EXPECT_EQ(encodeF16(0x1.0000001p-25), 1);
  EXPECT_EQ(encodeF16(std::numeric_limits<double>::denorm_min()), 0);
  EXPECT_EQ(encodeBF16(0x1p-134), 0);
  EXPECT_EQ(encodeBF16(-0x1.8p-134), 0x8001);
  for (DType dtype : {DType::F32, DType::F16, DType::BF16, DType::F64}) {
    EXPECT_TRUE(std::isnan(roundTrip(dtype, nan)));
    EXPECT_EQ(roundTrip(dtype, infinity), infinity);
    EXPECT_EQ(roundTrip(dtype, maxFinite(dtype)), maxFinite(dtype));
  }
  EXPECT_EQ(maxFinite(DType::F16), 65504);
  EXPECT_EQ(maxFinite(DType::F64), std::numeric_limits<double>::max());
}

TEST(DType, IntegersRoundAndSaturate) {
  EXPECT_EQ(roundTrip(DType::I8, 2.5), 2);
  EXPECT_EQ(roundTrip(DType::I8, 3.5), 4);
  EXPECT_EQ(roundTrip(DType::I8, 300), 127);
  EXPECT_EQ(roundTrip(DType::I8, -300), -128);
  EXPECT_EQ(roundTrip(DType::I32, -2147483648.0), -2147483648.0);
  EXPECT_EQ(roundTrip(DType::I32, infinity), 2147483647.0);
  EXPECT_EQ(roundTrip(DType::I32, nan), 0);
  EXPECT_EQ(roundTrip(DType::I1, 0), 0);
  EXPECT_EQ(roundTrip(DType::I1, -3), 1);
  int64_t wide = 0;
  storeScalar(DType::I64, &wide, 1e300);
  EXPECT_EQ(wide, INT64_MAX);
  storeScalar(DType::I64, &wide, -0x1p63);
  EXPECT_EQ(loadInteger(DType::I64, &wide), INT64_MIN);
}

TEST(DType, Ulp) {
  EXPECT_EQ(ulp(DType::F32, 1), 0x1p-23);
  EXPECT_EQ(ulp(DType::F16, -1.999), 0x1p-10);
  EXPECT_EQ(ulp(DType::BF16, 2), 0x1p-6);
  EXPECT_EQ(ulp(DType::F64, 1), 0x1p-52);
  EXPECT_EQ(ulp(DType::F16, 0), 0x1p-24);
  EXPECT_EQ(ulp(DType::F16, 1e-6), 0x1p-24);
  EXPECT_EQ(ulp(DType::F16, infinity), 0x1p5);
  EXPECT_EQ(ulp(DType::F32, 0), 0x1p-149);
  EXPECT_EQ(ulp(DType::I32, 1e6), 1);
  EXPECT_TRUE(std::isnan(ulp(DType::F32, nan)));
}

} // namespace
