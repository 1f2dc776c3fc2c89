//===- ElementProgramTest.cpp - What simulated elements compute -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/sim/ElementProgram.h"
#include "dialect/tile/ShortPower.h"
#include "dialect/tile/TileOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace mlir;
using namespace attnc;

namespace {

constexpr int64_t columns = 16;

/// What has been left out of the elements of a row, if anything.
using Shifts = std::vector<float>;

/// What `body`, the region of a map of one tile and one row vector, yields for a row of `elements`, where the vector
/// has `row` and the row is that of query 0: keys begin at 0. `shifts` are those of the elements, and then those of
/// what is yielded.
std::vector<float> run(const std::string &body, llvm::function_ref<float(int64_t)> element, float row = 0,
                       Shifts *shifts = nullptr) {
  DialectRegistry registry;
  registry.insert<tile::TileDialect, arith::ArithDialect, math::MathDialect>();
  MLIRContext context(registry);
  std::string text = R"(tile.program @map(%x: vector<16x16xf32>, %r: vector<16xf32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 16, panel = 16} {
  %c0 = arith.constant 0 : index
  %y = tile.map tiles(%x : vector<16x16xf32>) rows(%r : vector<16xf32>) cols() at(%c0, %c0) {
  ^bb0(%e: f32, %m: f32, %i: index, %j: index):
)" + body + R"(
  } -> vector<16x16xf32>
  tile.return
})";
  ParserConfig config(&context, /*verifyAfterParse=*/false);
  auto module = parseSourceString<ModuleOp>(text, config);
  std::vector<float> results;
  if (!module) {
    ADD_FAILURE() << "the map does not parse";
    return results;
  }
  module->walk([&](tile::MapOp map) {
    sim::ElementProgram program;
    ASSERT_TRUE(succeeded(program.compile(map.getBody(), [](Value) { return 0; })));
    auto registers = program.makeRegisters(columns, [](int) { return sim::Number(); });
    for (int64_t column = 0; column < columns; ++column) {
      registers.argument(0)[column].f = element(column);
      registers.argument(1)[column].f = row;
      registers.argument(2)[column].i = 0;
      registers.argument(3)[column].i = column;
    }
    std::vector<sim::Number> elements(columns), left(columns);
    if (shifts && !shifts->empty()) {
      for (int64_t column = 0; column < columns; ++column) {
        elements[column].f = element(column);
        left[column].f = (*shifts)[column];
      }
      registers.setShifted(0, elements.data(), left.data());
    }
    auto viewOf = [](int) -> const attn::HostArray & { llvm_unreachable("no tensor is read"); };
    ASSERT_EQ(program.run(registers, viewOf), nullptr);
    for (int64_t column = 0; column < columns; ++column)
      results.push_back(static_cast<float>(registers.yielded(0)[column].f));
    if (!shifts)
      return;
    shifts->clear();
    for (int64_t column = 0; registers.getShifts() && column < columns; ++column)
      shifts->push_back(static_cast<float>(registers.getShifts()[column].f));
  });
  return results;
}

TEST(ElementProgram, SharesExponentialsAsThreadsDo) {
  auto element = [](int64_t column) { return -0.37F * static_cast<float>(column + 1); };
  auto powers = run(R"(
    %w = math.exp2 %e {tile.multiply_add_share = 4 : i64, tile.weight} : f32
    tile.yield %w : f32)",
                    element);
  ASSERT_EQ(powers.size(), columns);
  // A thread has columns 0, 1, 8 and 9, and leaves the first of these four to multiply-adds; so do its three
  // neighbours.
  for (int64_t column = 0; column < columns; ++column) {
    bool isShort = column < 8 && column % 2 == 0;
    float x = element(column);
    EXPECT_EQ(powers[column], isShort ? tile::findShortPower(x) : static_cast<float>(std::exp2(double(x)))) << column;
  }
}

TEST(ElementProgram, RoundsDistributedProductsAtTheirAnchor) {
  // A slope whose products have more digits than f32. Threads' last columns are 9, 11, 13 and 15.
  constexpr float slope = 0x1.fffffep-1F / 3;
  auto products = run(
      R"(
    %n = arith.index_cast %j : index to i32
    %f = arith.sitofp %n : i32 to f32
    %p = arith.mulf %m, %f {tile.anchor = 9 : i64} : f32
    tile.yield %p : f32)",
      [](int64_t) { return 0.0F; }, slope);
  ASSERT_EQ(products.size(), columns);
  for (int64_t column = 0; column < columns; ++column) {
    int64_t last = 9 + column % 8 / 2 * 2;
    auto anchor = static_cast<float>(last);
    EXPECT_EQ(products[column], std::fma(slope, static_cast<float>(column) - anchor, anchor * slope)) << column;
  }
}

TEST(ElementProgram, LeavesOutWhatIsTheSameForTheRow) {
  constexpr float slope = 0x1.fffffep-1F / 3;
  auto element = [](int64_t column) { return 0.7F * static_cast<float>(column + 1); };
  auto firstOf = [](int64_t column) {
    int64_t first = column % 8 / 2 * 2;
    return static_cast<float>(first);
  };
  const std::string position = "%n = arith.index_cast %j : index to i32\n%f = arith.sitofp %n : i32 to f32\n";
  for (bool falls : {false, true}) {
    float sign = falls ? -1 : 1;
    std::string sum = std::string(falls ? "arith.subf" : "arith.addf") + " %e, ";
    Shifts shifts;
    auto rest = run(position + "%p = arith.mulf %m, %f {tile.anchor = 9 : i64} : f32\n%s = " + sum +
                        "%p {tile.row_shift} : f32\ntile.yield %s : f32",
                    element, slope, &shifts);
    ASSERT_EQ(shifts.size(), columns);
    for (int64_t column = 0; column < columns; ++column) {
      float anchor = firstOf(column) + 9, distance = sign * (static_cast<float>(column) - anchor);
      EXPECT_EQ(shifts[column], sign * (anchor * slope)) << column;
      EXPECT_EQ(rest[column], std::fma(slope, distance, element(column))) << column;
    }
    // Without a slope, the number at the thread's first column is left out.
    shifts.clear();
    rest = run(position + "%s = " + sum + "%f {tile.row_shift} : f32\ntile.yield %s : f32", element, 0, &shifts);
    ASSERT_EQ(shifts.size(), columns);
    for (int64_t column = 0; column < columns; ++column) {
      EXPECT_EQ(shifts[column], sign * firstOf(column)) << column;
      EXPECT_EQ(rest[column], element(column) + sign * (static_cast<float>(column) - firstOf(column))) << column;
    }
    // A sum without the attribute leaves nothing out.
    shifts.clear();
    (void)run(position + "%s = " + sum + "%f : f32\ntile.yield %s : f32", element, 0, &shifts);
    EXPECT_TRUE(shifts.empty());
  }
}

TEST(ElementProgram, AddsWhatWasLeftOutToWhatTheRowHasFirst) {
  constexpr float row = 0x1.fffffep-1F / 3, shift = 1000.1F;
  auto element = [](int64_t column) { return 0.7F * static_cast<float>(column + 1); };
  auto runShifted = [&](const std::string &result) {
    Shifts shifts(columns, shift);
    return run("%s = " + result + " : f32\ntile.yield %s : f32", element, row, &shifts);
  };
  auto fused = runShifted("math.fma %e, %m, %m"), sums = runShifted("arith.addf %e, %m"),
       differences = runShifted("arith.subf %e, %m"), squares = runShifted("arith.mulf %e, %e"),
       late = runShifted("arith.subf %m, %e");
  for (int64_t column = 0; column < columns; ++column) {
    float x = element(column), whole = x + shift;
    EXPECT_EQ(fused[column], std::fma(x, row, std::fma(shift, row, row))) << column;
    EXPECT_EQ(sums[column], x + (shift + row)) << column;
    EXPECT_EQ(differences[column], x + (shift - row)) << column;
    EXPECT_EQ(squares[column], whole * whole) << column;
    EXPECT_EQ(late[column], row - whole) << column;
  }
}

TEST(ElementProgram, RoundsContractedProductsWithTheirSums) {
  auto element = [](int64_t column) { return 1.0F + static_cast<float>(column) * 0x1p-13F; };
  for (bool contracts : {true, false}) {
    std::string flag = contracts ? " fastmath<contract>" : "";
    auto sums =
        run("%p = arith.mulf %e, %e" + flag + " : f32\n%s = arith.subf %p, %m" + flag + " : f32\ntile.yield %s : f32",
            element, /*row=*/1);
    ASSERT_EQ(sums.size(), columns);
    for (int64_t column = 0; column < columns; ++column) {
      float x = element(column), product = x * x;
      EXPECT_EQ(sums[column], contracts ? std::fma(x, x, -1.0F) : product - 1) << column;
    }
  }
}

} // namespace
