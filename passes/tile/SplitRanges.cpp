//===- SplitRanges.cpp - Masked and full stretches of a loop ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "passes/tile/Passes.h"

namespace attnc::tile {
#define GEN_PASS_DEF_TILESPLITRANGES
#include "passes/tile/Passes.h.inc"
} // namespace attnc::tile

using namespace mlir;
using namespace attnc::tile;

namespace {

/// Cuts one loop over keys.
class LoopSplitter {
public:
  explicit LoopSplitter(scf::ForOp loop) : loop(loop), builder(loop), loc(loop.getLoc()) {}

  /// Cuts the loop if its masks agree on a full stretch; returns whether it did.
  bool run();

private:
  bool findMasks();
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }
  Value least(Value a, Value b) { return arith::MinSIOp::create(builder, loc, a, b); }
  Value greatest(Value a, Value b) { return arith::MaxSIOp::create(builder, loc, a, b); }
  Value roundTo(Value distance, bool up);
  scf::ForOp cloneBetween(Value low, Value high, ValueRange init, bool masked);

  scf::ForOp loop;
  OpBuilder builder;
  Location loc;
  SmallVector<MaskOp> masks;
};

} // namespace

/// Collects masks in the loop whose columns follow the induction variable and whose full stretch is known outside.
bool LoopSplitter::findMasks() {
  loop.walk([&](MaskOp mask) {
    bool outside = loop.isDefinedOutsideOfLoop(mask.getFullLow()) && loop.isDefinedOutsideOfLoop(mask.getFullHigh());
    if (mask.getJ() == loop.getInductionVar() && outside && mask->getParentOfType<scf::ForOp>() == loop)
      masks.push_back(mask);
  });
  if (masks.empty() || matchPattern(masks.front().getFullHigh(), m_Zero()))
    return false;
  return llvm::all_of(masks, [&](MaskOp mask) {
    return mask.getFullLow() == masks.front().getFullLow() && mask.getFullHigh() == masks.front().getFullHigh();
  });
}

/// A distance, or 0 if it is negative, in whole steps of the loop.
Value LoopSplitter::roundTo(Value distance, bool up) {
  Value zero = constant(0);
  Value positive = greatest(distance, zero), step = loop.getStep();
  Value steps = up ? arith::CeilDivUIOp::create(builder, loc, positive, step).getResult()
                   : arith::DivUIOp::create(builder, loc, positive, step).getResult();
  return arith::MulIOp::create(builder, loc, steps, step);
}

scf::ForOp LoopSplitter::cloneBetween(Value low, Value high, ValueRange init, bool masked) {
  IRMapping mapping;
  auto copy = cast<scf::ForOp>(builder.clone(*loop, mapping));
  copy.getLowerBoundMutable().assign(low);
  copy.getUpperBoundMutable().assign(high);
  copy.getInitArgsMutable().assign(init);
  if (!masked)
    copy.walk([&](MaskOp mask) {
      if (mask.getJ() != copy.getInductionVar())
        return;
      mask.getResult().replaceAllUsesWith(mask.getTiles().front());
      mask.erase();
    });
  return copy;
}

bool LoopSplitter::run() {
  if (!findMasks())
    return false;
  Value low = loop.getLowerBound(), high = loop.getUpperBound();
  Value fullLow = masks.front().getFullLow(), fullHigh = masks.front().getFullHigh();
  // Tiles start at low, low + step, …: the first full one starts at or after fullLow, the last ends at or before
  // fullHigh.
  Value first = low;
  if (!matchPattern(fullLow, m_Zero()) || !matchPattern(low, m_Zero())) {
    Value skipped = roundTo(arith::SubIOp::create(builder, loc, fullLow, low), /*up=*/true);
    first = least(arith::AddIOp::create(builder, loc, low, skipped), greatest(low, high));
  }
  Value end = least(fullHigh, high);
  Value stretch = roundTo(arith::SubIOp::create(builder, loc, end, first), /*up=*/false);
  Value last = arith::AddIOp::create(builder, loc, first, stretch);

  ValueRange state = loop.getInitArgs();
  SmallVector<Value> values(state);
  if (first != low)
    values = llvm::to_vector(
        llvm::map_range(cloneBetween(low, first, values, true).getResults(), [](Value v) { return v; }));
  values = llvm::to_vector(
      llvm::map_range(cloneBetween(first, last, values, false).getResults(), [](Value v) { return v; }));
  scf::ForOp tail = cloneBetween(last, high, values, true);
  loop.replaceAllUsesWith(tail.getResults());
  loop.erase();
  return true;
}

namespace {
struct SplitRanges : attnc::tile::impl::TileSplitRangesBase<SplitRanges> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation()->walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      if (LoopSplitter(loop).run())
        ++numSplit;
  }
};
} // namespace
