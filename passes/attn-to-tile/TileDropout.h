//===- TileDropout.h - Dropout and softmax of a tile ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Which elements are dropped, and a step of the online softmax, which takes their numbers.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_ATTN_TO_TILE_TILEDROPOUT_H
#define ATTNC_PASSES_ATTN_TO_TILE_TILEDROPOUT_H

#include "passes/attn-to-tile/TileElementwise.h"

namespace attnc::attn {

/// The seed of dropout, and the numbers of the problem's first batch entry and head, null where they are 0 (S9).
struct DropoutSeed {
  mlir::Value seed, firstBatch, firstHead;
};

using tile::ExponentUnit;

/// Drops weights, and makes the step of the softmax that they belong to.
class TileDropout : public TileElementwise {
public:
  using TileElementwise::TileElementwise;

  /// The numbers by which dropout chooses among elements whose first column is `j`; null where nothing is dropped (S9).
  mlir::Value buildNumbers(mlir::Value j);
  /// What kept weights are multiplied by, or 1. Sums over them are, in the end, instead.
  mlir::Value buildKeptFactor();
  /// `tile`, of f32 that are no less than 0, with its sign changed where `numbers` drop an element: what dropout does
  /// is known of it then, without the numbers.
  mlir::Value markDropped(mlir::Value tile, mlir::Value numbers);
  /// `tile` with 0 where `numbers`, if there are any, drop an element, cast to `element`.
  mlir::Value buildDropout(mlir::Value tile, mlir::Value numbers, mlir::Type element);

  /// A step of the online softmax of `scores`, whose first column is key `j` (S7); weights are dropped out by `numbers`
  /// and cast to `element` for the product with the values (S9, S13).
  tile::SoftmaxOp buildSoftmax(mlir::Value scores, mlir::Value max, mlir::Value sum, ExponentUnit unit, mlir::Value j,
                               mlir::Value numbers, mlir::Type element);

private:
  /// How many of them drop, as i32: the nearest to the probability, and of two the even one.
  mlir::Value countDropped();
  /// The least number that is kept. Where all are dropped one is not, but the factor is 0.
  mlir::Value buildLeastKept();
  /// Finds the seed, and where numbers of batch entries and heads begin. What lies in memory is read at the start of
  /// the program.
  void loadSeed();

  DropoutSeed dropout; ///< see `loadSeed`
};

} // namespace attnc::attn

#endif // ATTNC_PASSES_ATTN_TO_TILE_TILEDROPOUT_H
