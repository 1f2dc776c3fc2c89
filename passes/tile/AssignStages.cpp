//===- AssignStages.cpp - Which step of a loop runs what --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/tile/TileQueries.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "passes/tile/LogitOperations.h"
#include "passes/tile/Passes.h"

namespace attnc::tile {
#define GEN_PASS_DEF_TILEASSIGNSTAGES
#include "passes/tile/Passes.h.inc"
} // namespace attnc::tile

using namespace mlir;
using namespace attnc::tile;

/// The scaling of `state` by row factors that `product` adds to, or null.
static MapOp findScaling(MmaOp product, Value state) {
  auto map = product.getAcc().getDefiningOp<MapOp>();
  return map && map->hasOneUse() && map.getTiles().size() == 1 && map.getRows().size() == 1 &&
                 map.getTiles()[0] == state
             ? map
             : MapOp();
}

/// Whether `product` may run a step after its left operand was computed: it adds to what `loop` carries as `number`,
/// scaled or not, and nothing else of the step waits for it.
static bool mayRunLate(MmaOp product, scf::ForOp loop, unsigned number) {
  Value state = loop.getRegionIterArg(number);
  Operation *left = product.getA().getDefiningOp();
  if ((product.getAcc() != state && !findScaling(product, state)) || !product->hasOneUse() || !left ||
      left->getBlock() != loop.getBody() || isa<LoadOp>(left))
    return false;
  // What the loop starts with would miss the factors of the first step.
  return matchPattern(loop.getInitArgs()[number], m_AnyZeroFloat());
}

/// Whether a step of `loop` has several products that start from zero, as those of gradients do: they start together,
/// and the later run under what becomes of the first.
static bool startsSeveral(scf::ForOp loop) { return llvm::count_if(loop.getBody()->getOps<MmaOp>(), startsStep) > 1; }

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

/// The operations of a step of `loop` that run in the next.
static SetVector<Operation *> findLate(scf::ForOp loop, attnc::attn::Overlap overlap) {
  SetVector<Operation *> late;
  if (startsSeveral(loop))
    return findLateOfSeveral(loop, overlap);
  for (auto [number, yielded] : llvm::enumerate(loop.getYieldedValues())) {
    auto product = yielded.getDefiningOp<MmaOp>();
    if (!product || product->getBlock() != loop.getBody() || !mayRunLate(product, loop, number))
      continue;
    late.insert(product);
    if (MapOp scaling = findScaling(product, loop.getRegionIterArg(number)))
      late.insert(scaling);
  }
  addLoads(loop, late);
  return late;
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
