//===- ScoreRangeTest.cpp - What limited scores are relative to -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "passes/attn/ScoreRange.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace attnc::attn;

/// By what part of it a weight is off as bf16.
static double errorAsBf16(double weight) {
  constexpr int digits = 8;
  int exponent;
  double mantissa = std::ldexp(std::frexp(weight, &exponent), digits);
  return std::abs(std::round(mantissa) - mantissa) / mantissa;
}

/// Rounding at random is off by up to 2^-9. Where scores pile up at both ends that would not average out.
TEST(ScoreRange, WeightsOfBothEndsNeedNextToNoRounding) {
  constexpr double farthest = 1.0 / (1 << 13);
  for (ScoreRange range : {ScoreRange{-0.5, 0.5}, {0, 1}, {-1, 1}, {-3, 20}, {-30, 30}, {-50, 50}, {900, 1000}}) {
    double reference = findCommonReference(range, /*digits=*/8);
    SCOPED_TRACE(testing::Message() << range.low << " to " << range.high << " from " << reference);
    EXPECT_LT(errorAsBf16(std::exp(range.high - reference)), farthest);
    EXPECT_LT(errorAsBf16(std::exp(range.low - reference)), farthest);
    double expected = range.low + 0.75 * (range.high - range.low);
    EXPECT_LE(std::abs(reference - expected), std::log(2.0));
  }
}

/// All scores are one number: so are their weights.
TEST(ScoreRange, OfOneNumberHasWeightsOfOne) { EXPECT_EQ(findCommonReference({3, 3}, /*digits=*/8), 3); }
