//===- SharedOperands.cpp - Loads that go through shared memory -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "passes/tile/SharedOperands.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attnc::tile;

/// Whether products read the tile as their left operand.
static bool isLeft(LoadOp load) {
  return llvm::any_of(load->getUses(),
                      [](OpOperand &use) { return isa<MmaOp>(use.getOwner()) && use.getOperandNumber() == 0; });
}

/// Whether the rows of `program` stay in registers, where products of warpgroups take left operands from too.
static bool keepsRows(ProgramOp program) { return program.getPipelineAttr().getQueryStages() == 0; }

void attnc::tile::splitSharedLoads(ProgramOp program) {
  program->walk([&](LoadOp load) {
    if (keepsRows(program) && isLeft(load))
      return;
    SmallVector<OpOperand *> products, others;
    for (OpOperand &use : load->getUses())
      (isa<MmaOp>(use.getOwner()) ? products : others).push_back(&use);
    if (products.empty() || others.empty())
      return;
    OpBuilder builder(load);
    auto copy = cast<LoadOp>(builder.clone(*load));
    for (OpOperand *use : others)
      use->set(copy);
  });
}

SmallVector<LoadOp> attnc::tile::findSharedLoads(ProgramOp program) {
  SmallVector<LoadOp> loads;
  program->walk([&](LoadOp load) {
    if (keepsRows(program) && isLeft(load))
      return;
    bool products = !load->use_empty() && llvm::all_of(load->getUses(), [](OpOperand &use) {
      return isa<SkipOp, RowOp, ReadOp>(use.getOwner()) || (isa<MmaOp>(use.getOwner()) && use.getOperandNumber() < 2);
    });
    if (products)
      loads.push_back(load);
  });
  return loads;
}

/// The first operation of `block` that uses what `load` gives, or holds what does.
static Operation *findFirstUse(LoadOp load, Block *block) {
  Operation *first = nullptr;
  for (Operation *user : load->getUsers()) {
    Operation *ancestor = block->findAncestorOpInBlock(*user);
    if (ancestor && (!first || ancestor->isBeforeInBlock(first)))
      first = ancestor;
  }
  return first;
}

void attnc::tile::sinkLoads(ArrayRef<LoadOp> loads) {
  for (LoadOp load : llvm::reverse(loads)) {
    Operation *first = findFirstUse(load, load->getBlock());
    // All products in one region of a branch: look there.
    while (auto branch = dyn_cast_or_null<scf::IfOp>(first)) {
      Region *region = nullptr;
      bool together = true;
      for (Operation *user : load->getUsers()) {
        Region *at = branch.getThenRegion().isAncestor(user->getParentRegion())   ? &branch.getThenRegion()
                     : branch.getElseRegion().isAncestor(user->getParentRegion()) ? &branch.getElseRegion()
                                                                                  : nullptr;
        together &= at && (!region || region == at);
        region = at;
      }
      if (!together)
        break;
      first = findFirstUse(load, &region->front());
    }
    if (first)
      load->moveBefore(first);
  }
}

/// Whether `user`, of a tile that products read, takes its rows as columns: products of logits, and the like.
static bool readsRowsAsColumns(Operation *user) {
  if (isa<RowOp, ReadOp>(user))
    return false;
  auto product = dyn_cast<MmaOp>(user);
  return product ? product.getTransposed() : cast<SkipOp>(user).getTransposed();
}

/// Whether elements read the tile, by their row and column.
static bool isReadByElements(LoadOp load) { return llvm::any_of(load->getUsers(), llvm::IsaPred<ReadOp>); }

/// Whether products read both tiles as queries, as keys or as values. One tensor may be all three: each then has a ring
/// of its own, since they are not released in the order in which they come.
static bool haveSamePlace(LoadOp a, LoadOp b) {
  auto isKey = [](LoadOp load) { return llvm::any_of(load->getUsers(), readsRowsAsColumns); };
  return isLeft(a) == isLeft(b) && isKey(a) == isKey(b);
}

llvm::DenseMap<Operation *, Value> attnc::tile::createRings(OpBuilder &builder, ArrayRef<LoadOp> loads,
                                                            attnc::attn::PipelineAttr pipeline) {
  llvm::DenseMap<Operation *, Value> rings;
  llvm::DenseMap<Attribute, Value> kept; // of loads that later steps read again
  for (size_t number = 0; number < loads.size(); ++number) {
    LoadOp load = loads[number];
    if (Attribute pair = load->getAttr(heldAttrName)) {
      rings[load] = kept.lookup(pair);
      continue;
    }
    const LoadOp *same = llvm::find_if(loads.take_front(number), [&](LoadOp other) {
      return other.getView() == load.getView() && other.getType() == load.getType() && haveSamePlace(other, load) &&
             !other->hasAttr(heldAttrName);
    });
    if (same != loads.take_front(number).end()) {
      rings[load] = rings.lookup(*same);
      continue;
    }
    // What is kept is read once more, by a product that takes it as it is.
    bool ofLogits = llvm::all_of(load->getUsers(), readsRowsAsColumns) && !load->hasAttr(keptAttrName);
    int64_t stages = isLeft(load)             ? pipeline.getQueryStages()
                     : isReadByElements(load) ? pipeline.getCaptureStages()
                     : ofLogits               ? pipeline.countLogitStages()
                                              : pipeline.getStages();
    auto type = RingType::get(builder.getContext(), stages, load.getType());
    rings[load] = RingOp::create(builder, load.getLoc(), type, IntegerAttr(), IntegerAttr());
    if (Attribute pair = load->getAttr(keptAttrName))
      kept[pair] = rings.lookup(load);
  }
  return rings;
}

void attnc::tile::readLeft(LoadOp load, Value shared) {
  OpBuilder builder(load);
  Value left;
  for (OpOperand &use : llvm::make_early_inc_range(load->getUses())) {
    if (!isa<MmaOp>(use.getOwner()) || use.getOperandNumber() != 0)
      continue;
    if (!left)
      left = ReadOp::create(builder, load.getLoc(), load.getType(), shared, /*transposed=*/false);
    use.set(left);
  }
}

SmallVector<GetOp> attnc::tile::giveRingsToShared(ProgramOp program, int64_t stages) {
  OpBuilder builder(program.getContext());
  llvm::SmallDenseMap<Type, Value> ofType;
  program->walk([&](ShareOp share) {
    if (share.getRing())
      return;
    Value &ring = ofType[share.getValue().getType()];
    if (!ring) {
      builder.setInsertionPointToStart(&program.getBody().front());
      auto type = RingType::get(builder.getContext(), stages, share.getValue().getType());
      ring = RingOp::create(builder, program.getLoc(), type, IntegerAttr(), IntegerAttr());
    }
    share.getRingMutable().assign(ring);
  });
  SmallVector<GetOp> gets;
  program->walk([&](TakeOp take) {
    builder.setInsertionPoint(take);
    gets.push_back(GetOp::create(builder, take.getLoc(), take.getShared().getType(),
                                 ofType.lookup(take.getShared().getType().getTile()), /*kept=*/false));
    take.replaceAllUsesWith(gets.back().getResult());
    take.erase();
  });
  return gets;
}
