//===- TileMemory.h - Loads and stores of tile programs ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Tiles and rows of the tensors that a kernel reads and writes, and of its sinks.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_ATTN_TO_TILE_TILEMEMORY_H
#define ATTNC_PASSES_ATTN_TO_TILE_TILEMEMORY_H

#include "passes/attn-to-tile/TilePlace.h"

namespace attnc::attn {

/// Loads and stores tiles and rows of the problem's tensors, and sinks.
class TileMemory : public TilePlace {
public:
  using TilePlace::TilePlace;

  /// In a program whose tiles are of sinks: finds the tile's place among them, and its head where they differ from head
  /// to head.
  void buildSinkGeometry();
  /// The tile's sinks: vector<rows x type>.
  mlir::Value loadSinks();
  /// Stores a row vector as the gradient of the tile's sinks.
  void storeSinkGradient(mlir::Value vector, mlir::Value result);

  /// The tile's rows of `tensor`, which is laid out like queries, or like keys in a program whose tiles are of keys.
  /// `anyBeyond`: rows past the last may hold anything, since nothing of what they give is stored; else they are 0.
  mlir::Value loadRows(mlir::Value tensor, bool anyBeyond = true);
  /// The columns from `first` on that a step has, as rows of `tensor`. `masked`: what comes of rows past the last is
  /// masked, so that they may hold anything; else they are 0.
  mlir::Value loadColumns(mlir::Value tensor, mlir::Value first, bool masked);
  /// One number of `tensor`, laid out like LSE, for each row: vector<rows x f32>, 0 past the last query.
  mlir::Value loadRowVector(mlir::Value tensor);
  /// Stores a tile of rows of `result`, laid out as for `loadRows`, wherever the function returns it; so do the others.
  /// A program that combines parts stores the tile's columns of them.
  void storeRows(mlir::Value tile, mlir::Value result);
  /// Stores a tile of probabilities for keys from `j` on of `result` [B, H, Sq, Sk].
  void storeWeights(mlir::Value tile, mlir::Value result, mlir::Value j);
  /// Stores a row vector of `result`, laid out like LSE.
  void storeRowVector(mlir::Value vector, mlir::Value result);

protected:
  /// Tiles of the sinks of a head, or of all heads that have their own.
  int64_t countSinkTiles();

private:
  /// Sinks of a head.
  int64_t countSinks();
  /// Indices of the tile's first sink.
  llvm::SmallVector<mlir::Value> sinkIndices();
  /// The limit of rows of a tile of `view` for a sequence of `axis`. A copy engine stops where the tensor ends; it may
  /// do so where a sequence does not end before it, or where what lies beyond does no harm.
  mlir::Value rowLimit(mlir::Value view, Coordinate axis, bool anyBeyond);
  /// Indices of row `first` of an axis in a tensor that is laid out like queries or keys; `axes` are those of a tile of
  /// its rows.
  llvm::SmallVector<mlir::Value> problemIndices(Coordinate axis, mlir::Value first, llvm::SmallVector<int64_t> &axes);
  /// Indices of the tile's first query in a tensor that is laid out like LSE; `axes` is that of its rows.
  llvm::SmallVector<mlir::Value> rowVectorIndices(llvm::SmallVector<int64_t> &axes);
  /// A tile of rows of `tensor` from row `first` of an axis on, as many as the program's tiles have rows or columns
  /// there. `anyBeyond`: what lies past the last row does no harm.
  mlir::Value loadTile(mlir::Value tensor, Coordinate axis, mlir::Value first, bool anyBeyond);
};

} // namespace attnc::attn

#endif // ATTNC_PASSES_ATTN_TO_TILE_TILEMEMORY_H
