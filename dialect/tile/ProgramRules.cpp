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
  if (auto store = dyn_cast<StoreOp>(op);
      store && op.getParentOfType<RoleOp>() && store.getAccumulate() && !store.getBuffer())
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

/// What a ring wants of its program: all consumers give it back, if any does, and what consumers share goes to
/// somebody.
static LogicalResult verifyRing(RingOp ring, int64_t consumers) {
  int64_t readers = countReaders(ring, RoleKind::Consumer);
  if (readers != 0 && readers != consumers)
    return ring.emitOpError() << "expected all " << consumers
                              << " warpgroups of consumers to give back its buffers, got " << readers;
  if (consumers != 0 && isFilledByConsumers(ring) && llvm::none_of(ring->getUsers(), llvm::IsaPred<GetOp>))
    return ring.emitOpError("expected a role that gets what consumers share");
  return success();
}

/// Threads of a producer and of a consumer have the registers that the pipeline gives them.
static LogicalResult verifyRegisters(RoleOp role, attnc::attn::PipelineAttr pipeline) {
  if (!pipeline || role.getKind() == RoleKind::Reducer)
    return success();
  bool produces = role.getKind() == RoleKind::Producer;
  int64_t registers = produces ? pipeline.getProducerRegisters() : pipeline.getConsumerRegisters();
  if (static_cast<int64_t>(role.getRegisters()) == registers)
    return success();
  return role.emitOpError() << "expected the '" << (produces ? "producer_registers" : "consumer_registers")
                            << "' of the pipeline, " << registers << ", got " << role.getRegisters();
}

/// Roles are those of the pipeline: so many warpgroups of consumers, and one reducer or none, all with its registers.
static LogicalResult verifyRoles(ProgramOp program) {
  auto pipeline = program.getPipelineAttr();
  int64_t consumers = 0;
  RoleOp last;
  SmallVector<RoleOp> reducers;
  for (auto role : program.getBody().getOps<RoleOp>()) {
    if (failed(verifyRegisters(role, pipeline)))
      return failure();
    if (role.getKind() == RoleKind::Reducer)
      reducers.push_back(role);
    if (role.getKind() != RoleKind::Consumer)
      continue;
    consumers += static_cast<int64_t>(role.getWarpgroups());
    last = role;
  }
  if (last && pipeline && consumers != pipeline.getConsumers())
    return last.emitOpError() << "expected " << pipeline.getConsumers()
                              << " warpgroups of consumers in all, as the pipeline has, got " << consumers;
  for (auto [number, role] : llvm::enumerate(reducers)) {
    int64_t registers = pipeline ? pipeline.getReducerRegisters() : 0;
    if (number > 0 || role.getWarpgroups() != 1 || static_cast<int64_t>(role.getRegisters()) != registers)
      return role.emitOpError()
             << "expected one reducer of one warpgroup with the 'reducer_registers' of the pipeline, " << registers
             << ", got " << role.getWarpgroups() << " with " << role.getRegisters();
  }
  for (auto ring : program.getBody().getOps<RingOp>())
    if (failed(verifyRing(ring, consumers)))
      return failure();
  return success();
}

/// Who may do what: producers fill rings from memory, and consumers share what they compute and take turns.
static LogicalResult verifyOfRole(Operation *op) {
  auto role = op->getParentOfType<RoleOp>();
  bool isOfProducer = isa<PutOp>(op), isOfConsumer = isa<ShareOp, PostOp, PingPongOp>(op);
  if (!role || (!isOfProducer && !isOfConsumer))
    return success();
  RoleKind kind = isOfProducer ? RoleKind::Producer : RoleKind::Consumer;
  if (role.getKind() == kind)
    return success();
  return op->emitOpError() << "expected to be in a " << stringifyRoleKind(kind) << ", not in a "
                           << stringifyRoleKind(role.getKind());
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
    return verifyOfRole(op);
  });
  return result.wasInterrupted() ? failure() : verifyRoles(*this);
}
