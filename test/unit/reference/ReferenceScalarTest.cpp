//===- ReferenceScalarTest.cpp - arith and math in regions ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "ReferenceTestSupport.h"
#include <cmath>

using namespace attnc::attn;
using namespace attnc::test;

namespace {

/// The value of a score region that ends with %x : f32. With one key and one query it is the lse.
double evaluate(const std::string &body, Precision precision = Precision::Exact) {
  Call call(forwardSpec({"score (%s, %b, %h, %i, %j) {\n" + body + "\n attn.yield %x : f32\n }"}));
  ReferenceOptions options;
  options.precision = precision;
  EXPECT_TRUE(call.randomQkv(1, 1, 1).results(1, 1).run(options)) << call.message;
  return call.lse({0, 0, 0});
}

/// `op` on two integer literals of `type`, as a signed number.
double evaluateInteger(const std::string &op, int64_t a, int64_t b, const std::string &type) {
  return evaluate("%a = arith.constant " + std::to_string(a) + " : " + type + "\n%b0 = arith.constant " +
                  std::to_string(b) + " : " + type + "\n%r = " + op + " %a, %b0 : " + type +
                  "\n%x = arith.sitofp %r : " + type + " to f32");
}

/// `op` on float literals.
double evaluateFloat(const std::string &op, std::initializer_list<const char *> operands) {
  std::string body, names;
  for (const char *operand : operands) {
    std::string name = "%a" + std::to_string(names.size());
    body += name + " = arith.constant " + operand + " : f32\n";
    names += (names.empty() ? "" : ", ") + name;
  }
  return evaluate(body + "%x = " + op + " " + names + " : f32");
}

TEST(ReferenceScalar, IntegersWrapToTheirWidth) {
  EXPECT_EQ(evaluateInteger("arith.addi", 127, 1, "i8"), -128);
  EXPECT_EQ(evaluateInteger("arith.subi", -128, 1, "i8"), 127);
  EXPECT_EQ(evaluateInteger("arith.muli", 1 << 20, 1 << 12, "i32"), 0);
  EXPECT_EQ(evaluateInteger("arith.shli", 1, 31, "i32"), -0x1p31);
  EXPECT_EQ(evaluateInteger("arith.shli", 1, 32, "i32"), 0);
  EXPECT_EQ(evaluateInteger("arith.shrui", -8, 32, "i32"), 0);
  EXPECT_EQ(evaluateInteger("arith.shrsi", -8, 32, "i32"), -1);
  EXPECT_EQ(evaluateInteger("arith.shrsi", 8, -1, "i32"), 0);
  EXPECT_EQ(evaluateInteger("arith.shrsi", -8, 1, "i32"), -4);
  EXPECT_EQ(evaluateInteger("arith.shrui", -8, 1, "i8"), 124);
  EXPECT_EQ(evaluateInteger("arith.xori", 12, 10, "i32"), 6);
}

TEST(ReferenceScalar, QuotientsNeverTrap) {
  for (const char *op : {"arith.divsi", "arith.floordivsi", "arith.ceildivsi", "arith.divui", "arith.ceildivui"})
    EXPECT_EQ(evaluateInteger(op, 7, 0, "i32"), 0) << op;
  for (const char *op : {"arith.remsi", "arith.remui"})
    EXPECT_EQ(evaluateInteger(op, 7, 0, "i32"), 7) << op;
  for (const char *op : {"arith.divsi", "arith.floordivsi", "arith.ceildivsi"}) {
    EXPECT_EQ(evaluateInteger(op, -128, -1, "i8"), -128) << op;
    EXPECT_EQ(evaluateInteger(op, std::numeric_limits<int32_t>::min(), -1, "i32"), -0x1p31) << op;
    EXPECT_EQ(evaluateInteger(op, std::numeric_limits<int64_t>::min(), -1, "i64"), -0x1p63) << op;
  }
  EXPECT_EQ(evaluateInteger("arith.remsi", std::numeric_limits<int64_t>::min(), -1, "i64"), 0);
  EXPECT_EQ(evaluateInteger("arith.divsi", -7, 2, "i32"), -3);
  EXPECT_EQ(evaluateInteger("arith.floordivsi", -7, 2, "i32"), -4);
  EXPECT_EQ(evaluateInteger("arith.floordivsi", 7, -2, "i32"), -4);
  EXPECT_EQ(evaluateInteger("arith.floordivsi", 7, 2, "i32"), 3);
  EXPECT_EQ(evaluateInteger("arith.ceildivsi", 7, 2, "i32"), 4);
  EXPECT_EQ(evaluateInteger("arith.ceildivsi", -7, -2, "i32"), 4);
  EXPECT_EQ(evaluateInteger("arith.ceildivsi", -7, 2, "i32"), -3);
  EXPECT_EQ(evaluateInteger("arith.remsi", -7, 2, "i32"), -1);
  EXPECT_EQ(evaluateInteger("arith.divui", -2, 2, "i8"), 127);
  EXPECT_EQ(evaluateInteger("arith.remui", -1, 16, "i8"), 15);
  EXPECT_EQ(evaluateInteger("arith.ceildivui", -2, 4, "i8"), 64);
}

TEST(ReferenceScalar, IntegerChoices) {
  EXPECT_EQ(evaluateInteger("arith.maxsi", -1, 1, "i32"), 1);
  EXPECT_EQ(evaluateInteger("arith.maxui", -1, 1, "i32"), -1);
  EXPECT_EQ(evaluateInteger("arith.minsi", -1, 1, "i32"), -1);
  EXPECT_EQ(evaluateInteger("arith.minui", -1, 1, "i32"), 1);
}

TEST(ReferenceScalar, IntegerComparisons) {
  // A set i1 is -1 as a signed number.
  for (auto [predicate, less, equal] : {std::tuple("eq", 0, 1),
                                        {"ne", 1, 0},
                                        {"slt", 1, 0},
                                        {"sle", 1, 1},
                                        {"sgt", 0, 0},
                                        {"sge", 0, 1},
                                        {"ult", 0, 0},
                                        {"ule", 0, 1},
                                        {"ugt", 1, 0},
                                        {"uge", 1, 1}}) {
    auto compare = [p = predicate](int a, int b) {
      return evaluate("%a = arith.constant " + std::to_string(a) + " : i32\n%b0 = arith.constant " + std::to_string(b) +
                      " : i32\n%c = arith.cmpi " + p + ", %a, %b0 : i32\n%x = arith.uitofp %c : i1 to f32");
    };
    EXPECT_EQ(compare(-3, 5), less) << predicate;
    EXPECT_EQ(compare(4, 4), equal) << predicate;
  }
}

TEST(ReferenceScalar, Casts) {
  auto cast = [](const std::string &steps) { return evaluate("%a = arith.constant -1 : i8\n" + steps); };
  EXPECT_EQ(cast("%c = arith.extui %a : i8 to i32\n%x = arith.sitofp %c : i32 to f32"), 255);
  EXPECT_EQ(cast("%c = arith.extsi %a : i8 to i32\n%x = arith.sitofp %c : i32 to f32"), -1);
  EXPECT_EQ(cast("%c = arith.index_castui %a : i8 to index\n"
                 "%e = arith.index_cast %c : index to i32\n%x = arith.sitofp %e : i32 to f32"),
            255);
  EXPECT_EQ(cast("%x = arith.uitofp %a : i8 to f32"), 255);
  auto round = [](const char *op, const char *value) {
    return evaluate(std::string("%a = arith.constant ") + value + " : f32\n%c = " + op +
                    " %a : f32 to i8\n%x = arith.sitofp %c : i8 to f32");
  };
  EXPECT_EQ(round("arith.fptosi", "-3.75"), -3);
  EXPECT_EQ(round("arith.fptosi", "1.0e9"), 127);
  EXPECT_EQ(round("arith.fptosi", "0x7FC00000"), 0);
  EXPECT_EQ(round("arith.fptoui", "200.5"), -56);
  EXPECT_EQ(evaluate("%a = arith.constant 1.5 : f32\n%c = arith.bitcast %a : f32 to i32\n"
                     "%d = arith.constant 0x00800000 : i32\n%e = arith.addi %c, %d : i32\n"
                     "%x = arith.bitcast %e : i32 to f32"),
            3);
}

TEST(ReferenceScalar, FloatFunctions) {
  EXPECT_EQ(evaluateFloat("arith.divf", {"3.0", "4.0"}), 0.75);
  EXPECT_EQ(evaluateFloat("arith.remf", {"-7.0", "4.0"}), -3);
  EXPECT_EQ(evaluateFloat("arith.negf", {"3.0"}), -3);
  EXPECT_EQ(evaluateFloat("arith.maximumf", {"3.0", "4.0"}), 4);
  EXPECT_EQ(evaluateFloat("arith.minnumf", {"3.0", "0x7FC00000"}), 3);
  EXPECT_TRUE(std::isnan(evaluateFloat("arith.minimumf", {"3.0", "0x7FC00000"})));
  EXPECT_EQ(evaluateFloat("math.fma", {"3.0", "4.0", "5.0"}), 17);
  EXPECT_EQ(evaluate("%lo = arith.constant -1.0 : f32\n%hi = arith.constant 2.0 : f32\n%w = arith.constant 3.0 : f32\n"
                     "%x = math.clampf %w to [%lo, %hi] : f32"),
            2);
  EXPECT_DOUBLE_EQ(evaluateFloat("math.exp", {"0.5"}), std::exp(0.5));
  EXPECT_DOUBLE_EQ(evaluateFloat("math.exp2", {"0.5"}), std::sqrt(2));
  EXPECT_DOUBLE_EQ(evaluateFloat("math.log", {"3.0"}), std::log(3));
  EXPECT_DOUBLE_EQ(evaluateFloat("math.log2", {"8.0"}), 3);
  EXPECT_DOUBLE_EQ(evaluateFloat("math.rsqrt", {"4.0"}), 0.5);
  EXPECT_DOUBLE_EQ(evaluateFloat("math.erf", {"0.5"}), std::erf(0.5));
  EXPECT_DOUBLE_EQ(evaluateFloat("math.powf", {"2.0", "0.5"}), std::sqrt(2));
  EXPECT_DOUBLE_EQ(evaluateFloat("math.floor", {"-2.5"}), -3);
  EXPECT_DOUBLE_EQ(evaluateFloat("math.ceil", {"-2.5"}), -2);
  EXPECT_DOUBLE_EQ(evaluateFloat("math.absf", {"-2.5"}), 2.5);
}

TEST(ReferenceScalar, FloatComparisons) {
  // For 1 < 2, 2 = 2 and NaN.
  for (auto [predicate, less, equal, unordered] : {std::tuple("oeq", 0, 1, 0),
                                                   {"ogt", 0, 0, 0},
                                                   {"oge", 0, 1, 0},
                                                   {"olt", 1, 0, 0},
                                                   {"ole", 1, 1, 0},
                                                   {"one", 1, 0, 0},
                                                   {"ord", 1, 1, 0},
                                                   {"ueq", 0, 1, 1},
                                                   {"ugt", 0, 0, 1},
                                                   {"uge", 0, 1, 1},
                                                   {"ult", 1, 0, 1},
                                                   {"ule", 1, 1, 1},
                                                   {"une", 1, 0, 1},
                                                   {"uno", 0, 0, 1},
                                                   {"true", 1, 1, 1},
                                                   {"false", 0, 0, 0}}) {
    auto compare = [p = predicate](const std::string &a, const std::string &b) {
      return evaluate("%a = arith.constant " + a + " : f32\n%b0 = arith.constant " + b +
                      " : f32\n%one = arith.constant 1.0 : f32\n%zero = arith.constant 0.0 : f32\n%c = arith.cmpf " +
                      p + ", %a, %b0 : f32\n%x = arith.select %c, %one, %zero : f32");
    };
    EXPECT_EQ(compare("1.0", "2.0"), less) << predicate;
    EXPECT_EQ(compare("2.0", "2.0"), equal) << predicate;
    EXPECT_EQ(compare("2.0", "0x7FC00000"), unordered) << predicate;
  }
}

TEST(ReferenceScalar, BaselineRoundsEveryStep) {
  std::string body = "%a = arith.constant 1.0 : f32\n%e = arith.constant 1.0e-9 : f32\n"
                     "%c = arith.addf %a, %e : f32\n%x = arith.subf %c, %a : f32";
  EXPECT_NEAR(evaluate(body), 1e-9, 1e-15);
  EXPECT_EQ(evaluate(body, Precision::Baseline), 0);
  std::string narrow = "%a = arith.constant 1.01 : f32\n%n = arith.truncf %a : f32 to bf16\n"
                       "%x = arith.extf %n : bf16 to f32";
  EXPECT_EQ(evaluate(narrow, Precision::Baseline), 1.0078125);
}

TEST(ReferenceScalar, NarrowsWhatIsExact) {
  const std::string narrow = "\n%n = arith.truncf %a : f32 to bf16\n%x = arith.extf %n : bf16 to f32";
  // A number of f32 is rounded as everywhere; one that f32 would round first is not.
  EXPECT_EQ(evaluate("%a = arith.constant 1.01 : f32" + narrow), 1.0078125);
  EXPECT_NEAR(
      evaluate("%b0 = arith.constant 1.0 : f32\n%c = arith.constant 3.0 : f32\n%a = arith.divf %b0, %c : f32" + narrow),
      1.0 / 3, 1e-15);
}

TEST(ReferenceScalar, BaselineRoundsProductAndSumOnce) {
  // The product lies halfway between two f32, and what is added is less than f64 can tell there.
  auto addTo = [](const char *added) {
    return evaluate(std::string("%a = arith.constant -1.0e30 : f32\n%b0 = arith.constant 1.5 : f32\n%c = "
                                "arith.constant ") +
                        added + " : f32\n%x = math.fma %a, %b0, %c : f32",
                    Precision::Baseline);
  };
  EXPECT_EQ(addTo("1.0") - addTo("-1.0"), 0x1p77);
  EXPECT_EQ(addTo("1.0e28"), -1.49e30f);
}

} // namespace
