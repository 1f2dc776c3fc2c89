//===- SharedLayout.h - Tiles in shared memory ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A tile lies in panels of 128 bytes a row, one panel after the other, each with all rows; within eight rows the
// 16-byte pieces are permuted (PTX ISA 9.7.15.5.1, "128B swizzle"). A last panel that the tile does not fill is as
// large as the others. Parts of a tile of f32 lie one after the other.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_DIALECT_TILE_SHAREDLAYOUT_H
#define ATTNC_DIALECT_TILE_SHAREDLAYOUT_H

#include "mlir/IR/BuiltinTypes.h"

namespace attnc::tile {

/// Numbers of bf16 whose sum is an f32: three of eight bits each.
constexpr int64_t floatParts = 3;

/// Where the elements of one tile lie.
struct SharedLayout {
  /// Bytes of one row of a panel.
  static constexpr int64_t rowBytes = 128;
  /// Buffers start at multiples of this, so that the permutation follows from addresses.
  static constexpr int64_t alignment = 1024;
  /// Rows whose pieces are permuted together: boxes that a tile comes in have whole such groups of them.
  static constexpr int64_t rowsTogether = alignment / rowBytes;

  int64_t parts; ///< 1 but for tiles in parts
  int64_t rows, columns, panels;
  int64_t panelColumns; ///< elements of one row of a panel

  /// The layout of a tile, or of its parts.
  explicit SharedLayout(mlir::VectorType tile)
      : parts(tile.getRank() > 2 ? tile.getDimSize(0) : 1), rows(tile.getShape().take_back(2).front()),
        columns(tile.getShape().back()), panelColumns(rowBytes * 8 / tile.getElementTypeBitWidth()) {
    panels = countRowBytes(columns, tile.getElementTypeBitWidth()) / rowBytes;
  }

  /// Bytes that a row of so many elements takes, in all panels: what a schedule counts by before there are tiles.
  static constexpr int64_t countRowBytes(int64_t columns, int64_t elementBits) {
    constexpr int64_t rowBits = rowBytes * 8;
    return (columns * elementBits + rowBits - 1) / rowBits * rowBytes;
  }

  int64_t panelBytes() const { return rows * rowBytes; }
  int64_t partBytes() const { return panels * panelBytes(); }
  int64_t bytes() const { return parts * partBytes(); }
};

/// What a `tile.block_mask` has in shared memory: minima and maxima of a round of steps, and then two bits for each of
/// so many steps. Ranges with more have theirs in the list.
constexpr int64_t blockMaskMinMaxBytes = 8 << 10, blockMaskSteps = 32 << 10,
                  blockMaskBytes = blockMaskMinMaxBytes + blockMaskSteps / 4;

} // namespace attnc::tile

#endif // ATTNC_DIALECT_TILE_SHAREDLAYOUT_H
