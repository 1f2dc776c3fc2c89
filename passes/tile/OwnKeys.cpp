//===- OwnKeys.cpp - Keys of some of a tile's rows --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/tile/TileQueries.h"
#include "passes/tile/LogitOperations.h"
#include "passes/tile/LoopStages.h"
#include "passes/tile/Passes.h"
#include "passes/tile/RowsOfPart.h"

namespace attnc::tile {
#define GEN_PASS_DEF_TILEOWNKEYS
#include "passes/tile/Passes.h.inc"
} // namespace attnc::tile

using namespace mlir;
using namespace attnc::tile;

namespace {

/// Keys from `low` to `end`, in whole steps of the loop.
struct Keys {
  Value low, end;
};

/// A loop from the last keys of some rows to the first, whose steps overlap. Its consumers take the tiles of steps that
/// only other rows need from the rings, and leave them out.
class PartialLoop {
public:
  /// `loop`, if `tile-reverse-loops` has turned it round, `tile-overlap-steps` has overlapped its steps, and its keys
  /// are those of some of the rows.
  static std::optional<PartialLoop> match(scf::ForOp loop);

  /// Has consumers of all rows go the same way: the loop has a step where there are keys for any, none that is not one
  /// of all rows', and all other steps of these are left out before and after it.
  void skipOthers();

private:
  explicit PartialLoop(scf::ForOp loop) : loop(loop), builder(loop), loc(loop.getLoc()) {}

  bool hasOwnLow() const { return isOfPart(low); }
  bool hasOwnHigh() const { return isOfPart(high); }
  void setWhole() {
    wholeLow = createBoundOfTile(builder, low);
    wholeHigh = createBoundOfTile(builder, high);
  }
  Value add(Value a, Value b) { return arith::AddIOp::create(builder, loc, a, b); }
  Value subtract(Value a, Value b) { return arith::SubIOp::create(builder, loc, a, b); }
  Value min(Value a, Value b) { return arith::MinSIOp::create(builder, loc, a, b); }
  Value max(Value a, Value b) { return arith::MaxSIOp::create(builder, loc, a, b); }
  Value endOf(Value from, Value to);
  std::pair<Value, Value> clamp();
  Value computeAt(Value value, Value key, IRMapping &mapping);
  void skip(LoadOp load, Value key);
  void skipFirst(ArrayRef<LoadOp> loads, Keys keys);
  void skipRest(Keys keys);

  scf::ForOp loop;
  OpBuilder builder;
  Location loc;

  scf::IfOp guard;               ///< that there are keys, around the loop, its first step and its last product
  Operation *distance = nullptr; ///< from the first key to the last
  Operation *last = nullptr;     ///< where the last step starts
  arith::AddIOp end;             ///< of the last step
  Value low, high;               ///< of the loop's own keys
  Value wholeLow, wholeHigh;     ///< of the keys of all rows
  Value wholeEnd;                ///< of these, in whole steps
  SmallVector<LoadOp> early;     ///< of a step's keys, in the first step
  SmallVector<LoadOp> late;      ///< of what the next step multiplies, after the loop
};

} // namespace

/// The loads of right operands of products from `from` to `to`, in their order.
static SmallVector<LoadOp> findOperands(Block::iterator from, Block::iterator to) {
  SmallVector<LoadOp> loads;
  for (Operation &op : llvm::make_range(from, to))
    if (auto product = dyn_cast<MmaOp>(op))
      if (auto load = product.getB().getDefiningOp<LoadOp>())
        loads.push_back(load);
  return loads;
}

std::optional<PartialLoop> PartialLoop::match(scf::ForOp loop) {
  PartialLoop partial(loop);
  partial.guard = dyn_cast<scf::IfOp>(loop->getParentOp());
  auto condition = partial.guard ? partial.guard.getCondition().getDefiningOp<arith::CmpIOp>() : arith::CmpIOp();
  std::optional<Descent> descent = findDescent(loop);
  auto length = loop.getUpperBound().getDefiningOp<arith::MulIOp>();
  auto steps = length ? length.getLhs().getDefiningOp<arith::CeilDivUIOp>() : arith::CeilDivUIOp();
  if (!condition || !descent || !steps)
    return std::nullopt;
  partial.low = condition.getLhs();
  partial.high = condition.getRhs();
  partial.distance = steps.getLhs().getDefiningOp<arith::SubIOp>();
  partial.end = descent->end;
  partial.last = descent->last;
  Block *block = loop->getBlock();
  partial.early = findOperands(block->begin(), loop->getIterator());
  partial.late = findOperands(std::next(loop->getIterator()), block->end());
  if (descent->low != partial.low || !partial.distance || partial.early.empty() || partial.late.empty() ||
      !isOfPart(condition))
    return std::nullopt;
  return partial;
}

/// Where the last of the steps ends that start at `from` and cover what is below `to`.
Value PartialLoop::endOf(Value from, Value to) {
  Value steps = arith::CeilDivUIOp::create(builder, loc, subtract(to, from), loop.getStep());
  return add(from, arith::MulIOp::create(builder, loc, steps, loop.getStep()));
}

/// The loop's own keys: at least one step, and none that is not one of the whole. Sets the end of that.
std::pair<Value, Value> PartialLoop::clamp() {
  wholeEnd = endOf(wholeLow, wholeHigh);
  Value from = low, to = high;
  if (hasOwnLow())
    from = max(min(low, subtract(wholeEnd, loop.getStep())), wholeLow);
  if (hasOwnHigh())
    to = min(max(high, add(from, arith::ConstantIndexOp::create(builder, loc, 1))), wholeEnd);
  return {from, to};
}

/// `value` of the first step, or of the product after the loop, computed again for a step at `key`.
Value PartialLoop::computeAt(Value value, Value key, IRMapping &mapping) {
  Operation *maker = value.getDefiningOp();
  if (!maker || maker->getBlock() != loop->getBlock() || mapping.contains(value))
    return mapping.lookupOrDefault(value);
  if (maker == last)
    return key;
  // What the product after the loop reads lies where the keys of its step did.
  if (maker == loop)
    return computeAt(loop.getInitArgs()[cast<OpResult>(value).getResultNumber()], key, mapping);
  for (Value operand : maker->getOperands())
    mapping.map(operand, computeAt(operand, key, mapping));
  builder.clone(*maker, mapping);
  return mapping.lookup(value);
}

/// What `load` brings comes for the step at `key`, and is left out.
void PartialLoop::skip(LoadOp load, Value key) {
  IRMapping mapping;
  Value tile = computeAt(load.getResult(), key, mapping);
  bool isTransposed = llvm::any_of(load->getUsers(), [](Operation *user) {
    auto product = dyn_cast<MmaOp>(user);
    return product && product.getTransposed();
  });
  SkipOp::create(builder, loc, tile, isTransposed);
}

/// Tiles of `loads` are left out once, if there are keys.
void PartialLoop::skipFirst(ArrayRef<LoadOp> loads, Keys keys) {
  if (keys.low == keys.end)
    return;
  auto isAny = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, keys.low, keys.end);
  auto branch = scf::IfOp::create(builder, loc, isAny);
  OpBuilder::InsertionGuard inside(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  for (LoadOp load : loads)
    skip(load, keys.low);
}

/// Tiles are left out for all steps but the first, each before what is late of the step before it. That is the order of
/// the rings: one that has no room left for values brings no more keys.
void PartialLoop::skipRest(Keys keys) {
  if (keys.low == keys.end)
    return;
  auto steps = scf::ForOp::create(builder, loc, add(keys.low, loop.getStep()), keys.end, loop.getStep());
  OpBuilder::InsertionGuard inside(builder);
  builder.setInsertionPointToStart(steps.getBody());
  for (LoadOp load : early)
    skip(load, steps.getInductionVar());
  for (LoadOp load : late)
    skip(load, steps.getInductionVar());
}

void PartialLoop::skipOthers() {
  builder.setInsertionPoint(guard);
  setWhole();
  Value all = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, wholeLow, wholeHigh);
  guard.getConditionMutable().assign(all);
  builder.setInsertionPoint(distance);
  auto [from, to] = clamp();
  distance->setOperands({to, from});
  end->setOperand(0, from);
  // The loop goes down, so keys after its own last ones come before it.
  Keys behind = {end, hasOwnHigh() ? wholeEnd : end.getResult()};
  builder.setInsertionPointAfter(last);
  skipFirst(early, behind);
  skipRest(behind);
  builder.setInsertionPoint(loop);
  skipFirst(late, behind);
  if (!hasOwnLow())
    return;
  // Then those before its first, after what comes of the tile: they may not be there yet. Their bounds are computed
  // again, since with values that leave the branch of the loop, descriptors leave their uniform registers.
  builder.setInsertionPoint(guard->getBlock()->getTerminator());
  auto branch = scf::IfOp::create(builder, loc, all);
  builder.setInsertionPoint(branch.thenBlock()->getTerminator());
  setWhole();
  Keys before = {wholeLow, clamp().first};
  skipFirst(early, before);
  skipRest(before);
  skipFirst(late, before);
}

/// A loop that drops nothing takes the same steps for all consumers. Tells of one that might have dropped some: those
/// that add nothing up, as over weights, have no steps that overlap.
static void visitKeysOfTile(scf::ForOp loop) {
  bool isPartial = isOfPart(loop.getLowerBound()) || isOfPart(loop.getUpperBound());
  if (isPartial && llvm::any_of(loop.getBody()->getOps<MmaOp>(), [](MmaOp mma) { return !startsFromZero(mma); }))
    loop.emitRemark("each consumer goes over the keys of the whole tile: the loop's steps are not overlapped");
  OpBuilder builder(loop);
  loop.setLowerBound(createBoundOfTile(builder, loop.getLowerBound()));
  loop.setUpperBound(createBoundOfTile(builder, loop.getUpperBound()));
}

namespace {
struct OwnKeys : attnc::tile::impl::TileOwnKeysBase<OwnKeys> {
  void runOnOperation() override {
    if (!hasRoles(getOperation()))
      return;
    SmallVector<scf::ForOp> loops;
    getOperation()->walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops) {
      auto guard = dyn_cast<scf::IfOp>(loop->getParentOp());
      if (std::optional<PartialLoop> partial = PartialLoop::match(loop)) {
        partial->skipOthers();
        ++numPartial;
      } else if (guard && isOfPart(guard.getCondition())) {
        loop.emitError("not all parts of the tile take it, and what the others leave out is not known");
        return signalPassFailure();
      } else {
        visitKeysOfTile(loop);
      }
    }
  }
};
} // namespace
