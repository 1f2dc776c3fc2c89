//===- FinishRows.cpp - Row results under the last product ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/tile/Passes.h"

namespace attnc::tile {
#define GEN_PASS_DEF_TILEFINISHROWS
#include "passes/tile/Passes.h.inc"
} // namespace attnc::tile

using namespace mlir;
using namespace attnc::tile;

/// Whether `branch` ends in a product that accumulates over the keys, if it has keys.
static bool endsInProduct(scf::IfOp branch) {
  return branch.elseBlock() && llvm::any_of(branch.thenYield().getOperands(), [&](Value value) {
           auto product = value.getDefiningOp<MmaOp>();
           return product && product->getBlock() == branch.thenBlock();
         });
}

/// Whether `op` computes values of rows, or stores them.
static bool isOfRows(Operation *op) {
  if (auto store = dyn_cast<StoreOp>(op))
    return isRowVector(store.getValue().getType());
  return isPure(op) && op->getNumRegions() == 0 && llvm::all_of(op->getResultTypes(), isRowVector);
}

/// Whether consumers leave out tiles after `branch`.
static bool skipsTilesAfter(scf::IfOp branch) {
  bool drops = false;
  for (Operation *op = branch->getNextNode(); op; op = op->getNextNode())
    op->walk([&](SkipOp) { drops = true; });
  return drops;
}

/// What follows `branch`, computes or stores values of rows from its results of rows, and needs nothing else from
/// after it. Stores stay where tiles are skipped after them: moved, they cost a window 2 %
/// (docs/rationale/hopper-ideas.md).
static SetVector<Operation *> findFollowers(scf::IfOp branch) {
  SetVector<Operation *> followers;
  bool storesStay = skipsTilesAfter(branch);
  for (Operation *op = branch->getNextNode(); op; op = op->getNextNode()) {
    bool follows = false, early = isOfRows(op) && !(storesStay && isa<StoreOp>(op));
    for (Value operand : op->getOperands()) {
      Operation *source = operand.getDefiningOp();
      bool isResult = source == branch || followers.contains(source);
      follows |= isResult;
      early &= isResult ? isRowVector(operand.getType())
                        : !source || source->getBlock() != branch->getBlock() || source->isBeforeInBlock(branch);
    }
    if (follows && early)
      followers.insert(op);
  }
  return followers;
}

/// Moves `followers` to both ends of `branch`. Barriers for the assembler keep them between the start of the last
/// product and the wait for it.
static void moveInto(scf::IfOp branch, const SetVector<Operation *> &followers) {
  SmallVector<Value> needed;
  for (Operation *op : followers)
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) { return !followers.contains(user); }))
        needed.push_back(result);
  SmallVector<Type> types(branch.getResultTypes());
  llvm::append_range(types, ValueRange(needed).getTypes());
  OpBuilder builder(branch);
  auto grown = scf::IfOp::create(builder, branch.getLoc(), types, branch.getCondition(), /*withElseRegion=*/true);
  for (auto [from, to] : llvm::zip_equal(branch->getRegions(), grown->getRegions())) {
    to.takeBody(from);
    Operation *yield = to.front().getTerminator();
    IRMapping mapping;
    mapping.map(branch.getResults(), yield->getOperands());
    builder.setInsertionPoint(yield);
    bool isBeside = &to == &grown.getThenRegion();
    if (isBeside)
      SchedBarrierOp::create(builder, branch.getLoc());
    for (Operation *op : followers)
      builder.clone(*op, mapping);
    if (isBeside)
      SchedBarrierOp::create(builder, branch.getLoc());
    SmallVector<Value> yielded(yield->getOperands());
    for (Value value : needed)
      yielded.push_back(mapping.lookup(value));
    yield->setOperands(yielded);
  }
  branch->replaceAllUsesWith(grown.getResults().take_front(branch.getNumResults()));
  for (auto [value, result] : llvm::zip_equal(needed, grown.getResults().take_back(needed.size())))
    value.replaceAllUsesWith(result);
  for (Operation *op : llvm::reverse(followers))
    op->erase();
  branch.erase();
}

namespace {
struct FinishRows : attnc::tile::impl::TileFinishRowsBase<FinishRows> {
  void runOnOperation() override {
    // Where steps come from a list, it costs eight documents 2.5 % (docs/rationale/hopper-ideas.md).
    auto pipeline = getOperation().getPipelineAttr();
    if (!pipeline || pipeline.getBlockMask())
      return;
    SmallVector<scf::IfOp> branches;
    getOperation()->walk([&](scf::IfOp branch) { branches.push_back(branch); });
    for (scf::IfOp branch : branches)
      if (endsInProduct(branch))
        if (SetVector<Operation *> followers = findFollowers(branch); !followers.empty()) {
          numMoved += followers.size();
          moveInto(branch, followers);
        }
  }
};
} // namespace
