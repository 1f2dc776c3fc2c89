//===- TileCaptures.h - Captured tensors ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// What score and mask regions capture, as tiles, vectors and scalars.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_ATTN_TO_TILE_TILECAPTURES_H
#define ATTNC_PASSES_ATTN_TO_TILE_TILECAPTURES_H

#include "passes/attn-to-tile/TileParts.h"

namespace attnc::attn {

/// Loads what regions capture.
class TileCaptures : public TileParts {
public:
  using TileParts::TileParts;

  /// Loads what the regions capture that does not depend on the column: scalars and row vectors.
  void buildCaptures();

protected:
  /// How a captured element reaches an elementwise region.
  enum class Capture { Scalar, Row, Column, Tile, Computed };
  /// A load by coordinates goes with the tile: as a tile, or as a vector along its rows or columns.
  Capture classify(LoadOp load);
  /// The tile's batch entry, or its sequence, as an index into dimension `dim` of `view`.
  mlir::Value batchIndex(mlir::Value view, int64_t dim);
  /// What `load` reads, as its kind of operand; the first column is `j`.
  mlir::Value loadCapture(LoadOp load, Capture kind, mlir::Value j);

  llvm::DenseMap<mlir::Operation *, mlir::Value> captures; ///< loads of scalars and rows

private:
  /// Indices of a captured element in its view, at the tile's first row and at column `j`; dimensions along rows and
  /// columns go to `axes`, with their limits. Dimensions of size 1 broadcast: statically here, at run time by a stride
  /// of 0.
  llvm::SmallVector<mlir::Value> viewIndices(LoadOp load, mlir::Value j, llvm::SmallVectorImpl<int64_t> &axes,
                                             llvm::SmallVectorImpl<mlir::Value> &limits);
  /// Clones what computes a value that is the same for the whole tile.
  mlir::Value cloneUniform(mlir::Value value, mlir::Region &region, mlir::IRMapping &mapping);
};

} // namespace attnc::attn

#endif // ATTNC_PASSES_ATTN_TO_TILE_TILECAPTURES_H
