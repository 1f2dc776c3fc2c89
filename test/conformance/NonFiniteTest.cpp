//===- NonFiniteTest.cpp - How far NaN and infinity reach -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// What stands in docs/spec.md, "Numbers that are not finite": a run on clean inputs, and one with NaN or infinity in a
// few places, agree wherever the rule says that they are not reached.
//===----------------------------------------------------------------------===//

#include "test/conformance/Runner.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace attnc;
using namespace attnc::conformance;
using runtime::ArgValue;
using runtime::Tensor;

namespace {

constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

class NonFinite : public testing::TestWithParam<const char *> {
protected:
  using Values = std::vector<ArgValue>;

  /// Compiles `spec`, four query heads on two of keys, and draws inputs of `shape`.
  void open(Spec spec, Trial trial) {
    spec.queryHeads = 4;
    sizes = std::move(trial);
    auto compiled = CompiledSpec::compile(spec.toString(GetParam()), requestedTarget());
    ASSERT_TRUE(static_cast<bool>(compiled)) << compiled.message();
    kernel = std::move(*compiled);
    inputs = draw();
    clean = run(inputs);
  }

  Values draw() {
    auto drawn = makeInputs(kernel->kernel(), sizes);
    EXPECT_TRUE(static_cast<bool>(drawn)) << drawn.message();
    return drawn ? std::move(*drawn) : Values();
  }

  std::vector<Tensor> run(const Values &values) {
    auto outputs = makeOutputs(kernel->kernel(), sizes);
    EXPECT_TRUE(static_cast<bool>(outputs)) << outputs.message();
    image::Status status = kernel->run(values, *outputs);
    EXPECT_TRUE(static_cast<bool>(status)) << status.message();
    return std::move(*outputs);
  }

  Tensor &tensor(const char *name) {
    for (auto [argument, value] : llvm::zip_equal(kernel->kernel().inputs, inputs))
      if (argument.name == name)
        return std::get<Tensor>(value);
    ADD_FAILURE() << "no argument is called " << name;
    return std::get<Tensor>(inputs.front());
  }

  /// Writes `value` to one row of `name` [B, S, H, D], or [T, H, D] where `batch` is -1: to one column, or to all.
  void spoil(const char *name, int64_t batch, int64_t row, int64_t head, double value, int64_t column = -1) {
    Tensor &spoiled = tensor(name);
    int64_t heads = spoiled.dim(spoiled.rank() - 2), dims = spoiled.dim(spoiled.rank() - 1);
    int64_t rows = batch < 0 ? 0 : batch * spoiled.dim(1);
    for (int64_t d = 0; d < dims; ++d)
      if (column < 0 || column == d)
        spoiled.storeLinear(((rows + row) * heads + head) * dims + d, value);
  }

  /// Whether `got` has kept what `number` of `results` has: results of one kernel may differ by how rows beside them
  /// are treated, by no more than rounding.
  static bool agree(double expected, double got) {
    if (std::isinf(expected) || std::isinf(got))
      return expected == got;
    return std::abs(got - expected) <= 0.02 * (1 + std::abs(expected));
  }

  CompiledSpec &spec() { return *kernel; }

  std::unique_ptr<CompiledSpec> kernel;
  Trial sizes;
  Values inputs;
  std::vector<Tensor> clean;
};

Trial shaped(const char *shape) {
  Trial trial;
  trial.shape = shape;
  return trial;
}

} // namespace

INSTANTIATE_TEST_SUITE_P(, NonFinite, testing::Values("f32", "bf16", "f16"),
                         [](const auto &info) { return std::string(info.param); });

/// Keys, and whatever the score region reads, reach the queries that keep the key.
TEST_P(NonFinite, OfKeysReachesWhoKeepsThem) {
  Spec masked;
  masked.arguments = {"bias: tensor<?x?x?x?x$T>"};
  masked.score = "%x = attn.bias %s, %bias[%b, %h, %i, %j] : tensor<?x?x?x?x$T>";
  masked.mask = "%keep = attn.window %i, %j left(30) right(0)";
  constexpr int64_t size = 150, key = 70, left = 30, query = 20;
  ASSERT_NO_FATAL_FAILURE(open(masked, shaped("B=2,Sq=150,Sk=150")));
  spoil("k", /*batch=*/0, key, /*head=*/1, notANumber);
  spoil("q", /*batch=*/1, query, /*head=*/2, infinity);
  Tensor &bias = tensor("bias");
  for (int64_t n = 0, count = bias.numElements(); n < count; ++n)
    if (int64_t i = n / size % size, j = n % size; j > i || j < i - left)
      bias.storeLinear(n, n % 2 ? notANumber : infinity);
  std::vector<Tensor> got = run(inputs);
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t i = 0; i < size; ++i)
      for (int64_t h = 0; h < 4; ++h) {
        bool isReached = (b == 0 && h >= 2 && i >= key && i <= key + left) || (b == 1 && h == 2 && i == query);
        int64_t row = (b * size + i) * 4 + h, lse = (b * 4 + h) * size + i;
        ASSERT_EQ(std::isfinite(got[1].loadLinear(lse)), !isReached) << b << ", " << i << ", " << h;
        for (int64_t d = 0; d < 64; ++d) {
          double value = got[0].loadLinear(row * 64 + d);
          ASSERT_TRUE(isReached ? std::isnan(value) : agree(clean[0].loadLinear(row * 64 + d), value))
              << b << ", " << i << ", " << h << ", " << d << ": " << value;
        }
      }
}

/// Under a soft cap, elements of a row may share a reciprocal: with none that the mask drops.
TEST_P(NonFinite, OfKeysReachesWhoKeepsThemUnderASoftCap) {
  Spec capped;
  capped.score = "%x = attn.softcap %s, 50.0";
  capped.mask = "%keep = attn.causal %i, %j";
  constexpr int64_t size = 400, key = 170;
  ASSERT_NO_FATAL_FAILURE(open(capped, shaped("B=1,Sq=400,Sk=400")));
  spoil("k", /*batch=*/0, key, /*head=*/1, notANumber);
  std::vector<Tensor> got = run(inputs);
  for (int64_t i = 0; i < size; ++i)
    for (int64_t h = 0; h < 4; ++h) {
      bool isReached = h >= 2 && i >= key;
      double lse = got[1].loadLinear(h * size + i);
      ASSERT_TRUE(isReached ? std::isnan(lse) : agree(clean[1].loadLinear(h * size + i), lse)) << i << ", " << h;
      for (int64_t n = (i * 4 + h) * 64; n < (i * 4 + h + 1) * 64; ++n) {
        double value = got[0].loadLinear(n);
        ASSERT_TRUE(isReached ? std::isnan(value) : agree(clean[0].loadLinear(n), value))
            << i << ", " << h << ": " << value;
      }
    }
}

/// Values reach their own column, in queries of their sequence on their key head, kept or not.
TEST_P(NonFinite, OfValuesReachesItsColumn) {
  Spec masked;
  masked.mask = "%keep = attn.causal %i, %j";
  constexpr int64_t size = 150, key = 70;
  ASSERT_NO_FATAL_FAILURE(open(masked, shaped("B=2,Sq=150,Sk=150")));
  spoil("v", /*batch=*/1, key, /*head=*/0, notANumber, /*column=*/5);
  spoil("v", /*batch=*/1, key, /*head=*/0, infinity, /*column=*/40);
  std::vector<Tensor> got = run(inputs);
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t i = 0; i < size; ++i)
      for (int64_t h = 0; h < 4; ++h) {
        int64_t row = (b * size + i) * 4 + h, lse = (b * 4 + h) * size + i;
        ASSERT_TRUE(agree(clean[1].loadLinear(lse), got[1].loadLinear(lse))) << b << ", " << i << ", " << h;
        for (int64_t d = 0; d < 64; ++d) {
          double value = got[0].loadLinear(row * 64 + d);
          bool mayBeReached = b == 1 && h < 2 && (d == 5 || d == 40);
          if (mayBeReached && i >= key)
            ASSERT_FALSE(std::isfinite(value)) << "who keeps the key sees it";
          if (!mayBeReached)
            ASSERT_TRUE(agree(clean[0].loadLinear(row * 64 + d), value))
                << b << ", " << i << ", " << h << ", " << d << ": " << value;
        }
      }
}

/// Packed sequences do not see each other, whatever tiles they share.
TEST_P(NonFinite, StaysInItsSequence) {
  Spec packed;
  packed.packed = true;
  Trial trial = shaped("B=4,Tq=150,Tk=150");
  trial.contents = {{"qo", {0, 30, 31, 100, 150}}, {"ko", {0, 40, 45, 99, 150}}};
  ASSERT_NO_FATAL_FAILURE(open(packed, trial));
  for (int64_t head = 0; head < 2; ++head)
    for (auto [first, end] : {std::pair(0, 40), std::pair(45, 99)})
      for (int64_t row = first; row < end; ++row)
        for (const char *name : {"k", "v"})
          spoil(name, /*batch=*/-1, row, head, row % 2 ? infinity : notANumber);
  std::vector<Tensor> got = run(inputs);
  for (auto [first, end] : {std::pair(30, 31), std::pair(100, 150)})
    for (int64_t i = first; i < end; ++i)
      for (int64_t h = 0; h < 4; ++h) {
        ASSERT_TRUE(agree(clean[1].loadLinear(h * 150 + i), got[1].loadLinear(h * 150 + i))) << i << ", " << h;
        for (int64_t n = (i * 4 + h) * 64; n < (i * 4 + h + 1) * 64; ++n)
          ASSERT_TRUE(agree(clean[0].loadLinear(n), got[0].loadLinear(n)))
              << i << ", " << h << ": " << got[0].loadLinear(n);
      }
}
