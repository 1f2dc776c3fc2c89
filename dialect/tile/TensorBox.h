//===- TensorBox.h - What the copy engine moves at once ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_DIALECT_TILE_TENSORBOX_H
#define ATTNC_DIALECT_TILE_TENSORBOX_H

#include "dialect/tile/TileOps.h"

namespace attnc::tile {

/// Bytes of memory in whole numbers of which the copy engine's boxes begin and end along the last dimension.
constexpr int64_t copyUnitBytes = 16;

/// Rows of a tile that one warpgroup, and one of its warps, computes and stores.
constexpr int64_t warpgroupRows = 64, warpRows = 16;
/// Threads of a warp, of a warpgroup, and of the largest block.
constexpr int64_t lanesOfWarp = 32, warpgroupThreads = 128, mostThreads = 1024;
constexpr int64_t warpsOfWarpgroup = warpgroupThreads / lanesOfWarp;
/// Lanes of a warp that share a row of a product's accumulator; of each group of columns, a lane has two neighbours.
constexpr int64_t lanesOfRow = 4, columnsOfLane = 2, columnsOfGroup = lanesOfRow * columnsOfLane;

/// A box of a tensor that the copy engine (TMA) moves to or from shared memory, where its rows follow each other.
struct TensorBox {
  /// That of a `tile.put`: the whole tile, a panel of its columns wide. Of rows in pages, as many as neither a tile nor
  /// a page cuts.
  explicit TensorBox(PutOp put);
  /// That of a `tile.store` through a buffer: the rows of a warp, or of its warpgroup where a warp's hold no whole
  /// group of heads, a panel wide.
  explicit TensorBox(StoreOp store);

  bool operator==(const TensorBox &other) const { return sizes == other.sizes && order == other.order; }

  /// Rows of the box: elements of all dimensions but the innermost.
  int64_t rows() const;

  /// Moves `indices` from where the first of several boxes begins to row `row`, counted from there; the boxes follow
  /// each other along the axis of rows.
  void move(llvm::MutableArrayRef<int64_t> indices, int64_t row) const;

  llvm::SmallVector<int64_t> sizes; ///< elements in each dimension of the tensor, outermost first
  llvm::SmallVector<int64_t> order; ///< the tensor's dimensions as a box holds them, outermost first
  int64_t rowAxis;                  ///< the dimension along which rows of a tile lie
};

} // namespace attnc::tile

#endif // ATTNC_DIALECT_TILE_TENSORBOX_H
