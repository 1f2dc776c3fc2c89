//===- SharedOperands.h - Loads that go through shared memory ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// What the passes that put operands of products in shared memory have in common, with roles and without.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_TILE_SHAREDOPERANDS_H
#define ATTNC_PASSES_TILE_SHAREDOPERANDS_H

#include "dialect/tile/TileOps.h"

namespace attnc::tile {

/// The loads whose tiles products alone read: those go through shared memory.
llvm::SmallVector<LoadOp> findSharedLoads(ProgramOp program);

/// Loads tiles that products and others read once more for the others, which have them in registers.
void splitSharedLoads(ProgramOp program);

/// Moves loads down to their products: tiles are then loaded in the order in which they are needed. A load moves into
/// the branch that holds all its products, not into a loop. Of two operands the right one comes first: a buffer of keys
/// comes free before the queries of the tile before do.
void sinkLoads(llvm::ArrayRef<LoadOp> loads);

/// Creates the rings of `loads`, where `builder` stands, as `pipeline` says: one for each tensor, shape and place in
/// products.
llvm::DenseMap<mlir::Operation *, mlir::Value> createRings(mlir::OpBuilder &builder, llvm::ArrayRef<LoadOp> loads,
                                                           attn::PipelineAttr pipeline);

/// Has products read `shared`, which `load` becomes, from registers where it is their left operand.
void readLeft(LoadOp load, mlir::Value shared);

/// Gives what `program` shares a ring, one of `stages` buffers for all tiles of a type, and makes a `tile.get` of each
/// `tile.take`: those are returned.
llvm::SmallVector<GetOp> giveRingsToShared(ProgramOp program, int64_t stages);

} // namespace attnc::tile

#endif // ATTNC_PASSES_TILE_SHAREDOPERANDS_H
