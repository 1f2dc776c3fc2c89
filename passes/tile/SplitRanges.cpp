//===- SplitRanges.cpp - Masked and full stretches of a loop ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "mlir/Analysis/SliceAnalysis.h"
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
  bool agree(MaskOp mask);
  void tellWhyWhole();
  void setFullStretch();
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }
  Value min(Value a, Value b) { return arith::MinSIOp::create(builder, loc, a, b); }
  Value max(Value a, Value b) { return arith::MaxSIOp::create(builder, loc, a, b); }
  Value roundTo(Value distance, bool up);
  scf::ForOp cloneBetween(Value low, Value high, ValueRange init, bool masked);

  scf::ForOp loop;
  OpBuilder builder;
  Location loc;
  SmallVector<MaskOp> masks;
  Value last; ///< columns start at `last` minus the induction variable; absent where they start at that itself
  Value lead; ///< columns start so far after the induction variable; absent where they start at that itself
  Value fullLow, fullEnd;     ///< full for induction variables v with fullLow <= v and v + step <= fullEnd
  bool fullToEnd = false;     ///< the full stretch reaches the loop's end
  bool fullFromStart = false; ///< the full stretch starts with the loop
};

} // namespace

/// What the full stretch of `mask` speaks of: the place in a list, or the first column.
static Value placeOf(MaskOp mask) { return mask.getPosition() ? mask.getPosition() : mask.getJ(); }

/// Where columns go down with the induction variable, the value that it is taken from; else nothing.
static Value findDescent(Value column, scf::ForOp loop) {
  auto difference = column.getDefiningOp<arith::SubIOp>();
  if (!difference || difference.getRhs() != loop.getInductionVar() || !loop.isDefinedOutsideOfLoop(difference.getLhs()))
    return {};
  return difference.getLhs();
}

/// Where columns are so far ahead of the induction variable, by how far; else nothing.
static Value findLead(Value column, scf::ForOp loop) {
  auto sum = column.getDefiningOp<arith::AddIOp>();
  if (!sum || sum.getLhs() != loop.getInductionVar() || !loop.isDefinedOutsideOfLoop(sum.getRhs()))
    return {};
  return sum.getRhs();
}

/// Whether the columns, or places, of `mask` follow the induction variable of `loop`.
static bool follows(MaskOp mask, scf::ForOp loop) {
  Value place = placeOf(mask);
  return place == loop.getInductionVar() || findDescent(place, loop) || findLead(place, loop);
}

/// Whether the full stretch of `mask` is known to be empty: then there is nothing to cut.
static bool isNeverFull(MaskOp mask) { return matchPattern(mask.getFullHigh(), m_Zero()); }

/// Why a loop stays as it is whose masks have full stretches.
constexpr llvm::StringLiteral isWhole = "the loop is not cut into masked and full stretches: ";

/// Whether `mask` has the columns and the full stretch of the first.
bool LoopSplitter::agree(MaskOp mask) {
  return findDescent(placeOf(mask), loop) == last && findLead(placeOf(mask), loop) == lead &&
         mask.getFullLow() == masks.front().getFullLow() && mask.getFullHigh() == masks.front().getFullHigh();
}

/// Collects masks in the loop whose columns follow the induction variable and whose full stretch is known outside.
bool LoopSplitter::findMasks() {
  loop.walk([&](MaskOp mask) {
    bool outside = loop.isDefinedOutsideOfLoop(mask.getFullLow()) && loop.isDefinedOutsideOfLoop(mask.getFullHigh());
    if (follows(mask, loop) && outside && mask->getParentOfType<scf::ForOp>() == loop)
      masks.push_back(mask);
  });
  if (masks.empty()) {
    tellWhyWhole();
    return false;
  }
  if (isNeverFull(masks.front()))
    return false;
  last = findDescent(placeOf(masks.front()), loop);
  lead = findLead(placeOf(masks.front()), loop);
  auto other = llvm::find_if_not(masks, [&](MaskOp mask) { return agree(mask); });
  if (other == masks.end())
    return true;
  if (llvm::none_of(masks, isNeverFull))
    other->emitRemark(isWhole).append("its masks keep all in different steps").attachNote(masks.front().getLoc())
        << "another mask is here";
  return false;
}

/// Whether `value` is computed from the induction variable of `loop`.
static bool isOfStep(Value value, scf::ForOp loop) {
  SetVector<Operation *> makers;
  BackwardSliceOptions options;
  options.inclusive = true;
  (void)getBackwardSlice(value, &makers, options);
  return value == loop.getInductionVar() || llvm::any_of(makers, [&](Operation *maker) {
           return llvm::is_contained(maker->getOperands(), loop.getInductionVar());
         });
}

/// Tells of the first mask of the loop's steps that might keep all in some of them, where that does not show before the
/// loop. A mask of the same columns in all steps is no mask of theirs.
void LoopSplitter::tellWhyWhole() {
  loop.walk([&](MaskOp mask) {
    if (mask->getParentOfType<scf::ForOp>() != loop || isNeverFull(mask) || !isOfStep(placeOf(mask), loop))
      return WalkResult::advance();
    mask.emitRemark(isWhole) << (follows(mask, loop) ? "where its mask keeps all is not known before it"
                                                     : "the columns of its mask do not follow its steps");
    return WalkResult::interrupt();
  });
}

/// A distance, or 0 if it is negative, in whole steps of the loop.
Value LoopSplitter::roundTo(Value distance, bool up) {
  Value zero = constant(0);
  Value positive = max(distance, zero), step = loop.getStep();
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
      if (!follows(mask, copy))
        return;
      mask.getResult().replaceAllUsesWith(mask.getTiles().front());
      mask.erase();
    });
  return copy;
}

/// Whether `last` is where the last of the steps starts that cover columns up to `high`, as `tile-reverse-loops` writes
/// it: low + ceil((high - low) / step) * step - step, without low where that is 0.
static bool isLastStepBelow(Value last, Value high) {
  auto difference = last.getDefiningOp<arith::SubIOp>();
  if (!difference)
    return false;
  Value length = difference.getLhs(), low;
  if (auto sum = length.getDefiningOp<arith::AddIOp>()) {
    low = sum.getLhs();
    length = sum.getRhs();
  }
  auto product = length.getDefiningOp<arith::MulIOp>();
  auto steps = product ? product.getLhs().getDefiningOp<arith::CeilDivUIOp>() : arith::CeilDivUIOp();
  if (!steps)
    return false;
  if (!low)
    return steps.getLhs() == high;
  auto distance = steps.getLhs().getDefiningOp<arith::SubIOp>();
  return distance && distance.getLhs() == high && distance.getRhs() == low;
}

/// The full stretch in terms of the induction variable.
void LoopSplitter::setFullStretch() {
  Value low = masks.front().getFullLow(), high = masks.front().getFullHigh();
  if (lead) {
    fullLow = arith::SubIOp::create(builder, loc, low, lead);
    fullEnd = arith::SubIOp::create(builder, loc, high, lead);
    fullFromStart = matchPattern(low, m_Zero()) && matchPattern(loop.getLowerBound(), m_Zero());
    return;
  }
  if (!last) {
    fullLow = low;
    fullEnd = high;
    fullFromStart = matchPattern(low, m_Zero()) && matchPattern(loop.getLowerBound(), m_Zero());
    return;
  }
  // Columns from last - v: below `high` with last - v + step <= high, from `low` on with last - v >= low.
  Value step = loop.getStep();
  Value next = arith::AddIOp::create(builder, loc, last, step);
  fullLow = arith::SubIOp::create(builder, loc, next, high);
  fullEnd = arith::SubIOp::create(builder, loc, next, low);
  // The step before the loop's first took the columns that `high` ends in.
  fullFromStart = isLastStepBelow(last, high);
  fullToEnd = matchPattern(low, m_Zero());
}

bool LoopSplitter::run() {
  if (!findMasks())
    return false;
  setFullStretch();
  Value low = loop.getLowerBound(), high = loop.getUpperBound();
  // Tiles start at low, low + step, …: the first full one starts at or after fullLow, the last ends at or before
  // fullEnd.
  Value first = low;
  if (!fullFromStart) {
    Value skipped = roundTo(arith::SubIOp::create(builder, loc, fullLow, low), /*up=*/true);
    first = min(arith::AddIOp::create(builder, loc, low, skipped), max(low, high));
  }
  Value end = high;
  if (!fullToEnd) {
    Value full = min(fullEnd, high);
    Value stretch = roundTo(arith::SubIOp::create(builder, loc, full, first), /*up=*/false);
    end = arith::AddIOp::create(builder, loc, first, stretch);
  }

  SmallVector<Value> values(loop.getInitArgs());
  auto append = [&](Value from, Value to, bool masked) {
    scf::ForOp stretch = cloneBetween(from, to, values, masked);
    values.assign(stretch.getResults().begin(), stretch.getResults().end());
  };
  if (!fullFromStart)
    append(low, first, /*masked=*/true);
  append(first, end, /*masked=*/false);
  if (!fullToEnd)
    append(end, high, /*masked=*/true);
  loop.replaceAllUsesWith(values);
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
