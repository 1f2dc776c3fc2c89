//===- SplitTest.cpp - Rows whose keys are split ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// S16: a row over parts of its keys is the row over all of them, and with a fixed number of parts it has the same bits
// whatever else is in the batch.
//===----------------------------------------------------------------------===//

#include "runtime/jit/Verify.h"
#include "test/conformance/Runner.h"
#include <algorithm>
#include <gtest/gtest.h>

using namespace attnc;
using namespace attnc::conformance;
using runtime::Tensor;

namespace {

/// A schedule of `target` that goes over parts as `parts` says.
std::string scheduleFor(llvm::StringRef target, const std::string &parts) {
  std::string pipeline;
  if (target.ends_with("sm_90a"))
    pipeline = "#attn.roles<consumers = 1, stages = 2, query_stages = 1, epilogue = direct, producer_registers = 24, "
               "consumer_registers = 240>";
  else if (target.ends_with("sm_80"))
    pipeline = "#attn.warps<consumers = 1, stages = 2>";
  else
    return "#attn.schedule<query_tile = 32, key_tile = 32, panel = 16, " + parts + ">";
  return "#attn.schedule<query_tile = 64, key_tile = 32, panel = 64, pipeline = " + pipeline + ", " + parts + ">";
}

/// Sinks, lengths and a window: of a part's keys all, some or none are kept.
std::string specWith(const std::string &schedule) {
  return R"(
func.func @split(%q: tensor<?x?x4x16xbf16> {attn.name = "q"}, %k: tensor<?x?x2x16xbf16> {attn.name = "k"},
                 %v: tensor<?x?x2x24xbf16> {attn.name = "v"}, %n: tensor<4x2xf32> {attn.name = "n"},
                 %lengths: tensor<?xi32> {attn.name = "lengths"})
    -> (tensor<?x?x4x24xbf16>, tensor<?x4x?xf32>) {
  %o, %lse = attn.forward %q, %k, %v sinks(%n : tensor<4x2xf32>) lengths(key = %lengths : tensor<?xi32>)
    score (%s, %b, %h, %i, %j) {
      %capped = attn.softcap %s, 20.0
      attn.yield %capped : f32
    }
    mask (%b, %h, %i, %j) {
      %keep = attn.window %i, %j left(150) right(0)
      attn.yield %keep : i1
    }
    schedule()" +
         schedule + R"()
    : (tensor<?x?x4x16xbf16>, tensor<?x?x2x16xbf16>, tensor<?x?x2x24xbf16>)
    -> (tensor<?x?x4x24xbf16>, tensor<?x4x?xf32>)
  return %o, %lse : tensor<?x?x4x24xbf16>, tensor<?x4x?xf32>
}
)";
}

/// The same of packed sequences.
std::string packedSpecWith(const std::string &schedule) {
  return R"(
func.func @split(%q: tensor<?x4x16xbf16> {attn.name = "q"}, %k: tensor<?x2x16xbf16> {attn.name = "k"},
                 %v: tensor<?x2x24xbf16> {attn.name = "v"}, %n: tensor<4x2xf32> {attn.name = "n"},
                 %qo: tensor<?xi32> {attn.name = "qo"}, %ko: tensor<?xi32> {attn.name = "ko"})
    -> (tensor<?x4x24xbf16>, tensor<4x?xf32>) {
  %o, %lse = attn.forward %q, %k, %v varlen(query = %qo : tensor<?xi32>, key = %ko : tensor<?xi32>)
      sinks(%n : tensor<4x2xf32>)
    score (%s, %b, %h, %i, %j) {
      %capped = attn.softcap %s, 20.0
      attn.yield %capped : f32
    }
    mask (%b, %h, %i, %j) {
      %keep = attn.window %i, %j left(150) right(0)
      attn.yield %keep : i1
    }
    schedule()" +
         schedule + R"()
    : (tensor<?x4x16xbf16>, tensor<?x2x16xbf16>, tensor<?x2x24xbf16>) -> (tensor<?x4x24xbf16>, tensor<4x?xf32>)
  return %o, %lse : tensor<?x4x24xbf16>, tensor<4x?xf32>
}
)";
}

class Splits : public testing::TestWithParam<const char *> {
protected:
  /// The target: that of the run where the parameter names none.
  static std::string target() { return *GetParam() ? GetParam() : requestedTarget(); }

  /// Compiles the spec with a schedule over such parts.
  void compile(const std::string &parts, std::string (*spec)(const std::string &) = specWith) {
    auto compiled = CompiledSpec::compile(spec(scheduleFor(target(), parts)), target());
    ASSERT_TRUE(static_cast<bool>(compiled)) << compiled.message();
    kernel = std::move(*compiled);
  }

  std::vector<runtime::ArgValue> draw(const char *shape) {
    trial.shape = shape;
    auto drawn = makeInputs(kernel->kernel(), trial);
    EXPECT_TRUE(static_cast<bool>(drawn)) << drawn.message();
    return std::move(*drawn);
  }

  std::vector<Tensor> run(const std::vector<runtime::ArgValue> &inputs) {
    auto outputs = makeOutputs(kernel->kernel(), trial);
    EXPECT_TRUE(static_cast<bool>(outputs)) << outputs.message();
    image::Status status = kernel->run(inputs, *outputs);
    EXPECT_TRUE(static_cast<bool>(status)) << status.message();
    return std::move(*outputs);
  }

  /// Checks the kernel at `shape`; `parts` is what messages say.
  void judge(const char *parts, const char *shape) {
    std::vector<runtime::ArgValue> inputs = draw(shape);
    std::vector<Tensor> outputs = run(inputs);
    auto judgements = jit::judgeAgainstReference(kernel->kernel(), inputs, outputs);
    ASSERT_TRUE(static_cast<bool>(judgements)) << judgements.message();
    for (const auto &judgement : *judgements)
      EXPECT_TRUE(judgement.right()) << parts << ", " << shape << ": " << judgement.toString();
  }

  std::unique_ptr<CompiledSpec> kernel;
  Trial trial;
};

TEST_P(Splits, MeanTheUnsplitRow) {
  for (const char *parts : {"splits = 1", "splits = 5", "splits = 40", "split_blocks = 33"}) {
    compile(parts);
    for (const char *shape : {"B=2,Sq=1,Sk=700", "B=1,Sq=70,Sk=310", "B=3,Sq=5,Sk=20", "B=0,Sq=3,Sk=600",
                              "B=1,Sq=0,Sk=600", "B=1,Sq=3,Sk=0"})
      judge(parts, shape);
  }
}

TEST_P(Splits, MeanTheUnsplitSequence) {
  for (const char *parts : {"splits = 1", "splits = 5", "split_blocks = 33", "split_blocks = 264"}) {
    compile(parts, packedSpecWith);
    for (const char *shape : {"B=1,Tq=1,Tk=2100", "B=3,Tq=9,Tk=2100", "B=5,Tq=150,Tk=700", "B=7,Tq=4,Tk=5000",
                              "B=0,Tq=0,Tk=0", "B=2,Tq=0,Tk=600", "B=2,Tq=3,Tk=0"})
      judge(parts, shape);
  }
}

TEST_P(Splits, KeepTheirBitsInAnyBatch) {
  compile("splits = 7");
  constexpr int64_t batch = 3;
  std::vector<runtime::ArgValue> inputs = draw("B=3,Sq=2,Sk=500");
  std::vector<Tensor> outputs = run(inputs);
  for (int64_t entry = 0; entry < batch; ++entry) {
    std::vector<runtime::ArgValue> own = draw("B=1,Sq=2,Sk=500");
    for (auto [all, one] : llvm::zip_equal(inputs, own)) {
      const auto &from = std::get<Tensor>(all);
      auto &to = std::get<Tensor>(one);
      int64_t count = to.numElements(), first = from.numElements() == count ? 0 : entry * count;
      for (int64_t n = 0; n < count; ++n)
        to.storeLinear(n, from.loadLinear(first + n));
    }
    std::vector<Tensor> alone = run(own);
    for (auto [all, one] : llvm::zip_equal(outputs, alone))
      for (int64_t n = 0, count = one.numElements(); n < count; ++n)
        ASSERT_EQ(one.loadLinear(n), all.loadLinear(entry * count + n)) << entry << ", " << n;
  }
}

TEST_P(Splits, KeepTheirBitsInAnyPackedBatch) {
  compile("splits = 7", packedSpecWith);
  const std::vector<double> queryOffsets = {0, 2, 3, 38, 40}, keyOffsets = {0, 500, 500, 830, 1700};
  enum { Query, Key, Value, Sinks, QueryOffsets, KeyOffsets };
  trial.contents = {{"qo", queryOffsets}, {"ko", keyOffsets}};
  std::vector<runtime::ArgValue> inputs = draw("B=4,Tq=40,Tk=1700");
  std::vector<Tensor> outputs = run(inputs);
  auto copy = [](const Tensor &from, int64_t first, Tensor &to) {
    for (int64_t n = 0; n < to.numElements(); ++n)
      to.storeLinear(n, from.loadLinear(first + n));
  };
  for (size_t sequence = 0; sequence + 1 < queryOffsets.size(); ++sequence) {
    auto firstQuery = static_cast<int64_t>(queryOffsets[sequence]),
         firstKey = static_cast<int64_t>(keyOffsets[sequence]);
    auto queries = static_cast<int64_t>(queryOffsets[sequence + 1]) - firstQuery;
    auto keys = static_cast<int64_t>(keyOffsets[sequence + 1]) - firstKey;
    trial.contents = {{"qo", {0, static_cast<double>(queries)}}, {"ko", {0, static_cast<double>(keys)}}};
    const std::string shape = "B=1,Tq=" + std::to_string(queries) + ",Tk=" + std::to_string(keys);
    std::vector<runtime::ArgValue> own = draw(shape.c_str());
    for (int input : {Query, Key, Value, Sinks}) {
      const auto &from = std::get<Tensor>(inputs[input]);
      int64_t row = input == Sinks ? 0 : from.numElements() / from.shape()[0];
      copy(from, row * (input == Query ? firstQuery : firstKey), std::get<Tensor>(own[input]));
    }
    std::vector<Tensor> alone = run(own);
    const Tensor &out = alone[0], &all = outputs[0];
    for (int64_t n = 0, row = 4 * 24; n < out.numElements(); ++n)
      ASSERT_EQ(out.loadLinear(n), all.loadLinear(firstQuery * row + n)) << sequence << ", " << n;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Splits, testing::Values("", "sim:sm_80", "sim:sm_90a"), [](const auto &info) {
  std::string name = *info.param ? info.param : "requested";
  std::replace(name.begin(), name.end(), ':', '_');
  return name;
});

} // namespace
