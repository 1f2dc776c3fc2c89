//===- TileQueries.h - Questions about tile programs ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Asked by passes and by those that give programs a meaning, so that they agree on the answers.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_DIALECT_TILE_TILEQUERIES_H
#define ATTNC_DIALECT_TILE_TILEQUERIES_H

#include "dialect/tile/TileOps.h"

namespace attnc::tile {

/// Whether `limit` is the size of `view` along `axis`: what a copy engine stops at by itself.
bool reachesViewEnd(mlir::Value view, int64_t axis, mlir::Value limit);

/// Whether a store may write all of its tile that is inside the view.
bool reachesViewEnds(StoreOp store);

/// Whether warpgroups of `program` have roles, one that loads and others that compute. Without them products are
/// synchronous: there is nothing to overlap them with.
bool hasRoles(ProgramOp program);

/// Whether consumers share tiles that they have computed.
bool sharesTiles(ProgramOp program);

/// How many warps of `program` have some of the columns each of the same rows (`PipelineAttr`). One without a pipeline.
int64_t countPartsOfRows(ProgramOp program);

/// Whether such warps join what they have of each row (`tile.block_reduce`).
bool joinsRows(ProgramOp program);

/// Whether `program` lists the steps of a block mask, for the program after it.
bool listsSteps(ProgramOp program);

/// Whether the kernel of `program` starts while the one before it in a launch runs, and waits for it: as its pipeline
/// says, but for one that lists steps, which waits for all work before it.
bool startsEarly(ProgramOp program);

/// Whether a producer may have to clear rows that the copy of `put` brings: its limit of rows is not the view's end.
bool mayClearRows(PutOp put);
/// Whether it may have to for any put into `ring`.
bool mayClearRows(RingOp ring);

/// Whether consumers fill `ring` by `tile.share`: it has no barriers of its own.
bool isFilledByConsumers(RingOp ring);

/// Warpgroups that give back what they got from `ring`, tiles or their numbers: as many as a buffer waits for until it
/// is filled again. Producers are not among them.
int64_t countReaders(RingOp ring);
/// Those of roles of `kind`.
int64_t countReaders(RingOp ring, RoleKind kind);

/// Warpgroups of consumers that fill `ring` by `tile.share`.
int64_t countSharers(RingOp ring);

/// Whether `put` brings rows of the workspace: they lie one after the other, as vectors do (see `tile.row`), and no
/// tensor map speaks of them.
bool bringsVectors(PutOp put);
/// Whether puts into `ring` do.
bool bringsVectors(RingOp ring);

/// Whether warps read tiles of `ring` themselves, and give them back: vectors, and captured tiles. Others are read by
/// products, which are those of a warpgroup.
bool isReadByWarps(RingOp ring);
/// Whether all warps of the warpgroup have the buffer by the time of `release`: since they got it, a product, which is
/// one of warpgroups, has started and is awaited, or `tile.skip` has had them meet. Both in its block: loops and
/// branches may do nothing.
bool haveAllGot(ReleaseOp release);

/// Buffers of its ring that the role holds where `get` runs: got by it, and not released yet. Both branches of a
/// condition are taken to change that number alike, and a step of a loop and a tile of a queue to leave it as it was.
int64_t countHeldBuffers(GetOp get);

/// Loads of a thread for `op` that are on their way at once, as `tile.loads_together` says.
int64_t countLoadsTogether(mlir::Operation *op);

/// The value that takes the place of `value`, an argument of a loop, in the loop's next step; null for other values.
mlir::Value nextOf(mlir::Value value);

/// Gives `uses`, all of the only result of `source`, a copy of it that stands right after it.
void copyForUses(mlir::Operation *source, llvm::ArrayRef<mlir::OpOperand *> uses);

} // namespace attnc::tile

#endif // ATTNC_DIALECT_TILE_TILEQUERIES_H
