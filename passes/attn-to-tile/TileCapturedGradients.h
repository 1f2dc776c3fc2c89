//===- TileCapturedGradients.h - Gradients of captured tensors --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The programs of one captured tensor whose elements are the rows of tiles, or the tiles.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_ATTN_TO_TILE_TILECAPTUREDGRADIENTS_H
#define ATTNC_PASSES_ATTN_TO_TILE_TILECAPTUREDGRADIENTS_H

#include "passes/attn-to-tile/TileDropout.h"

namespace attnc::attn {

/// Finds and stores the elements of captured tensors' gradients.
class TileCapturedGradients : public TileDropout {
public:
  using TileDropout::TileDropout;

  /// In a program of one captured tensor: finds the tile's place among its elements.
  void buildCapturedGeometry();
  /// The first key of each step of a tile that heads or batch entries share.
  llvm::SmallVector<mlir::Value> listSharedSteps();
  /// Calls `body` in loops over the heads and batch entries that share the tile's elements, which it is then for, with
  /// what is carried; returns what the last leaves.
  llvm::SmallVector<mlir::Value>
  forSharers(mlir::ValueRange initial,
             llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange carried)> body);
  /// Stores a row vector as the tile's part of the gradient of the captured tensor.
  void storeCapturedVector(mlir::Value vector);
  /// Stores a tile as the gradient of a captured tensor that has a number for each query and key, for columns from
  /// `first` on.
  void storeCapturedTile(mlir::Value tile, const CapturedGradient &captured, mlir::Value first);

protected:
  /// Tiles of the tensor's own rows, heads and batch entries.
  mlir::AffineExpr countCapturedTiles(llvm::SmallVectorImpl<int64_t> &sizes);

private:
  /// Keys of a tile that heads or batch entries share.
  int64_t countSharedKeys() const { return getColumns() * (getPipeline() ? getPipeline().getSums() : 1); }
  /// What the rows of a program of one captured tensor are: queries or keys.
  Coordinate capturedRows() const {
    return captured->form == CapturedForm::KeySums ? Coordinate::Key : Coordinate::Query;
  }
  /// Indices of an element of the gradient of `of`, or of the tensor, for the head and batch entry at hand.
  llvm::SmallVector<mlir::Value> capturedIndices(const CapturedGradient &of, mlir::Value query, mlir::Value key);
};

} // namespace attnc::attn

#endif // ATTNC_PASSES_ATTN_TO_TILE_TILECAPTUREDGRADIENTS_H
