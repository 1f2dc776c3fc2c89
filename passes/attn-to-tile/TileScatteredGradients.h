//===- TileScatteredGradients.h - Sums that any element adds to -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The gradients of captured tensors whose elements have no rows or tiles of their own.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_ATTN_TO_TILE_TILESCATTEREDGRADIENTS_H
#define ATTNC_PASSES_ATTN_TO_TILE_TILESCATTEREDGRADIENTS_H

#include "passes/attn-to-tile/TileCapturedGradients.h"

namespace attnc::attn {

/// Adds up, and stores, gradients of elements that are read in any way.
class TileScatteredGradients : public TileCapturedGradients {
public:
  using TileCapturedGradients::TileCapturedGradients;

  /// In a program of one scattered gradient: finds the tile's place among its elements, a row of which is a vector.
  void buildScatteredGeometry();
  /// Stores the sums of the tile's elements, loads them, and stores them as the tile's part of the gradient.
  void storeScatteredSums(mlir::Value vector);
  mlir::Value loadScatteredSums();
  void storeScattered(mlir::Value vector);
  /// Adds a tile, whose first column is `first`, to the sums of a scattered gradient, for a read along the axes `read`:
  /// where that has computed indices, at those that tiles of i32 give.
  void scatterCaptured(mlir::Value tile, const CapturedGradient &of, const Axes &read, mlir::ValueRange computed,
                       mlir::Value first);

protected:
  /// Tiles of the elements of a scattered gradient, as an expression of `sizes`, to which it adds.
  mlir::AffineExpr countScatteredTiles(llvm::SmallVectorImpl<int64_t> &sizes);
  /// The scattered gradients of the kernel.
  llvm::SmallVector<CapturedGradient> listScattered();
  /// Says how large the sums of scattered gradients are, which have as many elements as the tensors.
  void setScatteredWorkspaces(llvm::SmallVectorImpl<int64_t> &sizes);

private:
  /// A size of a tensor, as a constant where it is known; else it is one of `sizes`.
  mlir::AffineExpr sizeOfDim(mlir::Value tensor, int64_t dim, llvm::SmallVectorImpl<int64_t> &sizes);
  /// The sums of `of` as a view with the sizes of the tensor.
  mlir::Value scatteredSums(const CapturedGradient &of);
  /// Where each element of a tile of queries, whose first key is `first`, stands along queries or keys as they are
  /// stored: a tile of i32.
  mlir::Value buildPlaces(Coordinate axis, mlir::Value first);

  llvm::SmallVector<mlir::Value> scatteredIndices; ///< of the tile's first element, in a scattered gradient
};

} // namespace attnc::attn

#endif // ATTNC_PASSES_ATTN_TO_TILE_TILESCATTEREDGRADIENTS_H
