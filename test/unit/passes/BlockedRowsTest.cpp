//===- BlockedRowsTest.cpp - f32 in the order of lanes ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/tile/BlockedRows.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "gtest/gtest.h"
#include <set>

using attnc::tile::BlockedRows;

/// Each element of a tile has a place of its own, in the band of its row.
TEST(BlockedRows, ArePermutedWithinBands) {
  for (bool interleaved : {false, true})
    for (int64_t columns : {8, 64, 128}) {
      std::set<int64_t> places;
      for (int64_t row = 0; row < 48; ++row)
        for (int64_t column = 0; column < columns; ++column) {
          int64_t place = BlockedRows::positionOf(row, column, columns, interleaved);
          EXPECT_EQ(place / (BlockedRows::bandRows * columns), row / BlockedRows::bandRows);
          EXPECT_TRUE(places.insert(place).second);
        }
      EXPECT_EQ(*places.rbegin(), 48 * columns - 1);
    }
}

/// Calls `body` with the places of the four elements that each lane has of each block of a band: PTX ISA, layout of
/// wgmma's accumulators.
static void forLanes(int64_t columns, bool interleaved,
                     llvm::function_ref<void(int64_t first, int64_t lane, llvm::ArrayRef<int64_t> places)> body) {
  for (int64_t lane = 0; lane < BlockedRows::lanes; ++lane)
    for (int64_t block = 0; block < columns / BlockedRows::blockColumns; ++block) {
      int64_t row = 16 + lane / 4, column = 8 * block + 2 * (lane % 4);
      llvm::SmallVector<int64_t> places;
      for (int64_t below : {0, 8})
        for (int64_t right : {0, 1})
          places.push_back(BlockedRows::positionOf(row + below, column + right, columns, interleaved));
      body(16 * columns + block * BlockedRows::blockElements, lane, places);
    }
}

/// A lane's elements are 16 bytes.
TEST(BlockedRows, HoldALanesElementsTogether) {
  forLanes(64, /*interleaved=*/false, [](int64_t first, int64_t lane, llvm::ArrayRef<int64_t> places) {
    for (auto [number, place] : llvm::enumerate(places))
      EXPECT_EQ(place, first + lane * BlockedRows::pieceElements + static_cast<int64_t>(number));
  });
}

/// What all lanes have of one number follows each other.
TEST(BlockedRows, InterleaveLanes) {
  forLanes(64, /*interleaved=*/true, [](int64_t first, int64_t lane, llvm::ArrayRef<int64_t> places) {
    for (auto [number, place] : llvm::enumerate(places))
      EXPECT_EQ(place, first + static_cast<int64_t>(number) * BlockedRows::lanes + lane);
  });
}
