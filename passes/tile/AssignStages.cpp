//===- AssignStages.cpp - Which step of a loop runs what --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/tile/TileQueries.h"
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
  return map && map->hasOneUse() && map.getTiles().size() == 1 && map.getRows().size() == 1 &&
         map.getTiles()[0] == state;
}

/// Whether `product` may run a step after its left operand was computed: it adds to what `loop` carries as `number`,
/// scaled or not, and nothing else of the step waits for it.
static bool mayRunLate(MmaOp product, scf::ForOp loop, unsigned number) {
  Value state = loop.getRegionIterArg(number);
  Operation *left = product.getA().getDefiningOp();
  if ((product.getAcc() != state && !addsToScaled(product, state)) || !product->hasOneUse() || !left ||
      left->getBlock() != loop.getBody() || isa<LoadOp>(left))
    return false;
  // What the loop starts with would miss the factors of the first step.
  return matchPattern(loop.getInitArgs()[number], m_AnyZeroFloat());
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

/// The operations of a step of `loop`, which starts several products, that run in the next.
static SetVector<Operation *> findLateOfSeveral(scf::ForOp loop, attnc::attn::Overlap overlap) {
  SetVector<Operation *> late;
  if (overlap == attnc::attn::Overlap::SumsLate) {
    late = findSums(loop);
    addLoads(loop, late);
    return late;
  }
  if (overlap == attnc::attn::Overlap::InStep)
    return late;
  for (Operation &op : loop.getBody()->without_terminator())
    if (!op.hasTrait<OpTrait::ConstantLike>())
      late.insert(&op);
  late.set_subtract(overlap == attnc::attn::Overlap::LogitsAhead ? findLogitOperations(loop)
                                                                 : findScoreOperations(loop));
  return late;
}

/// The product of a step of `loop`, which starts one, that runs in the next, with its right operand. The scaling of
/// what it adds to is of the step itself: it comes after the product of the step before. What is not overlapped is
/// told.
static SetVector<Operation *> findLateOfOne(scf::ForOp loop) {
  SetVector<Operation *> late;
  MmaOp first;
  for (auto product : loop.getBody()->getOps<MmaOp>()) {
    auto yielded = llvm::find(loop.getYieldedValues(), product.getResult());
    if (yielded == loop.getYieldedValues().end() ||
        !mayRunLate(product, loop, std::distance(loop.getYieldedValues().begin(), yielded)))
      continue;
    if (first) {
      product.emitRemark("the loop's steps are not overlapped: a second product accumulates over it")
          .attachNote(first.getLoc())
          .append("the first is here");
      return {};
    }
    first = product;
  }
  if (!first)
    return {};
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
static SetVector<Operation *> findLate(scf::ForOp loop, attnc::attn::Overlap overlap) {
  return startsSeveral(loop) ? findLateOfSeveral(loop, overlap) : findLateOfOne(loop);
}

namespace {
struct AssignStages : attnc::tile::impl::TileAssignStagesBase<AssignStages> {
  void runOnOperation() override {
    if (!hasRoles(getOperation()))
      return;
    getOperation()->walk([&](scf::ForOp loop) {
      for (Operation *op : findLate(loop, getOperation().getPipelineAttr().getOverlap())) {
        op->setAttr(stageAttrName, IntegerAttr::get(IntegerType::get(&getContext(), 64), 1));
        ++numLate;
      }
    });
  }
};
} // namespace
