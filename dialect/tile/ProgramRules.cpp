//===- ProgramRules.cpp - Rules of what programs hold -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// What no operation can see by itself: operations that belong together, and values that must not go everywhere.
//===----------------------------------------------------------------------===//

#include "dialect/tile/ProgramRules.h"
#include "dialect/tile/TileQueries.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attnc::tile;

LogicalResult attnc::tile::verifyShared(Operation &op, Value operand) {
  if (isa<SharedTileType>(operand.getType()))
    return success();
  return op.emitOpError() << "expected an operand in shared memory, got " << operand.getType();
}

LogicalResult attnc::tile::verifyStaged(Operation &op) {
  if (auto store = dyn_cast<StoreOp>(op); store && store.getAccumulate() && !store.getBuffer() && !store.getOrder())
    return op.emitOpError("expected a buffer with 'accumulate': the copy engine adds");
  if (auto share = dyn_cast<ShareOp>(op); share && !share.getRing())
    return op.emitOpError("expected a ring");
  if (auto row = dyn_cast<RowOp>(op))
    return verifyShared(op, row.getTile());
  if (auto read = dyn_cast<ReadOp>(op))
    return verifyShared(op, read.getTile());
  return success();
}

/// What is in flight or in shared memory is where it is: no registers hold it that a loop or a branch could hand on.
static LogicalResult verifyEdge(Operation *op) {
  auto isFixed = [](Type type) { return isa<PendingType, SharedTileType, RingType>(type); };
  for (TypeRange types : {TypeRange(op->getResultTypes()), TypeRange(op->getOperandTypes())})
    if (auto type = llvm::find_if(types, isFixed); type != types.end())
      return op->emitOpError() << "expected values that may cross its edge, got one of " << *type;
  return success();
}

/// A product is awaited where it was started: code that only some go through would wait for another.
static LogicalResult verifyAwait(AwaitOp await) {
  auto start = await.getPending().getDefiningOp<StartOp>();
  if (!start || start->getBlock() != await->getBlock())
    return await.emitOpError("expected a product that starts in the same block");
  return success();
}

/// Consumers are those of the pipeline, and each gives back what it gets, if any does.
static LogicalResult verifyConsumers(ProgramOp program) {
  int64_t consumers = 0;
  RoleOp last;
  for (auto role : program.getBody().getOps<RoleOp>())
    if (role.getKind() == RoleKind::Consumer) {
      consumers += static_cast<int64_t>(role.getWarpgroups());
      last = role;
    }
  auto pipeline = program.getPipelineAttr();
  if (last && pipeline && consumers != pipeline.getConsumers())
    return last.emitOpError() << "expected " << pipeline.getConsumers()
                              << " warpgroups of consumers in all, as the pipeline has, got " << consumers;
  for (auto ring : program.getBody().getOps<RingOp>())
    if (int64_t readers = countReaders(ring, RoleKind::Consumer); readers != 0 && readers != consumers)
      return ring.emitOpError() << "expected all " << consumers
                                << " warpgroups of consumers to give back its buffers, got " << readers;
  return success();
}

/// No vector has the elements of another in another shape: those of rows would be columns'.
static LogicalResult verifyShape(Operation *op) {
  auto isVector = llvm::IsaPred<VectorType>;
  if (llvm::none_of(op->getResultTypes(), isVector))
    return success();
  TypeRange operands = op->getOperandTypes();
  if (auto type = llvm::find_if(operands, isVector); type != operands.end())
    return op->emitOpError() << "expected scalars, not the elements of another vector, got " << *type;
  return success();
}

LogicalResult ProgramOp::verifyRegions() {
  llvm::SmallDenseSet<Type> shared;
  walk([&](ShareOp share) { shared.insert(share.getValue().getType()); });
  WalkResult result = walk<WalkOrder::PreOrder>([&](Operation *op) -> WalkResult {
    if (isa_and_nonnull<scf::SCFDialect>(op->getDialect()))
      return verifyEdge(op);
    if (isa_and_nonnull<vector::VectorDialect>(op->getDialect()))
      return verifyShape(op);
    if (auto await = dyn_cast<AwaitOp>(op))
      return verifyAwait(await);
    if (auto take = dyn_cast<TakeOp>(op); take && !shared.contains(take.getShared().getType().getTile()))
      return take.emitOpError() << "expected a 'tile.share' of " << take.getShared().getType().getTile();
    if (auto post = dyn_cast<PostOp>(op); post && !llvm::any_of(post.getRing().getUsers(), llvm::IsaPred<ShareOp>))
      return post.emitOpError("expected a ring that a 'tile.share' fills");
    return WalkResult::advance();
  });
  return result.wasInterrupted() ? failure() : verifyConsumers(*this);
}
