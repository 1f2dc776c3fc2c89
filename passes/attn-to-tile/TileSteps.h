//===- TileSteps.h - Loops over the columns of a tile -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Loops over the steps of a program.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_ATTN_TO_TILE_TILESTEPS_H
#define ATTNC_PASSES_ATTN_TO_TILE_TILESTEPS_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/attn-to-tile/TileScatteredGradients.h"

namespace attnc::attn {

/// A step of the loop over columns.
struct ColumnStep {
  mlir::Value first;   ///< its first column
  ColumnBounds bounds; ///< those of the loop, and the step's place where they are places
  bool masked;         ///< whether the mask may drop some of its elements
};

/// Goes over the columns of a tile in steps.
class TileSteps : public TileScatteredGradients {
public:
  using TileScatteredGradients::TileScatteredGradients;

  /// What a step makes of what is carried to it.
  using StepBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(const ColumnStep &step, mlir::ValueRange state)>;
  /// The loop over the columns within `bounds`, from the state `initial`: `body` gives the next. Where data decides
  /// about steps and no block mask has listed them, there are two, one in the other: of most stretches of several steps
  /// all are left out, or keep all.
  llvm::SmallVector<mlir::Value> overColumns(mlir::ValueRange initial, const ColumnBounds &bounds, StepBody body);
  /// Whether data decides about steps, and no block mask has listed them.
  bool looksAtSteps();
  /// Says of the loop over the steps of the program what of each comes ahead of the rest (`tile::overlapAttrName`).
  void setOverlap(mlir::scf::ForOp loop);
  /// Whether one loop may go through all query heads of the tile's group: nothing but their tensors tells them apart,
  /// and no step has to be looked at.
  bool mayJoinHeads();
  /// That loop, from the last columns to the first, and of each through all heads: blocks that are at work at the same
  /// time then read the same queries, also where a mask lets them begin at different ones.
  llvm::SmallVector<mlir::Value> overColumnsOfHeads(mlir::ValueRange initial, const ColumnBounds &bounds,
                                                    StepBody body);
  /// The results of `step`, with or without the mask, as the `blocks` region says; `state`, where it keeps nothing.
  /// Without such a region, or where a block mask has listed the steps, the mask is always there.
  llvm::SmallVector<mlir::Value> buildStep(mlir::Value first, mlir::ValueRange state,
                                           llvm::function_ref<llvm::SmallVector<mlir::Value>(bool masked)> step);
  /// The results, of `types`, of one branch or the other.
  llvm::SmallVector<mlir::Value> buildBranch(mlir::TypeRange types, mlir::Value condition,
                                             llvm::function_ref<llvm::SmallVector<mlir::Value>()> then,
                                             llvm::function_ref<llvm::SmallVector<mlir::Value>()> otherwise);

private:
  /// A loop from `low` to `high`, whose steps `body` writes with what is carried.
  mlir::scf::ForOp
  buildLoop(mlir::Value low, mlir::Value high, int64_t step, mlir::ValueRange initial,
            llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value iv, mlir::ValueRange state)> body);
  /// The loop over places: `columnOf` gives the first column of one.
  llvm::SmallVector<mlir::Value> overPlaces(mlir::ValueRange initial, ColumnBounds places,
                                            llvm::function_ref<mlir::Value(mlir::Value place)> columnOf, StepBody body);
  /// The loop where each step is looked at, or several together.
  llvm::SmallVector<mlir::Value> overStretches(mlir::ValueRange initial, const ColumnBounds &bounds, StepBody body);
};

} // namespace attnc::attn

#endif // ATTNC_PASSES_ATTN_TO_TILE_TILESTEPS_H
