//===- InferBoundsTest.cpp - Bounds against brute force ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// What attn-infer-bounds derives from a mask is interpreted for many tiles and compared with the mask itself at every
// pair of positions: no kept key may be left out, and nothing that is said to be full may hold a dropped one. Bounds of
// keys are those of `attn.forward`, bounds of queries those of `attn.backward`, as the pass writes them.
//===----------------------------------------------------------------------===//

#include "MaskModule.h"
#include "RegionInterpreter.h"
#include "dialect/attn/AttnOps.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <optional>
#include <set>

using namespace attnc;
using namespace attnc::test;

namespace {

/// Sizes of tiles: whole and partial ones at the edges, single rows, all at once.
struct TileSize {
  int64_t rows, keys;
};
constexpr TileSize tileSizes[] = {{8, 8}, {1, 16}, {64, 5}};

/// Heads and batch entries that are looked at.
constexpr std::pair<int64_t, int64_t> places[] = {{0, 0}, {1, 3}};

/// One mask on one problem at one batch entry and head.
class Comparison {
public:
  Comparison(const MaskCase &mask, attn::KernelOpInterface kernel, const Problem &problem, int64_t b, int64_t h)
      : mask(mask), kernel(kernel), problem(problem), b(b), h(h) {
    for (int64_t row = 0; row < problem.queries; ++row)
      for (int64_t j = 0; j < problem.keys; ++j)
        kept.push_back(mask.keeps(Point{b, h, row + problem.shift, j, row}, problem));
  }

  void run(TileSize size) {
    for (int64_t row = 0; row < problem.queries && !testing::Test::HasFailure(); row += size.rows)
      tile(row, std::min(row + size.rows, problem.queries) - 1, size.keys);
  }

private:
  bool keeps(int64_t row, int64_t j) const { return kept[static_cast<size_t>(row * problem.keys + j)]; }

  /// Whether any, and whether all of a box are kept; ends are inside.
  std::pair<bool, bool> census(int64_t row, int64_t lastRow, int64_t j, int64_t lastKey) const {
    bool some = false, all = true;
    for (; row <= lastRow; ++row)
      for (int64_t key = j; key <= lastKey; ++key)
        (keeps(row, key) ? some : all) = keeps(row, key);
    return {some, all};
  }

  void tile(int64_t row, int64_t lastRow, int64_t keyTile);
  void checkTight(int64_t row, int64_t lastRow, const std::vector<int64_t> &bounds);

  const MaskCase &mask;
  attn::KernelOpInterface kernel;
  Problem problem;
  int64_t b, h;
  std::vector<bool> kept;
};

} // namespace

/// `bounds`: low, full low, full high, high.
void Comparison::tile(int64_t row, int64_t lastRow, int64_t keyTile) {
  SCOPED_TRACE("rows " + std::to_string(row) + " to " + std::to_string(lastRow) + " of " +
               std::to_string(problem.queries) + ", keys " + std::to_string(problem.keys) + ", b " + std::to_string(b) +
               ", h " + std::to_string(h));
  int64_t first = row + problem.shift, last = lastRow + problem.shift;
  auto bounds = RegionInterpreter(kernel.getBounds(), problem).run({b, h, first, last});
  ASSERT_TRUE(bounds);
  ASSERT_EQ(bounds->size(), 4u);
  int64_t low = (*bounds)[0], fullLow = (*bounds)[1], fullHigh = (*bounds)[2], high = (*bounds)[3];
  EXPECT_GE(low, 0);
  EXPECT_GE(fullLow, 0);
  for (int64_t j = 0; j < problem.keys; ++j) {
    auto [some, all] = census(row, lastRow, j, j);
    EXPECT_TRUE(!some || (j >= low && j < high)) << "key " << j << " is kept, outside [" << low << ", " << high << ")";
    EXPECT_TRUE(all || j < fullLow || j >= fullHigh)
        << "key " << j << " is not kept by all, inside [" << fullLow << ", " << fullHigh << ")";
  }
  if (mask.strength == Strength::Tight)
    checkTight(row, lastRow, *bounds);

  bool hasBlocks = !kernel.getBlocks().empty();
  for (int64_t j = 0; j < problem.keys; j += keyTile) {
    int64_t lastKey = std::min(j + keyTile, problem.keys) - 1;
    auto [some, all] = census(row, lastRow, j, lastKey);
    bool visited = lastKey >= low && j < high, full = j >= fullLow && lastKey < fullHigh;
    if (hasBlocks) {
      auto block = RegionInterpreter(kernel.getBlocks(), problem).run({b, h, first, last, j, lastKey});
      ASSERT_TRUE(block);
      ASSERT_EQ(block->size(), 2u);
      EXPECT_TRUE((*block)[0] || !some) << "something is kept of keys " << j << " to " << lastKey;
      EXPECT_TRUE(!(*block)[1] || all) << "not everything is kept of keys " << j << " to " << lastKey;
      visited &= (*block)[0] != 0;
      full |= (*block)[1] != 0;
    }
    if (mask.strength == Strength::Sound)
      continue;
    EXPECT_EQ(visited, some) << "keys " << j << " to " << lastKey;
    EXPECT_EQ(visited && full, all) << "keys " << j << " to " << lastKey;
  }
}

/// The hull of what is kept, and the stretch that is kept by all, are what `bounds` says, as far as there are keys.
void Comparison::checkTight(int64_t row, int64_t lastRow, const std::vector<int64_t> &bounds) {
  int64_t first = problem.keys, end = 0, fullFirst = problem.keys, fullEnd = 0;
  for (int64_t j = 0; j < problem.keys; ++j) {
    auto [some, all] = census(row, lastRow, j, j);
    if (some)
      first = std::min(first, j), end = j + 1;
    if (all)
      fullFirst = std::min(fullFirst, j), fullEnd = j + 1;
  }
  auto expectSame = [&](int64_t low, int64_t high, int64_t wantedLow, int64_t wantedHigh, const char *what) {
    high = std::min(high, problem.keys);
    if (wantedLow >= wantedHigh)
      EXPECT_GE(low, high) << what << " is empty";
    else
      EXPECT_EQ(std::pair(low, high), std::pair(wantedLow, wantedHigh)) << what;
  };
  expectSame(bounds[0], bounds[3], first, end, "what is kept");
  expectSame(bounds[1], bounds[2], fullFirst, fullEnd, "what all keep");
  EXPECT_TRUE(kernel.getBlocks().empty()) << "blocks say nothing that bounds do not";
}

/// More keys than queries, as many, and fewer: positions below 0. `scalars`: values of %w besides the usual one.
static void compare(const MaskCase &mask, llvm::ArrayRef<int64_t> scalars) {
  for (Passes passes : {Passes::Simplified, Passes::Bare}) {
    SCOPED_TRACE(passes == Passes::Bare ? "as written" : "simplified");
    SCOPED_TRACE(mask.text);
    MaskModule module(mask.text, passes);
    attn::KernelOpInterface kernel = module.getKernel();
    ASSERT_TRUE(kernel);
    if (kernel.getMask().empty())
      continue; // simplified away: everything is kept
    ASSERT_FALSE(kernel.getBounds().empty());
    for (auto [queries, keys] : {std::pair<int64_t, int64_t>(20, 45), {40, 40}, {45, 20}}) {
      Problem problem(queries, keys);
      for (auto [b, h] : places)
        for (TileSize size : tileSizes)
          Comparison(mask, kernel, problem, b, h).run(size);
      if (testing::Test::HasFailure())
        return;
    }
    // Captured scalars may be anything; bounds are right then too, if not always tight.
    MaskCase anyScalar = mask;
    anyScalar.strength = Strength::Sound;
    for (int64_t width : scalars) {
      SCOPED_TRACE("%w is " + std::to_string(width));
      for (auto [queries, keys] : {std::pair<int64_t, int64_t>(9, 17), {17, 9}})
        Comparison(anyScalar, kernel, Problem(queries, keys, width), 1, 1).run({8, 8});
      if (testing::Test::HasFailure())
        return;
    }
  }
}

//===----------------------------------------------------------------------===//
// Queries that see a tile of keys
//===----------------------------------------------------------------------===//

/// Interprets the `query_bounds` region of `kernel` for tiles of several sizes. Returns the first that is wrong, or
/// nothing: no query that keeps one of the keys may be left out, and none that does not keep all may be in the full
/// stretch. With `tight`, each query that is in sees a key, and each that sees all is in the full stretch. `indexBits`:
/// those of the machine's `index`.
static std::optional<std::string> findQueryFault(const MaskCase &mask, attn::KernelOpInterface kernel,
                                                 const Problem &problem, bool tight, unsigned indexBits = 64) {
  for (auto [b, h] : places)
    for (int64_t keys : {8, 1, 64})
      for (int64_t j = 0; j < problem.keys; j += keys) {
        int64_t last = std::min(j + keys, problem.keys) - 1;
        auto at = [&, b = b, h = h](const char *what, int64_t i) {
          return std::string(what) + " at " + std::to_string(i) + ", keys " + std::to_string(j) + " to " +
                 std::to_string(last) + " of " + std::to_string(problem.keys) + ", queries " +
                 std::to_string(problem.queries) + ", b " + std::to_string(b) + ", h " + std::to_string(h);
        };
        auto ends = RegionInterpreter(*kernel.getQueryBoundsOrNull(), problem, indexBits).run({b, h, j, last});
        if (!ends || ends->size() != 4)
          return at("no four numbers for queries", 0);
        for (int64_t row = 0; row < problem.queries; ++row) {
          int64_t i = row + problem.shift;
          bool some = false, all = true;
          for (int64_t key = j; key <= last; ++key)
            (mask.keeps(Point{b, h, i, key, row}, problem) ? some : all) =
                mask.keeps(Point{b, h, i, key, row}, problem);
          bool possible = i >= (*ends)[0] && i < (*ends)[3], full = i >= (*ends)[1] && i < (*ends)[2];
          if (some && !possible)
            return at("left out: query", i);
          if (full && !all)
            return at("does not keep all: query", i);
          if (tight && (possible != some || full != all))
            return at("not tight: query", i);
        }
      }
  return std::nullopt;
}

/// Whether the queries that see a key are one stretch, and the solver is expected to find it.
static bool isStretchOfQueries(const MaskCase &mask) {
  static const std::set<std::string> names = {"causal",
                                              "causal_mirrored",
                                              "causal_by_difference",
                                              "causal_negated",
                                              "anticausal",
                                              "diagonal",
                                              "window_left",
                                              "window_right",
                                              "window",
                                              "window_of_itself",
                                              "some_queries",
                                              "chunks_flooring",
                                              "from_a_chunks_start",
                                              "up_to_a_chunks_end",
                                              "below_the_lesser"};
  return names.count(mask.name) > 0;
}

/// Compares what attn-infer-bounds writes into `query_bounds` with the mask: as it is, simplified, and made fit for a
/// machine whose `index` has 32 bits.
static void compareQueries(const MaskCase &mask, llvm::ArrayRef<int64_t> scalars, bool tight) {
  for (Passes passes : {Passes::Simplified, Passes::Bare, Passes::Legalized}) {
    SCOPED_TRACE(mask.text);
    MaskModule module(mask.text, passes, Direction::Backward);
    attn::KernelOpInterface kernel = module.getKernel();
    ASSERT_TRUE(kernel);
    if (kernel.getMask().empty())
      continue; // simplified away: everything is kept
    ASSERT_FALSE(kernel.getQueryBoundsOrNull()->empty());
    const unsigned indexBits = passes == Passes::Legalized ? 32 : 64;
    for (auto [queries, keys] : {std::pair<int64_t, int64_t>(20, 45), {40, 40}, {45, 20}})
      EXPECT_EQ(findQueryFault(mask, kernel, Problem(queries, keys), tight, indexBits), std::nullopt);
    for (int64_t width : scalars) {
      SCOPED_TRACE("%w is " + std::to_string(width));
      EXPECT_EQ(findQueryFault(mask, kernel, Problem(17, 9, width), /*tight=*/false, indexBits), std::nullopt);
    }
    if (testing::Test::HasFailure())
      return;
  }
}

namespace {
class WrittenMask : public testing::TestWithParam<MaskCase> {};
/// Random masks come in groups of 20, so that a test is not over before it has started.
class RandomMasks : public testing::TestWithParam<uint64_t> {};
} // namespace

TEST_P(WrittenMask, BoundsAgreeWithBruteForce) { compare(GetParam(), extremeNumbers()); }

/// Masks that are one stretch of keys for each query are one of queries for each key.
TEST_P(WrittenMask, QueryBoundsAgreeWithBruteForce) {
  compareQueries(GetParam(), extremeNumbers(), isStretchOfQueries(GetParam()));
}

/// Bounds that are off by one, at any of their ends, are found, whether they say too little or too much.
TEST(InferBounds, WrongQueryBoundsAreFound) {
  const std::vector<MaskCase> masks = writtenMasks();
  auto mask = llvm::find_if(masks, [](const MaskCase &each) { return each.name == "window"; });
  ASSERT_NE(mask, masks.end());
  constexpr int64_t inward[] = {1, -1, 1, -1}; // away from what is right: visits less, and says full of more
  for (unsigned end = 0; end < 4; ++end)
    for (int64_t off : {inward[end], -inward[end]}) {
      SCOPED_TRACE("end " + std::to_string(end) + " off by " + std::to_string(off));
      MaskModule module(mask->text, Passes::Simplified, Direction::Backward);
      attn::KernelOpInterface kernel = module.getKernel();
      ASSERT_TRUE(kernel);
      mlir::Operation *yield = kernel.getQueryBoundsOrNull()->front().getTerminator();
      mlir::OpBuilder builder(yield);
      mlir::Value right = yield->getOperand(end);
      mlir::Value wrong = mlir::arith::AddIOp::create(
          builder, yield->getLoc(), right, mlir::arith::ConstantIntOp::create(builder, yield->getLoc(), off, 64));
      const bool isUnsound = off == inward[end];
      EXPECT_EQ(findQueryFault(*mask, kernel, Problem(40, 40), /*tight=*/true), std::nullopt);
      yield->setOperand(end, wrong);
      EXPECT_NE(findQueryFault(*mask, kernel, Problem(40, 40), /*tight=*/true), std::nullopt);
      EXPECT_EQ(findQueryFault(*mask, kernel, Problem(40, 40), /*tight=*/false).has_value(), isUnsound);
    }
}

TEST_P(RandomMasks, QueryBoundsAgreeWithBruteForce) {
  for (uint64_t seed = GetParam(); seed < GetParam() + 20 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::vector<int64_t> scalars = extremeNumbers();
    compareQueries(generateMask(seed), scalars[seed % scalars.size()], /*tight=*/false);
  }
}

TEST_P(RandomMasks, BoundsAgreeWithBruteForce) {
  for (uint64_t seed = GetParam(); seed < GetParam() + 20 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::vector<int64_t> scalars = extremeNumbers();
    compare(generateMask(seed), scalars[seed % scalars.size()]);
  }
}

INSTANTIATE_TEST_SUITE_P(InferBounds, WrittenMask, testing::ValuesIn(writtenMasks()),
                         [](const testing::TestParamInfo<MaskCase> &info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(InferBounds, RandomMasks, testing::Range<uint64_t>(0, 400, 20));

/// The generator is worth its name: some of its masks keep everything or nothing, most do neither.
TEST(MaskGenerator, MakesMasksOfAllKinds) {
  Problem problem(20, 45);
  int mixed = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    MaskCase mask = generateMask(seed);
    int64_t kept = 0;
    for (int64_t row = 0; row < problem.queries; ++row)
      for (int64_t j = 0; j < problem.keys; ++j)
        kept += mask.keeps(Point{1, 1, row + problem.shift, j, row}, problem);
    mixed += kept != 0 && kept != problem.queries * problem.keys;
  }
  EXPECT_GT(mixed, 150);
}
