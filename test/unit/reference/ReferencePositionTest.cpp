//===- ReferencePositionTest.cpp - Positions and sequences ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "ReferenceTestSupport.h"
#include <cmath>
#include <limits>

using namespace attnc::attn;
using namespace attnc::test;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const double defaultScale = 1 / std::sqrt(8.0);
constexpr const char *causal = " mask (%b, %h, %i, %j) {\n %c = attn.causal %i, %j\n attn.yield %c : i1\n }";
/// A score that says where it is: 1000 b + 100 h + 10 i + j, read from lse where one key is kept.
constexpr const char *whereAmI = R"( score (%s, %b, %h, %i, %j) {
    %c10 = arith.constant 10 : index
    %x0 = arith.muli %b, %c10 : index
    %x1 = arith.addi %x0, %h : index
    %x2 = arith.muli %x1, %c10 : index
    %x3 = arith.addi %x2, %i : index
    %x4 = arith.muli %x3, %c10 : index
    %x5 = arith.addi %x4, %j : index
    %x6 = arith.index_cast %x5 : index to i64
    %x = arith.sitofp %x6 : i64 to f32
    attn.yield %x : f32
  })";

TEST(Reference, S2_coordinates) {
  SpecOptions options;
  options.clauses = whereAmI;
  options.queryHeads = 2;
  Call call(forwardSpec(options));
  ASSERT_TRUE(call.randomQkv(2, 1, 1, 2).results(2, 1, 2).run()) << call.message;
  EXPECT_EQ(call.lse({1, 1, 0}), 1100);
  EXPECT_EQ(call.lse({0, 1, 0}), 100);
}

TEST(Reference, S2_alignment) {
  Call bottom(forwardSpec({causal})), top(forwardSpec({std::string("align(top_left)") + causal}));
  ASSERT_TRUE(bottom.randomQkv(1, 3, 5).results(1, 3).run());
  expectPlain(bottom, defaultScale, {}, [](int, int, int i, int j) { return j <= i + 2; });
  ASSERT_TRUE(top.randomQkv(1, 3, 5).results(1, 3).run());
  expectPlain(top, defaultScale, {}, [](int, int, int i, int j) { return j <= i; });
}

TEST(Reference, S2_moreQueriesThanKeysLeaveRowsEmpty) {
  Call call(forwardSpec({causal}));
  ASSERT_TRUE(call.randomQkv(1, 5, 3).results(1, 5).run());
  expectPlain(call, defaultScale, {}, [](int, int, int i, int j) { return j <= i - 2; });
  EXPECT_EQ(call.lse({0, 0, 1}), -infinity);
}

TEST(Reference, S2_queryOffset) {
  Call call(forwardSpec({std::string("align(top_left) q_offset(%n)") + causal, ", %n: index"}));
  ASSERT_TRUE(call.randomQkv(1, 2, 9).integer(4).results(1, 2).run());
  expectPlain(call, defaultScale, {}, [](int, int, int i, int j) { return j <= i + 4; });
  Call both(forwardSpec({std::string("q_offset(%n)") + causal, ", %n: index"}));
  ASSERT_TRUE(both.randomQkv(1, 2, 9).integer(-3).results(1, 2).run());
  expectPlain(both, defaultScale, {}, [](int, int, int i, int j) { return j <= i + 7 - 3; });
}

TEST(Reference, S11_lengthsEndSequencesAndShiftThem) {
  SpecOptions options;
  options.clauses = std::string("lengths(query = %ql : tensor<?xi32>, key = %kl : tensor<?xi32>)") + causal;
  options.arguments = ", %ql: tensor<?xi32>, %kl: tensor<?xi32>";
  Call call(forwardSpec(options));
  call.randomQkv(4, 3, 5).tensor({4}, {3, 2, 0, 1}).tensor({4}, {5, 4, 2, 0}).results(4, 3);
  // A key that does not exist takes no part, whatever is there.
  std::get<HostArray>(call.inputs[2]).store({1, 4, 0, 0}, std::nan(""));
  ASSERT_TRUE(call.run()) << call.message;
  constexpr int queries[] = {3, 2, 0, 1}, keys[] = {5, 4, 2, 0};
  expectPlain(call, defaultScale, {},
              [&](int b, int, int i, int j) { return i < queries[b] && j < keys[b] && j <= i + keys[b] - queries[b]; });
}

TEST(Reference, S11_packedSequencesAreSequencesOfTheirOwn) {
  SpecOptions options;
  options.packed = true;
  options.clauses = std::string("varlen(query = %qo : tensor<?xi32>, key = %ko : tensor<?xi32>)") + causal;
  options.arguments = ", %qo: tensor<?xi32>, %ko: tensor<?xi32>";
  Call packed(forwardSpec(options));
  // Lengths (2, 3), (0, 2), (1, 0), (3, 2).
  packed.random({6, 1, 8}).random({7, 1, 8}).random({7, 1, 8});
  packed.tensor({5}, {0, 2, 2, 3, 6}).tensor({5}, {0, 3, 5, 5, 7}).result({6, 1, 8}).result({1, 6});
  ASSERT_TRUE(packed.run()) << packed.message;
  constexpr int queryStart[] = {0, 2, 2, 3, 6}, keyStart[] = {0, 3, 5, 5, 7};
  for (int b = 0; b < 4; ++b) {
    int64_t queries = queryStart[b + 1] - queryStart[b], keys = keyStart[b + 1] - keyStart[b];
    Call alone(forwardSpec({causal}));
    for (auto [argument, start, count] :
         {std::tuple(0u, queryStart[b], queries), {1u, keyStart[b], keys}, {2u, keyStart[b], keys}}) {
      std::vector<double> elements;
      for (int64_t row = start; row < start + count; ++row)
        for (int64_t d = 0; d < 8; ++d)
          elements.push_back(packed.in(argument, {row, 0, d}));
      alone.tensor({1, count, 1, 8}, elements);
    }
    ASSERT_TRUE(alone.results(1, queries).run());
    for (int64_t i = 0; i < queries; ++i) {
      EXPECT_EQ(packed.lse({0, queryStart[b] + i}), alone.lse({0, 0, i}));
      EXPECT_EQ(packed.out({queryStart[b] + i, 0, 3}), alone.out({0, i, 0, 3}));
    }
  }
  EXPECT_EQ(packed.lse({0, 2}), -infinity) << "a sequence without keys";
}

TEST(Reference, S4_coordinatesAddressRowsAsStored) {
  // Shifted positions, but rows of the tensors: bias [1, H, Sq, Sk].
  SpecOptions options;
  options.clauses = "score (%s, %b, %h, %i, %j) {\n"
                    " %x = attn.bias %s, %bias[%b, %h, %i, %j] : tensor<?x?x?x?xf32>\n attn.yield %x : f32\n }";
  options.arguments = ", %bias: tensor<?x?x?x?xf32>";
  options.queryHeads = 2;
  Call call(forwardSpec(options));
  ASSERT_TRUE(call.randomQkv(2, 3, 5, 2).random({1, 2, 3, 5}).results(2, 3, 2).run()) << call.message;
  expectPlain(call, defaultScale, [&](double s, int, int h, int i, int j) { return s + call.in(3, {0, h, i, j}); }, {});
}

TEST(Reference, S4_everyDimensionBroadcasts) {
  for (unsigned mask = 0; mask < 16; ++mask) {
    SpecOptions options;
    options.clauses = "score (%s, %b, %h, %i, %j) {\n"
                      " %x = attn.bias %s, %bias[%b, %h, %i, %j] : tensor<?x?x?x?xf32>\n attn.yield %x : f32\n }";
    options.arguments = ", %bias: tensor<?x?x?x?xf32>";
    options.queryHeads = 2;
    Call call(forwardSpec(options));
    int64_t full[] = {2, 2, 3, 4}, shape[4];
    for (unsigned dim = 0; dim < 4; ++dim)
      shape[dim] = mask >> dim & 1 ? full[dim] : 1;
    ASSERT_TRUE(call.randomQkv(2, 3, 4, 2).random(shape).results(2, 3, 2).run()) << call.message;
    auto at = [&](unsigned dim, int index) { return shape[dim] == 1 ? 0 : index; };
    expectPlain(
        call, defaultScale,
        [&](double s, int b, int h, int i, int j) { return s + call.in(3, {at(0, b), at(1, h), at(2, i), at(3, j)}); },
        {});
  }
}

TEST(Reference, S4_computedIndicesAreClamped) {
  Call call(forwardSpec({R"(scale(1.0) score (%s, %b, %h, %i, %j) {
    %d = arith.subi %i, %j : index
    %x = attn.bias %s, %table[%d] : tensor<?xf32>
    attn.yield %x : f32
  })",
                         ", %table: tensor<?xf32>"}));
  ASSERT_TRUE(call.randomQkv(1, 4, 4).random({3}).results(1, 4).run()) << call.message;
  expectPlain(call, 1,
              [&](double s, int, int, int i, int j) { return s + call.in(3, {std::min(std::max(i - j, 0), 2)}); }, {});
}

TEST(Reference, S4_computedIndicesArePositionsEvenIfTheySimplify) {
  // Positions run from 2 to 4: the element of the position, not the one of the row.
  std::string clauses = R"(score (%s, %b, %h, %i, %j) {
    %zero = arith.constant 0 : index
    %at = arith.addi %i, %zero : index
    %x = attn.bias %s, %table[%at, %j] : tensor<?x?xf32>
    attn.yield %x : f32
  })";
  for (bool simplify : {false, true}) {
    Call call(forwardSpec({clauses, ", %table: tensor<?x?xf32>"}), simplify, simplify);
    ASSERT_TRUE(call.randomQkv(1, 3, 5).random({4, 5}).results(1, 3).run()) << call.message;
    expectPlain(call, defaultScale,
                [&](double s, int, int, int i, int j) { return s + call.in(3, {std::min(i + 2, 3), j}); }, {});
  }
}

TEST(Reference, S4_packedLoadsAddressThePackedRow) {
  SpecOptions options;
  options.packed = true;
  options.clauses = R"(scale(0.0) varlen(query = %qo : tensor<?xi32>, key = %ko : tensor<?xi32>)
    score (%s, %b, %h, %i, %j) {
      %x = attn.load %perKey[%j] : tensor<?xf32>
      %y = attn.load %perBatch[%b] : tensor<?xf32>
      %z = arith.addf %x, %y : f32
      attn.yield %z : f32
    })";
  options.arguments = ", %qo: tensor<?xi32>, %ko: tensor<?xi32>, %perKey: tensor<?xf32>, %perBatch: tensor<?xf32>";
  Call call(forwardSpec(options));
  call.random({2, 1, 8}).random({3, 1, 8}).random({3, 1, 8}).tensor({3}, {0, 1, 2}).tensor({3}, {0, 2, 3});
  call.tensor({3}, {1, 2, 4}).tensor({2}, {100, 200}).result({2, 1, 8}).result({1, 2});
  ASSERT_TRUE(call.run()) << call.message;
  EXPECT_NEAR(call.lse({0, 0}), std::log(std::exp(101) + std::exp(102)), 1e-12);
  EXPECT_NEAR(call.lse({0, 1}), 204, 1e-12);
}

} // namespace
