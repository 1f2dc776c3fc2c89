//===- ReferenceTest.cpp - Rules of one row ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "ReferenceTestSupport.h"
#include <cmath>
#include <limits>
#include <thread>

using namespace attnc::attn;
using namespace attnc::test;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const double defaultScale = 1 / std::sqrt(8.0);

/// One key whose logit is `s` for a scale of 1.
Call &oneKey(Call &call, double s) {
  call.tensor({1, 1, 1, 8}, {1, 0, 0, 0, 0, 0, 0, 0}).tensor({1, 1, 1, 8}, {s, 0, 0, 0, 0, 0, 0, 0});
  return call.random({1, 1, 1, 8}).results(1, 1);
}

TEST(Reference, S1_scaleDefaultsToRootOfHeadDim) {
  Call call(forwardSpec({}));
  ASSERT_TRUE(call.randomQkv(2, 3, 5).results(2, 3).run()) << call.message;
  expectPlain(call, defaultScale, {}, {});
}

TEST(Reference, S1_scaleIsLiteralOrRunTime) {
  Call literal(forwardSpec({"scale(0.75)"}));
  ASSERT_TRUE(literal.randomQkv(1, 3, 5).results(1, 3).run());
  expectPlain(literal, 0.75, {}, {});
  Call value(forwardSpec({"scale(%c)", ", %c: f32"}));
  ASSERT_TRUE(value.randomQkv(1, 3, 5).number(-1.5).results(1, 3).run());
  expectPlain(value, -1.5, {}, {});
}

TEST(Reference, S2_scoreAppliesInOrder) {
  Call call(forwardSpec({R"(scale(1.0) score (%s, %b, %h, %i, %j) {
    %two = arith.constant 2.0 : f32
    %three = arith.constant 3.0 : f32
    %a = arith.addf %s, %three : f32
    %c = arith.mulf %a, %two : f32
    attn.yield %c : f32
  })"}));
  ASSERT_TRUE(oneKey(call, 5).run());
  EXPECT_DOUBLE_EQ(call.lse({0, 0, 0}), 16);
}

TEST(Reference, S3_capNeverLeaksIntoMaskedKey) {
  // A cap of -inf would be -cap: the dropped key would keep a weight of exp(-1).
  Call call(forwardSpec({R"(score (%s, %b, %h, %i, %j) {
    %c = attn.softcap %s, 1.0
    attn.yield %c : f32
  } mask (%b, %h, %i, %j) {
    %zero = arith.constant 0 : index
    %keep = arith.cmpi eq, %j, %zero : index
    attn.yield %keep : i1
  })"}));
  ASSERT_TRUE(call.randomQkv(1, 2, 4).results(1, 2).run());
  expectPlain(
      call, defaultScale, [](double s, int, int, int, int) { return std::tanh(s); },
      [](int, int, int, int j) { return j == 0; });
}

TEST(Reference, S3_droppedKeysTakeNoPartEvenAsNaN) {
  Call call(
      forwardSpec({"mask (%b, %h, %i, %j) {\n %c = attn.causal %i, %j\n attn.yield %c : i1\n } align(top_left)"}));
  call.randomQkv(1, 1, 3).results(1, 1);
  for (unsigned argument : {1, 2})
    std::get<HostArray>(call.inputs[argument]).store({0, 1, 0, 3}, std::nan(""));
  ASSERT_TRUE(call.run());
  EXPECT_EQ(call.out({0, 0, 0, 3}), call.in(2, {0, 0, 0, 3}));
  EXPECT_TRUE(std::isfinite(call.lse({0, 0, 0})));
}

TEST(Reference, S4_softcapStaysFinite) {
  for (double s : {0.0, 1.0, -30.0, 1e4, -1e30, 3e38}) {
    Call call(forwardSpec(
        {"scale(1.0) score (%s, %b, %h, %i, %j) {\n %c = attn.softcap %s, 50.0\n attn.yield %c : f32\n }"}));
    ASSERT_TRUE(oneKey(call, s).run());
    EXPECT_DOUBLE_EQ(call.lse({0, 0, 0}), 50 * std::tanh(static_cast<float>(s) / 50.0));
  }
}

TEST(Reference, S4_infiniteCapChangesNothing) {
  for (double s : {0.0, -7.0, 1e30}) {
    Call call(
        forwardSpec({"scale(1.0) score (%s, %b, %h, %i, %j) {\n %c = attn.softcap %s, %cap\n attn.yield %c : f32\n }",
                     ", %cap: f32"}));
    ASSERT_TRUE(oneKey(call, s).number(infinity).run());
    EXPECT_EQ(call.lse({0, 0, 0}), static_cast<float>(s));
  }
}

TEST(Reference, S6_sinksJoinOnce) {
  Call call(forwardSpec({"scale(1.0) sinks(%t : tensor<2xf32>) score (%s, %b, %h, %i, %j) {\n"
                         " %c = attn.softcap %s, 1.0\n attn.yield %c : f32\n }",
                         ", %t: tensor<2xf32>"}));
  ASSERT_TRUE(oneKey(call, 2).tensor({2}, {3, -1}).run());
  // Neither scaled nor capped.
  double key = std::exp(std::tanh(2.0)), sum = key + std::exp(3) + std::exp(-1);
  EXPECT_NEAR(call.lse({0, 0, 0}), std::log(sum), 1e-14);
  EXPECT_NEAR(call.out({0, 0, 0, 1}), call.in(2, {0, 0, 0, 1}) * key / sum, 1e-14);
}

TEST(Reference, S6_sinksPerHeadAndRowOfSinksOnly) {
  SpecOptions options;
  options.clauses =
      "sinks(%t : tensor<2x2xf32>) mask (%b, %h, %i, %j) {\n %f = arith.constant false\n attn.yield %f : i1\n }";
  options.arguments = ", %t: tensor<2x2xf32>";
  options.queryHeads = options.keyHeads = 2;
  Call call(forwardSpec(options));
  ASSERT_TRUE(call.randomQkv(1, 1, 3, 2, 2).tensor({2, 2}, {1, 2, 1000, 1000}).results(1, 1, 2).run());
  EXPECT_NEAR(call.lse({0, 0, 0}), std::log(std::exp(1) + std::exp(2)), 1e-14);
  EXPECT_NEAR(call.lse({0, 1, 0}), 1000 + std::log(2), 1e-12);
  EXPECT_EQ(call.out({0, 0, 0, 0}), 0);
}

TEST(Reference, S7_rowOfNothingIsZero) {
  Call call(forwardSpec({"align(top_left) mask (%b, %h, %i, %j) {\n %one = arith.constant 1 : index\n"
                         " %keep = arith.cmpi ne, %i, %one : index\n attn.yield %keep : i1\n }"}));
  ASSERT_TRUE(call.randomQkv(1, 3, 4).results(1, 3).run());
  EXPECT_EQ(call.out({0, 1, 0, 5}), 0);
  EXPECT_EQ(call.lse({0, 0, 1}), -infinity);
  expectPlain(call, defaultScale, {}, [](int, int, int i, int) { return i != 1; });
  // No keys at all, and a score that drops by itself.
  Call none(forwardSpec({}));
  ASSERT_TRUE(none.randomQkv(1, 2, 0).results(1, 2).run()) << none.message;
  EXPECT_EQ(none.lse({0, 0, 1}), -infinity);
  EXPECT_EQ(none.out({0, 1, 0, 0}), 0);
  Call score(
      forwardSpec({"score (%s, %b, %h, %i, %j) {\n %x = arith.constant 0xFF800000 : f32\n attn.yield %x : f32\n }"}));
  ASSERT_TRUE(score.randomQkv(1, 1, 2).results(1, 1).run());
  EXPECT_EQ(score.lse({0, 0, 0}), -infinity);
  EXPECT_EQ(score.out({0, 0, 0, 0}), 0);
}

TEST(Reference, S7_hugeLogitsDoNotOverflow) {
  Call call(forwardSpec({"scale(10000.0)"}));
  ASSERT_TRUE(call.randomQkv(1, 4, 7).results(1, 4).run());
  for (int64_t i = 0; i < 4; ++i) {
    EXPECT_TRUE(std::isfinite(call.lse({0, 0, i})));
    EXPECT_TRUE(std::isfinite(call.out({0, i, 0, 0})));
  }
}

TEST(Reference, S10_keyHeadServesItsGroup) {
  SpecOptions options;
  options.queryHeads = 6;
  options.keyHeads = 2;
  Call call(forwardSpec(options));
  ASSERT_TRUE(call.randomQkv(2, 3, 4, 6, 2).results(2, 3, 6).run());
  expectPlain(call, defaultScale, {}, {});
}

TEST(Reference, S13_baselineIsNearAndRounded) {
  for (const char *dtype : {"bf16", "f16", "f32"}) {
    SpecOptions options;
    options.dtype = dtype;
    Call exact(forwardSpec(options)), baseline(forwardSpec(options));
    ReferenceOptions plain;
    plain.precision = Precision::Baseline;
    ASSERT_TRUE(exact.randomQkv(1, 5, 40).results(1, 5).run());
    ASSERT_TRUE(baseline.randomQkv(1, 5, 40).results(1, 5).run(plain));
    double ulp = dtype == std::string("bf16") ? 0x1p-8 : dtype == std::string("f16") ? 0x1p-11 : 0x1p-24;
    ElementKind kind = std::get<HostArray>(baseline.inputs[0]).elementType.isBF16()  ? ElementKind::BF16
                       : std::get<HostArray>(baseline.inputs[0]).elementType.isF16() ? ElementKind::F16
                                                                                     : ElementKind::F32;
    for (int64_t i = 0; i < 5; ++i) {
      EXPECT_NEAR(baseline.lse({0, 0, i}), exact.lse({0, 0, i}), 1e-6);
      for (int64_t d = 0; d < 8; ++d) {
        double value = baseline.out({0, i, 0, d});
        EXPECT_NEAR(value, exact.out({0, i, 0, d}), 4 * ulp) << dtype;
        EXPECT_EQ(value, roundToKind(kind, value)) << dtype;
      }
    }
  }
}

TEST(Reference, S14_valueHasAHeadDimOfItsOwn) {
  Call call(R"(func.func @kernel(%q: tensor<1x2x1x16xf32>, %k: tensor<1x3x1x16xf32>, %v: tensor<1x3x1x24xf32>)
      -> tensor<1x2x1x24xf32> {
    %o = attn.forward %q, %k, %v : (tensor<1x2x1x16xf32>, tensor<1x3x1x16xf32>, tensor<1x3x1x24xf32>)
        -> (tensor<1x2x1x24xf32>)
    return %o : tensor<1x2x1x24xf32>
  })");
  call.random({1, 2, 1, 16}).random({1, 3, 1, 16}).tensor({1, 3, 1, 24}, std::vector<double>(72, 0.5));
  ASSERT_TRUE(call.result({1, 2, 1, 24}).run()) << call.message;
  EXPECT_NEAR(call.out({0, 1, 0, 23}), 0.5, 1e-15);
}

TEST(Reference, ReadsStridedArrays) {
  Call dense(forwardSpec({"", "", 2, 2})), strided(forwardSpec({"", "", 2, 2}));
  ASSERT_TRUE(dense.randomQkv(1, 3, 4, 2, 2).results(1, 3, 2).run());
  // The same numbers stored as [B, H, S, D], seen as [B, S, H, D].
  strided.random({1, 3, 2, 8}).random({1, 4, 2, 8}).random({1, 4, 2, 8}).results(1, 3, 2);
  for (unsigned argument : {0, 1, 2}) {
    HostArray &array = std::get<HostArray>(strided.inputs[argument]);
    int64_t rows = array.shape[1];
    array.strides = {rows * 16, 8, rows * 8, 1};
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t h = 0; h < 2; ++h)
        for (int64_t d = 0; d < 8; ++d)
          array.store({0, row, h, d}, dense.in(argument, {0, row, h, d}));
  }
  ASSERT_TRUE(strided.run());
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t h = 0; h < 2; ++h)
      EXPECT_EQ(strided.out({0, i, h, 4}), dense.out({0, i, h, 4}));
}

TEST(Reference, RowsAndThreadsChangeNothing) {
  SpecOptions options;
  options.queryHeads = 2;
  Call all(forwardSpec(options)), some(forwardSpec(options));
  ReferenceOptions threads;
  auto parallel = [](int64_t n, llvm::function_ref<void(int64_t)> body) {
    std::vector<std::thread> workers;
    workers.reserve(n);
    for (int64_t index = 0; index < n; ++index)
      workers.emplace_back([=] { body(index); });
    for (std::thread &worker : workers)
      worker.join();
  };
  threads.parallelFor = parallel;
  ASSERT_TRUE(all.randomQkv(1, 300, 20, 2).results(1, 300, 2).run(threads));
  ReferenceOptions rows;
  rows.rows = {7, 299, 1000};
  ASSERT_TRUE(some.randomQkv(1, 300, 20, 2).results(1, 300, 2).run(rows));
  for (int64_t row = 0; row < 300; ++row) {
    if (row == 7 || row == 299)
      EXPECT_EQ(some.out({0, row, 1, 3}), all.out({0, row, 1, 3}));
    else
      EXPECT_TRUE(std::isnan(some.out({0, row, 1, 3})));
  }
}

TEST(Reference, WeightsAreProbabilities) {
  SpecOptions options;
  options.clauses = "scale(1.0) lengths(key = %kl : tensor<?xi32>)";
  options.arguments = ", %kl: tensor<?xi32>";
  Call call(weightsSpec(options));
  call.random({1, 2, 1, 8}).random({1, 3, 1, 8}).tensor({1}, {2}).result({1, 1, 2, 3});
  ASSERT_TRUE(call.run()) << call.message;
  double s[2] = {};
  for (int64_t j = 0; j < 2; ++j)
    for (int64_t d = 0; d < 8; ++d)
      s[j] += call.in(0, {0, 1, 0, d}) * call.in(1, {0, j, 0, d});
  EXPECT_NEAR(call.out({0, 0, 1, 0}), 1 / (1 + std::exp(s[1] - s[0])), 1e-14);
  EXPECT_EQ(call.out({0, 0, 1, 2}), 0);
}

} // namespace
