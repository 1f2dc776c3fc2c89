//===- TileQueries.cpp - Questions about tile programs ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/tile/TileQueries.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace attnc::tile;

bool attnc::tile::reachesViewEnd(Value view, int64_t axis, Value limit) {
  int64_t size = cast<MemRefType>(view.getType()).getDimSize(axis);
  if (!ShapedType::isDynamic(size)) {
    APInt constant;
    return matchPattern(limit, m_ConstantInt(&constant)) && constant.getSExtValue() == size;
  }
  auto dim = limit.getDefiningOp<memref::DimOp>();
  return dim && dim.getSource() == view && dim.getConstantIndex() == axis;
}

bool attnc::tile::reachesViewEnds(StoreOp store) {
  return llvm::all_of(llvm::zip_equal(store.getAxes(), store.getLimits()),
                      [&](auto pair) { return reachesViewEnd(store.getView(), std::get<0>(pair), std::get<1>(pair)); });
}

bool attnc::tile::hasRoles(ProgramOp program) {
  auto pipeline = program.getPipelineAttr();
  return pipeline && pipeline.getStaging() == attnc::attn::Staging::Tma;
}

bool attnc::tile::listsSteps(ProgramOp program) { return !program.getBody().getOps<BlockMaskOp>().empty(); }

bool attnc::tile::startsEarly(ProgramOp program) {
  attn::PipelineAttr pipeline = program.getPipelineAttr();
  return pipeline && pipeline.getEarly() && !listsSteps(program);
}

bool attnc::tile::sharesTiles(ProgramOp program) {
  return program.walk([](ShareOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

int64_t attnc::tile::countPartsOfRows(ProgramOp program) {
  attn::PipelineAttr pipeline = program.getPipelineAttr();
  if (!pipeline)
    return 1;
  return pipeline.countPartsOfRows(static_cast<int64_t>(program.getPanel()), static_cast<int64_t>(program.getRows()));
}

bool attnc::tile::joinsRows(ProgramOp program) {
  return program.walk([](BlockReduceOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

/// Whether `predicate` holds for an operation that puts tiles into `ring`.
static bool anyPut(RingOp ring, llvm::function_ref<bool(PutOp)> predicate) {
  return llvm::any_of(ring->getUsers(), [predicate](Operation *user) {
    auto put = dyn_cast<PutOp>(user);
    return put && predicate(put);
  });
}

/// Whether `limit` is that of the rows which a page table has entries for.
static bool reachesTableEnd(PutOp put, Value limit) {
  int64_t rows = put.getView().getType().getDimSize(1),
          entries = cast<MemRefType>(put.getPages().getType()).getDimSize(1);
  APInt constant;
  if (matchPattern(limit, m_ConstantInt(&constant)))
    return !ShapedType::isDynamic(entries) && constant.getSExtValue() == entries * rows;
  if (rows == 1)
    return reachesViewEnd(put.getPages(), 1, limit);
  auto product = limit.getDefiningOp<arith::MulIOp>();
  return product && matchPattern(product.getRhs(), m_ConstantInt(&constant)) && constant.getSExtValue() == rows &&
         reachesViewEnd(put.getPages(), 1, product.getLhs());
}

bool attnc::tile::mayClearRows(PutOp put) {
  if (put.getPages())
    return !reachesTableEnd(put, put.getLimits()[0]);
  return !reachesViewEnd(put.getView(), put.getAxes()[0], put.getLimits()[0]);
}

bool attnc::tile::mayClearRows(RingOp ring) {
  return anyPut(ring, [](PutOp put) { return mayClearRows(put); });
}

bool attnc::tile::isFilledByConsumers(RingOp ring) { return llvm::any_of(ring->getUsers(), llvm::IsaPred<ShareOp>); }

/// Warpgroups of the roles of `kind` that have a user of `ring` for which `predicate` holds.
static int64_t countWarpgroups(RingOp ring, RoleKind kind, llvm::function_ref<bool(Operation *)> predicate) {
  llvm::SmallPtrSet<Operation *, 2> roles;
  for (Operation *user : ring->getUsers())
    if (auto role = user->getParentOfType<RoleOp>(); role && role.getKind() == kind && predicate(user))
      roles.insert(role);
  int64_t warpgroups = 0;
  for (Operation *role : roles)
    warpgroups += static_cast<int64_t>(cast<RoleOp>(role).getWarpgroups());
  return warpgroups;
}

int64_t attnc::tile::countReaders(RingOp ring, RoleKind kind) {
  return countWarpgroups(ring, kind, llvm::IsaPred<ReleaseOp, PersistentOp>);
}

int64_t attnc::tile::countReaders(RingOp ring) {
  return countReaders(ring, RoleKind::Consumer) + countReaders(ring, RoleKind::Reducer);
}

int64_t attnc::tile::countSharers(RingOp ring) {
  return countWarpgroups(ring, RoleKind::Consumer, llvm::IsaPred<ShareOp>);
}

bool attnc::tile::bringsVectors(PutOp put) { return put->getParentOfType<ProgramOp>().isWorkspaceView(put.getView()); }

bool attnc::tile::bringsVectors(RingOp ring) {
  return anyPut(ring, [](PutOp put) { return bringsVectors(put); });
}

bool attnc::tile::isReadByWarps(RingOp ring) {
  return bringsVectors(ring) || llvm::any_of(ring->getUsers(), [](Operation *user) {
           auto get = dyn_cast<GetOp>(user);
           return get && llvm::any_of(get->getUsers(), llvm::IsaPred<ReadOp>);
         });
}

bool attnc::tile::haveAllGot(ReleaseOp release) {
  auto isGet = [&](Operation &op) {
    auto get = dyn_cast<GetOp>(op);
    return get && get.getRing() == release.getRing() && !get.getKept();
  };
  for (Operation *op = release->getPrevNode(); op && !isGet(*op); op = op->getPrevNode()) {
    if (isa<SkipOp>(op))
      return true;
    auto await = dyn_cast<AwaitOp>(op);
    auto start = await ? await.getPending().getDefiningOp<StartOp>() : StartOp();
    if (start && start->getBlock() == op->getBlock() &&
        llvm::none_of(llvm::make_range(start->getIterator(), op->getIterator()), isGet))
      return true;
  }
  return false;
}

Value attnc::tile::nextOf(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto loop = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : scf::ForOp();
  if (!loop || argument == loop.getInductionVar())
    return {};
  return loop.getTiedLoopYieldedValue(argument)->get();
}

/// By how many `op`, with all that is inside it, changes the number of buffers of `ring` that its role holds.
static int64_t countTaken(Operation &op, Value ring) {
  if (auto get = dyn_cast<GetOp>(op))
    return get.getRing() == ring ? 1 : 0;
  if (auto release = dyn_cast<ReleaseOp>(op))
    return release.getRing() == ring ? -1 : 0;
  // One branch stands for both.
  auto branch = dyn_cast<scf::IfOp>(op);
  int64_t taken = 0;
  if (branch)
    for (Operation &inner : branch.getThenRegion().front())
      taken += countTaken(inner, ring);
  return taken;
}

int64_t attnc::tile::countHeldBuffers(GetOp get) {
  int64_t held = 0;
  for (Operation *op = get; !isa<RoleOp, PersistentOp, ProgramOp>(op); op = op->getParentOp())
    for (Operation *before = op->getPrevNode(); before; before = before->getPrevNode())
      held += countTaken(*before, get.getRing());
  return held;
}

int64_t attnc::tile::countLoadsTogether(Operation *op) {
  auto count = op->getAttrOfType<IntegerAttr>(loadsTogetherAttrName);
  return count ? count.getInt() : 1;
}

void attnc::tile::copyForUses(Operation *source, ArrayRef<OpOperand *> uses) {
  OpBuilder builder(source->getContext());
  builder.setInsertionPointAfter(source);
  Value copy = builder.clone(*source)->getResult(0);
  for (OpOperand *use : uses)
    use->set(copy);
}
