//===- FunctionFactsTest.cpp - What is known of functions -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Ranges and trends of the table of region operations, held against the reference's own functions at numbers of all
// sizes.
//===----------------------------------------------------------------------===//

#include "dialect/attn/RegionOps.h"
#include "dialect/reference/ReferenceRules.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <cmath>
#include <vector>

using namespace attnc::attn;

/// Numbers of f32 in rising order: both signs of many sizes, small steps around 0 and the ends.
static std::vector<double> makeArguments() {
  std::vector<double> numbers = {0};
  // From 2^-140 to 2^126.6.
  for (int step = 0; step < 588; ++step) {
    double size = 0x1p-140 * std::pow(1.37, step);
    numbers.insert(numbers.end(), {size, -size});
  }
  for (int step = -4000; step <= 4000; ++step)
    numbers.push_back(step / 128.0);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

TEST(FunctionFacts, HoldOfTheReferencesFunctions) {
  // The ends are those of the exact function, which doubles are rounded from.
  constexpr double slack = 1e-15;
  int tested = 0;
  for (const RegionOp &row : getRegionOps()) {
    const reference::UnaryRule *rule = reference::findUnaryRule(row.name);
    if (!rule)
      continue;
    SCOPED_TRACE(row.name.str());
    ++tested;
    bool rises = false, falls = false;
    double last = std::nan("");
    for (double x : makeArguments()) {
      double y = rule->value(x);
      if (row.facts.trend != Trend::Open)
        ASSERT_FALSE(std::isnan(y)) << "a function with a trend has a value at " << x;
      if (std::isnan(y))
        continue;
      EXPECT_GE(y, row.facts.min - slack) << "at " << x;
      EXPECT_LE(y, row.facts.max + slack) << "at " << x;
      rises |= y > last;
      falls |= y < last;
      last = y;
    }
    if (row.facts.trend == Trend::Rising)
      EXPECT_FALSE(falls);
    if (row.facts.trend == Trend::Falling)
      EXPECT_FALSE(rises);
  }
  EXPECT_GT(tested, 25);
}

/// What a pass takes for a function's cost or lets a target approximate is a function of floats.
TEST(FunctionFacts, AreOfFunctionsOfFloats) {
  for (const RegionOp &row : getRegionOps()) {
    SCOPED_TRACE(row.name.str());
    if (row.facts.work > 0 || row.facts.trend != Trend::Open || row.facts.approximation != Approximation::None)
      EXPECT_TRUE(row.results & F32);
    EXPECT_GE(row.facts.tolerance, 2);
    if (row.facts.approximation == Approximation::Coarse)
      EXPECT_TRUE(row.facts.isSlow()) << "nothing is gained by an error that shows";
  }
}
