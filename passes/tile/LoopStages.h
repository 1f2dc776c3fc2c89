//===- LoopStages.h - Loops whose steps overlap -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_TILE_LOOPSTAGES_H
#define ATTNC_PASSES_TILE_LOOPSTAGES_H

#include "dialect/tile/TileOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <optional>

namespace attnc::tile {

/// The stage that `tile-assign-stages` has given to `op`: 0 is the step itself, 1 the next.
unsigned stageOf(mlir::Operation *op);

/// The loops of `program` whose steps overlap: some of their operations run in the next step.
llvm::SmallVector<mlir::scf::ForOp> findOverlappedLoops(ProgramOp program);

/// What of a step of `loop` is to come ahead of the rest; nothing where steps do not overlap.
std::optional<Overlap> getOverlap(mlir::scf::ForOp loop);

/// What `tile-reverse-loops` has written of a loop: it goes down the columns from `last` to `low`.
struct Descent {
  mlir::arith::SubIOp column; ///< the first of a step, in it: `last` less the induction variable
  mlir::arith::SubIOp last;   ///< the first of the last step: `end` less a step
  mlir::arith::AddIOp end;    ///< of the last step: `low` and the loop's upper bound
  mlir::Value low;            ///< the first of all
};

/// How `loop` goes down columns, or nothing where it does not.
std::optional<Descent> findDescent(mlir::scf::ForOp loop);

/// Moves constants of `loop` out of it: what runs in another step reads them too.
void shareConstants(mlir::scf::ForOp loop);

/// Moves `loop` under a condition that it has a step, unless it is under one already: nothing of it needs predicates
/// then. Its constants move out of it.
void guardLoop(mlir::scf::ForOp loop);

} // namespace attnc::tile

#endif // ATTNC_PASSES_TILE_LOOPSTAGES_H
