//===- ReducerSlice.cpp - What a reducer computes ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "passes/tile/ReducerSlice.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attnc::tile;

/// The loop or branch that hands on what `use` is, with the number of its result: what a loop starts with, or what the
/// end of a region yields. Null where neither is the case.
static std::pair<Operation *, unsigned> findHandedOn(OpOperand &use) {
  Operation *user = use.getOwner();
  if (isa<scf::YieldOp>(user))
    return {user->getParentOp(), use.getOperandNumber()};
  auto loop = dyn_cast<scf::ForOp>(user);
  if (!loop || use.getOperandNumber() < loop.getNumControlOperands())
    return {};
  return {user, use.getOperandNumber() - loop.getNumControlOperands()};
}

/// What reads as the result of this number of `op`, a loop or a branch: the result, and in a loop's steps the argument.
static SmallVector<Value> valuesOf(Operation *op, unsigned number) {
  SmallVector<Value> values{op->getResult(number)};
  if (auto loop = dyn_cast<scf::ForOp>(op))
    values.push_back(loop.getRegionIterArg(number));
  return values;
}

bool ReducerSlice::isReadHere(OpOperand &use) const {
  auto [op, number] = findHandedOn(use);
  return op ? carried.contains({op, number}) : operations.contains(use.getOwner());
}

bool ReducerSlice::isReadHere(Value value) const {
  return llvm::all_of(value.getUses(), [&](OpOperand &use) { return isReadHere(use); });
}

/// Adds `op`, with all that is made of it.
void ReducerSlice::add(Operation *op) {
  operations.insert(op);
  SmallVector<Value> made(op->getResults());
  while (!made.empty())
    for (OpOperand &use : made.pop_back_val().getUses()) {
      auto [handing, number] = findHandedOn(use);
      if (handing && carried.insert({handing, number}))
        llvm::append_range(made, valuesOf(handing, number));
      else if (!handing && operations.insert(use.getOwner()))
        llvm::append_range(made, use.getOwner()->getResults());
    }
}

/// Adds `op` where nothing but the reducer reads it. Gives whether it did.
bool ReducerSlice::addReadByNoOther(Operation *op) {
  auto isVector = llvm::IsaPred<VectorType>;
  if (isa<scf::ForOp, scf::IfOp>(op)) {
    bool changes = false;
    for (OpResult result : op->getResults())
      if (isVector(result.getType()) && !carries(op, result.getResultNumber()) &&
          llvm::all_of(valuesOf(op, result.getResultNumber()), [&](Value value) { return isReadHere(value); }))
        changes |= carried.insert({op, result.getResultNumber()});
    return changes;
  }
  bool isOfElements = op->getNumResults() > 0 && llvm::all_of(op->getResultTypes(), isVector);
  if (!isOfElements || operations.contains(op) || op->hasTrait<OpTrait::ConstantLike>() || op->use_empty() ||
      !llvm::all_of(op->getResults(), [&](Value result) { return isReadHere(result); }))
    return false;
  return operations.insert(op);
}

ReducerSlice::ReducerSlice(Block &body) {
  body.walk([&](TakeOp take) { add(take); });
  if (operations.empty())
    return;
  // Elements of a map are the map's.
  auto sweep = [&] {
    bool changes = false;
    body.walk<WalkOrder::PostOrder>([&](Operation *op) {
      if (!op->getParentOfType<MapOp>() && !op->getParentOfType<MaskOp>())
        changes |= addReadByNoOther(op);
    });
    return changes;
  };
  while (sweep()) {
  }
}

void ReducerSlice::erase(Block &body) {
  if (empty())
    return;
  OpBuilder builder(operations.front()->getContext());
  builder.setInsertionPointToStart(&body);
  for (auto [op, number] : carried) {
    Type type = op->getResult(number).getType();
    Value zero = arith::ConstantOp::create(builder, op->getLoc(), cast<TypedAttr>(builder.getZeroAttr(type)));
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      loop.getInitArgsMutable()[number].set(zero);
      loop.getBody()->getTerminator()->setOperand(number, loop.getRegionIterArg(number));
    } else {
      for (Region &region : op->getRegions())
        region.front().getTerminator()->setOperand(number, zero);
    }
  }
  for (Operation *op : operations)
    op->dropAllUses();
  for (Operation *op : operations)
    op->erase();
  operations.clear();
  carried.clear();
}
