//===- LoadAhead.cpp - Captured tiles a step ahead --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/IR/PatternMatch.h"
#include "passes/tile/LogitOperations.h"
#include "passes/tile/LoopStages.h"
#include "passes/tile/Passes.h"

namespace attnc::tile {
#define GEN_PASS_DEF_TILELOADAHEAD
#include "passes/tile/Passes.h.inc"
} // namespace attnc::tile

using namespace mlir;
using namespace attnc::tile;

/// What a step of `loop` computes `load` from, it among it.
static SetVector<Operation *> sliceOf(LoadOp load, scf::ForOp loop) {
  SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.filter = [&](Operation *op) { return op->getBlock() == loop.getBody(); };
  (void)getBackwardSlice(load.getOperation(), &slice, options);
  return slice;
}

/// Whether `load` brings a tile that scores are computed from elementwise. Tiles that masks alone read are not needed
/// where the mask keeps all.
static bool isCaptured(LoadOp load) {
  return isTile(load.getType()) && llvm::any_of(load->getUsers(), llvm::IsaPred<MapOp>);
}

/// What of a step of `loop` decides which elements `load` brings.
struct Dependence {
  bool onPlace = false;   ///< where the step is
  bool onCarried = false; ///< what the loop carries
};

static Dependence findDependence(LoadOp load, scf::ForOp loop) {
  Dependence found;
  for (Operation *op : sliceOf(load, loop))
    for (Value operand : op->getOperands())
      if (auto argument = dyn_cast<BlockArgument>(operand); argument && argument.getOwner() == loop.getBody())
        (argument == loop.getInductionVar() ? found.onPlace : found.onCarried) = true;
  return found;
}

/// Why no step of `loop` can bring what `load` brings, a captured tile, for the next step; nothing where it can.
static StringRef findObstacle(LoadOp load, Dependence dependence) {
  constexpr unsigned leastBits = 16;
  if (cast<VectorType>(load.getType()).getElementTypeBitWidth() < leastBits)
    return "its elements would take a register each, though they have less than 16 bits";
  if (!llvm::all_of(load->getUsers(), llvm::IsaPred<MapOp>))
    return "it is not for the elements of scores alone";
  return dependence.onCarried ? "where it lies depends on what the loop carries" : "";
}

/// The captured tiles that steps of `loop` can bring for the next step. Tells of the others, but for those that are the
/// same in each step.
static SmallVector<LoadOp> findAhead(scf::ForOp loop) {
  SmallVector<LoadOp> ahead;
  loop.walk([&](LoadOp load) {
    if (!isCaptured(load) || load->getParentOfType<scf::ForOp>() != loop)
      return;
    StringRef obstacle = "a branch of the step reads it";
    if (load->getBlock() == loop.getBody()) {
      Dependence dependence = findDependence(load, loop);
      if (!dependence.onPlace && !dependence.onCarried)
        return;
      obstacle = findObstacle(load, dependence);
    }
    if (obstacle.empty())
      ahead.push_back(load);
    else
      load.emitRemark("the captured tile is not loaded a step ahead: ") << obstacle;
  });
  return ahead;
}

/// The tile that `load` brings in the step of `loop` in which `place` is `there`.
static Value loadAt(OpBuilder &builder, LoadOp load, scf::ForOp loop, Value place, Value there) {
  IRMapping mapping;
  mapping.map(place, there);
  for (Operation *op : sliceOf(load, loop))
    if (op->getResult(0) != place)
      builder.clone(*op, mapping);
  return mapping.lookup(load.getResult());
}

/// Whether all of `loads` are computed from the induction variable of `loop` by `column` alone.
static bool areOfColumn(ArrayRef<LoadOp> loads, scf::ForOp loop, Operation *column) {
  return llvm::all_of(loads, [&](LoadOp load) {
    return llvm::all_of(sliceOf(load, loop), [&](Operation *op) {
      return op == column || !llvm::is_contained(op->getOperands(), loop.getInductionVar());
    });
  });
}

/// Has `loop` carry the tiles of `loads`: each step brings those of the next, after its products have started.
static void loadAhead(scf::ForOp loop, ArrayRef<LoadOp> loads) {
  Location loc = loop.getLoc();
  IRRewriter rewriter(loop);
  SmallVector<Value> first, next;
  for (LoadOp load : loads)
    first.push_back(loadAt(rewriter, load, loop, loop.getInductionVar(), loop.getLowerBound()));
  llvm::SetVector<Operation *> products = findProductOperations(loop);
  rewriter.setInsertionPoint(&*llvm::find_if(*loop.getBody(), [&](Operation &op) {
    return op.hasTrait<OpTrait::IsTerminator>() || (stageOf(&op) == 0 && !products.contains(&op));
  }));
  // The step after the last one is the last one again: it is there to be read. Where columns go down, that is a limit
  // that is 0 in most loops, and takes no register.
  Value place = loop.getInductionVar(), there;
  if (std::optional<Descent> descent = findDescent(loop); descent && areOfColumn(loads, loop, descent->column)) {
    place = descent->column;
    Value after = arith::SubIOp::create(rewriter, loc, place, loop.getStep());
    there = arith::MaxSIOp::create(rewriter, loc, after, descent->low);
  } else {
    Value after = arith::AddIOp::create(rewriter, loc, place, loop.getStep());
    Value last = arith::SubIOp::create(rewriter, loc, loop.getUpperBound(), loop.getStep());
    there = arith::MinSIOp::create(rewriter, loc, after, last);
  }
  for (LoadOp load : loads)
    next.push_back(loadAt(rewriter, load, loop, place, there));
  auto carrying = cast<scf::ForOp>(
      *loop.replaceWithAdditionalYields(rewriter, first, /*replaceInitOperandUsesInLoop=*/false,
                                        [&](OpBuilder &, Location, ArrayRef<BlockArgument>) { return next; }));
  for (auto [load, tile] : llvm::zip_equal(loads, carrying.getRegionIterArgs().take_back(loads.size())))
    rewriter.replaceOp(load, tile);
}

namespace {
struct LoadAhead : attnc::tile::impl::TileLoadAheadBase<LoadAhead> {
  void runOnOperation() override {
    for (scf::ForOp loop : findOverlappedLoops(getOperation())) {
      if (getOverlap(loop) != Overlap::WeightsAhead)
        continue;
      SmallVector<LoadOp> loads = findAhead(loop);
      if (loads.empty())
        continue;
      guardLoop(loop);
      loadAhead(loop, loads);
      numAhead += loads.size();
    }
  }
};
} // namespace
