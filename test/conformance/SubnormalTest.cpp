//===- SubnormalTest.cpp - The least numbers --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// What docs/spec.md says of them, "Dtypes": below the least normal number of f32 they may count as 0, subnormal numbers
// of f16 count as they are, and on a GPU f32 inputs below 5e-32 may lose digits, as may values of bf16 below 1e-24.
//===----------------------------------------------------------------------===//

#include "codegen/target/HostCpu.h"
#include "dialect/attn/AttnDialect.h"
#include "runtime/jit/ReferenceKernel.h"
#include "runtime/jit/Verify.h"
#include "test/conformance/Runner.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace attnc;
using namespace attnc::conformance;
using runtime::ArgValue;
using runtime::Tensor;

namespace {

constexpr double leastNormal = std::numeric_limits<float>::min();
constexpr double leastWhole = 5e-32;      ///< inputs from here on keep all digits on a GPU and in pairs of bf16,
constexpr double leastWholeValue = 1e-24; ///< and values of bf16 from here on

class Subnormal : public testing::TestWithParam<const char *> {
protected:
  /// Compiles `spec` and draws its inputs.
  void open(const Spec &spec) {
    trial.shape = "B=1,Sq=70,Sk=150";
    auto compiled = CompiledSpec::compile(spec.toString(GetParam()), requestedTarget());
    ASSERT_TRUE(static_cast<bool>(compiled)) << compiled.message();
    kernel = std::move(*compiled);
    draw();
  }

  /// The same inputs each time.
  void draw() {
    auto drawn = makeInputs(kernel->kernel(), trial);
    ASSERT_TRUE(static_cast<bool>(drawn)) << drawn.message();
    inputs = std::move(*drawn);
  }

  /// Multiplies the elements of `name`, which are about 1.
  void shrink(const char *name, double factor) {
    for (auto [argument, value] : llvm::zip_equal(kernel->kernel().inputs, inputs))
      if (argument.name == name) {
        auto &tensor = std::get<Tensor>(value);
        for (int64_t n = 0, count = tensor.numElements(); n < count; ++n)
          tensor.storeLinear(n, tensor.loadLinear(n) * factor);
        return;
      }
    ADD_FAILURE() << "no argument is called " << name;
  }

  std::vector<Tensor> run() {
    auto outputs = makeOutputs(kernel->kernel(), trial);
    EXPECT_TRUE(static_cast<bool>(outputs)) << outputs.message();
    image::Status status = kernel->run(inputs, *outputs);
    EXPECT_TRUE(static_cast<bool>(status)) << status.message();
    return std::move(*outputs);
  }

  /// The results in fp64, of inputs that count as they are.
  std::vector<Tensor> runExactly() {
    auto shaped = makeOutputs(kernel->kernel(), trial);
    EXPECT_TRUE(static_cast<bool>(shaped)) << shaped.message();
    std::vector<Tensor> outputs;
    for (const Tensor &tensor : *shaped)
      outputs.push_back(*Tensor::allocate(image::DType::F64, tensor.shape()));
    image::Status status = jit::runReference(kernel->kernel(), inputs, outputs, attn::Precision::Exact);
    EXPECT_TRUE(static_cast<bool>(status)) << status.message();
    return outputs;
  }

  /// Why `outputs` are wrong by the rule that holds for all inputs; empty where they are right.
  std::string fault(const std::vector<Tensor> &outputs) {
    auto judgements = jit::judgeAgainstReference(kernel->kernel(), inputs, outputs);
    if (!judgements)
      return judgements.message();
    for (size_t n = 0; n < outputs.size(); ++n)
      if (!(*judgements)[n].right() && !failsByChance((*judgements)[n], outputs[n]))
        return (*judgements)[n].toString();
    return "";
  }

  /// Expects each element of result `number` to lie within `slack` of the exact one.
  void expectNear(const Tensor &got, const Tensor &exact, double slack) {
    for (int64_t n = 0, count = got.numElements(); n < count; ++n)
      ASSERT_LE(std::abs(got.loadLinear(n) - exact.loadLinear(n)), slack)
          << n << ": " << got.loadLinear(n) << " for " << exact.loadLinear(n);
  }

  bool isHalf() const { return std::string(GetParam()) == "f16"; }
  static bool isGpu() { return requestedTarget() != "cpu"; }
  /// Whether this CPU multiplies pairs of bf16, which are 0 below the least normal number, as their products are.
  static bool multipliesPairs() {
    mlir::MLIRContext context;
    context.loadDialect<attn::AttnDialect>();
    attn::CpuTargetAttr host = target::getHostCpu(&context);
    return host.getBf16Tiles() || host.getBf16Dots();
  }

  std::unique_ptr<CompiledSpec> kernel;
  Trial trial;
  std::vector<ArgValue> inputs;
};

} // namespace

INSTANTIATE_TEST_SUITE_P(, Subnormal, testing::Values("f32", "bf16", "f16"),
                         [](const auto &info) { return std::string(info.param); });

/// Queries and keys that come to nothing beside ordinary ones change nothing, whether they count or not.
TEST_P(Subnormal, QueriesOrKeysMayCountAsZero) {
  if (isHalf())
    GTEST_SKIP() << "f16 has no such numbers";
  for (const char *name : {"q", "k"}) {
    ASSERT_NO_FATAL_FAILURE(open(Spec()));
    shrink(name, 1e-39);
    EXPECT_EQ(fault(run()), "") << name;
  }
}

/// A result below the least normal number is right or 0 or between.
TEST_P(Subnormal, ValuesMayCountAsZero) {
  if (isHalf())
    GTEST_SKIP() << "f16 has no such numbers";
  ASSERT_NO_FATAL_FAILURE(open(Spec()));
  shrink("v", 1e-39);
  std::vector<Tensor> got = run(), exact = runExactly();
  ASSERT_NO_FATAL_FAILURE(expectNear(got[0], exact[0], leastNormal));
  expectNear(got[1], exact[1], 1e-4);
}

/// Products below the least normal number may count or not, and make no NaN of a row.
TEST_P(Subnormal, ProductsMayCountAsZero) {
  if (isHalf())
    GTEST_SKIP() << "f16 has no such products";
  Spec spec;
  spec.clauses = "scale(1.0e+38)";
  ASSERT_NO_FATAL_FAILURE(open(spec));
  shrink("q", 1e-20);
  shrink("k", 1e-20);
  std::vector<Tensor> got = run();
  for (const Tensor &result : got)
    for (int64_t n = 0, count = result.numElements(); n < count; ++n)
      ASSERT_TRUE(std::isfinite(result.loadLinear(n))) << n;
  // Values are normal, and so is their mean under any weights.
  for (int64_t n = 0, count = got[0].numElements(); n < count; ++n)
    ASSERT_LE(std::abs(got[0].loadLinear(n)), 8) << n;
}

/// Weights below the least normal number are right or 0 or between.
TEST_P(Subnormal, WeightsMayCountAsZero) {
  Spec spec;
  spec.weights = true;
  spec.clauses = "scale(12.0)";
  ASSERT_NO_FATAL_FAILURE(open(spec));
  std::vector<Tensor> got = run(), exact = runExactly();
  int64_t below = 0;
  for (int64_t n = 0, count = got[0].numElements(); n < count; ++n)
    if (exact[0].loadLinear(n) < leastNormal) {
      ++below;
      ASSERT_LE(got[0].loadLinear(n), 2 * leastNormal) << n;
      ASSERT_GE(got[0].loadLinear(n), 0) << n;
    }
  EXPECT_GT(below, 0) << "logits spread far enough";
  EXPECT_EQ(fault(got), "");
}

/// Subnormal numbers of f16 are normal ones of f32: queries and keys whose logits are ordinary by the scale, and values
/// whose results are subnormal themselves.
TEST_P(Subnormal, OfHalvesCount) {
  if (!isHalf())
    GTEST_SKIP() << "for f16";
  constexpr double small = 0x1p-18;
  for (const char *name : {"q", "k", "v"}) {
    Spec spec;
    spec.clauses = std::string(name) == "v" ? "" : "scale(32768.0)";
    ASSERT_NO_FATAL_FAILURE(open(spec));
    shrink(name, 0);
    std::vector<Tensor> flushed = run();
    ASSERT_NO_FATAL_FAILURE(draw());
    shrink(name, small);
    EXPECT_EQ(fault(run()), "") << name;
    EXPECT_NE(fault(flushed), "") << name << ": the rule tells them from 0";
  }
}

/// Inputs keep all their digits down to the least normal number; on a GPU, and in products of pairs on CPUs, down to
/// 5e-32, and some below that. Values of bf16 keep them down to 1e-24 on GPUs, and may count as 0 soon after.
TEST_P(Subnormal, DigitsOfSmallInputs) {
  if (isHalf())
    GTEST_SKIP() << "f16 has no such numbers";
  // What is drawn is 0.01 and more but for few elements, which count little beside the others.
  bool isWide = std::string(GetParam()) == "bf16";
  for (const char *name : {"q", "k", "v"}) {
    bool isValue = std::string(name) == "v";
    bool hasParts = isGpu() || (isWide && multipliesPairs());
    double whole = 100 * (!hasParts ? leastNormal : isWide && isValue && isGpu() ? leastWholeValue : leastWhole);
    std::vector<double> factors = {whole};
    if (!isGpu() || !isWide || !isValue)
      factors.push_back(1e-36);
    for (double factor : factors) {
      Spec spec;
      std::string scale = std::to_string(static_cast<int>(std::lround(-std::log10(factor))));
      spec.clauses = isValue ? "" : "scale(1.0e+" + scale + ")";
      ASSERT_NO_FATAL_FAILURE(open(spec));
      shrink(name, factor);
      std::vector<Tensor> got = run();
      if (factor >= whole) {
        EXPECT_EQ(fault(got), "") << name << " by " << factor;
        continue;
      }
      constexpr double some = 0.05;
      std::vector<Tensor> exact = runExactly();
      ASSERT_NO_FATAL_FAILURE(expectNear(got[0], exact[0], some * (isValue ? factor : 1))) << name;
      ASSERT_NO_FATAL_FAILURE(expectNear(got[1], exact[1], some)) << name;
    }
  }
}
