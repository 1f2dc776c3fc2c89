//===- ReferenceDropoutTest.cpp - Dropout (S9) ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "ReferenceTestSupport.h"
#include "dialect/reference/ReferenceRow.h"
#include <array>
#include <cmath>

using namespace attnc::attn;
using namespace attnc::attn::reference;
using namespace attnc::test;

namespace {

/// Probabilities of all-equal logits, after dropout: every kept one is 1 / keys, times 1 / (1 - p) for p rounded to 16
/// bits.
Call &uniformWeights(Call &call, int64_t heads, int64_t queries, int64_t keys, double p, int64_t seed) {
  call.tensor({2, queries, heads, 8}, std::vector<double>(2 * queries * heads * 8, 0)).random({2, keys, heads, 8});
  return call.number(p).integer(seed).result({2, heads, queries, keys});
}

SpecOptions runTimeDropout() {
  SpecOptions options;
  options.clauses = "dropout(%p, %seed)";
  options.arguments = ", %p: f32, %seed: i64";
  options.queryHeads = options.keyHeads = 3;
  return options;
}

/// The 128 bits of a call, as its eight elements have them.
std::vector<uint32_t> numbersOf(uint64_t seed, uint32_t b, uint32_t h, uint32_t i, uint32_t j) {
  std::vector<uint32_t> words;
  for (uint32_t query : {0, 8})
    for (uint32_t key : {0, 8})
      words.push_back(dropoutNumber(seed, b, h, i + query, j + key) | dropoutNumber(seed, b, h, i + query, j + key + 1)
                                                                          << 16);
  return words;
}

// The words that Random123 publishes for philox4x32 with 7 rounds.
TEST(Reference, S9_philoxKnownAnswers) {
  EXPECT_EQ(numbersOf(0, 0, 0, 0, 0), (std::vector<uint32_t>{0x5f6fb709, 0x0d893f64, 0x4f121f81, 0x4f730a48}));
  // The third word of the counter is 0x13198a2e, of query 16 * 0x2633145 + 6, and the fourth 0x03707344, of key
  // 16 * 0xdc1cd1.
  EXPECT_EQ(numbersOf(0x299f31d0a4093822, 0x243f6a88, 0x85a308d3, 0x2633145 * 16 + 6, 0xdc1cd1 * 16),
            (std::vector<uint32_t>{0x4dfccaba, 0x190a87f0, 0xc47362ba, 0xb6b5242a}));
}

/// How far `counts` of `total` draws are from alike: chi-square, in standard deviations from its mean.
double deviationOf(const std::vector<int64_t> &counts, int64_t total) {
  double expected = static_cast<double>(total) / static_cast<double>(counts.size()), chiSquare = 0;
  for (int64_t count : counts)
    chiSquare += (static_cast<double>(count) - expected) * (static_cast<double>(count) - expected) / expected;
  double freedom = static_cast<double>(counts.size()) - 1;
  return (chiSquare - freedom) / std::sqrt(2 * freedom);
}

/// An element's place: batch entry, head, query, key.
using Place = std::array<uint32_t, 4>;

/// Visits 2^18 places.
template <typename Visit>
void forPlaces(const Visit &visit) {
  constexpr Place sizes{2, 4, 128, 256};
  for (uint32_t b = 0; b < sizes[0]; ++b)
    for (uint32_t h = 0; h < sizes[1]; ++h)
      for (uint32_t i = 0; i < sizes[2]; ++i)
        for (uint32_t j = 0; j < sizes[3]; ++j)
          visit(Place{b, h, 4000 + i, 4000 + j});
}

TEST(Reference, S9_numbersAreUniform) {
  for (uint64_t seed : {uint64_t{0}, uint64_t{1}, ~uint64_t{0}, uint64_t{1} << 32}) {
    std::vector<int64_t> high(256), low(256);
    int64_t total = 0;
    forPlaces([&](const Place &at) {
      uint32_t number = dropoutNumber(seed, at[0], at[1], at[2], at[3]);
      ASSERT_LT(number, 65536u);
      ++high[number / 256], ++low[number % 256], ++total;
    });
    EXPECT_LT(std::abs(deviationOf(high, total)), 4) << seed;
    EXPECT_LT(std::abs(deviationOf(low, total)), 4) << seed;
  }
}

// Along each coordinate by steps within a call, between calls, and between blocks; and from seed to seed.
TEST(Reference, S9_numbersOfNeighboursAreIndependent) {
  auto jointDeviation = [](auto neighbourOf) {
    std::vector<int64_t> joint(256);
    int64_t total = 0;
    forPlaces([&](const Place &at) {
      uint32_t number = dropoutNumber(7, at[0], at[1], at[2], at[3]);
      ++joint[number >> 12 << 4 | neighbourOf(at) >> 12], ++total;
    });
    return std::abs(deviationOf(joint, total));
  };
  for (size_t coordinate = 0; coordinate < 4; ++coordinate)
    for (uint32_t distance : {1, 2, 4, 7, 8, 9, 16, 64})
      EXPECT_LT(jointDeviation([&](Place at) {
                  at[coordinate] += distance;
                  return dropoutNumber(7, at[0], at[1], at[2], at[3]);
                }),
                4)
          << "coordinate " << coordinate << " by " << distance;
  for (uint64_t seed : {uint64_t{6}, uint64_t{8}, uint64_t{7} | uint64_t{1} << 32})
    EXPECT_LT(jointDeviation([&](Place at) { return dropoutNumber(seed, at[0], at[1], at[2], at[3]); }), 4) << seed;
}

TEST(Reference, S9_keepsNumbersFromThatOfPOn) {
  Call call(weightsSpec(runTimeDropout()));
  int64_t seed = 0x123456789abcdef;
  ASSERT_TRUE(uniformWeights(call, 3, 40, 50, 0.3, seed).run()) << call.message;
  int64_t kept = 0;
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t h = 0; h < 3; ++h)
      for (int64_t i = 0; i < 40; ++i)
        for (int64_t j = 0; j < 50; ++j) {
          bool keeps = dropoutNumber(seed, b, h, i, j) >= 19661; // 0.3 * 65536
          ASSERT_NEAR(call.out({b, h, i, j}), keeps ? 0.02 * 65536 / (65536 - 19661) : 0, 1e-15);
          kept += keeps;
        }
  // 12000 draws: a deviation of 5 sigma is 0.021.
  EXPECT_NEAR(kept / 12000.0, 0.7, 0.021);
}

TEST(Reference, S9_zeroDropsNothingAndOneEverything) {
  Call none(weightsSpec(runTimeDropout())), all(weightsSpec(runTimeDropout()));
  ASSERT_TRUE(uniformWeights(none, 3, 4, 5, 0, 1).run());
  ASSERT_TRUE(uniformWeights(all, 3, 4, 5, 1, 1).run());
  for (int64_t j = 0; j < 5; ++j) {
    EXPECT_NEAR(none.out({1, 2, 3, j}), 0.2, 1e-15);
    EXPECT_EQ(all.out({1, 2, 3, j}), 0);
  }
}

TEST(Reference, S9_lseAndDenominatorKnowNoDropout) {
  Call plain(forwardSpec({})), dropped(forwardSpec({"dropout(0.5, %seed)", ", %seed: i64"}));
  ASSERT_TRUE(plain.randomQkv(1, 3, 9).results(1, 3).run());
  ASSERT_TRUE(dropped.randomQkv(1, 3, 9).integer(5).results(1, 3).run());
  for (int64_t i = 0; i < 3; ++i)
    EXPECT_EQ(dropped.lse({0, 0, i}), plain.lse({0, 0, i}));
}

TEST(Reference, S9_packedSequencesDrawAsPaddedOnes) {
  Call padded(forwardSpec({"dropout(0.5, %seed)", ", %seed: i64"}));
  ASSERT_TRUE(padded.randomQkv(2, 3, 4).integer(9).results(2, 3).run());
  SpecOptions options;
  options.packed = true;
  options.clauses = "dropout(0.5, %seed) varlen(query = %qo : tensor<?xi32>, key = %ko : tensor<?xi32>)";
  options.arguments = ", %seed: i64, %qo: tensor<?xi32>, %ko: tensor<?xi32>";
  Call packed(forwardSpec(options));
  packed.random({6, 1, 8}).random({8, 1, 8}).random({8, 1, 8}).integer(9).tensor({3}, {0, 3, 6}).tensor({3}, {0, 4, 8});
  ASSERT_TRUE(packed.result({6, 1, 8}).result({1, 6}).run()) << packed.message;
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t i = 0; i < 3; ++i) {
      EXPECT_EQ(packed.out({b * 3 + i, 0, 2}), padded.out({b, i, 0, 2}));
      EXPECT_EQ(packed.lse({0, b * 3 + i}), padded.lse({b, 0, i}));
    }
}

} // namespace
