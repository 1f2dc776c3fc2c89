//===- SkippedTilesTest.cpp - Tiles that no key is kept in ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Which tiles of keys does a tile of queries visit? A NaN among the values shows: 0 * NaN is NaN, so it reaches every
// row whose kernel multiplies with it, kept or not, and none that skips the tile. No kernel is changed for that.
//===----------------------------------------------------------------------===//

#include "test/conformance/Runner.h"
#include <cmath>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>

using namespace attnc;
using namespace attnc::conformance;
using runtime::ArgValue;
using runtime::Tensor;

namespace {

/// Rows and keys: some tiles each, the last ones partial.
constexpr int64_t length = 700;

/// A mask, what it means, and the contents of its captured tensors.
struct MaskKind {
  const char *name;
  std::vector<std::string> arguments;
  const char *mask;
  std::function<bool(int64_t i, int64_t j)> keeps;
  std::map<std::string, std::vector<double>> contents;
};

/// For messages.
// NOLINTNEXTLINE(readability-identifier-naming): GoogleTest looks for this name.
[[maybe_unused]] void PrintTo(const MaskKind &kind, std::ostream *os) { *os << kind.mask; }

/// Ids of documents of 150 rows.
std::vector<double> documentIds() {
  std::vector<double> ids;
  ids.reserve(length);
  for (int64_t i = 0; i < length; ++i) {
    int64_t document = i / 150;
    ids.push_back(static_cast<double>(document));
  }
  return ids;
}

std::vector<MaskKind> maskKinds() {
  return {
      {"causal", {}, "%keep = attn.causal %i, %j", [](int64_t i, int64_t j) { return j <= i; }, {}},
      {"window",
       {},
       "%keep = attn.window %i, %j left(100) right(20)",
       [](int64_t i, int64_t j) { return i - 100 <= j && j <= i + 20; },
       {}},
      {"window_runtime",
       {"w: index"},
       "%keep = attn.window %i, %j left(%w) right(0)",
       [](int64_t i, int64_t j) { return i - 90 <= j && j <= i; },
       {{"w", {90}}}},
      {"prefix",
       {"n: tensor<?xi32>"},
       "%c = attn.causal %i, %j\n      %p = attn.prefix %j, %n[%b] : tensor<?xi32>\n      %keep = arith.ori %c, %p : "
       "i1",
       [](int64_t i, int64_t j) { return j <= i || j < 200; },
       {{"n", {200}}}},
      {"segments",
       {"qs: tensor<?x?xi32>", "ks: tensor<?x?xi32>"},
       "%keep = attn.same_segment %qs[%b, %i], %ks[%b, %j] : tensor<?x?xi32>, tensor<?x?xi32>",
       [](int64_t i, int64_t j) { return i / 150 == j / 150; },
       {{"qs", documentIds()}, {"ks", documentIds()}}},
      {"documents_causal",
       {"qs: tensor<?x?xi32>", "ks: tensor<?x?xi32>"},
       "%c = attn.causal %i, %j\n"
       "      %s = attn.same_segment %qs[%b, %i], %ks[%b, %j] : tensor<?x?xi32>, tensor<?x?xi32>\n"
       "      %keep = arith.andi %c, %s : i1",
       [](int64_t i, int64_t j) { return j <= i && i / 150 == j / 150; },
       {{"qs", documentIds()}, {"ks", documentIds()}}},
      {"user_comparison",
       {},
       "%n = arith.constant 130 : index\n      %t = arith.addi %i, %n : index\n"
       "      %keep = arith.cmpi sgt, %j, %t : index",
       [](int64_t i, int64_t j) { return j > i + 130; },
       {}},
      {"user_chunks",
       {},
       "%n = arith.constant 192 : index\n      %p = arith.floordivsi %i, %n : index\n"
       "      %r = arith.floordivsi %j, %n : index\n      %keep = arith.cmpi eq, %p, %r : index",
       [](int64_t i, int64_t j) { return i / 192 == j / 192; },
       {}},
  };
}

/// Pairs of a tile of queries and a tile of keys.
using TileMap = std::vector<std::vector<bool>>;

int64_t count(const TileMap &map) {
  int64_t sum = 0;
  for (const std::vector<bool> &row : map)
    sum += std::count(row.begin(), row.end(), true);
  return sum;
}

/// One line of text for each tile of queries: '#' visited.
std::string draw(const TileMap &map) {
  std::string text;
  for (const std::vector<bool> &row : map) {
    for (bool visited : row)
      text += visited ? '#' : '.';
    text += '\n';
  }
  return text;
}

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

class SkippedTiles : public testing::TestWithParam<MaskKind> {
protected:
  void SetUp() override {
    Spec spec;
    spec.queryHeads = spec.keyHeads = 1;
    spec.headDim = 8;
    spec.lse = false;
    spec.arguments = GetParam().arguments;
    spec.mask = GetParam().mask;
    text = spec.toString("f32");
    trial.shape = "B=1,Sq=" + std::to_string(length) + ",Sk=" + std::to_string(length);
    trial.contents = GetParam().contents;
    auto compiled = CompiledSpec::compile(text, "cpu");
    ASSERT_TRUE(static_cast<bool>(compiled)) << compiled.message();
    kernel = std::move(*compiled);
    auto schedule = kernel->scheduleFor(length);
    ASSERT_TRUE(static_cast<bool>(schedule)) << schedule.message();
    queryTile = schedule->getQueryTile();
    keyTile = schedule->getKeyTile();
  }

  /// The result of `spec` where the values of keys in [begin, end) are NaN.
  Tensor run(CompiledSpec &spec, int64_t begin, int64_t end) {
    auto inputs = makeInputs(spec.kernel(), trial);
    auto out = Tensor::allocate(image::DType::F32, {1, length, 1, 8});
    EXPECT_TRUE(inputs && out) << inputs.message();
    std::get<Tensor>((*inputs)[2]).slicedView(1, begin, end - begin).fill(NAN);
    image::Status status = spec.run(*inputs, {*out});
    EXPECT_TRUE(static_cast<bool>(status)) << status.message();
    return *out;
  }

  /// What `spec` visits.
  TileMap visited(CompiledSpec &spec) {
    TileMap map(ceilDiv(length, queryTile), std::vector<bool>(ceilDiv(length, keyTile)));
    for (int64_t tile = 0; tile * keyTile < length; ++tile) {
      Tensor out = run(spec, tile * keyTile, std::min(length, (tile + 1) * keyTile));
      for (int64_t i = 0; i < length; ++i)
        if (std::isnan(out.loadAsDouble({0, i, 0, 0})))
          map[i / queryTile][tile] = true;
    }
    return map;
  }

  /// What has to be visited.
  TileMap needed() const {
    TileMap map(ceilDiv(length, queryTile), std::vector<bool>(ceilDiv(length, keyTile)));
    for (int64_t i = 0; i < length; ++i)
      for (int64_t j = 0; j < length; ++j)
        if (GetParam().keeps(i, j))
          map[i / queryTile][j / keyTile] = true;
    return map;
  }

  std::string text;
  Trial trial;
  std::unique_ptr<CompiledSpec> kernel;
  int64_t queryTile = 0, keyTile = 0;
};

} // namespace

TEST_P(SkippedTiles, VisitsWhatKeepsAKeyAndNothingElse) { EXPECT_EQ(draw(visited(*kernel)), draw(needed())); }

TEST_P(SkippedTiles, WithoutBoundsAllTilesAreVisitedAndTheResultIsTheSame) {
  auto plain = CompiledSpec::compileWithoutPass(text, "attn-infer-bounds");
  ASSERT_TRUE(static_cast<bool>(plain)) << plain.message();
  EXPECT_EQ(count(visited(**plain)), ceilDiv(length, queryTile) * ceilDiv(length, keyTile));
  EXPECT_LT(count(visited(*kernel)), count(visited(**plain)));
  Tensor with = run(*kernel, 0, 0), without = run(**plain, 0, 0);
  EXPECT_EQ(std::memcmp(with.data(), without.data(), static_cast<size_t>(with.numBytes())), 0);
}

INSTANTIATE_TEST_SUITE_P(Masks, SkippedTiles, testing::ValuesIn(maskKinds()),
                         [](const testing::TestParamInfo<MaskKind> &info) { return std::string(info.param.name); });
