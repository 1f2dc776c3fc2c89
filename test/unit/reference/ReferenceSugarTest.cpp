//===- ReferenceSugarTest.cpp - Sugar and its expansion ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The reference reads sugar by its formula, the compiler by its expansion; here each is held against the other, and
// against the rule.
//===----------------------------------------------------------------------===//

#include "ReferenceTestSupport.h"
#include <cmath>

using namespace attnc::attn;
using namespace attnc::test;

namespace {

const double defaultScale = 1 / std::sqrt(8.0);

/// One kernel with sugar: 2 batch entries, 3 queries, 5 keys, 2 heads.
struct SugarCase {
  const char *name;
  std::string clauses, arguments;
  std::function<void(Call &)> bind;
  PlainScore score;
  PlainMask mask;
};

std::string score(const std::string &body) {
  return "align(top_left) score (%s, %b, %h, %i, %j) {\n %x = " + body + "\n attn.yield %x : f32\n }";
}

std::string mask(const std::string &body) {
  return "align(top_left) mask (%b, %h, %i, %j) {\n %x = " + body + "\n attn.yield %x : i1\n }";
}

constexpr int segments[2][5] = {{0, 0, 1, 1, -1}, {7, -2, -2, 7, 7}};
constexpr int prefixes[] = {3, 0};

const SugarCase cases[] = {
    {"softcap",
     score("attn.softcap %s, 0.5"),
     "",
     [](Call &) {},
     [](double s, int, int, int, int) { return 0.5 * std::tanh(s / 0.5); },
     {}},
    {"softcapValue",
     score("attn.softcap %s, %cap"),
     ", %cap: f32",
     [](Call &call) { call.number(0.25); },
     [](double s, int, int, int, int) { return 0.25 * std::tanh(s / 0.25); },
     {}},
    {"alibi",
     score("attn.alibi %s, %t[%h], %i, %j : tensor<2xf32>"),
     ", %t: tensor<2xf32>",
     [](Call &call) { call.tensor({2}, {0.5, -0.125}); },
     [](double s, int, int h, int i, int j) { return s - (h ? -0.125 : 0.5) * std::abs(i - j); },
     {}},
    {"alibiBf16",
     score("attn.alibi %s, %t[%h], %i, %j : tensor<2xbf16>"),
     ", %t: tensor<2xbf16>",
     [](Call &call) { call.tensor({2}, {0.5, -0.125}); },
     [](double s, int, int h, int i, int j) { return s - (h ? -0.125 : 0.5) * std::abs(i - j); },
     {}},
    {"bias",
     score("attn.bias %s, %t[%h, %j] : tensor<2x?xf16>"),
     ", %t: tensor<2x?xf16>",
     [](Call &call) { call.tensor({2, 5}, {1, 2, 3, 4, 5, -1, -2, -3, -4, -5}); },
     [](double s, int, int h, int, int j) { return s + (h ? -1 : 1) * (j + 1); },
     {}},
    {"causal", mask("attn.causal %i, %j"), "", [](Call &) {}, {}, [](int, int, int i, int j) { return j <= i; }},
    {"window",
     mask("attn.window %i, %j left(1) right(2)"),
     "",
     [](Call &) {},
     {},
     [](int, int, int i, int j) { return i - 1 <= j && j <= i + 2; }},
    {"windowOfItself",
     mask("attn.window %i, %j left(0) right(0)"),
     "",
     [](Call &) {},
     {},
     [](int, int, int i, int j) { return i == j; }},
    {"windowLeft",
     mask("attn.window %i, %j left(%w)"),
     ", %w: index",
     [](Call &call) { call.integer(1); },
     {},
     [](int, int, int i, int j) { return i - 1 <= j; }},
    {"windowRight",
     mask("attn.window %i, %j right(%w)"),
     ", %w: index",
     [](Call &call) { call.integer(0); },
     {},
     [](int, int, int i, int j) { return j <= i; }},
    {"windowWithoutSides", mask("attn.window %i, %j"), "", [](Call &) {}, {}, {}},
    {"sameSegment",
     mask("attn.same_segment %qs[%b, %i], %ks[%b, %j] : tensor<?x?xi32>, tensor<?x?xi32>"),
     ", %qs: tensor<?x?xi32>, %ks: tensor<?x?xi32>",
     [](Call &call) { call.tensor({2, 3}, {0, 1, -1, 7, -2, 3}).tensor({2, 5}, {0, 0, 1, 1, -1, 7, -2, -2, 7, 7}); },
     {},
     [](int b, int, int i, int j) {
       constexpr int queries[2][3] = {{0, 1, -1}, {7, -2, 3}};
       return queries[b][i] == segments[b][j] && queries[b][i] >= 0;
     }},
    {"prefix",
     mask("attn.prefix %j, %n[%b] : tensor<?xi32>"),
     ", %n: tensor<?xi32>",
     [](Call &call) { call.tensor({2}, {3, 0}); },
     {},
     [](int b, int, int, int j) { return j < prefixes[b]; }},
};

class ReferenceSugar : public testing::TestWithParam<SugarCase> {};

TEST_P(ReferenceSugar, FormulaAndExpansionAreTheRule) {
  const SugarCase &sugar = GetParam();
  SpecOptions options;
  options.clauses = sugar.clauses;
  options.arguments = sugar.arguments;
  options.queryHeads = 2;
  Call plain(forwardSpec(options)), expanded(forwardSpec(options), /*expand=*/true);
  for (Call *call : {&plain, &expanded}) {
    call->randomQkv(2, 3, 5, 2);
    sugar.bind(*call);
    ASSERT_TRUE(call->results(2, 3, 2).run()) << call->message;
    expectPlain(*call, defaultScale, sugar.score, sugar.mask);
    ASSERT_TRUE(call->runBackward()) << call->message;
  }
  // Gradients of both forms agree too, captured tensors included.
  for (auto [gradient, other] : llvm::zip_equal(plain.gradients, expanded.gradients)) {
    if (!gradient)
      continue;
    int64_t size = 1;
    for (int64_t dim : gradient->shape)
      size *= dim;
    for (int64_t index = 0; index < size; ++index)
      EXPECT_NEAR(loadElement(ElementKind::F64, gradient->data, index),
                  loadElement(ElementKind::F64, other->data, index), 1e-12);
  }
}

INSTANTIATE_TEST_SUITE_P(Sugar, ReferenceSugar, testing::ValuesIn(cases),
                         [](const auto &info) { return std::string(info.param.name); });

TEST(Reference, S5_windowTakesTheWidestSide) {
  Call call(forwardSpec({mask("attn.window %i, %j left(%w) right(%w)"), ", %w: index"}));
  ASSERT_TRUE(call.randomQkv(1, 3, 4).integer(std::numeric_limits<int64_t>::max()).results(1, 3).run());
  expectPlain(call, defaultScale, {}, {});
}

} // namespace
