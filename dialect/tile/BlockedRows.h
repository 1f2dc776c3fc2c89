//===- BlockedRows.h - f32 in the order in which lanes hold it --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A warp's accumulators are 16 rows of blocks of eight columns: of each a lane has two adjacent elements of one row,
// and two of the row eight further (PTX ISA 9.7.15.5.1). Memory that only programs of one kernel read holds them so
// that each lane's four are 16 bytes, or interleaved: so that what all lanes have of one number follows each other.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_DIALECT_TILE_BLOCKEDROWS_H
#define ATTNC_DIALECT_TILE_BLOCKEDROWS_H

#include <cstdint>

namespace attnc::tile {

/// The order of elements in a view that accesses call `blocked`.
struct BlockedRows {
  /// Rows of a band, whose elements follow each other, and columns of a block of it; elements of a block, and of what a
  /// lane has of it.
  static constexpr int64_t bandRows = 16, blockColumns = 8, blockElements = bandRows * blockColumns, pieceElements = 4;

  static constexpr int64_t lanes = blockElements / pieceElements;

  /// Where element `inPiece` of lane `lane` stands in a block: a sum of what each of both adds.
  static constexpr int64_t placeOf(int64_t lane, int64_t inPiece, bool interleaved) {
    return interleaved ? inPiece * lanes + lane : lane * pieceElements + inPiece;
  }

  /// Where element (row, column) stands in a view of `columns` columns, in elements. With `interleaved`, the first
  /// elements of all lanes come first.
  static int64_t positionOf(int64_t row, int64_t column, int64_t columns, bool interleaved) {
    int64_t inBand = row % bandRows, inBlock = column % blockColumns;
    int64_t lane = inBand % 8 * 4 + inBlock / 2, inPiece = inBand / 8 * 2 + inBlock % 2;
    return (row - inBand) * columns + column / blockColumns * blockElements + placeOf(lane, inPiece, interleaved);
  }
};

} // namespace attnc::tile

#endif // ATTNC_DIALECT_TILE_BLOCKEDROWS_H
