//===- OverlapSteps.cpp - Products under elements of other steps *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Software pipelining of two stages, by MLIR's pipeliner for scf: what `tile-assign-stages` has left for the next step
// runs there.
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/IR/PatternMatch.h"
#include "passes/tile/LogitOperations.h"
#include "passes/tile/Passes.h"

namespace attnc::tile {
#define GEN_PASS_DEF_TILEOVERLAPSTEPS
#include "passes/tile/Passes.h.inc"
} // namespace attnc::tile

using namespace mlir;
using namespace attnc::tile;

/// The stage that `tile-assign-stages` has given to `op`.
static unsigned stageOf(Operation *op) {
  auto stage = op->getAttrOfType<IntegerAttr>(stageAttrName);
  return stage ? static_cast<unsigned>(stage.getInt()) : 0;
}

/// Tiles that both stages read are loaded in both: `tile.kept` and `tile.held` say that they are the same.
static void splitLoads(scf::ForOp loop, int64_t &pairs) {
  for (auto load : llvm::make_early_inc_range(loop.getBody()->getOps<LoadOp>())) {
    SmallVector<OpOperand *> late;
    for (OpOperand &use : load->getUses())
      if (stageOf(use.getOwner()) > 0)
        late.push_back(&use);
    if (stageOf(load) > 0 || late.empty() || late.size() == llvm::range_size(load->getUses()) ||
        cast<VectorType>(load.getType()).getRank() == 1)
      continue;
    OpBuilder builder(load->getContext());
    builder.setInsertionPointAfter(load);
    auto again = cast<LoadOp>(builder.clone(*load));
    auto number = builder.getI64IntegerAttr(pairs++);
    load->setAttr(keptAttrName, number);
    again->setAttr(heldAttrName, number);
    again->setAttr(stageAttrName, builder.getI64IntegerAttr(1));
    for (OpOperand *use : late)
      use->set(again);
  }
}

/// The operations of a step in the order of the new loop: what has been left of the step before, then the step. Where
/// that is its sums alone, they start after the logits, which then are there first. What was left and comes after all
/// of its products, as what leaves for memory does, comes last: products of the step run meanwhile.
static void getSchedule(scf::ForOp loop, std::vector<std::pair<Operation *, unsigned>> &schedule) {
  llvm::SetVector<Operation *> logits = findLogitOperations(loop);
  Operation *lastProduct = nullptr;
  bool sumsAlone = false;
  for (Operation &op : loop.getBody()->without_terminator()) {
    sumsAlone |= stageOf(&op) == 0 && !logits.contains(&op);
    if (stageOf(&op) == 1 && isa<MmaOp>(op))
      lastProduct = &op;
  }
  auto append = [&](auto isWanted) {
    for (Operation &op : loop.getBody()->without_terminator())
      if (isWanted(&op))
        schedule.emplace_back(&op, stageOf(&op));
  };
  auto isBehind = [&](Operation *op) { return lastProduct->isBeforeInBlock(op); };
  if (sumsAlone)
    append([&](Operation *op) { return stageOf(op) == 0 && logits.contains(op); });
  append([&](Operation *op) { return stageOf(op) == 1 && !isBehind(op); });
  append([&](Operation *op) { return stageOf(op) == 0 && !(sumsAlone && logits.contains(op)); });
  append([&](Operation *op) { return stageOf(op) == 1 && isBehind(op); });
}

/// Moves `loop` under a condition that it has a step, where nothing needs predicates.
static scf::ForOp guard(scf::ForOp loop) {
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  Value any =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, loop.getLowerBound(), loop.getUpperBound());
  auto branch = scf::IfOp::create(builder, loc, loop.getResultTypes(), any, /*withElseRegion=*/true);
  builder.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(builder, loc, loop.getInitArgs());
  loop.replaceAllUsesWith(branch.getResults());
  loop->moveBefore(branch.thenBlock(), branch.thenBlock()->end());
  builder.setInsertionPointToEnd(branch.thenBlock());
  scf::YieldOp::create(builder, loc, loop.getResults());
  return loop;
}

/// Folds what chooses between results of a step and those before it: the step is there.
static void foldChoices(Block &block) {
  for (auto choice : llvm::make_early_inc_range(block.getOps<arith::SelectOp>()))
    if (isa<VectorType>(choice.getType())) {
      choice.replaceAllUsesWith(choice.getTrueValue());
      choice.erase();
    }
}

namespace {
struct OverlapSteps : attnc::tile::impl::TileOverlapStepsBase<OverlapSteps> {
  void runOnOperation() override {
    auto pipeline = getOperation().getPipelineAttr();
    if (!pipeline || pipeline.getOverlap() == attnc::attn::Overlap::InStep)
      return;
    SmallVector<scf::ForOp> loops;
    getOperation()->walk([&](scf::ForOp loop) {
      if (llvm::any_of(loop.getBody()->getOps<MmaOp>(), [](MmaOp product) { return stageOf(product) > 0; }))
        loops.push_back(loop);
    });
    int64_t pairs = 0;
    for (scf::ForOp loop : loops) {
      // What runs in another step reads constants too.
      for (Operation &op : llvm::make_early_inc_range(*loop.getBody()))
        if (op.hasTrait<OpTrait::ConstantLike>())
          op.moveBefore(loop);
      splitLoads(loop, pairs);
      loop = guard(loop);
      Block *block = loop->getBlock();
      scf::PipeliningOption options;
      options.getScheduleFn = getSchedule;
      options.supportDynamicLoops = true;
      options.predicateFn = [](RewriterBase &, Operation *op, Value) { return op; };
      IRRewriter rewriter(&getContext());
      rewriter.setInsertionPoint(loop);
      if (failed(scf::pipelineForLoop(rewriter, loop, options))) {
        getOperation().emitError("a loop's steps could not be overlapped");
        return signalPassFailure();
      }
      foldChoices(*block);
      ++numOverlapped;
    }
    getOperation()->walk([](Operation *op) { op->removeAttr(stageAttrName); });
  }
};
} // namespace
