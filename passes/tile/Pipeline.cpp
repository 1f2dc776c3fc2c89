//===- Pipeline.cpp - Products under the softmax of other tiles -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Shah, Bikshandi, Zhang, Thakkar, Ramani and Dao, "FlashAttention-3" (2024), section 3.2: the product with the values
// of one tile of keys runs while the logits of the next become weights.
//===----------------------------------------------------------------------===//

#include "dialect/tile/TileQueries.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "passes/tile/OwnKeys.h"
#include "passes/tile/Passes.h"

namespace attnc::tile {
#define GEN_PASS_DEF_TILEPIPELINE
#include "passes/tile/Passes.h.inc"
} // namespace attnc::tile

using namespace mlir;
using namespace attnc::tile;

namespace {

/// One loop over keys whose step ends in a product that accumulates over the loop.
class LoopSkewer {
public:
  explicit LoopSkewer(scf::ForOp loop) : loop(loop), body(*loop.getBody()), builder(loop), loc(loop.getLoc()) {}

  /// Skews the loop if its step has the form that it needs; returns whether it did.
  bool run();

private:
  /// What goes from one step to the next: the loop's own state, with the output in the middle of its product, what the
  /// product still needs, and captured tiles of the next step.
  struct State {
    SmallVector<Value> carried, captured;
    Value weights, key;
    SmallVector<Value> all() const {
      SmallVector<Value> values(carried);
      llvm::append_range(values, captured);
      values.push_back(weights);
      values.push_back(key);
      return values;
    }
    /// The state of the form of this one that holds `values`.
    State with(ValueRange values) const {
      State state;
      state.carried = llvm::to_vector(values.take_front(carried.size()));
      values = values.drop_front(carried.size());
      state.captured = llvm::to_vector(values.take_front(captured.size()));
      values = values.drop_front(captured.size());
      state.weights = values.front();
      state.key = values.back();
      return state;
    }
  };

  bool match();
  bool isCaptured(LoadOp load);
  LogicalResult addSlice(Operation *op, SetVector<Operation *> &slice) const;
  void cloneEarly(IRMapping &mapping, bool feedsProduct);
  void cloneLoad(LoadOp load, IRMapping &mapping);
  SmallVector<Value> loadCaptured(Value key);
  Value rescale(Value out, Value shrink);
  Value accumulate(State &state);
  State step(Value key, State state, bool isFirst);
  Value lengthOf(Value from, Value to);
  void findKeys(Value allLow, Value allHigh);
  void skip(MmaOp product, Value key);
  void skipFirst(ArrayRef<MmaOp> products, Value from, Value to);
  void skipOthers(Value from, Value to);
  void skipAfter(Value any);
  Value add(Value a, Value b) { return arith::AddIOp::create(builder, loc, a, b); }
  Value subtract(Value a, Value b) { return arith::SubIOp::create(builder, loc, a, b); }
  Value least(Value a, Value b) { return arith::MinSIOp::create(builder, loc, a, b); }
  Value greatest(Value a, Value b) { return arith::MaxSIOp::create(builder, loc, a, b); }

  scf::ForOp loop;
  Block &body;
  OpBuilder builder;
  Location loc;

  unsigned outNumber = 0;             ///< which value of the loop's state is the output
  MmaOp product;                      ///< of weights and values
  MapOp scaling;                      ///< of the output before it, or null where weights keep one scale
  LoadOp values;                      ///< of the product
  SmallVector<LoadOp> captured;       ///< of tiles that scores read: they come a step ahead
  SetVector<Operation *> logitsSlice; ///< what logits are made from
  SmallVector<MmaOp> logits;          ///< the products among it

  Value low, length, end;   ///< of the keys to visit, in whole steps
  Value wholeLow, wholeEnd; ///< of the keys of all rows: those too that consumers of other rows visit
};

} // namespace

/// Whether `op` runs a step later than what it reads of its own step.
static bool isLate(Operation *op) { return op && op->hasAttr(stageAttrName); }

/// Finds the product that runs late, the scaling of what it adds to, and its values. What is not overlapped is told.
bool LoopSkewer::match() {
  for (auto mma : body.getOps<MmaOp>()) {
    if (!isLate(mma))
      continue;
    if (product) {
      mma.emitRemark("the loop's steps are not overlapped: a second product accumulates over it")
          .attachNote(product.getLoc())
          .append("the first is here");
      return false;
    }
    product = mma;
  }
  if (!product)
    return false;
  values = product.getB().getDefiningOp<LoadOp>();
  if (!isLate(values)) {
    product.emitRemark(
        "the loop's steps are not overlapped: something else reads the right operand of the product that "
        "accumulates over it");
    return false;
  }
  outNumber = std::distance(loop.getYieldedValues().begin(), llvm::find(loop.getYieldedValues(), product.getResult()));
  if (Operation *map = product.getAcc().getDefiningOp(); isLate(map))
    scaling = cast<MapOp>(map);
  for (auto mma : body.getOps<MmaOp>()) {
    if (mma == product)
      continue;
    logits.push_back(mma);
    if (failed(addSlice(mma, logitsSlice)))
      return false;
  }
  for (auto load : body.getOps<LoadOp>())
    if (isCaptured(load))
      captured.push_back(load);
  return true;
}

/// Whether `load` brings a tile that every step reads elementwise, of other keys each. Tiles that masks read are not
/// needed where the mask keeps all.
bool LoopSkewer::isCaptured(LoadOp load) {
  auto type = cast<VectorType>(load.getType());
  constexpr unsigned leastBits = 16; // narrower elements would take a register each
  if (type.getRank() != 2 || type.getElementTypeBitWidth() < leastBits ||
      !llvm::all_of(load->getUsers(), llvm::IsaPred<MapOp>))
    return false;
  SetVector<Operation *> slice;
  if (failed(addSlice(load, slice)))
    return false;
  bool usesKey = false, usesState = false;
  for (Operation *op : slice)
    for (Value operand : op->getOperands())
      if (auto argument = dyn_cast<BlockArgument>(operand); argument && argument.getOwner() == &body)
        (argument == loop.getInductionVar() ? usesKey : usesState) = true;
  return usesKey && !usesState;
}

/// Adds what a step computes `op` from, `op` among it.
LogicalResult LoopSkewer::addSlice(Operation *op, SetVector<Operation *> &slice) const {
  BackwardSliceOptions options;
  options.inclusive = true;
  options.filter = [&](Operation *op) { return op->getBlock() == &body; };
  return getBackwardSlice(op, &slice, options);
}

/// Clones what a step does itself: what its logits are made from, or all the rest.
void LoopSkewer::cloneEarly(IRMapping &mapping, bool feedsProduct) {
  auto isThere = [&](Operation &op) { return isa<LoadOp>(op) && mapping.contains(op.getResult(0)); };
  for (Operation &op : body.without_terminator())
    if (!isLate(&op) && logitsSlice.contains(&op) == feedsProduct && !isThere(op))
      builder.clone(op, mapping);
}

/// Brings what scores read at the keys from `key` on.
SmallVector<Value> LoopSkewer::loadCaptured(Value key) {
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), key);
  return llvm::map_to_vector(captured, [&](LoadOp load) {
    cloneLoad(load, mapping);
    return mapping.lookup(load.getResult());
  });
}

Value LoopSkewer::rescale(Value out, Value shrink) {
  IRMapping mapping;
  mapping.map(scaling.getTiles()[0], out);
  mapping.map(scaling.getRows()[0], shrink);
  return builder.clone(*scaling, mapping)->getResult(0);
}

/// Clones a load of a step. Its indices are computed from the key alone.
void LoopSkewer::cloneLoad(LoadOp load, IRMapping &mapping) {
  SetVector<Operation *> slice;
  (void)addSlice(load, slice);
  for (Operation *op : slice)
    builder.clone(*op, mapping);
}

/// Adds the product of the step before.
Value LoopSkewer::accumulate(State &state) {
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), state.key);
  cloneLoad(values, mapping);
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
  if (!isFirst)
    out = accumulate(state);
  // The step after the last one is the last one again: it is there to be read.
  State next;
  if (!captured.empty())
    next.captured = loadCaptured(greatest(subtract(key, loop.getStep()), low));
  if (!isFirst)
    for (auto [load, tile] : llvm::zip_equal(captured, state.captured))
      mapping.map(load.getResult(), tile);
  cloneEarly(mapping, /*feedsProduct=*/false);
  next.weights = mapping.lookup(product.getA());
  next.key = key;
  if (!isFirst && scaling)
    out = rescale(out, mapping.lookup(scaling.getRows()[0]));
  for (auto [number, yielded] : llvm::enumerate(loop.getYieldedValues()))
    next.carried.push_back(number == outNumber ? out : mapping.lookupOrDefault(yielded));
  return next;
}

/// The right operand of `product` comes and is left out, for the step at `key`.
void LoopSkewer::skip(MmaOp product, Value key) {
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), key);
  cloneLoad(product.getB().getDefiningOp<LoadOp>(), mapping);
  SkipOp::create(builder, loc, mapping.lookup(product.getB()), product.getTransposed());
}

/// Right operands of `products` are left out once, if there are steps from key `from` to `to`.
void LoopSkewer::skipFirst(ArrayRef<MmaOp> products, Value from, Value to) {
  if (from == to)
    return;
  auto isAny = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, from, to);
  auto branch = scf::IfOp::create(builder, loc, isAny);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  for (MmaOp mma : products)
    skip(mma, from);
}

/// Keys are left out for all steps from key `from` to `to` but one, each before the values of the step before it. That
/// is the order of the rings: one that has no room left for values brings no more keys.
void LoopSkewer::skipOthers(Value from, Value to) {
  if (from == to)
    return;
  auto steps = scf::ForOp::create(builder, loc, add(from, loop.getStep()), to, loop.getStep());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(steps.getBody());
  for (MmaOp mma : logits)
    skip(mma, steps.getInductionVar());
  skip(product, steps.getInductionVar());
}

/// Keys from `from` to `to` in whole steps.
Value LoopSkewer::lengthOf(Value from, Value to) {
  Value steps = arith::CeilDivUIOp::create(builder, loc, subtract(to, from), loop.getStep());
  return arith::MulIOp::create(builder, loc, steps, loop.getStep());
}

/// The loop keeps the keys of its own rows: at least one step, so that all consumers go the same way, and none that is
/// not one of the whole.
void LoopSkewer::findKeys(Value allLow, Value allHigh) {
  low = loop.getLowerBound();
  Value high = loop.getUpperBound();
  bool hasOwnLow = low != allLow, hasOwnHigh = high != allHigh;
  wholeLow = allLow;
  if (hasOwnLow || hasOwnHigh)
    wholeEnd = add(wholeLow, lengthOf(wholeLow, allHigh));
  if (hasOwnLow)
    low = greatest(least(low, subtract(wholeEnd, loop.getStep())), wholeLow);
  if (hasOwnHigh)
    high = least(greatest(high, add(low, arith::ConstantIndexOp::create(builder, loc, 1))), wholeEnd);
  length = lengthOf(low, high);
  end = add(low, length);
  if (!hasOwnHigh)
    wholeEnd = end;
}

/// The same for the steps after the last, where there are any. What comes of the tile goes first: the keys that are
/// left to other rows may not be there yet. Their bounds are computed again, since with values that leave the branch of
/// the loop, descriptors leave their uniform registers.
void LoopSkewer::skipAfter(Value any) {
  builder.setInsertionPoint(loop->getBlock()->getTerminator());
  auto branch = scf::IfOp::create(builder, loc, any);
  builder.setInsertionPoint(branch.thenBlock()->getTerminator());
  findKeys(createBoundOfTile(builder, loop.getLowerBound()), createBoundOfTile(builder, loop.getUpperBound()));
  skipFirst(logits, wholeLow, low);
  skipOthers(wholeLow, low);
  skipFirst(product, wholeLow, low);
}

bool LoopSkewer::run() {
  if (!match())
    return false;
  // What runs in another step reads constants too.
  for (Operation &op : llvm::make_early_inc_range(body))
    if (op.hasTrait<OpTrait::ConstantLike>())
      op.moveBefore(loop);
  Value allLow = createBoundOfTile(builder, loop.getLowerBound()), size = loop.getStep();
  Value allHigh = createBoundOfTile(builder, loop.getUpperBound());
  auto any = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, allLow, allHigh);
  auto guard = scf::IfOp::create(builder, loc, loop.getResultTypes(), any, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard insertion(builder);
  builder.setInsertionPointToEnd(guard.elseBlock());
  scf::YieldOp::create(builder, loc, loop.getInitArgs());

  // From the last keys to the first: under a causal mask the first step is then the masked one, and has no product to
  // overlap with.
  builder.setInsertionPointToEnd(guard.thenBlock());
  findKeys(allLow, allHigh);
  Value last = subtract(end, size);
  skipFirst(logits, end, wholeEnd);
  skipOthers(end, wholeEnd);
  State first = step(last, {llvm::to_vector(loop.getInitArgs()), {}, {}, {}}, /*isFirst=*/true);
  skipFirst(product, end, wholeEnd);
  auto skewed = scf::ForOp::create(builder, loc, size, length, size, first.all());
  {
    OpBuilder::InsertionGuard inside(builder);
    builder.setInsertionPointToEnd(skewed.getBody());
    Value key = subtract(last, skewed.getInductionVar());
    State next = step(key, first.with(skewed.getRegionIterArgs()), /*isFirst=*/false);
    scf::YieldOp::create(builder, loc, next.all());
  }
  State state = first.with(skewed.getResults());
  state.carried[outNumber] = accumulate(state);
  scf::YieldOp::create(builder, loc, state.carried);
  loop.replaceAllUsesWith(guard.getResults());
  if (low != wholeLow)
    skipAfter(any);
  loop.erase();
  return true;
}

/// A loop as it was drops nothing, so that all consumers of the tile take the same steps.
static void visitKeysOfTile(scf::ForOp loop) {
  OpBuilder builder(loop);
  loop.setLowerBound(createBoundOfTile(builder, loop.getLowerBound()));
  loop.setUpperBound(createBoundOfTile(builder, loop.getUpperBound()));
}

namespace {
struct Pipeline : attnc::tile::impl::TilePipelineBase<Pipeline> {
  void runOnOperation() override {
    if (!hasRoles(getOperation()))
      return;
    SmallVector<scf::ForOp> loops;
    getOperation()->walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops) {
      if (LoopSkewer(loop).run())
        ++numSkewed;
      else
        visitKeysOfTile(loop);
    }
    getOperation()->walk([](Operation *op) { op->removeAttr(stageAttrName); });
  }
};
} // namespace
