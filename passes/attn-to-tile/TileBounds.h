//===- TileBounds.h - Columns that a tile visits ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The `bounds`, `query_bounds` and `blocks` regions of a kernel, for the rows of a tile.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_ATTN_TO_TILE_TILEBOUNDS_H
#define ATTNC_PASSES_ATTN_TO_TILE_TILEBOUNDS_H

#include "passes/attn-to-tile/TileCaptures.h"

namespace attnc::attn {

/// Finds the columns that a tile visits.
class TileBounds : public TileCaptures {
public:
  using TileCaptures::TileCaptures;

  /// Derives the columns to visit from the kernel's `bounds` or `query_bounds` region, or from the block mask where
  /// there is one.
  ColumnBounds buildBounds();
  /// What says which place in the order a tile of keys adds after (see `ordersQuerySums`): its own, and the queries
  /// that the next tile of keys reaches, for the head at hand.
  struct AddingOrder {
    mlir::Value place;
    ColumnBounds next;
  };
  AddingOrder buildAddingOrder();
  /// The place that a step adds after whose queries begin at `first`: that of the next tile, which reaches them, or 0.
  mlir::Value findPlaceBefore(const AddingOrder &order, mlir::Value first);
  /// How far a step of the loop over columns leads: their number in a step, or one place of the list.
  mlir::Value buildColumnStep();
  /// The column that the step `iv` of that loop starts at.
  mlir::Value buildColumn(mlir::Value iv);
  /// Whether some and all of `columns` columns from `first` on are kept, from the `blocks` region: (some, all).
  std::pair<mlir::Value, mlir::Value> buildBlock(mlir::Value first, int64_t columns);

private:
  /// One of the numbers in the tile's list.
  mlir::Value loadCount(mlir::Value column);
  /// First row and end of those whose keys are visited together: of the tile, or of a consumer's part of it.
  std::pair<mlir::Value, mlir::Value> buildRowsOfBounds();
  /// The keys that the kernel's `bounds` region gives.
  ColumnBounds buildKeyBounds();
  /// The queries that the kernel's `query_bounds` region gives, whose positions it speaks of, as rows.
  ColumnBounds buildQueryBounds();
  /// The most elements that a range has along the last dimension of its tensor; no number where it has no dimensions,
  /// and where indices are computed, which may be as far apart as the tensor is long.
  mlir::IntegerAttr lengthAlongLast(LoadRangeOp range, int64_t columns);
  /// Clones a `bounds` or `blocks` region here. Ranges of rows and keys serve its attn.load_range operations.
  llvm::SmallVector<mlir::Value> inlineRegion(mlir::Region &region, mlir::ValueRange arguments, mlir::Value firstRow,
                                              mlir::Value lastRow, mlir::Value firstKey, mlir::Value lastKey,
                                              int64_t columns);
};

} // namespace attnc::attn

#endif // ATTNC_PASSES_ATTN_TO_TILE_TILEBOUNDS_H
