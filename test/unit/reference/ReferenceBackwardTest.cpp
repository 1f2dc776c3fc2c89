//===- ReferenceBackwardTest.cpp - Gradients (S15) --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "ReferenceTestSupport.h"
#include <cmath>

using namespace attnc::attn;
using namespace attnc::test;

namespace {

int64_t sizeOf(const HostArray &array) {
  int64_t size = 1;
  for (int64_t dim : array.shape)
    size *= dim;
  return size;
}

/// Compares the gradients of all floating tensors with central differences. Elements are multiples of 2^-10 and the
/// step is 2^-9, so that f32 inputs hold it exactly.
void expectFiniteDifferences(Call &call, double tolerance = 2e-5) {
  ASSERT_TRUE(call.runBackward()) << call.message;
  constexpr double step = 0x1p-9;
  for (unsigned argument = 0; argument < call.inputs.size(); ++argument) {
    if (!call.gradients[argument])
      continue;
    HostArray array = std::get<HostArray>(call.inputs[argument]);
    ElementKind kind = *getElementKind(array.elementType);
    for (int64_t index = 0; index < sizeOf(array); ++index) {
      double original = loadElement(kind, array.data, index);
      auto lossAt = [&](double value) {
        storeElement(kind, array.data, index, value);
        EXPECT_TRUE(call.run());
        return call.loss();
      };
      double difference = (lossAt(original + step) - lossAt(original - step)) / (2 * step);
      storeElement(kind, array.data, index, original);
      EXPECT_NEAR(loadElement(ElementKind::F64, call.gradients[argument]->data, index), difference, tolerance)
          << "argument " << argument << ", element " << index;
    }
  }
}

TEST(ReferenceBackward, S15_plain) {
  SpecOptions options;
  options.queryHeads = 2;
  Call call(forwardSpec(options));
  expectFiniteDifferences(call.randomQkv(2, 2, 3, 2).results(2, 2, 2));
}

TEST(ReferenceBackward, S15_softcapBiasSinksDropoutMask) {
  SpecOptions options;
  options.clauses = R"(scale(0.5) sinks(%t : tensor<2x2xf32>) dropout(%p, %seed)
    score (%s, %b, %h, %i, %j) {
      %a = attn.bias %s, %bias[%b, %h, %i, %j] : tensor<?x2x?x?xf32>
      %c = attn.softcap %a, 1.5
      %d = attn.alibi %c, %slopes[%h], %i, %j : tensor<2xf32>
      attn.yield %d : f32
    }
    mask (%b, %h, %i, %j) {
      %c = attn.causal %i, %j
      attn.yield %c : i1
    })";
  options.arguments = ", %t: tensor<2x2xf32>, %p: f32, %seed: i64, %bias: tensor<?x2x?x?xf32>, %slopes: tensor<2xf32>";
  options.queryHeads = 2;
  for (int64_t batch : {1, 2}) {
    // The bias broadcasts over the batch, and over queries in the second round.
    Call call(forwardSpec(options));
    call.randomQkv(2, 4, 5, 2).random({2, 2}).number(0.25).integer(3).random({1, 2, batch == 1 ? 4 : 1, 5});
    expectFiniteDifferences(call.random({2}).results(2, 4, 2));
  }
}

TEST(ReferenceBackward, S15_lengthsAndSharedSinks) {
  SpecOptions options;
  options.clauses = "sinks(%t : tensor<1xf32>) lengths(query = %ql : tensor<?xi32>, key = %kl : tensor<?xi32>)";
  options.arguments = ", %t: tensor<1xf32>, %ql: tensor<?xi32>, %kl: tensor<?xi32>";
  options.queryHeads = 2;
  Call call(forwardSpec(options));
  call.randomQkv(3, 2, 3, 2).random({1}).tensor({3}, {2, 1, 2}).tensor({3}, {3, 2, 0});
  expectFiniteDifferences(call.results(3, 2, 2));
}

TEST(ReferenceBackward, S15_packed) {
  SpecOptions options;
  options.packed = true;
  options.clauses =
      "dropout(0.3, %seed) varlen(query = %qo : tensor<?xi32>, key = %ko : tensor<?xi32>)"
      " score (%s, %b, %h, %i, %j) {\n %x = attn.bias %s, %t[%j] : tensor<?xf32>\n attn.yield %x : f32\n }";
  options.arguments = ", %seed: i64, %qo: tensor<?xi32>, %ko: tensor<?xi32>, %t: tensor<?xf32>";
  Call call(forwardSpec(options));
  call.random({4, 1, 8}).random({5, 1, 8}).random({5, 1, 8}).integer(1).tensor({3}, {0, 3, 4}).tensor({3}, {0, 2, 5});
  expectFiniteDifferences(call.random({5}).result({4, 1, 8}).result({1, 4}));
}

TEST(ReferenceBackward, S15_weights) {
  SpecOptions options;
  options.clauses = "dropout(0.3, %seed)";
  options.arguments = ", %seed: i64";
  Call call(weightsSpec(options));
  expectFiniteDifferences(call.random({1, 3, 1, 8}).random({1, 4, 1, 8}).integer(2).result({1, 1, 3, 4}));
}

TEST(ReferenceBackward, S15_rowOfNothingHasNoGradient) {
  Call call(forwardSpec({"mask (%b, %h, %i, %j) {\n %f = arith.constant false\n attn.yield %f : i1\n }"}));
  call.randomQkv(1, 2, 3).results(1, 2);
  ASSERT_TRUE(call.runBackward());
  for (unsigned argument : {0, 1, 2})
    for (int64_t index = 0; index < sizeOf(*call.gradients[argument]); ++index)
      EXPECT_EQ(loadElement(ElementKind::F64, call.gradients[argument]->data, index), 0);
}

TEST(ReferenceBackward, S15_baselineIsNear) {
  SpecOptions options;
  options.dtype = "bf16";
  Call exact(forwardSpec(options)), baseline(forwardSpec(options));
  ReferenceOptions plain;
  plain.precision = Precision::Baseline;
  ASSERT_TRUE(exact.randomQkv(1, 6, 7).results(1, 6).runBackward());
  ASSERT_TRUE(baseline.randomQkv(1, 6, 7).results(1, 6).runBackward(plain));
  for (unsigned argument : {0, 1, 2})
    for (int64_t index = 0; index < sizeOf(*exact.gradients[argument]); ++index) {
      double value = loadElement(ElementKind::F64, baseline.gradients[argument]->data, index);
      EXPECT_NEAR(value, loadElement(ElementKind::F64, exact.gradients[argument]->data, index), 0.03);
      EXPECT_EQ(value, roundToKind(ElementKind::BF16, value));
    }
}

/// A score region that ends with %x and may read %y = 1.25 and its logit %s.
class ReferenceDerivative : public testing::TestWithParam<const char *> {};

TEST_P(ReferenceDerivative, IsThatOfTheValue) {
  std::string body = std::string("%two = arith.constant 2.0 : f32\n %u = attn.load %t[%j] : tensor<?xf32>\n"
                                 " %y = arith.addf %u, %two : f32\n ") +
                     GetParam() + "\n attn.yield %x : f32\n";
  Call call(forwardSpec({"score (%s, %b, %h, %i, %j) {\n " + body + "}", ", %t: tensor<?xf32>"}));
  expectFiniteDifferences(call.randomQkv(1, 2, 3).random({3}).results(1, 2), 1e-4);
}

// %y lies in [1, 3], and %s in no special place: no kink within a step of the points that are drawn.
INSTANTIATE_TEST_SUITE_P(
    Operations, ReferenceDerivative,
    testing::Values(
        "%x = arith.addf %s, %y : f32", "%x = arith.subf %s, %y : f32", "%x = arith.mulf %s, %y : f32",
        "%x = arith.divf %s, %y : f32", "%x = arith.negf %s : f32", "%x = arith.remf %s, %y : f32",
        "%x = arith.maximumf %s, %u : f32", "%x = arith.minimumf %s, %u : f32", "%x = arith.maxnumf %u, %s : f32",
        "%x = arith.minnumf %u, %s : f32", "%x = math.absf %s : f32", "%x = math.exp %s : f32",
        "%x = math.exp2 %s : f32", "%x = math.expm1 %s : f32", "%x = math.log %y : f32", "%x = math.log2 %y : f32",
        "%x = math.log10 %y : f32", "%x = math.log1p %y : f32", "%x = math.sqrt %y : f32", "%x = math.rsqrt %y : f32",
        "%x = math.cbrt %y : f32", "%x = math.sin %s : f32", "%x = math.cos %s : f32", "%x = math.tan %s : f32",
        "%x = math.sinh %s : f32", "%x = math.cosh %s : f32", "%x = math.tanh %s : f32", "%x = math.asinh %s : f32",
        "%x = math.acosh %y : f32", "%x = math.atan %s : f32", "%x = math.erf %s : f32", "%x = math.erfc %s : f32",
        "%x = math.powf %y, %s : f32", "%x = math.atan2 %s, %y : f32", "%x = math.copysign %y, %s : f32",
        "%x = math.fma %s, %y, %s : f32", "%x = math.floor %y : f32", "%x = math.ceil %y : f32",
        "%x = math.round %y : f32", "%x = math.roundeven %y : f32", "%x = math.trunc %y : f32",
        "%x = math.clampf %s to [%u, %y] : f32", "%x = math.clampf %u to [%s, %y] : f32",
        "%n = arith.constant 3 : i32\n %x = math.fpowi %s, %n : f32, i32",
        "%n = arith.constant -2 : i8\n %x = math.fpowi %y, %n : f32, i8",
        "%w = arith.extf %s : f32 to f64\n %z = arith.mulf %w, %w : f64\n %x = arith.truncf %z : f64 to f32",
        "%d = arith.divf %s, %two : f32\n %x = math.asin %d : f32",
        "%d = arith.divf %s, %two : f32\n %x = math.acos %d : f32",
        "%d = arith.divf %s, %two : f32\n %x = math.atanh %d : f32",
        "%c = arith.cmpf olt, %s, %u : f32\n %a = math.exp %s : f32\n %x = arith.select %c, %a, %y : f32",
        "%d = arith.constant -9.0 : f32\n %z = arith.constant 0.0 : f32\n %n = arith.addf %s, %d : f32\n"
        " %m = arith.maximumf %n, %z : f32\n %r = math.cbrt %m : f32\n %x = arith.addf %r, %s : f32",
        "%n = arith.truncf %s : f32 to bf16\n %x = arith.extf %n : bf16 to f32",
        "%c = arith.constant 2.0 : f32\n %x = attn.softcap %s, %c"));

} // namespace
