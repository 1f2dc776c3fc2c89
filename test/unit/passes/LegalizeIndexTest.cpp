//===- LegalizeIndexTest.cpp - Ranges and 32-bit positions ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Masks at positions and scalars near the ends of what they may be: every value lies in the range that is inferred for
// it, and a machine whose `index` has 32 bits computes after attn-legalize-index what the spec means in 64.
//===----------------------------------------------------------------------===//

#include "MaskModule.h"
#include "RegionInterpreter.h"
#include "dialect/attn/Limits.h"
#include "passes/attn/RegionRanges.h"
#include <gtest/gtest.h>
#include <random>

using namespace attnc;
using namespace attnc::test;

namespace {

/// Positions that launches may ask for, the greatest and the least among them.
struct Positions {
  std::vector<int64_t> queries, keys;
};

Positions choosePositions(uint64_t seed) {
  std::mt19937_64 random(seed);
  auto pick = [&](int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); };
  constexpr int64_t last = attn::maxSize - 1;
  return {{-last, 0, last, pick(-last, last), pick(-60, 60)}, {0, last, pick(0, last), pick(0, 60)}};
}

/// An ordinary number, and one of the extremes.
std::vector<int64_t> chooseScalars(uint64_t seed) {
  std::vector<int64_t> numbers = extremeNumbers();
  return {9, numbers[seed % numbers.size()]};
}

void checkRanges(mlir::Region &mask, RegionInterpreter &interpreter, const attn::RegionRanges &ranges) {
  for (mlir::Operation &op : mask.front().without_terminator())
    for (mlir::Value result : op.getResults()) {
      if (!result.getType().isIntOrIndex())
        continue;
      std::optional<int64_t> number = interpreter.find(result);
      ASSERT_TRUE(number);
      mlir::ConstantIntRanges range = ranges.get(result);
      llvm::APInt value(range.smin().getBitWidth(), *number, /*isSigned=*/true, /*implicitTrunc=*/true);
      std::string text;
      llvm::raw_string_ostream(text) << op << " is " << *number << ", outside of " << range;
      EXPECT_TRUE(value.sge(range.smin()) && value.sle(range.smax()) && value.uge(range.umin()) &&
                  value.ule(range.umax()))
          << text;
    }
}

void compare(const MaskCase &mask, uint64_t seed, const std::vector<int64_t> &scalars) {
  SCOPED_TRACE(mask.text);
  MaskModule asWritten(mask.text, Passes::Bare), simplified(mask.text, Passes::Simplified);
  MaskModule legalized(mask.text, Passes::Legalized);
  ASSERT_TRUE(asWritten.getKernel() && simplified.getKernel() && legalized.getKernel());
  mlir::Region &mask64 = asWritten.getKernel().getMask(), &mask32 = legalized.getKernel().getMask();
  mlir::Region &bounds64 = simplified.getKernel().getBounds(), &bounds32 = legalized.getKernel().getBounds();
  if (mask64.empty() || mask32.empty())
    return;
  attn::RegionRanges ranges(mask64);
  for (int64_t scalar : scalars) {
    Problem problem(20, 45, scalar);
    RegionInterpreter wanted(mask64, problem), given(mask32, problem, /*indexBits=*/32);
    auto [queries, keys] = choosePositions(seed);
    for (int64_t i : queries) {
      for (int64_t j : keys) {
        SCOPED_TRACE("i " + std::to_string(i) + ", j " + std::to_string(j) + ", %w " + std::to_string(scalar));
        auto meant = wanted.run({1, 2, i, j});
        checkRanges(mask64, wanted, ranges);
        auto computed = given.run({1, 2, i, j});
        ASSERT_TRUE(meant && computed);
        EXPECT_EQ(*meant, *computed);
      }
      SCOPED_TRACE("bounds from i " + std::to_string(i) + ", %w " + std::to_string(scalar));
      int64_t last = std::min<int64_t>(i + 63, attn::maxSize - 1);
      auto meant = RegionInterpreter(bounds64, problem).run({1, 2, i, last});
      auto computed = RegionInterpreter(bounds32, problem, /*indexBits=*/32).run({1, 2, i, last});
      ASSERT_TRUE(meant && computed);
      // Ends that no key has are all the same.
      for (size_t end = 0; end < meant->size(); ++end)
        EXPECT_EQ(std::clamp<int64_t>((*meant)[end], 0, attn::maxSize),
                  std::clamp<int64_t>((*computed)[end], 0, attn::maxSize));
      if (testing::Test::HasFailure())
        return;
    }
  }
}

class LegalWrittenMask : public testing::TestWithParam<MaskCase> {};
class LegalRandomMasks : public testing::TestWithParam<uint64_t> {};

} // namespace

TEST_P(LegalWrittenMask, MeansTheSameIn32Bits) {
  std::vector<int64_t> scalars = {9}, extremes = extremeNumbers();
  // Every third: an end of each kind, by a distance that differs.
  for (size_t n = 0; n < extremes.size() && GetParam().text.find("%w") != std::string::npos; n += 3)
    scalars.push_back(extremes[n]);
  compare(GetParam(), 1, scalars);
}

TEST_P(LegalRandomMasks, MeanTheSameIn32Bits) {
  for (uint64_t seed = GetParam(); seed < GetParam() + 20 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    compare(generateMask(seed), seed, chooseScalars(seed));
  }
}

INSTANTIATE_TEST_SUITE_P(LegalizeIndex, LegalWrittenMask, testing::ValuesIn(writtenMasks()),
                         [](const testing::TestParamInfo<MaskCase> &info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(LegalizeIndex, LegalRandomMasks, testing::Range<uint64_t>(0, 400, 20));
