//===- ReferenceDropoutTest.cpp - Dropout (S9) ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "ReferenceTestSupport.h"
#include "dialect/reference/ReferenceRow.h"
#include <cmath>

using namespace attnc::attn;
using namespace attnc::attn::reference;
using namespace attnc::test;

namespace {

/// Probabilities of all-equal logits, after dropout: every kept one is 1 / (keys * (1 - p)).
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

// The first words that Random123 publishes for philox4x32 with 10 rounds.
TEST(Reference, S9_philoxKnownAnswers) {
  EXPECT_EQ(dropoutUniform(0, 0, 0, 0, 0), 0x6627e8 * 0x1p-24f);
  EXPECT_EQ(dropoutUniform(~uint64_t{0}, ~0u, ~0u, ~0u, ~0u), 0x408f27 * 0x1p-24f);
  EXPECT_EQ(dropoutUniform(0x299f31d0a4093822, 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344), 0xd16cfe * 0x1p-24f);
}

TEST(Reference, S9_keepsWhereUIsAtLeastP) {
  Call call(weightsSpec(runTimeDropout()));
  int64_t seed = 0x123456789abcdef;
  ASSERT_TRUE(uniformWeights(call, 3, 40, 50, 0.3, seed).run()) << call.message;
  int64_t kept = 0;
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t h = 0; h < 3; ++h)
      for (int64_t i = 0; i < 40; ++i)
        for (int64_t j = 0; j < 50; ++j) {
          bool keeps = dropoutUniform(seed, b, h, i, j) >= 0.3f;
          ASSERT_NEAR(call.out({b, h, i, j}), keeps ? 0.02 / (1 - double(0.3f)) : 0, 1e-15);
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
