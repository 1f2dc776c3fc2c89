//===- RandomTest.cpp - Tests of random numbers ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#include "runtime/Random.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace attnc::image;
using namespace attnc::runtime;

namespace {

using Words = std::array<uint32_t, 4>;

// The known answers that Random123 publishes for philox4x32, 10 rounds.
TEST(Random, PhiloxKnownAnswers) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}), (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, MomentsOfTheDistributions) {
  constexpr int count = 100000;
  double uniform = 0, square = 0, mean = 0, variance = 0, fourth = 0;
  for (int i = 0; i < count; ++i) {
    const double u = uniformAt(7, 3, i), z = normalAt(7, 4, i);
    ASSERT_TRUE(u >= 0 && u < 1);
    ASSERT_TRUE(std::isfinite(z));
    uniform += u / count;
    square += u * u / count;
    mean += z / count;
    variance += z * z / count;
    fourth += z * z * z * z / count;
  }
  EXPECT_NEAR(uniform, 1.0 / 2, 0.005);
  EXPECT_NEAR(square, 1.0 / 3, 0.005);
  EXPECT_NEAR(mean, 0, 0.015);
  EXPECT_NEAR(variance, 1, 0.02);
  EXPECT_NEAR(fourth, 3, 0.15);
}

TEST(Random, DependsOnSeedStreamAndIndexOnly) {
  EXPECT_EQ(normalAt(1, 2, 3), normalAt(1, 2, 3));
  std::set<double> numbers;
  const uint64_t high = uint64_t{1} << 32;
  for (auto [seed, stream, index] :
       {std::array<uint64_t, 3>{0, 0, 0}, {1, 0, 0}, {high, 0, 0}, {0, 1, 0}, {0, high, 0}, {0, 0, 1}, {0, 0, high}})
    numbers.insert(uniformAt(seed, stream, index));
  EXPECT_EQ(numbers.size(), 7u);
}

TEST(Random, FillsByLogicalPosition) {
  Tensor rows = *Tensor::allocate(DType::F32, {3, 4});
  Tensor columns = Tensor::allocate(DType::F32, {4, 3})->transposedView({1, 0});
  fillNormal(rows, 5, 6, 10, 2);
  fillNormal(columns, 5, 6, 10, 2);
  for (int64_t i = 0; i < 12; ++i) {
    EXPECT_EQ(rows.loadLinear(i), static_cast<float>(10 + 2 * normalAt(5, 6, i)));
    EXPECT_EQ(columns.loadLinear(i), rows.loadLinear(i));
  }
  fillUniform(rows, 5, 6, -3, -1);
  for (int64_t i = 0; i < 12; ++i)
    EXPECT_EQ(rows.loadLinear(i), static_cast<float>(-3 + 2 * uniformAt(5, 6, i)));
}

} // namespace
