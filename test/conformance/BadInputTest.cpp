//===- BadInputTest.cpp - Wrong arguments at launch (S18) -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Each case takes good arguments of a kernel, breaks one, and wants the error that names it; results stay as they were.
//===----------------------------------------------------------------------===//

#include "test/conformance/Runner.h"
#include <cmath>
#include <functional>
#include <gtest/gtest.h>

using namespace attnc;
using namespace attnc::conformance;
using image::DType;
using runtime::ArgValue;
using runtime::Tensor;

namespace {

/// The arguments of a launch, by name.
class Launch {
public:
  Launch(const attn::KernelFunction &kernel, std::vector<ArgValue> inputs, std::vector<Tensor> outputs)
      : inputs(std::move(inputs)), outputs(std::move(outputs)), kernel(kernel) {}

  ArgValue &operator[](const std::string &name) {
    for (auto [argument, value] : llvm::zip_equal(kernel.inputs, inputs))
      if (argument.name == name)
        return value;
    ADD_FAILURE() << "no argument is called " << name;
    return inputs.front();
  }

  Tensor &tensor(const std::string &name) { return std::get<Tensor>((*this)[name]); }

  /// Writes `values` over a tensor, from its beginning on.
  void write(const std::string &name, std::initializer_list<double> values) {
    int64_t index = 0;
    for (double value : values)
      tensor(name).storeLinear(index++, value);
  }

  /// Puts a tensor of zeros in place of another.
  void replace(const std::string &name, DType dtype, std::initializer_list<int64_t> shape) {
    Tensor zeros = *Tensor::allocate(dtype, std::vector<int64_t>(shape));
    zeros.fill(0);
    (*this)[name] = zeros;
  }

  std::vector<ArgValue> inputs;
  std::vector<Tensor> outputs;

private:
  const attn::KernelFunction &kernel;
};

/// One way to be wrong.
struct BadInput {
  const char *name;
  Spec spec;
  const char *shape;
  std::function<void(Launch &)> spoil;
  std::string error;
};

Spec padded(std::vector<std::string> arguments = {}, std::string clauses = "", std::string mask = "",
            std::string score = "") {
  Spec spec;
  spec.arguments = std::move(arguments);
  spec.clauses = std::move(clauses);
  spec.mask = std::move(mask);
  spec.score = std::move(score);
  return spec;
}

Spec packed(std::vector<std::string> arguments = {}, std::string mask = "") {
  Spec spec = padded(std::move(arguments), "", std::move(mask));
  spec.packed = true;
  return spec;
}

const char *const paddedShape = "B=3,Sq=5,Sk=7", *const packedShape = "B=3,Tq=20,Tk=30";

void addTensors(std::vector<BadInput> &cases) {
  cases.push_back({"rank", padded(), paddedShape, [](Launch &l) { l.replace("k", DType::F32, {7, 2, 64}); },
                   "argument 'k': expected rank 4, got 3"});
  cases.push_back({"dtype", padded(), paddedShape, [](Launch &l) { l.replace("v", DType::BF16, {3, 7, 2, 64}); },
                   "argument 'v': expected element type f32, got bf16"});
  cases.push_back({"heads", padded(), paddedShape, [](Launch &l) { l.replace("k", DType::F32, {3, 7, 1, 64}); },
                   "argument 'k': expected dimension 2 to be 2, got 1"});
  cases.push_back({"keys_and_values", padded(), paddedShape,
                   [](Launch &l) { l.replace("v", DType::F32, {3, 8, 2, 64}); },
                   "argument 'v': expected dimension 1 (Sk) to be 7 as in argument 'k', got 8"});
  cases.push_back({"batch", padded(), paddedShape, [](Launch &l) { l.replace("k", DType::F32, {2, 7, 2, 64}); },
                   "argument 'k': expected dimension 0 (B) to be 3 as in argument 'q', got 2"});
  cases.push_back({"stride", padded(), paddedShape,
                   [](Launch &l) {
                     Tensor wide = *Tensor::allocate(DType::F32, {3, 5, 2, 128});
                     l["q"] = Tensor::stridedView(wide.data(), DType::F32, {3, 5, 2, 64}, {1280, 256, 128, 2},
                                                  std::make_shared<Tensor>(wide));
                   },
                   "argument 'q': expected stride 1 in the last dimension, got 2"});
  cases.push_back({"output_in_place", packed(), packedShape, [](Launch &l) { l.outputs[0] = l.tensor("q"); },
                   "argument 'out': expected an output with memory of its own, got memory of argument 'q'"});
  cases.push_back(
      {"bias_size",
       padded({"bias: tensor<?x2x?x?xf32>"}, "", "", "%x = attn.bias %s, %bias[%b, %h, %i, %j] : tensor<?x2x?x?xf32>"),
       paddedShape, [](Launch &l) { l.replace("bias", DType::F32, {1, 2, 5, 6}); },
       "argument 'bias': expected dimension 3 (Sk) to be 1 or 7 as in argument 'k', got 6"});
  cases.push_back({"empty_table",
                   padded({"t: tensor<?xf32>"}, "", "",
                          "%d = arith.subi %i, %j : index\n      %x = attn.bias %s, %t[%d] : tensor<?xf32>"),
                   "B=3,Sq=5,Sk=7,t.0=4", [](Launch &l) { l.replace("t", DType::F32, {0}); },
                   "argument 't': expected dimension 0 (t.0) to be at least 1, got 0"});
}

void addLengths(std::vector<BadInput> &cases) {
  Spec lengths = padded({"ql: tensor<?xi32>", "kl: tensor<?xi32>"},
                        "lengths(query = %ql : tensor<?xi32>, key = %kl : tensor<?xi32>)");
  cases.push_back({"length_negative", lengths, paddedShape, [](Launch &l) { l.write("kl", {0, -1, 7}); },
                   "argument 'kl': expected lengths from 0 to 7 (Sk), got -1 at index 1"});
  cases.push_back({"length_past_the_end", lengths, paddedShape, [](Launch &l) { l.write("ql", {5, 0, 6}); },
                   "argument 'ql': expected lengths from 0 to 5 (Sq), got 6 at index 2"});
  // One tensor for both sides keeps to both: here there are more queries than keys.
  Spec both = padded({"l: tensor<?xi32>"}, "lengths(query = %l : tensor<?xi32>, key = %l : tensor<?xi32>)");
  cases.push_back({"length_of_both", both, "B=3,Sq=9,Sk=7", [](Launch &l) { l.write("l", {7, 9, 7}); },
                   "argument 'l': expected lengths from 0 to 7 (Sk), got 9 at index 1"});
  cases.push_back({"lengths_count", lengths, paddedShape, [](Launch &l) { l.replace("ql", DType::I32, {2}); },
                   "argument 'ql': expected dimension 0 (B) to be 3 as in argument 'q', got 2"});
  cases.push_back({"lengths_dtype", lengths, paddedShape, [](Launch &l) { l.replace("ql", DType::I64, {3}); },
                   "argument 'ql': expected element type i32, got i64"});

  cases.push_back({"offsets_first", packed(), packedShape, [](Launch &l) { l.write("qo", {1, 5, 9, 20}); },
                   "argument 'qo': expected cumulative lengths that start with 0, got 1 at index 0"});
  cases.push_back({"offsets_last", packed(), packedShape, [](Launch &l) { l.write("ko", {0, 5, 9, 29}); },
                   "argument 'ko': expected cumulative lengths that end with 30 (Tk), got 29 at index 3"});
  cases.push_back({"offsets_last_past_the_end", packed(), packedShape, [](Launch &l) { l.write("qo", {0, 5, 9, 21}); },
                   "argument 'qo': expected cumulative lengths that end with 20 (Tq), got 21 at index 3"});
  cases.push_back({"offsets_decrease", packed(), packedShape, [](Launch &l) { l.write("ko", {0, 12, 11, 30}); },
                   "argument 'ko': expected non-decreasing cumulative lengths, got 11 at index 2 after 12 at index 1"});
  cases.push_back({"offsets_negative", packed(), packedShape, [](Launch &l) { l.write("qo", {0, -4, 9, 20}); },
                   "argument 'qo': expected non-decreasing cumulative lengths, got -4 at index 1 after 0 at index 0"});
  cases.push_back({"offsets_count", packed(), packedShape, [](Launch &l) { l.replace("ko", DType::I32, {5}); },
                   "argument 'ko': expected dimension 0 (B+1) to be 4 as in argument 'qo', got 5"});
  cases.push_back({"offsets_none", packed(), packedShape, [](Launch &l) { l.replace("qo", DType::I32, {0}); },
                   "argument 'qo': expected dimension 0 (B+1) to be at least 1, got 0"});
  cases.push_back({"captured_by_sequence",
                   packed({"n: tensor<?xi32>"}, "%keep = attn.prefix %j, %n[%b] : tensor<?xi32>"), packedShape,
                   [](Launch &l) { l.replace("n", DType::I32, {4}); },
                   "argument 'n': expected dimension 0 (B) to be 1 or 3 as in argument 'qo', got 4"});
}

void addScalars(std::vector<BadInput> &cases) {
  Spec window = padded({"l: index", "r: index"}, "", "%keep = attn.window %i, %j left(%l) right(%r)");
  cases.push_back({"window_left", window, paddedShape, [](Launch &l) { l["l"] = int64_t(-1); },
                   "argument 'l': expected a value of at least 0, got -1"});
  cases.push_back({"window_right", window, paddedShape, [](Launch &l) { l["r"] = INT64_MIN; },
                   "argument 'r': expected a value of at least 0, got -9223372036854775808"});
  cases.push_back({"window_dtype", window, paddedShape, [](Launch &l) { l["r"] = 1.0; },
                   "argument 'r': expected an integer (index), got 1"});
  for (auto [name, alignment, expected] :
       {std::tuple("q_offset_top_left", "align(top_left) ", "from -1073741824 to 2147483643"),
        std::tuple("q_offset_bottom_right", "", "from -1073741819 to 2147483641")}) {
    Spec offset = padded({"n: index"}, std::string(alignment) + "q_offset(%n)", "%keep = attn.causal %i, %j");
    cases.push_back({name, offset, paddedShape, [](Launch &l) { l["n"] = int64_t(1) << 31; },
                     std::string("argument 'n': expected an offset ") + expected +
                         ", which leaves positions from -1073741824 to 2147483647 [S2], got 2147483648"});
  }
  Spec dropout = padded({"p: f32", "seed: i64"}, "dropout(%p, %seed)");
  const std::string probability = "argument 'p': expected a value from 0 to 1, got ";
  cases.push_back(
      {"probability_above_1", dropout, paddedShape, [](Launch &l) { l["p"] = 1.001; }, probability + "1.001"});
  cases.push_back(
      {"probability_below_0", dropout, paddedShape, [](Launch &l) { l["p"] = -0.001; }, probability + "-0.001"});
  cases.push_back({"probability_nan", dropout, paddedShape, [](Launch &l) { l["p"] = static_cast<double>(NAN); },
                   probability + "nan"});
  // An argument keeps to all of its uses, whichever comes first.
  Spec several = padded({"p: f32", "seed: i64"}, "scale(%p) dropout(%p, %seed)");
  cases.push_back(
      {"probability_that_scales", several, paddedShape, [](Launch &l) { l["p"] = 1.5; }, probability + "1.5"});
  cases.push_back({"seed_dtype", dropout, paddedShape, [](Launch &l) { l["seed"] = 0.5; },
                   "argument 'seed': expected an integer (i64), got 0.5"});
  const std::string finite =
      "argument 'c': expected a value from -3.4028234663852886e+38 to 3.4028234663852886e+38, got ";
  Spec scale = padded({"c: f32"}, "scale(%c)");
  cases.push_back(
      {"scale_nan", scale, paddedShape, [](Launch &l) { l["c"] = static_cast<double>(NAN); }, finite + "nan"});
  cases.push_back({"scale_infinite", scale, paddedShape, [](Launch &l) { l["c"] = static_cast<double>(INFINITY); },
                   finite + "inf"});
  const std::string aboveZero =
      "argument 'c': expected a value from 1.1754943508222875e-38 to 3.4028234663852886e+38, got ";
  Spec cap = padded({"c: f32"}, "", "", "%x = attn.softcap %s, %c");
  cases.push_back({"cap_0", cap, paddedShape, [](Launch &l) { l["c"] = 0.0; }, aboveZero + "0"});
  cases.push_back(
      {"cap_nan", cap, paddedShape, [](Launch &l) { l["c"] = static_cast<double>(NAN); }, aboveZero + "nan"});
}

std::vector<BadInput> allBadInputs() {
  std::vector<BadInput> cases;
  addTensors(cases);
  addLengths(cases);
  addScalars(cases);
  return cases;
}

class S18 : public testing::TestWithParam<BadInput> {};

/// What a tensor's memory holds.
std::string bits(const Tensor &tensor) {
  return {static_cast<const char *>(tensor.data()), static_cast<size_t>(tensor.numBytes())};
}

/// The kernel of `text`, which several cases break; null where it does not compile.
CompiledSpec *compileOnce(const std::string &text) {
  static std::map<std::string, std::unique_ptr<CompiledSpec>> kernels;
  std::unique_ptr<CompiledSpec> &kernel = kernels[text];
  if (!kernel) {
    auto compiled = CompiledSpec::compile(text, requestedTarget());
    if (compiled)
      kernel = std::move(*compiled);
    else
      ADD_FAILURE() << compiled.message() << "\n" << text;
  }
  return kernel.get();
}

} // namespace

INSTANTIATE_TEST_SUITE_P(BadInput, S18, testing::ValuesIn(allBadInputs()),
                         [](const auto &info) { return std::string(info.param.name); });

TEST_P(S18, NamesTheArgumentAndWritesNothing) {
  const BadInput &bad = GetParam();
  CompiledSpec *spec = compileOnce(bad.spec.toString("f32"));
  ASSERT_TRUE(spec);
  Trial trial;
  trial.shape = bad.shape;
  auto inputs = makeInputs(spec->kernel(), trial);
  ASSERT_TRUE(static_cast<bool>(inputs)) << inputs.message();
  auto outputs = makeOutputs(spec->kernel(), trial);
  ASSERT_TRUE(static_cast<bool>(outputs)) << outputs.message();
  Launch launch(spec->kernel(), std::move(*inputs), std::move(*outputs));

  bad.spoil(launch);
  std::vector<std::string> before(launch.outputs.size());
  llvm::transform(launch.outputs, before.begin(), bits);
  image::Status status = spec->run(launch.inputs, launch.outputs);
  EXPECT_FALSE(static_cast<bool>(status));
  EXPECT_EQ(status.message(), bad.error);
  for (auto [output, old] : llvm::zip_equal(launch.outputs, before))
    EXPECT_EQ(bits(output), old) << "a result was written";

  // The same kernel takes good arguments as if nothing had been.
  auto good = makeInputs(spec->kernel(), trial);
  ASSERT_TRUE(static_cast<bool>(good));
  status = spec->run(*good, launch.outputs);
  EXPECT_TRUE(static_cast<bool>(status)) << status.message();
}
