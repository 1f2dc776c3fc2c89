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

/// What a step of `loop` does before its elements are computed: products that start from zero, and loads of vectors of
/// columns, with what both are made from.
llvm::SetVector<mlir::Operation *> findLogitOperations(mlir::scf::ForOp loop);

} // namespace attnc::tile

#endif // ATTNC_PASSES_TILE_LOGITOPERATIONS_H
