//===- TileQueries.cpp - Questions about tile programs ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/tile/TileQueries.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attnc::tile;

bool attnc::tile::isColumnVector(Value value) {
  auto type = dyn_cast<VectorType>(value.getType());
  auto takesIt = [&](auto op) {
    return op && llvm::is_contained(op.getCols(), value) && !llvm::is_contained(op.getRows(), value);
  };
  return type && type.getRank() == 1 && llvm::any_of(value.getUsers(), [&](Operation *user) {
           return takesIt(dyn_cast<MapOp>(user)) || takesIt(dyn_cast<MaskOp>(user));
         });
}

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

bool attnc::tile::mayClearRows(PutOp put) {
  return !reachesViewEnd(put.getView(), put.getAxes()[0], put.getLimits()[0]);
}

bool attnc::tile::mayClearRows(RingOp ring) {
  return llvm::any_of(ring->getUsers(), [](Operation *user) {
    auto put = dyn_cast<PutOp>(user);
    return put && mayClearRows(put);
  });
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
