//===- RandomInputsTest.cpp - Inputs to test a kernel with ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/jit/Compile.h"
#include "test/unit/jit/JitTestSupport.h"
#include <algorithm>
#include <cmath>
#include <tuple>

using namespace attnc;
using namespace attnc::test;
using jit::makeRandomInputs;
using jit::RandomOptions;
using runtime::ArgValue;
using runtime::Tensor;

namespace {

/// The inputs of a spec at one shape.
class Drawn {
public:
  Drawn(const std::string &text, const std::string &shape, const RandomOptions &options = {})
      : spec(text), shapes(shapesOf(spec.kernel, shape)) {
    auto drawn = makeRandomInputs(spec.kernel, shapes, options);
    EXPECT_TRUE(static_cast<bool>(drawn)) << drawn.message();
    values = std::move(*drawn);
  }

  const ArgValue &value(llvm::StringRef name) const { return values[inputIndex(spec.kernel, name)]; }
  std::vector<double> tensor(llvm::StringRef name) const { return elements(std::get<Tensor>(value(name))); }

  OpenSpec spec;
  jit::Shapes shapes;
  std::vector<ArgValue> values;
};

} // namespace

static const char *padded = "B=12,Sq=40,Sk=70";

static std::string lengthsSpec() {
  return paddedSpec("%ql: tensor<?xi32>, %kl: tensor<?xi32>",
                    "lengths(query = %ql : tensor<?xi32>, key = %kl : tensor<?xi32>)");
}

static std::string scalarsSpec() {
  return paddedSpec("%scale: f32, %p: f32, %seed: i64, %n: index, %l: index, %cap: f32",
                    R"(scale(%scale) dropout(%p, %seed) q_offset(%n) score (%s, %b, %h, %i, %j) {
      %x = attn.softcap %s, %cap
      attn.yield %x : f32
    } mask (%b, %h, %i, %j) {
      %keep = attn.window %i, %j left(%l)
      attn.yield %keep : i1
    })");
}

/// Arguments with several uses, the first of which is the most lenient.
static std::string severalUsesSpec() {
  return paddedSpec("%n: tensor<?xi32>, %p: f32, %seed: i64", R"(scale(%p) dropout(%p, %seed)
    lengths(query = %n : tensor<?xi32>, key = %n : tensor<?xi32>) score (%s, %b, %h, %i, %j) {
      %x = attn.softcap %s, %p
      attn.yield %x : f32
    })");
}

static std::string segmentsSpec() {
  return paddedSpec("%qs: tensor<?x?xi32>, %ks: tensor<?x?xi32>", R"(mask (%b, %h, %i, %j) {
      %keep = attn.same_segment %qs[%b, %i], %ks[%b, %j] : tensor<?x?xi32>, tensor<?x?xi32>
      attn.yield %keep : i1
    })");
}

static std::string maskSpec() {
  return paddedSpec("%m: tensor<?x?xi1>", R"(mask (%b, %h, %i, %j) {
      %keep = attn.load %m[%i, %j] : tensor<?x?xi1>
      attn.yield %keep : i1
    })");
}

TEST(RandomInputs, DependOnTheSeedAlone) {
  Drawn first(lengthsSpec(), padded, {7, 1}), again(lengthsSpec(), padded, {7, 1}),
      other(lengthsSpec(), padded, {8, 1});
  for (const char *name : {"q", "k", "v", "ql", "kl"}) {
    EXPECT_EQ(first.tensor(name), again.tensor(name)) << name;
    EXPECT_NE(first.tensor(name), other.tensor(name)) << name;
  }
  EXPECT_NE(first.tensor("k"), first.tensor("v"));
}

TEST(RandomInputs, AreNormal) {
  Drawn drawn(paddedSpec(), padded);
  double sum = 0, squares = 0;
  std::vector<double> values = drawn.tensor("q");
  for (double value : values) {
    sum += value;
    squares += value * value;
  }
  auto count = static_cast<double>(values.size());
  EXPECT_NEAR(sum / count, 0, 5 / std::sqrt(count));
  EXPECT_NEAR(squares / count, 1, 10 / std::sqrt(count));
}

TEST(RandomInputs, ScaleQueriesKeysAndValuesAlone) {
  const std::string text = paddedSpec("%bias: tensor<?xf32>", R"(score (%s, %b, %h, %i, %j) {
      %x = attn.bias %s, %bias[%j] : tensor<?xf32>
      attn.yield %x : f32
    })");
  Drawn plain(text, padded), scaled(text, padded, {0, 1024});
  for (const char *name : {"q", "k", "v"}) {
    std::vector<double> expected = plain.tensor(name);
    for (double &value : expected)
      value *= 1024;
    EXPECT_EQ(scaled.tensor(name), expected) << name;
  }
  EXPECT_EQ(scaled.tensor("bias"), plain.tensor("bias"));
}

TEST(RandomInputs, LeaveOutValuesWhereMasksAloneCount) {
  Drawn whole(lengthsSpec(), padded), masks(lengthsSpec(), padded, {0, 1, /*drawValues=*/false});
  EXPECT_EQ(masks.tensor("ql"), whole.tensor("ql"));
  EXPECT_EQ(std::get<Tensor>(masks.value("q")).shape(), std::get<Tensor>(whole.value("q")).shape());
}

TEST(RandomInputs, HoldLengthsOfAllKinds) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    Drawn drawn(lengthsSpec(), padded, {seed, 1});
    for (auto [name, limit] : {std::pair("ql", 40.0), std::pair("kl", 70.0)}) {
      std::vector<double> lengths = drawn.tensor(name);
      EXPECT_EQ(*std::min_element(lengths.begin(), lengths.end()), 0);
      EXPECT_EQ(*std::max_element(lengths.begin(), lengths.end()), limit);
      EXPECT_EQ(std::count(lengths.begin(), lengths.end(), 1) > 0, true);
    }
  }
}

TEST(RandomInputs, CutPackedRowsIntoSequences) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    Drawn drawn(packedSpec(), "B=9,Tq=100,Tk=130", {seed, 1});
    for (auto [name, total] : {std::pair("qo", 100.0), std::pair("ko", 130.0)}) {
      std::vector<double> offsets = drawn.tensor(name);
      ASSERT_EQ(offsets.size(), 10U);
      EXPECT_EQ(offsets.front(), 0);
      EXPECT_EQ(offsets.back(), total);
      EXPECT_TRUE(std::is_sorted(offsets.begin(), offsets.end()));
      EXPECT_NE(std::adjacent_find(offsets.begin(), offsets.end()), offsets.end()) << "one sequence is empty";
    }
  }
  Drawn none(packedSpec(), "B=0,Tq=0,Tk=0");
  EXPECT_EQ(none.tensor("qo"), std::vector<double>{0});
}

TEST(RandomInputs, CutTensorsOfOneTotalAlike) {
  Drawn drawn(packedSpec(), "B=5,Tq=64,Tk=64");
  EXPECT_EQ(drawn.tensor("qo"), drawn.tensor("ko"));
}

TEST(RandomInputs, MakeDocumentsThatEndInPadding) {
  Drawn drawn(segmentsSpec(), "B=2,Sq=64,Sk=64");
  std::vector<double> ids = drawn.tensor("qs");
  EXPECT_EQ(ids, drawn.tensor("ks"));
  for (size_t row : {0, 1}) {
    auto begin = ids.begin() + static_cast<int64_t>(row) * 64;
    EXPECT_TRUE(std::is_sorted(begin, begin + 60)) << "documents follow each other";
    EXPECT_GT(*(begin + 59), *begin);
    EXPECT_EQ(std::count(begin + 60, begin + 64, -1), 4);
  }
}

TEST(RandomInputs, KeepMostOfAMask) {
  std::vector<double> mask = Drawn(maskSpec(), padded).tensor("m");
  int64_t kept = std::count(mask.begin(), mask.end(), 1);
  EXPECT_EQ(kept + std::count(mask.begin(), mask.end(), 0), static_cast<int64_t>(mask.size()));
  EXPECT_GT(kept, static_cast<int64_t>(mask.size()) / 2);
  EXPECT_LT(kept, static_cast<int64_t>(mask.size()));
}

TEST(RandomInputs, GiveScalarsUsualValues) {
  Drawn drawn(scalarsSpec(), padded);
  EXPECT_EQ(std::get<double>(drawn.value("p")), 0.1);
  EXPECT_EQ(std::get<double>(drawn.value("scale")), 1 / std::sqrt(8.0));
  EXPECT_EQ(std::get<double>(drawn.value("cap")), 30);
  EXPECT_EQ(std::get<int64_t>(drawn.value("l")), 70 / 4);
  EXPECT_GE(std::get<int64_t>(drawn.value("n")), 0);
}

TEST(RandomInputs, PassTheChecksOfALaunch) {
  for (const std::string &text :
       {paddedSpec(), lengthsSpec(), scalarsSpec(), severalUsesSpec(), segmentsSpec(), maskSpec(), packedSpec()}) {
    OpenSpec spec(text);
    auto image = jit::describeKernel(spec.session, spec.kernel);
    ASSERT_TRUE(static_cast<bool>(image)) << spec.diagnostics;
    const std::string axis = spec.kernel.findSymbol("Tq") >= 0 ? "T" : "S";
    for (uint64_t seed = 0; seed < 3; ++seed)
      for (auto [batch, queries, keys] : {std::tuple(1, 1, 1), {2, 33, 65}, {0, 0, 0}, {9, 1, 70}}) {
        const std::string sizes = "B=" + std::to_string(batch) + "," + axis + "q=" + std::to_string(queries) + "," +
                                  axis + "k=" + std::to_string(keys);
        Drawn drawn(text, sizes, {seed, 1});
        auto outputs = jit::allocateOutputs(drawn.spec.kernel, drawn.shapes);
        ASSERT_TRUE(static_cast<bool>(outputs));
        std::vector<ArgValue> values = drawn.values;
        values.insert(values.end(), outputs->begin(), outputs->end());
        auto bound = runtime::bindArguments(*image, values);
        EXPECT_TRUE(static_cast<bool>(bound)) << bound.message() << "\n" << sizes << "\n" << text;
      }
  }
}

TEST(RandomInputs, NameTheArgumentThatIsTooLarge) {
  OpenSpec spec(paddedSpec());
  jit::Shapes shapes = shapesOf(spec.kernel, "B=1099511627776,Sq=1099511627776,Sk=1");
  std::string message = makeRandomInputs(spec.kernel, shapes).message();
  EXPECT_EQ(message.find("argument 'q': "), 0U) << message;
  message = jit::allocateOutputs(spec.kernel, shapes).message();
  EXPECT_EQ(message.find("result 'out': "), 0U) << message;
}

TEST(RandomInputs, PoisonResults) {
  OpenSpec spec(paddedSpec());
  jit::Shapes shapes = shapesOf(spec.kernel, "B=2,Sq=3,Sk=4");
  auto outputs = jit::allocateOutputs(spec.kernel, shapes);
  ASSERT_TRUE(static_cast<bool>(outputs));
  ASSERT_EQ(outputs->size(), 2U);
  EXPECT_EQ((*outputs)[0].shape(), (runtime::Dims{2, 3, 2, 8}));
  for (const Tensor &output : *outputs)
    for (double value : elements(output))
      EXPECT_TRUE(std::isnan(value));
  auto wide = jit::allocateOutputs(spec.kernel, shapes, image::DType::F64);
  ASSERT_TRUE(static_cast<bool>(wide));
  EXPECT_EQ((*wide)[1].dtype(), image::DType::F64);
}
