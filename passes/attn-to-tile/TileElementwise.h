//===- TileElementwise.h - Score and mask of a tile -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Regions of scores and masks as operations on the elements of tiles.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_ATTN_TO_TILE_TILEELEMENTWISE_H
#define ATTNC_PASSES_ATTN_TO_TILE_TILEELEMENTWISE_H

#include "passes/attn-to-tile/TileBlockMask.h"

namespace attnc::attn {

/// The smallest scale of logits that their maxima and exponents may be relative to: one of 0 or below would turn maxima
/// into minima, and terms divided by a smaller one pass f32.
inline constexpr float smallestUnit = 1e-20f;

/// Applies the score and mask regions to tiles.
class TileElementwise : public TileBlockMask {
public:
  using TileBlockMask::TileBlockMask;

  /// From now on masks drop rows past the last as well, which otherwise hold arbitrary values: `bounds` for that, where
  /// no columns of a tile with such rows are full.
  ColumnBounds maskRows(ColumnBounds bounds);

  /// The positive constant that the score region multiplies by last, or 1.
  float getScoreUnit();
  /// scale, and the score region but for that last product. `scores` are raw products, and the first column is `j`,
  /// here and below.
  mlir::Value buildScore(mlir::Value scores, mlir::Value j);
  /// scale and the whole score region.
  mlir::Value buildNaturalScore(mlir::Value scores, mlir::Value j);
  /// The same, and its slope there: what the score region's derivative multiplies gradients by.
  std::pair<mlir::Value, mlir::Value> buildScoreAndSlope(mlir::Value scores, mlir::Value j);
  /// What the score region's derivative yields for the gradients `gradients` where the raw products are `scores`, at
  /// the places `wanted`: place 0 is the gradient of the logit (see `CapturedGradient::yielded`).
  llvm::SmallVector<mlir::Value> buildDerivatives(mlir::Value gradients, mlir::Value scores, mlir::Value j,
                                                  llvm::ArrayRef<unsigned> wanted);
  /// The mask region and the end of the columns.
  mlir::Value buildMask(mlir::Value scores, mlir::Value j, const ColumnBounds &bounds);

  /// scale: the spec's number or value.
  mlir::Value buildScale();

  /// A tile of `element`, computed by `body` from elements of tiles, row vectors and column vectors, in this order.
  mlir::Value buildMap(mlir::ValueRange tiles, mlir::ValueRange rows, mlir::ValueRange columns, mlir::Type element,
                       llvm::function_ref<mlir::Value(mlir::ValueRange elements)> body);

  /// The same for several results.
  llvm::SmallVector<mlir::Value>
  buildMaps(mlir::ValueRange tiles, mlir::ValueRange rows, mlir::ValueRange columns, mlir::TypeRange elements,
            llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange elements)> body);

  /// Multiplies a row vector by each column of a tile, and casts. `mostlyOne`: the factors are 1 in most steps, in all
  /// rows that are near each other. `zeroDrops`: a factor of 0 gives 0 whatever the tile holds.
  mlir::Value scaleRows(mlir::Value tile, mlir::Value rowFactors, mlir::Type element, bool mostlyOne = false,
                        bool zeroDrops = false);

protected:
  /// Operands of an elementwise operation, with the load that each comes from.
  struct ElementwiseOperands {
    llvm::SmallVector<mlir::Value> tiles, rows, cols;
    llvm::SmallVector<LoadOp> tileLoads, rowLoads, colLoads;

    void append(const ElementwiseOperands &other) {
      llvm::append_range(tiles, other.tiles);
      llvm::append_range(rows, other.rows);
      llvm::append_range(cols, other.cols);
      llvm::append_range(tileLoads, other.tileLoads);
      llvm::append_range(rowLoads, other.rowLoads);
      llvm::append_range(colLoads, other.colLoads);
    }
  };
  /// The entry block of an elementwise operation: elements of `leading`, of the operands, and the two coordinates.
  mlir::Block *addElementwiseBody(mlir::Region &body, mlir::ValueRange leading, const ElementwiseOperands &operands);

private:
  /// Whether the mask of a row that holds a query keeps no key past the last: it keeps none past the query's own
  /// position, and the last query stands at the last key. What other rows keep is never stored.
  bool keepsExistingKeysOnly();
  /// The operands of an elementwise operation by `region`, whose first column is `j`.
  ElementwiseOperands gatherOperands(mlir::Region &region, mlir::Value j);
  /// Clones a score or mask region into the body of an elementwise operation; returns what it yields.
  llvm::SmallVector<mlir::Value> cloneRegion(mlir::Region &region, mlir::Block *body,
                                             const ElementwiseOperands &operands, mlir::ValueRange leading);
  /// The positions of query and key of an element in the body of an elementwise operation.
  std::pair<mlir::Value, mlir::Value> buildPositions(mlir::Block *body);
  /// The position of the tile's first row; columns count as rows of their tensors do (see `buildPositions`).
  mlir::Value rowPosition();
  /// One element whose indices are computed: clamped to the tensor.
  mlir::Value cloneComputedLoad(LoadOp load, mlir::IRMapping &mapping, mlir::Value i, mlir::Value j);
  /// A map over `leading`, tiles of f32, and what `regions` capture; `body` writes what it gives for an element, values
  /// of the types `results`, and finds the elements of `leading` first among the arguments.
  tile::MapOp
  buildElementMap(llvm::ArrayRef<mlir::Region *> regions, mlir::ValueRange leading, mlir::Value j,
                  mlir::TypeRange results,
                  llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Block *, const ElementwiseOperands &)> body);
  /// The same for one region and one result.
  tile::MapOp buildElementMap(mlir::Region &region, mlir::ValueRange leading, mlir::Value j,
                              llvm::function_ref<mlir::Value(mlir::Block *, const ElementwiseOperands &)> body);

  bool masksRows = false; ///< see `maskRows`
};

} // namespace attnc::attn

#endif // ATTNC_PASSES_ATTN_TO_TILE_TILEELEMENTWISE_H
