//===- BlockedRowsTest.cpp - f32 in the order of lanes ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/tile/BlockedRows.h"
#include "gtest/gtest.h"
#include <set>

using attnc::tile::BlockedRows;

/// Each element of a tile has a place of its own, in the band of its row.
TEST(BlockedRows, ArePermutedWithinBands) {
  for (int64_t columns : {8, 64, 128}) {
    std::set<int64_t> places;
    for (int64_t row = 0; row < 48; ++row)
      for (int64_t column = 0; column < columns; ++column) {
        int64_t place = BlockedRows::positionOf(row, column, columns);
        EXPECT_EQ(place / (BlockedRows::bandRows * columns), row / BlockedRows::bandRows);
        EXPECT_TRUE(places.insert(place).second);
      }
    EXPECT_EQ(*places.rbegin(), 48 * columns - 1);
  }
}

/// The four elements that a lane has of a block are 16 bytes: PTX ISA, layout of wgmma's accumulators.
TEST(BlockedRows, HoldALanesElementsTogether) {
  constexpr int64_t columns = 64;
  for (int64_t lane = 0; lane < 32; ++lane)
    for (int64_t block = 0; block < columns / BlockedRows::blockColumns; ++block) {
      int64_t row = 16 + lane / 4, column = 8 * block + 2 * (lane % 4);
      int64_t first = BlockedRows::positionOf(row, column, columns);
      EXPECT_EQ(first, 16 * columns + block * BlockedRows::blockElements + lane * BlockedRows::pieceElements);
      EXPECT_EQ(BlockedRows::positionOf(row, column + 1, columns), first + 1);
      EXPECT_EQ(BlockedRows::positionOf(row + 8, column, columns), first + 2);
      EXPECT_EQ(BlockedRows::positionOf(row + 8, column + 1, columns), first + 3);
    }
}
