//===- ShortPowerTest.cpp - Powers of 2 by multiply-adds --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/tile/ShortPower.h"
#include "gtest/gtest.h"
#include <cmath>
#include <limits>

using namespace attnc;

namespace {

TEST(ShortPower, IsAsExactAsWeightsNeed) {
  for (int n = 0; n < 512 * 247; ++n) {
    float x = -120.0F + static_cast<float>(n) / 512;
    double exact = std::exp2(static_cast<double>(x));
    ASSERT_NEAR(tile::findShortPower(x) / exact, 1.0, 4e-6) << x;
  }
}

TEST(ShortPower, EndsAtZero) {
  EXPECT_EQ(tile::findShortPower(0), 1);
  EXPECT_EQ(tile::findShortPower(-127), 0);
  EXPECT_EQ(tile::findShortPower(-1e6F), 0);
  EXPECT_EQ(tile::findShortPower(-std::numeric_limits<float>::infinity()), 0);
}

} // namespace
