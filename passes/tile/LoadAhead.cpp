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

/// Whether `load` brings a tile that every step of `loop` reads elementwise, of other columns each. Tiles that masks
/// read are not needed where the mask keeps all.
static bool isCaptured(LoadOp load, scf::ForOp loop) {
  auto type = cast<VectorType>(load.getType());
  constexpr unsigned leastBits = 16; // narrower elements would take a register each
  if (!isTile(type) || type.getElementTypeBitWidth() < leastBits ||
      !llvm::all_of(load->getUsers(), llvm::IsaPred<MapOp>))
    return false;
  bool usesPlace = false, usesState = false;
  for (Operation *op : sliceOf(load, loop))
    for (Value operand : op->getOperands())
      if (auto argument = dyn_cast<BlockArgument>(operand); argument && argument.getOwner() == loop.getBody())
        (argument == loop.getInductionVar() ? usesPlace : usesState) = true;
  return usesPlace && !usesState;
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
      SmallVector<LoadOp> loads =
          llvm::filter_to_vector(loop.getBody()->getOps<LoadOp>(), [&](LoadOp load) { return isCaptured(load, loop); });
      if (loads.empty())
        continue;
      guardLoop(loop);
      loadAhead(loop, loads);
      numAhead += loads.size();
    }
  }
};
} // namespace
