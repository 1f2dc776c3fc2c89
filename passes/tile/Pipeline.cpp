//===- Pipeline.cpp - Products under the softmax of other tiles -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Shah, Bikshandi, Zhang, Thakkar, Ramani and Dao, "FlashAttention-3" (2024), section 3.2: the product with the values
// of one tile of keys runs while the logits of the next become weights.
//===----------------------------------------------------------------------===//

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "passes/tile/Passes.h"

namespace attnc::tile {
#define GEN_PASS_DEF_TILEPIPELINE
#include "passes/tile/Passes.h.inc"
} // namespace attnc::tile

using namespace mlir;
using namespace attnc::tile;
using attnc::attn::Rescale;

namespace {

/// One loop over keys whose step ends in a product that accumulates over the loop.
class LoopSkewer {
public:
  LoopSkewer(scf::ForOp loop, Rescale when)
      : loop(loop), body(*loop.getBody()), builder(loop), loc(loop.getLoc()), when(when) {}

  /// Skews the loop if its step has the form that it needs; returns whether it did.
  bool run();

private:
  /// What goes from one step to the next: the loop's own state, with the output in the middle of its product, and what
  /// the product still needs. Row factors are absent where nothing is rescaled.
  struct State {
    SmallVector<Value> carried;
    Value weights, shrink, key;
    SmallVector<Value> all() const {
      SmallVector<Value> values(carried);
      values.push_back(weights);
      if (shrink)
        values.push_back(shrink);
      values.push_back(key);
      return values;
    }
    /// The state of the form of this one that holds `values`.
    State with(ValueRange values) const {
      State state{llvm::to_vector(values.take_front(carried.size())), {}, {}, {}};
      values = values.drop_front(carried.size());
      state.weights = values.front();
      if (shrink)
        state.shrink = values[1];
      state.key = values.back();
      return state;
    }
  };

  bool match();
  bool isLate(Operation *op) const;
  void cloneEarly(IRMapping &mapping, bool feedsProduct);
  Value rescale(Value out, Value shrink);
  Value accumulate(State &state);
  State step(Value key, State state, bool isFirst);
  Value subtract(Value a, Value b) { return arith::SubIOp::create(builder, loc, a, b); }

  scf::ForOp loop;
  Block &body;
  OpBuilder builder;
  Location loc;
  Rescale when;

  unsigned outNumber = 0;             ///< which value of the loop's state is the output
  MmaOp product;                      ///< of weights and values
  MapOp scaling;                      ///< of the output before it, or null where weights keep one scale
  LoadOp values;                      ///< of the product
  SetVector<Operation *> logitsSlice; ///< what logits are made from
};

} // namespace

/// Finds the product, its accumulator, rescaled or not, and its values.
bool LoopSkewer::match() {
  for (auto [number, yielded] : llvm::enumerate(loop.getYieldedValues())) {
    auto mma = yielded.getDefiningOp<MmaOp>();
    if (!mma || mma->getBlock() != &body)
      continue;
    Value state = loop.getRegionIterArg(number);
    auto map = mma.getAcc().getDefiningOp<MapOp>();
    auto load = mma.getB().getDefiningOp<LoadOp>();
    auto weights = mma.getA().getDefiningOp<MapOp>();
    bool isRescaled = map && map.getTiles().size() == 1 && map.getRows().size() == 1 && map.getTiles()[0] == state &&
                      map->hasOneUse();
    if ((!isRescaled && mma.getAcc() != state) || !load || !weights || !load->hasOneUse())
      continue;
    // Rescaled after a product, what the loop starts with never meets the factors of the first step.
    if (when != Rescale::Before && !matchPattern(loop.getInitArgs()[number], m_AnyZeroFloat()))
      continue;
    outNumber = number;
    product = mma;
    scaling = isRescaled ? map : MapOp();
    values = load;
  }
  if (!product)
    return false;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.filter = [&](Operation *op) { return op->getBlock() == &body; };
  for (auto mma : body.getOps<MmaOp>())
    if (mma != product && failed(getBackwardSlice(mma.getOperation(), &logitsSlice, options)))
      return false;
  return true;
}

/// Whether `op` belongs to the product of a step, which runs in the next.
bool LoopSkewer::isLate(Operation *op) const { return op == product || op == scaling || op == values; }

/// Clones what a step does itself: what its logits are made from, or all the rest.
void LoopSkewer::cloneEarly(IRMapping &mapping, bool feedsProduct) {
  for (Operation &op : body.without_terminator())
    if (!isLate(&op) && logitsSlice.contains(&op) == feedsProduct)
      builder.clone(op, mapping);
}

Value LoopSkewer::rescale(Value out, Value shrink) {
  if (!scaling)
    return out;
  IRMapping mapping;
  mapping.map(scaling.getTiles()[0], out);
  mapping.map(scaling.getRows()[0], shrink);
  return builder.clone(*scaling, mapping)->getResult(0);
}

/// Adds the product of the step before.
Value LoopSkewer::accumulate(State &state) {
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), state.key);
  // Indices of values are computed from the key alone.
  SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.filter = [&](Operation *op) { return op->getBlock() == &body; };
  (void)getBackwardSlice(values.getOperation(), &slice, options);
  for (Operation *op : slice)
    builder.clone(*op, mapping);
  mapping.map(product.getA(), state.weights);
  mapping.map(product.getAcc(), state.carried[outNumber]);
  return builder.clone(*product, mapping)->getResult(0);
}

/// Logits and weights of the keys from `key` on, around the product of the step before.
LoopSkewer::State LoopSkewer::step(Value key, State state, bool isFirst) {
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), key);
  mapping.map(loop.getRegionIterArgs(), state.carried);
  cloneEarly(mapping, /*feedsProduct=*/true);
  Value out = state.carried[outNumber];
  if (!isFirst) {
    if (when == Rescale::Before)
      state.carried[outNumber] = rescale(out, state.shrink);
    out = accumulate(state);
  }
  cloneEarly(mapping, /*feedsProduct=*/false);
  State next;
  next.weights = mapping.lookup(product.getA());
  if (scaling)
    next.shrink = mapping.lookup(scaling.getRows()[0]);
  next.key = key;
  if (!isFirst && when != Rescale::Before)
    out = rescale(out, next.shrink);
  for (auto [number, yielded] : llvm::enumerate(loop.getYieldedValues()))
    next.carried.push_back(number == outNumber ? out : mapping.lookupOrDefault(yielded));
  return next;
}

bool LoopSkewer::run() {
  if (!match())
    return false;
  Value low = loop.getLowerBound(), high = loop.getUpperBound(), size = loop.getStep();
  auto any = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, low, high);
  auto guard = scf::IfOp::create(builder, loc, loop.getResultTypes(), any, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard insertion(builder);
  builder.setInsertionPointToEnd(guard.elseBlock());
  scf::YieldOp::create(builder, loc, loop.getInitArgs());

  // From the last keys to the first: under a causal mask the first step is then the masked one, and has no product to
  // run beside.
  builder.setInsertionPointToEnd(guard.thenBlock());
  Value steps = arith::CeilDivUIOp::create(builder, loc, subtract(high, low), size);
  Value length = arith::MulIOp::create(builder, loc, steps, size);
  Value last = subtract(arith::AddIOp::create(builder, loc, low, length), size);
  State first = step(last, {llvm::to_vector(loop.getInitArgs()), {}, {}, {}}, /*isFirst=*/true);
  auto skewed = scf::ForOp::create(builder, loc, size, length, size, first.all());
  {
    OpBuilder::InsertionGuard inside(builder);
    builder.setInsertionPointToEnd(skewed.getBody());
    Value key = subtract(last, skewed.getInductionVar());
    State next = step(key, first.with(skewed.getRegionIterArgs()), /*isFirst=*/false);
    scf::YieldOp::create(builder, loc, next.all());
  }
  State state = first.with(skewed.getResults());
  if (when == Rescale::Before)
    state.carried[outNumber] = rescale(state.carried[outNumber], state.shrink);
  state.carried[outNumber] = accumulate(state);
  scf::YieldOp::create(builder, loc, state.carried);
  loop.replaceAllUsesWith(guard.getResults());
  loop.erase();
  return true;
}

namespace {
struct Pipeline : attnc::tile::impl::TilePipelineBase<Pipeline> {
  void runOnOperation() override {
    auto pipeline = getOperation().getPipelineAttr();
    // Products without roles are synchronous: there is nothing to run beside.
    if (!pipeline || pipeline.getStaging() == attnc::attn::Staging::Pieces)
      return;
    SmallVector<scf::ForOp> loops;
    getOperation()->walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      if (LoopSkewer(loop, pipeline.getRescale()).run())
        ++numSkewed;
  }
};
} // namespace
