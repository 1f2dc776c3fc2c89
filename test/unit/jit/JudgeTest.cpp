//===- JudgeTest.cpp - When is an answer right ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/jit/Judge.h"
#include "runtime/jit/Verify.h"
#include "test/unit/jit/JitTestSupport.h"
#include <cmath>
#include <limits>

using namespace attnc;
using namespace attnc::test;
using image::DType;
using jit::judge;
using jit::Judgement;
using jit::JudgeRule;
using jit::ResultKind;
using runtime::Tensor;

/// A tensor [2, n / 2] of `values`.
static Tensor make(std::initializer_list<double> values, DType dtype = DType::F64) {
  Tensor tensor = *Tensor::allocate(dtype, {2, static_cast<int64_t>(values.size()) / 2});
  int64_t index = 0;
  for (double value : values)
    tensor.storeLinear(index++, value);
  return tensor;
}

/// Judges f32 numbers.
static Judgement judged(const JudgeRule &rule, std::initializer_list<double> got, std::initializer_list<double> exact,
                        std::initializer_list<double> baseline) {
  return judge("out", rule, make(got, DType::F32), make(exact), make(baseline));
}

TEST(Judge, WantsNaNWhereTheReferenceIsNaN) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(judged({}, {1, nan}, {1, nan}, {1, nan}).right());
  EXPECT_FALSE(judged({}, {1, 2}, {1, nan}, {1, nan}).right());
  EXPECT_FALSE(judged({}, {1, nan}, {1, 2}, {1, 2}).right());
}

TEST(Judge, AllowsTwiceTheErrorOfTheBaseline) {
  // Every element is off, so that the mean does not decide.
  Judgement right =
      judged({}, {1.015625, 2.015625, 3.015625, 4.015625}, {1, 2, 3, 4}, {1.03125, 2.03125, 3.03125, 4.03125});
  EXPECT_TRUE(right.right()) << right.fault;
  EXPECT_EQ(right.elements, 4);
  EXPECT_EQ(right.error, 0.015625);
  EXPECT_EQ(right.baseline, 0.03125);
  EXPECT_NEAR(right.limit, 0.0625, 1e-6);
  EXPECT_EQ(right.meanError, 0.015625);

  Judgement wrong = judged({}, {1, 2, 3.125, 4}, {1, 2, 3, 4}, {1.03125, 2.03125, 3.03125, 4.03125});
  EXPECT_EQ(wrong.fault, "element [1, 0] is 3.12, expected 3; the error may be 0.0625");
  // Numbers that look alike have as many digits as tell them apart.
  Judgement near = judged({}, {1, 2, 211.25, 4}, {1, 2, 211.125, 4}, {1, 2, 211.125, 4});
  EXPECT_EQ(near.fault.substr(0, near.fault.find(';')), "element [1, 0] is 211.25, expected 211.125");
  JudgeRule capped;
  capped.factor = 5;
  EXPECT_TRUE(judged(capped, {1, 2, 3.125, 4}, {1, 2, 3, 4}, {1.03125, 2.03125, 3.03125, 4.03125}).right());
}

TEST(Judge, TakesMeansOverDraws) {
  // Wrong by the mean alone: at most as far off as twice the baseline, but on more elements.
  const Judgement unlucky = judged({}, {1.03125, 2.03125, 3.03125, 4}, {1, 2, 3, 4}, {1.03125, 2, 3, 4});
  EXPECT_TRUE(unlucky.byMeanOnly);
  EXPECT_EQ(unlucky.fault, "the mean error is 0.0234, it may be 0.00859");
  const Judgement lucky = judged({}, {1, 2, 3, 4}, {1, 2, 3, 4}, {1.0625, 2.0625, 3, 4});

  Judgement both = unlucky;
  both.include(lucky);
  EXPECT_TRUE(both.right()) << both.fault;
  EXPECT_EQ(both.elements, 8);
  EXPECT_NEAR(both.meanError, 0.01171875, 1e-9);
  EXPECT_NE(both.toString().find("  right, of 2 draws"), std::string::npos) << both.toString();
  // 1.1 times a quarter of 3 * 0.0078125 + 0.03125.
  both.include(unlucky);
  both.include(unlucky);
  EXPECT_EQ(both.fault, "the mean error is 0.0176, it may be 0.015");
  EXPECT_TRUE(both.byMeanOnly);

  // The greatest errors, the kernel's and the baseline's, are those of all draws as well.
  const Judgement wrong = judged({}, {1, 2, 3.125, 4}, {1, 2, 3, 4}, {1.03125, 2, 3, 4});
  Judgement of = unlucky;
  of.include(wrong);
  EXPECT_EQ(of.fault, wrong.fault);
  EXPECT_FALSE(of.byMeanOnly);
  of.include(judged({}, {1, 2, 3, 4}, {1, 2, 3, 4}, {1.03125, 2, 3, 4}));
  EXPECT_EQ(of.fault, wrong.fault);
  of.include(lucky);
  of.include(lucky);
  EXPECT_TRUE(of.right()) << of.fault;
  EXPECT_NE(of.toString().find("error 0.125      baseline 0.0625"), std::string::npos) << of.toString();
  // Gradients have no rule for their mean.
  JudgeRule rule;
  rule.kind = ResultKind::Gradient;
  Judgement gradient = judged(rule, {1.03125, 2.03125, 3.03125, 4}, {1, 2, 3, 4}, {1.03125, 2, 3, 4});
  gradient.include(gradient);
  EXPECT_TRUE(gradient.right());
}

TEST(Judge, AllowsTwoUlpOfTheGreatestNumber) {
  double ulp = image::ulp(DType::F32, 4);
  EXPECT_TRUE(judged({}, {1, 2, 3, 4}, {1, 2, 3, 4}, {1, 2, 3, 4}).right());
  Judgement near = judged({}, {1, 2, 3, 4 + 2 * ulp}, {1, 2, 3, 4}, {1, 2, 3, 4});
  EXPECT_EQ(near.limit, 2 * ulp);
  EXPECT_EQ(near.error, near.limit);
  EXPECT_NE(judged({}, {1, 2, 3, 4 + 4 * ulp}, {1, 2, 3, 4}, {1, 2, 3, 4}).fault, "");
}

TEST(Judge, LimitsTheMeanError) {
  // No element is further off than the baseline's worst, but all are.
  Judgement judgement = judged({}, {1.03125, 2.03125, 3.03125, 4.03125}, {1, 2, 3, 4}, {1.03125, 2, 3, 4});
  EXPECT_EQ(judgement.fault, "the mean error is 0.0312, it may be 0.00859");
  EXPECT_TRUE(judged({}, {1.03125, 2, 3, 4}, {1, 2, 3, 4}, {1.03125, 2, 3, 4}).right());
}

TEST(Judge, RefusesWhatIsNotFinite) {
  EXPECT_EQ(judged({}, {1, NAN, 3, 4}, {1, 2, 3, 4}, {1, 2, 3, 4}).fault, "element [0, 1] is nan, expected 2");
  EXPECT_EQ(judged({}, {1, 2, 3, INFINITY}, {1, 2, 3, 4}, {1, 2, 3, 4}).fault, "element [1, 1] is inf, expected 4");
  EXPECT_EQ(judged({}, {1, 2, 3, 4}, {1, 2, 3, 4}, {1, 2, 3, NAN}).fault, "")
      << "a baseline that overflows allows nothing and forbids nothing";
}

TEST(Judge, WantsEmptyRowsInTheLseAndThereAlone) {
  JudgeRule lse;
  lse.kind = ResultKind::Lse;
  EXPECT_TRUE(judged(lse, {1, -INFINITY, 3, 4}, {1, -INFINITY, 3, 4}, {1, -INFINITY, 3, 4}).right());
  EXPECT_EQ(judged(lse, {1, 2, 3, 4}, {1, -INFINITY, 3, 4}, {1, -INFINITY, 3, 4}).fault,
            "element [0, 1] is 2, expected -inf");
  EXPECT_EQ(judged(lse, {1, 2, -INFINITY, 4}, {1, 2, 3, 4}, {1, 2, 3, 4}).fault, "element [1, 0] is -inf, expected 3");
  EXPECT_EQ(judged({}, {1, 2, -INFINITY, 4}, {1, 2, -INFINITY, 4}, {1, 2, -INFINITY, 4}).fault,
            "element [1, 0] is -inf, expected -inf")
      << "out is always finite";
}

TEST(Judge, HoldsTheLseToAFixedError) {
  JudgeRule lse;
  lse.kind = ResultKind::Lse;
  EXPECT_TRUE(judged(lse, {1.00005, 2, 3, 4}, {1, 2, 3, 4}, {1, 2, 3, 4}).right());
  EXPECT_FALSE(judged(lse, {1.0002, 2, 3, 4}, {1, 2, 3, 4}, {1, 2, 3, 4}).right());
}

TEST(Judge, LooksAtSampledRowsAlone) {
  JudgeRule sampled;
  sampled.sampled = true;
  Judgement judgement = judged(sampled, {1, 99, NAN, 4}, {1, NAN, NAN, 4}, {1, NAN, NAN, 4});
  EXPECT_TRUE(judgement.right()) << judgement.fault;
  EXPECT_EQ(judgement.elements, 2);
}

TEST(Judge, SaysItInALine) {
  EXPECT_EQ(judged({}, {1, 2, 3, 4}, {1, 2, 3, 4}, {1, 2, 3, 4}).toString(),
            "out       error 0          baseline 0          ratio 0  right");
  std::string wrong = judged({}, {1, NAN, 3, 4}, {1, 2, 3, 4}, {1, 2, 3, 4}).toString();
  EXPECT_NE(wrong.find("ratio inf  WRONG: element [0, 1] is nan"), std::string::npos) << wrong;
}

TEST(JudgeRules, GoByTheResultAndTheScoreRegion) {
  OpenSpec plain(paddedSpec());
  EXPECT_EQ(jit::getJudgeRule(plain.kernel, 0).kind, ResultKind::Values);
  EXPECT_EQ(jit::getJudgeRule(plain.kernel, 1).kind, ResultKind::Lse);
  EXPECT_EQ(jit::getJudgeRule(plain.kernel, 0).factor, 2);
  for (std::string cap : {"%x = attn.softcap %s, 5.0", "%x = math.tanh %s : f32"}) {
    OpenSpec capped(paddedSpec("", "score (%s, %b, %h, %i, %j) {\n" + cap + "\nattn.yield %x : f32\n}"));
    EXPECT_EQ(jit::getJudgeRule(capped.kernel, 0).factor, 3) << cap;
  }
}

TEST(SampleRows, HoldsEndsAndTileEdges) {
  EXPECT_TRUE(jit::sampleRows(10, 10, 0).empty()) << "all rows";
  std::vector<int64_t> rows = jit::sampleRows(1000, 40, 3);
  EXPECT_EQ(rows.size(), 40U);
  EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end()));
  for (int64_t row : {0, 127, 128, 895, 896, 999})
    EXPECT_EQ(std::count(rows.begin(), rows.end(), row), 1) << row;
  EXPECT_EQ(jit::sampleRows(1000, 40, 3), rows);
  EXPECT_NE(jit::sampleRows(1000, 40, 4), rows);
}
