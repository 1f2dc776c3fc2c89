//===- ArgumentsTest.cpp - Tests of rule S18 at launch ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#include "runtime/Arguments.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

using namespace attnc::image;
using namespace attnc::runtime;

namespace {

Tensor make(DType dtype, Span<const int64_t> shape) {
  Tensor tensor = *Tensor::allocate(dtype, shape);
  tensor.fill(0);
  return tensor;
}

Tensor vector(Span<const int32_t> values) {
  Tensor tensor = make(DType::I32, {static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(), tensor.data<int32_t>());
  return tensor;
}

/// q[B, Sq, 4] f16, k[B, Sk, 4] f16, bias[B|1, 3|1] f32 before both, cumulative
/// lengths to Sk, lengths to Sq, p in [0, 1] f32, n >= 0 i32, seed i64, cap f16,
/// out[B, Sq, 4] f16.
class Arguments : public ::testing::Test {
protected:
  enum { Bias, Q, K, Cu, Lengths, P, N, Seed, Cap, Out };

  void SetUp() override {
    image.name = "kernel";
    image.symbols = {"B", "Sq", "Sk", "unused"};
    image.args.resize(10);
    const char *names[] = {"bias", "q", "k", "cu", "lengths", "p", "n", "seed", "cap", "out"};
    for (int i = 0; i < 10; ++i)
      image.args[i].name = names[i];
    image.args[Bias].dims = {{-1, 0, true}, {3, -1, true}};
    for (int i : {int(Q), int(K), int(Out)}) {
      image.args[i].dtype = DType::F16;
      image.args[i].dims = {{-1, 0, false}, {-1, i == K ? 2 : 1, false}, {4, -1, false}};
      image.args[i].unitInnerStride = i != Out;
    }
    image.args[Out].role = ArgRole::Output;
    for (int i : {int(Cu), int(Lengths)}) {
      image.args[i].dtype = DType::I32;
      image.args[i].dims = {{-1, -1, false}};
      image.args[i].content = i == Cu ? ContentRule::CumulativeLengths : ContentRule::Lengths;
      image.args[i].contentSymbols = {i == Cu ? 2 : 1};
    }
    for (int i : {int(P), int(N), int(Seed), int(Cap)})
      image.args[i].kind = ArgKind::Scalar;
    image.args[P].min = 0;
    image.args[P].max = 1;
    image.args[N].dtype = DType::I32;
    image.args[N].min = 0;
    image.args[Seed].dtype = DType::I64;
    image.args[Seed].isIndex = true;
    image.args[Cap].dtype = DType::F16;
    image.args[Cap].notNaN = true;
    ASSERT_TRUE(verify(image)) << verify(image).message();
    values = {make(DType::F32, {1, 3}),
              make(DType::F16, {2, 5, 4}),
              make(DType::F16, {2, 7, 4}),
              vector({0, 3, 3, 7}),
              vector({0, 5}),
              0.5,
              int64_t{9},
              int64_t{-2},
              int64_t{3},
              make(DType::F16, {2, 5, 4})};
  }

  /// The message with argument `i` replaced.
  std::string errorWith(int i, ArgValue value) {
    std::vector<ArgValue> changed = values;
    changed[i] = std::move(value);
    return bindArguments(image, changed).message();
  }

  KernelImage image;
  std::vector<ArgValue> values;
};

TEST_F(Arguments, BuildsTheArgumentBlock) {
  const Tensor whole = make(DType::F16, {2, 4, 5, 2});
  values[Out] = Tensor::stridedView(whole.data(), DType::F16, {2, 5, 4}, {40, 2, 10});
  Result<BoundArguments> bound = bindArguments(image, values);
  ASSERT_TRUE(bound) << bound.message();
  EXPECT_EQ(bound->symbolSizes, (std::vector<int64_t>{2, 5, 7, 1}));
  const auto offsets = slotOffsets(image);
  EXPECT_EQ(offsets, (std::vector<int64_t>{0, 5, 12, 19, 22, 25, 26, 27, 28, 29, 36}));
  ASSERT_EQ(bound->slots.size(), 36u);
  const auto slots = [&](int i) {
    return std::vector<int64_t>(bound->slots.begin() + offsets[i], bound->slots.begin() + offsets[i + 1]);
  };
  const auto address = [&](int i) { return reinterpret_cast<int64_t>(std::get<Tensor>(values[i]).data()); };
  EXPECT_EQ(slots(Bias), (std::vector<int64_t>{address(Bias), 1, 3, 0, 1}));
  EXPECT_EQ(slots(Q), (std::vector<int64_t>{address(Q), 2, 5, 4, 20, 4, 1}));
  EXPECT_EQ(slots(Out), (std::vector<int64_t>{address(Out), 2, 5, 4, 40, 2, 10}));
  EXPECT_EQ(slots(P), (std::vector<int64_t>{0x3F000000}));
  EXPECT_EQ(slots(N), (std::vector<int64_t>{9}));
  EXPECT_EQ(slots(Seed), (std::vector<int64_t>{-2}));
  EXPECT_EQ(slots(Cap), (std::vector<int64_t>{0x4200})) << "an integer is good for a float";
  EXPECT_EQ(bound->tensors.size(), 6u);
}

TEST_F(Arguments, ScalarBitsAreAsDocumented) {
  const auto slotOf = [&](DType dtype, ArgValue value) {
    ArgSpec arg;
    arg.kind = ArgKind::Scalar;
    arg.dtype = dtype;
    KernelImage scalar;
    scalar.args = {arg};
    return bindArguments(scalar, {value})->slots[0];
  };
  EXPECT_EQ(slotOf(DType::F32, -1.0), 0xBF800000) << "zeros above, not the sign";
  EXPECT_EQ(slotOf(DType::F64, -1.0), static_cast<int64_t>(0xBFF0000000000000));
  EXPECT_EQ(slotOf(DType::BF16, -1.0), 0xBF80);
  EXPECT_EQ(slotOf(DType::F32, -INFINITY), 0xFF800000);
  EXPECT_EQ(slotOf(DType::I8, int64_t{-1}), -1);
  EXPECT_EQ(slotOf(DType::I1, int64_t{1}), 1);
  EXPECT_EQ(slotOf(DType::I64, INT64_MIN), INT64_MIN);
}

TEST_F(Arguments, NamesKindTypeAndRank) {
  EXPECT_EQ(bindArguments(image, {}).message(), "kernel 'kernel': expected 10 arguments, got 0");
  EXPECT_EQ(errorWith(Q, 1.0), "argument 'q': expected a tensor, got a scalar");
  EXPECT_EQ(errorWith(P, Tensor()), "argument 'p': expected a scalar, got a tensor");
  EXPECT_EQ(errorWith(Q, make(DType::BF16, {2, 5, 4})), "argument 'q': expected element type f16, got bf16");
  EXPECT_EQ(errorWith(Q, make(DType::F16, {5, 4})), "argument 'q': expected rank 3, got 2");
}

TEST_F(Arguments, NamesSizes) {
  EXPECT_EQ(errorWith(K, make(DType::F16, {3, 7, 4})),
            "argument 'k': expected dimension 0 (B) to be 2 as in argument 'q', got 3");
  EXPECT_EQ(errorWith(Q, make(DType::F16, {2, 5, 5})), "argument 'q': expected dimension 2 to be 4, got 5");
  EXPECT_EQ(errorWith(Bias, make(DType::F32, {3, 3})),
            "argument 'bias': expected dimension 0 (B) to be 1 or 2 as in argument 'q', got 3");
  EXPECT_EQ(errorWith(Bias, make(DType::F32, {2, 2})), "argument 'bias': expected dimension 1 to be 1 or 3, got 2");
  EXPECT_EQ(errorWith(Bias, make(DType::F32, {2, 1})), "");
  float data[4];
  EXPECT_EQ(errorWith(Bias, Tensor::stridedView(data, DType::F32, {-1, 3}, {3, 1})),
            "argument 'bias': expected dimension 0 (B) to be non-negative, got -1");
  EXPECT_EQ(errorWith(Q, make(DType::F16, {1, 5, 4})),
            "argument 'k': expected dimension 0 (B) to be 1 as in argument 'q', got 2")
      << "size 1 does not broadcast where the spec does not say so";
  image.args[K].dims[1] = {-1, 0, false};
  EXPECT_NE(bindArguments(image, values).message(), "");
}

TEST_F(Arguments, BroadcastDimensionsAloneDefineASymbol) {
  image.args[Bias].dims[0].symbol = 3;
  EXPECT_EQ(bindArguments(image, values)->symbolSizes[3], 1);
  values[Bias] = make(DType::F32, {6, 3});
  EXPECT_EQ(bindArguments(image, values)->symbolSizes[3], 6);
}

TEST_F(Arguments, CountsExtraElements) {
  image.args[Cu].dims[0] = {-1, 0, false, 1};
  ASSERT_TRUE(verify(image)) << verify(image).message();
  EXPECT_EQ(errorWith(Cu, vector({0, 3, 7})), "");
  EXPECT_EQ(errorWith(Cu, vector({0, 3, 3, 7})),
            "argument 'cu': expected dimension 0 (B+1) to be 3 as in argument 'q', got 4");
  EXPECT_EQ(errorWith(Cu, make(DType::I32, {0})), "argument 'cu': expected dimension 0 (B+1) to be at least 1, got 0");
  // Cumulative lengths alone say how many sequences there are, and broadcast dimensions follow.
  for (int i : {int(Q), int(K), int(Out)})
    image.args[i].dims[0].symbol = 3;
  EXPECT_EQ(errorWith(Cu, vector({0, 3, 7})), "");
  values[Bias] = make(DType::F32, {2, 3});
  EXPECT_EQ(errorWith(Cu, vector({0, 7})),
            "argument 'bias': expected dimension 0 (B) to be 1 as in argument 'cu', got 2");
}

TEST_F(Arguments, KeepsOutputsApart) {
  alignas(64) uint16_t data[160] = {};
  const Dims shape = {2, 5, 4};
  auto both = [&](const Tensor &query, const Tensor &out) {
    values[Q] = query;
    return errorWith(Out, out);
  };
  const std::string shared = "argument 'out': expected an output with memory of its own, got memory of argument 'q'";
  EXPECT_EQ(both(Tensor::view(data, DType::F16, shape), Tensor::view(data, DType::F16, shape)), shared);
  EXPECT_EQ(both(Tensor::view(data, DType::F16, shape), Tensor::view(data + 36, DType::F16, shape)), shared);
  EXPECT_EQ(both(Tensor::view(data + 39, DType::F16, shape), Tensor::view(data, DType::F16, shape)), shared);
  EXPECT_EQ(both(Tensor::view(data, DType::F16, shape), Tensor::view(data + 40, DType::F16, shape)), "")
      << "next to it";
  // Parts of one packed tensor: rows of one between rows of the other.
  EXPECT_EQ(both(Tensor::stridedView(data, DType::F16, shape, {40, 8, 1}),
                 Tensor::stridedView(data + 4, DType::F16, shape, {40, 8, 1})),
            "");
  EXPECT_EQ(both(Tensor::stridedView(data, DType::F16, shape, {40, 8, 1}),
                 Tensor::stridedView(data, DType::F16, shape, {80, 16, 1})),
            shared);
}

TEST_F(Arguments, NamesMemory) {
  alignas(64) uint16_t data[64] = {};
  const Dims shape = {2, 5, 4};
  EXPECT_EQ(errorWith(Q, Tensor::stridedView(data, DType::F16, shape, {0, 8, 2})),
            "argument 'q': expected stride 1 in the last dimension, got 2");
  EXPECT_EQ(errorWith(Q, Tensor::stridedView(data, DType::F16, shape, {0, -4, 1})), "")
      << "inputs may repeat and run backwards";
  EXPECT_EQ(errorWith(Out, Tensor::stridedView(data, DType::F16, shape, {0, 4, 1})),
            "argument 'out': expected an output with distinct elements, got stride 0 in dimension "
            "0 (B)");
  // Steps of two dimensions meet, backwards too; where they pass each other by, elements are distinct.
  for (int64_t backwards : {1, -1})
    EXPECT_EQ(errorWith(Out, Tensor::stridedView(data + 16, DType::F16, shape, {backwards * 16, 4, 1})),
              "argument 'out': expected an output with distinct elements, got strides " +
                  std::to_string(backwards * 16) + " in dimension 0 (B) and 4 in dimension 1 (Sq)");
  EXPECT_EQ(errorWith(Out, Tensor::stridedView(data, DType::F16, shape, {20, 3, 1})),
            "argument 'out': expected an output with distinct elements, got strides 3 in dimension 1 (Sq) and 1 in "
            "dimension 2");
  EXPECT_EQ(errorWith(Out, Tensor::stridedView(data, DType::F16, shape, {4, 8, 1})), "") << "batches between rows";
  EXPECT_EQ(errorWith(Q, Tensor::stridedView(data, DType::F16, shape, {16, 3, 1})), "") << "inputs may overlap";
  EXPECT_EQ(errorWith(Q, Tensor::view(nullptr, DType::F16, shape)), "argument 'q': expected data, got a null pointer");
  EXPECT_EQ(errorWith(Q, Tensor::view(reinterpret_cast<char *>(data) + 1, DType::F16, shape)),
            "argument 'q': expected data aligned to 2 bytes, got an unaligned address");
  for (int64_t stride : {INT64_MAX, INT64_MIN})
    EXPECT_EQ(errorWith(Q, Tensor::stridedView(data, DType::F16, shape, {stride, 4, 1})),
              "argument 'q': expected elements within 2^63 bytes, got stride " + std::to_string(stride) +
                  " in dimension 0 (B)");
  const int64_t huge = int64_t{1} << 62;
  EXPECT_EQ(errorWith(Q, Tensor::stridedView(data, DType::F16, {huge, huge, 4}, {0, 0, 1})),
            "argument 'q': expected fewer than 2^63 elements, got shape " + shapeString({huge, huge, 4}));
  // Empty tensors have no data to point to, and their strides do not matter.
  values[Q] = Tensor::stridedView(nullptr, DType::F16, {2, 0, 4}, {1, 1, 9});
  values[Out] = values[Q];
  values[Lengths] = vector({0, 0});
  EXPECT_EQ(bindArguments(image, values).message(), "");
}

TEST_F(Arguments, NamesScalars) {
  EXPECT_EQ(errorWith(P, 1.5), "argument 'p': expected a value from 0 to 1, got 1.5");
  EXPECT_EQ(errorWith(P, -0.1), "argument 'p': expected a value from 0 to 1, got -0.1");
  EXPECT_EQ(errorWith(P, std::nan("")), "argument 'p': expected a value from 0 to 1, got nan");
  EXPECT_EQ(errorWith(P, int64_t{1}), "");
  EXPECT_EQ(errorWith(N, int64_t{-1}), "argument 'n': expected a value of at least 0, got -1");
  EXPECT_EQ(errorWith(N, 1.0), "argument 'n': expected an integer (i32), got 1");
  EXPECT_EQ(errorWith(N, int64_t{1} << 31), "argument 'n': expected a value that i32 can hold, got 2147483648");
  EXPECT_EQ(errorWith(Seed, 0.5), "argument 'seed': expected an integer (index), got 0.5");
  EXPECT_EQ(errorWith(Cap, std::nan("")), "argument 'cap': expected a number, got nan");
  EXPECT_EQ(errorWith(Cap, 1e5), "argument 'cap': expected a value that f16 can hold, got 1e+05");
  EXPECT_EQ(errorWith(Cap, INFINITY), "");
}

TEST_F(Arguments, NamesOffsetsOfPositions) {
  // Five queries and seven keys; queries stand from -100 to 1000.
  image.args[Seed].positions = {{-100, 1000, 1, 2}};
  ASSERT_TRUE(verify(image)) << verify(image).message();
  const std::string last = "argument 'seed': expected an offset from -95 to 994, which leaves positions from -100 to "
                           "1000 [S2], got ";
  EXPECT_EQ(errorWith(Seed, int64_t{994}), "");
  EXPECT_EQ(errorWith(Seed, int64_t{995}), last + "995");
  EXPECT_EQ(errorWith(Seed, int64_t{-95}), "");
  EXPECT_EQ(errorWith(Seed, INT64_MIN), last + "-9223372036854775808");
  // The first query stands at the offset.
  image.args[Seed].positions = {{-100, 1000, 1, -1}};
  EXPECT_EQ(errorWith(Seed, int64_t{-100}), "");
  EXPECT_EQ(errorWith(Seed, int64_t{996}), "");
  EXPECT_EQ(errorWith(Seed, INT64_MAX),
            "argument 'seed': expected an offset from -100 to 996, which leaves positions from -100 to 1000 [S2], got "
            "9223372036854775807");
  // Each kernel of the function that the offset is for.
  image.args[Seed].positions.push_back({-100, 1000, 1, 2});
  EXPECT_EQ(errorWith(Seed, int64_t{995}), last + "995");
}

TEST_F(Arguments, NamesContent) {
  EXPECT_EQ(errorWith(Cu, vector({1, 7})),
            "argument 'cu': expected cumulative lengths that start with 0, got 1 at index 0");
  EXPECT_EQ(errorWith(Cu, vector({0, 5, 4, 7})),
            "argument 'cu': expected non-decreasing cumulative lengths, got 4 at index 2 after 5 "
            "at index 1");
  EXPECT_EQ(errorWith(Cu, vector({0, 6})),
            "argument 'cu': expected cumulative lengths that end with 7 (Sk), got 6 at index 1");
  EXPECT_EQ(errorWith(Cu, vector({0})),
            "argument 'cu': expected cumulative lengths that end with 7 (Sk), got 0 at index 0");
  EXPECT_EQ(errorWith(Cu, make(DType::I32, {0})), "argument 'cu': expected at least 1 cumulative length, got 0");
  EXPECT_EQ(errorWith(Lengths, vector({5, 6})),
            "argument 'lengths': expected lengths from 0 to 5 (Sq), got 6 at index 1");
  EXPECT_EQ(errorWith(Lengths, vector({-1})),
            "argument 'lengths': expected lengths from 0 to 5 (Sq), got -1 at index 0");
  // One tensor for queries and keys keeps to both.
  image.args[Lengths].contentSymbols = {1, 2};
  EXPECT_EQ(errorWith(Lengths, vector({5, 6})),
            "argument 'lengths': expected lengths from 0 to 5 (Sq), got 6 at index 1");
  image.args[Lengths].contentSymbols = {2, 1};
  EXPECT_EQ(errorWith(Lengths, vector({5, 6})),
            "argument 'lengths': expected lengths from 0 to 5 (Sq), got 6 at index 1");
  image.args[Cu].contentSymbols = {2, 1};
  EXPECT_EQ(errorWith(Cu, vector({0, 7})),
            "argument 'cu': expected cumulative lengths that end with 5 (Sq), got 7 at index 1");
  image.args[Cu].contentSymbols = {2};
  image.args[Lengths].contentSymbols = {1};
  const Tensor spaced = vector({0, 99, 4, 99, 7, 99});
  EXPECT_EQ(errorWith(Cu, Tensor::stridedView(spaced.data(), DType::I32, {3}, {2})), "");
}

/// A table [B, N] of pages of 4 keys, of which `k` has P = 3, beside lengths for each sequence.
class Pages : public Arguments {
protected:
  enum { Table = Out + 1 };

  void SetUp() override {
    Arguments::SetUp();
    image.symbols.push_back("P");
    image.args[K].dims = {{-1, 4, false}, {4, -1, false}, {4, -1, false}};
    image.args[Lengths].dims[0].symbol = 0;
    image.args[Lengths].contentSymbols = {2};
    image.args[Cu] = image.args[Lengths];
    image.args[Cu].name = "cu";
    ArgSpec table;
    table.name = "table";
    table.dtype = DType::I32;
    table.dims = {{-1, 0, false}, {-1, 2, false, 0, 4, 0, 1000}};
    table.pages = {{4, 4, Lengths}};
    image.args.push_back(table);
    ASSERT_TRUE(verify(image)) << verify(image).message();
    values[K] = make(DType::F16, {3, 4, 4});
    values[Cu] = values[Lengths] = vector({0, 5});
    values.push_back(tableOf({-1, 7, 2, 0}));
  }

  static Tensor tableOf(Span<const int32_t> entries, int64_t rows = 2) {
    Tensor table = make(DType::I32, {rows, static_cast<int64_t>(entries.size()) / rows});
    std::copy(entries.begin(), entries.end(), table.data<int32_t>());
    return table;
  }
};

TEST_F(Pages, GiveTheSizeOfKeys) {
  Result<BoundArguments> bound = bindArguments(image, values);
  ASSERT_TRUE(bound) << bound.message();
  EXPECT_EQ(bound->symbolSizes[2], 8);
  EXPECT_EQ(bound->symbolSizes[4], 3);
  EXPECT_EQ(errorWith(Lengths, vector({0, 9})),
            "argument 'lengths': expected lengths from 0 to 8 (Sk), got 9 at index 1");
  EXPECT_EQ(errorWith(Table, tableOf({2, 0}, 1)),
            "argument 'table': expected dimension 0 (B) to be 2 as in argument 'q', got 1");
  EXPECT_EQ(errorWith(Table, make(DType::I32, {2, 1001})),
            "argument 'table': expected dimension 1 (Sk/4) to be at most 1000, got 1001");
}

TEST_F(Pages, AgreeWithTensorsAlongKeys) {
  image.args[Cu] = {};
  image.args[Cu].name = "ids";
  image.args[Cu].dtype = DType::I32;
  image.args[Cu].dims = {{-1, 2, false}};
  EXPECT_EQ(errorWith(Cu, make(DType::I32, {8})), "");
  EXPECT_EQ(errorWith(Cu, make(DType::I32, {12})),
            "argument 'table': expected dimension 1 (Sk/4) to be 3 as in argument 'ids', got 2");
  EXPECT_EQ(errorWith(Cu, make(DType::I32, {9})),
            "argument 'table': expected dimension 1 (Sk/4) to be 1 for each 4 of 9 as in argument 'ids', got 2");
}

TEST_F(Pages, NameEntriesThatKeysAreIn) {
  EXPECT_EQ(errorWith(Lengths, vector({1, 5})),
            "argument 'table': expected pages from 0 to 2 where a sequence has keys, "
            "got -1 at index [0, 0]");
  EXPECT_EQ(errorWith(Table, tableOf({0, 0, 2, 3})),
            "argument 'table': expected pages from 0 to 2 where a sequence has keys, got 3 at index [1, 1]");
  EXPECT_EQ(errorWith(Lengths, vector({0, 4})), "");
  const Tensor spaced = tableOf({2, 3, 0, 3, 1, 3, 2, 9});
  EXPECT_EQ(errorWith(Table, Tensor::stridedView(spaced.data(), DType::I32, {2, 2}, {4, 2})), "");
  // Without lengths all are read.
  image.args[Table].pages = {{4, 4, -1}};
  EXPECT_EQ(errorWith(Table, tableOf({0, 7, 2, 0})),
            "argument 'table': expected pages from 0 to 2 where a sequence has keys, got 7 at index [0, 1]");
  EXPECT_EQ(errorWith(Table, tableOf({0, 1, 2, 0})), "");
}

} // namespace
