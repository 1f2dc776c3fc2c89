//===- AssignStages.cpp - Which step of a loop runs what --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "passes/tile/LogitOperations.h"
#include "passes/tile/LoopStages.h"
#include "passes/tile/Passes.h"

namespace attnc::tile {
#define GEN_PASS_DEF_TILEASSIGNSTAGES
#include "passes/tile/Passes.h.inc"
} // namespace attnc::tile

using namespace mlir;
using namespace attnc::tile;

/// Whether `product` adds to `state`, scaled by row factors.
static bool addsToScaled(MmaOp product, Value state) {
  auto map = product.getAcc().getDefiningOp<MapOp>();
  return map && map->hasOneUse() && map.getScalesRows() && map.getTiles()[0] == state;
}

/// Why `product` may not run a step after its left operand was computed, or nothing where it may: it adds to what
/// `loop` carries, scaled or not, and nothing else of the step waits for it.
static StringRef findObstacle(MmaOp product, scf::ForOp loop) {
  auto yielded = llvm::find(loop.getYieldedValues(), product.getResult());
  if (yielded == loop.getYieldedValues().end() || !product->hasOneUse())
    return "the step reads the product that accumulates over it";
  auto number = static_cast<unsigned>(std::distance(loop.getYieldedValues().begin(), yielded));
  Value state = loop.getRegionIterArg(number);
  if (product.getAcc() != state && !addsToScaled(product, state))
    return "something else than a scaling of rows comes between the product and the sum that it adds to";
  Operation *left = product.getA().getDefiningOp();
  if (!left || left->getBlock() != loop.getBody() || isa<LoadOp>(left))
    return "the step does not compute what the product that accumulates over it multiplies";
  // What the loop starts with would miss the factors of the first step.
  if (!matchPattern(loop.getInitArgs()[number], m_AnyZeroFloat()))
    return "the product that accumulates over it does not begin with 0";
  return "";
}

/// The products of a step of `loop` that accumulate over it.
static SetVector<Operation *> findSums(scf::ForOp loop) {
  SetVector<Operation *> sums;
  for (auto product : loop.getBody()->getOps<MmaOp>())
    if (!startsFromZero(product))
      sums.insert(product);
  return sums;
}

/// Adds the loads of a step of `loop` that only operations of `late` read.
static void addLoads(scf::ForOp loop, SetVector<Operation *> &late) {
  for (auto load : loop.getBody()->getOps<LoadOp>())
    if (!load->use_empty() && llvm::all_of(load->getUsers(), [&](Operation *user) { return late.contains(user); }))
      late.insert(load);
}

/// The products of a step of `loop` that accumulate over it, and the loads that only they read.
static SetVector<Operation *> findLateSums(scf::ForOp loop) {
  SetVector<Operation *> late = findSums(loop);
  if (late.empty())
    loop.emitRemark("the loop's steps are not overlapped: none of its products accumulates over it");
  addLoads(loop, late);
  return late;
}

/// All operations of a step of `loop` but those of `ahead`.
static SetVector<Operation *> findAllBut(const SetVector<Operation *> &ahead, scf::ForOp loop) {
  SetVector<Operation *> late;
  for (Operation &op : loop.getBody()->without_terminator())
    if (!op.hasTrait<OpTrait::ConstantLike>())
      late.insert(&op);
  late.set_subtract(ahead);
  return late;
}

/// The product of a step of `loop` that adds up its weights, with its right operand. The scaling of what it adds to is
/// of the step itself: it comes after the product of the step before. What is not overlapped is told.
static SetVector<Operation *> findLateProduct(scf::ForOp loop) {
  SetVector<Operation *> late;
  MmaOp first, other;
  StringRef obstacle;
  bool starts = false;
  for (auto product : loop.getBody()->getOps<MmaOp>()) {
    if (startsFromZero(product)) {
      starts |= startsStep(product);
      continue;
    }
    if (StringRef found = findObstacle(product, loop); !found.empty()) {
      if (!other)
        std::tie(other, obstacle) = std::pair(product, found);
      continue;
    }
    if (first) {
      product.emitRemark("the loop's steps are not overlapped: a second product accumulates over it")
          .attachNote(first.getLoc())
          .append("the first is here");
      return {};
    }
    first = product;
  }
  if (!first) {
    // Without a product that starts a step, there is nothing to overlap with. A loop in a loop goes on with the sums of
    // that.
    if (starts && other && !loop->getParentOfType<scf::ForOp>())
      other.emitRemark("the loop's steps are not overlapped: ") << obstacle;
    return {};
  }
  late.insert(first);
  addLoads(loop, late);
  if (!late.contains(first.getB().getDefiningOp())) {
    first.emitRemark("the loop's steps are not overlapped: something else reads the right operand of the product that "
                     "accumulates over it");
    return {};
  }
  return late;
}

/// The operations of a step of `loop` that run in the next.
static SetVector<Operation *> findLate(scf::ForOp loop, Overlap overlap) {
  switch (overlap) {
  case Overlap::WeightsAhead:
    return findLateProduct(loop);
  case Overlap::LogitsAhead:
    return findAllBut(findLogitOperations(loop), loop);
  case Overlap::ScoresAhead:
    return findAllBut(findScoreOperations(loop), loop);
  case Overlap::SumsLate:
    return findLateSums(loop);
  }
  llvm_unreachable("all overlaps have been looked at");
}

namespace {
struct AssignStages : attnc::tile::impl::TileAssignStagesBase<AssignStages> {
  void runOnOperation() override {
    getOperation()->walk([&](scf::ForOp loop) {
      std::optional<Overlap> overlap = getOverlap(loop);
      if (!overlap)
        return;
      for (Operation *op : findLate(loop, *overlap)) {
        op->setAttr(stageAttrName, IntegerAttr::get(IntegerType::get(&getContext(), 64), 1));
        ++numLate;
      }
    });
  }
};
} // namespace
