//===- ReferenceCheckTest.cpp - Arguments that do not fit (S18) -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "ReferenceTestSupport.h"
#include <cmath>

using namespace attnc::attn;
using namespace attnc::test;

namespace {

/// Requires a refusal with `text` in its message, and results as they were.
void expectRefusal(Call &call, const std::string &text) {
  EXPECT_FALSE(call.run());
  EXPECT_NE(call.message.find(text), std::string::npos) << call.message;
  if (!call.outputs.empty() && call.outputs[0].shape.size() == 4) {
    EXPECT_TRUE(std::isnan(call.out({0, 0, 0, 0})));
  }
}

TEST(Reference, S18_shapesMustAgree) {
  Call keys(forwardSpec({}));
  keys.random({1, 2, 1, 8}).random({1, 3, 1, 8}).random({1, 4, 1, 8}).results(1, 2);
  expectRefusal(keys, "expected dimension 1 of 'arg2' to be 3, got 4 [S18]");
  Call result(forwardSpec({}));
  expectRefusal(result.randomQkv(1, 2, 3).result({1, 3, 1, 8}).result({1, 1, 2}),
                "expected dimension 1 of 'out0' to be 2");
  Call rank(forwardSpec({}));
  expectRefusal(rank.random({1, 2, 8}), "expected 3 arguments, got 1");
  Call bias(forwardSpec({"score (%s, %b, %h, %i, %j) {\n %x = attn.bias %s, %t[%j] : tensor<?xf32>\n"
                         " attn.yield %x : f32\n }",
                         ", %t: tensor<?xf32>"}));
  expectRefusal(bias.randomQkv(1, 2, 3).random({2}).results(1, 2),
                "expected dimension 0 of 'arg3' to be 3 or 1, got 2");
}

TEST(Reference, S18_scalarsMustBeInRange) {
  auto dropout = [](double p) {
    Call call(forwardSpec({"dropout(%p, %s0)", ", %p: f32, %s0: i64"}));
    expectRefusal(call.randomQkv(1, 1, 1).number(p).integer(0).results(1, 1), "a number from 0 to 1");
  };
  dropout(-0.1);
  dropout(1.5);
  dropout(std::nan(""));
  // Of its uses, the first takes any number.
  Call several(forwardSpec({"scale(%p) dropout(%p, %s0)", ", %p: f32, %s0: i64"}));
  expectRefusal(several.randomQkv(1, 1, 1).number(1.5).integer(0).results(1, 1), "a number from 0 to 1, got 1.5");
  Call scale(forwardSpec({"scale(%c)", ", %c: f32"}));
  expectRefusal(scale.randomQkv(1, 1, 1).number(std::nan("")).results(1, 1), "that is a number");
  Call window(forwardSpec(
      {"mask (%b, %h, %i, %j) {\n %x = attn.window %i, %j left(%w)\n attn.yield %x : i1\n }", ", %w: index"}));
  expectRefusal(window.randomQkv(1, 1, 1).integer(-1).results(1, 1), "of 0 or more, got -1");
  Call kind(forwardSpec({"scale(%c)", ", %c: f32"}));
  expectRefusal(kind.randomQkv(1, 1, 1).integer(1).results(1, 1), "expected 'arg3' to be a floating number");
}

TEST(Reference, S18_lengthsMustFit) {
  Call call(forwardSpec({"lengths(key = %n : tensor<?xi32>)", ", %n: tensor<?xi32>"}));
  expectRefusal(call.randomQkv(2, 1, 3).tensor({2}, {3, 4}).results(2, 1), "lengths of key from 0 to 3, got 4");
  for (const auto &[offsets, text] : {std::pair(std::vector<double>{1, 2, 4}, "begin with 0"),
                                      {{0, 5, 4}, "not decrease"},
                                      {{0, 2, 3}, "end with 4, got 3 at index 2 [S11]"}}) {
    SpecOptions options;
    options.packed = true;
    options.clauses = "varlen(query = %qo : tensor<?xi32>, key = %ko : tensor<?xi32>)";
    options.arguments = ", %qo: tensor<?xi32>, %ko: tensor<?xi32>";
    Call packed(forwardSpec(options));
    packed.random({4, 1, 8}).random({4, 1, 8}).random({4, 1, 8}).tensor({3}, offsets).tensor({3}, {0, 2, 4});
    expectRefusal(packed.result({4, 1, 8}).result({1, 4}), text);
  }
}

} // namespace
