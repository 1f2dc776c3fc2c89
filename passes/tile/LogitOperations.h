//===- LogitOperations.h - What a step does first ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_TILE_LOGITOPERATIONS_H
#define ATTNC_PASSES_TILE_LOGITOPERATIONS_H

#include "dialect/tile/TileOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

namespace attnc::tile {

/// Whether `product` adds to nothing.
bool startsFromZero(MmaOp product);

/// Whether a step of `loop` can start `product` before its elements are computed: it starts from zero, and reads
/// nothing that they make.
bool startsStep(MmaOp product);

/// What a step of `loop` does before its elements are computed: products that start it, and loads of vectors of
/// columns, with what both are made from.
llvm::SetVector<mlir::Operation *> findLogitOperations(mlir::scf::ForOp loop);

/// All products of a step of `loop` that are of the step itself, with what they are made from.
llvm::SetVector<mlir::Operation *> findProductOperations(mlir::scf::ForOp loop);

/// The first of those products, with what it is made from.
llvm::SetVector<mlir::Operation *> findScoreOperations(mlir::scf::ForOp loop);

} // namespace attnc::tile

#endif // ATTNC_PASSES_TILE_LOGITOPERATIONS_H
