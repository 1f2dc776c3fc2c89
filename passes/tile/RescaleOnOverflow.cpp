//===- RescaleOnOverflow.cpp - Weights by the running maxima ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Row maxima keep weights in the range of their type, and any number near them does: the same one divides in the end.
// Those of the first step mostly do for a whole row. Looking for new ones costs a step of 128 keys a third of its
// instructions, and nothing can run before they are there.
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "passes/tile/ExponentTerms.h"
#include "passes/tile/Passes.h"
#include "passes/tile/RowVectors.h"
#include "passes/tile/SoftmaxEnd.h"
#include <limits>

namespace attnc::tile {
#define GEN_PASS_DEF_TILERESCALEONOVERFLOW
#include "passes/tile/Passes.h.inc"
} // namespace attnc::tile

using namespace mlir;
using namespace attnc::tile;

/// What the weights of a lane's part of a row may add up to in a step, and so each of them be: f16 holds no more than
/// 65504. bf16 holds more, but products with values and their sums over a row need octaves of their own. Without the
/// greatest weight's rounding in the divisor, a row with one key must not lose the exact weight of its
/// maximum too often. docs/rationale/online-softmax.md derives all three.
static constexpr float largestOfHalf = 0x1p15f, largestOfWide = 0x1p60f, largestUncounted = 0x1p20f;

namespace {

/// The softmax of a skewed loop: its step, and the numbers of what the loop carries of it.
struct LoopSoftmax {
  SoftmaxOp step;
  MapOp scaling; ///< of the output by the step's row factors
  unsigned max, sum, out;
};

} // namespace

/// The number under which `loop` carries `argument` to the next step and yields `value`.
static std::optional<unsigned> findCarried(scf::ForOp loop, Value argument, Value value) {
  for (auto [number, state] : llvm::enumerate(loop.getRegionIterArgs()))
    if (state == argument && loop.getYieldedValues()[number] == value && value.hasOneUse())
      return number;
  return std::nullopt;
}

/// The steps of a softmax in `loop`, those in its branches too.
static SmallVector<SoftmaxOp> findSteps(scf::ForOp loop) {
  SmallVector<SoftmaxOp> steps;
  loop.walk([&](SoftmaxOp step) {
    if (step->getParentOfType<scf::ForOp>() == loop)
      steps.push_back(step);
  });
  return steps;
}

/// The number under which `loop` yields an output that comes of a product and that `step` scales by its row factors.
static std::optional<unsigned> findScaled(scf::ForOp loop, SoftmaxOp step) {
  for (auto [number, yielded] : llvm::enumerate(loop.getYieldedValues())) {
    auto scaling = yielded.getDefiningOp<MapOp>();
    if (scaling && scaling->getBlock() == loop.getBody() && scaling.getScalesRows() &&
        scaling.getRows()[0] == step.getShrink() && yielded.hasOneUse())
      return number;
  }
  return std::nullopt;
}

/// Finds the one step of a softmax in `loop`, whose row factors scale an output that comes of a product. Tells of steps
/// that keep looking for maxima.
static std::optional<LoopSoftmax> match(scf::ForOp loop) {
  SmallVector<SoftmaxOp> steps = findSteps(loop);
  // Without an output there is nothing to rescale.
  if (llvm::all_of(steps, [](SoftmaxOp step) { return step.getFixed() || step.getShrink().use_empty(); }))
    return std::nullopt;
  SoftmaxOp step = steps.front();
  auto refuse = [&](SoftmaxOp refused, const Twine &reason) {
    refused.emitRemark("each step looks for new row maxima: ") << reason;
    return std::nullopt;
  };
  if (step->getBlock() != loop.getBody())
    return refuse(step, "the loop's softmax is in a branch");
  if (steps.size() > 1)
    return refuse(steps[1], "the loop has a second softmax");
  if (step.getRescaleOnGrowth())
    return refuse(step, "they are to be kept until they have grown");
  auto max = findCarried(loop, step.getMax(), step.getNewMax()),
       sum = findCarried(loop, step.getSum(), step.getNewSum());
  if (!max || !sum)
    return refuse(step, "something else than the next step's softmax reads its maxima or sums");
  if (!step.getPartial())
    return refuse(step, "its row sums are added over lanes");
  std::optional<unsigned> scaled = findScaled(loop, step);
  if (!scaled)
    return refuse(step, "the loop carries on no output that is scaled last by its row factors");
  auto scaling = loop.getYieldedValues()[*scaled].getDefiningOp<MapOp>();
  if (!llvm::all_of(step->getUsers(),
                    [&](Operation *user) { return user == scaling || user == loop.getBody()->getTerminator(); }))
    return refuse(step, "its own step reads the weights, and not the next");
  return LoopSoftmax{step, scaling, *max, *sum, *scaled};
}

/// The largest sum for the weights of `step` in a row. `counted` is whether the divisor takes their rounding in.
static float findLargestSum(SoftmaxOp step, bool counted) {
  if (cast<VectorType>(step.getWeights().getType()).getElementType().isF16())
    return largestOfHalf;
  return counted ? largestOfWide : largestUncounted;
}

/// The rows whose maxima `before` are none to be fixed: they have none yet, or one that is too large for rounded
/// offsets. A test of magnitudes finds both.
static Value buildIsOther(OpBuilder &builder, SoftmaxOp step, Value before) {
  Location loc = step.getLoc();
  if (step.getExponent() == Exponent::Exact)
    return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, before,
                                 splat(builder, before, -std::numeric_limits<float>::infinity()));
  return buildIsLarge(builder, step.getUnit(), step.getExponent(), {before, before});
}

namespace {

/// Rewrites one loop.
class ConditionalRescaler {
public:
  ConditionalRescaler(scf::ForOp loop, LoopSoftmax softmax)
      : loop(loop), softmax(softmax), step(softmax.step), builder(loop), loc(loop.getLoc()) {}

  void run();

private:
  Value carried(unsigned number) { return loop.getRegionIterArg(number); }
  Value made(unsigned number) { return loop.getYieldedValues()[number]; }

  void carryMaxSums();
  void findChanging();
  SoftmaxOp keepMaxima();
  void yield(const IRMapping &mapping);
  void yieldRenewed(Value parts, Value isOther);
  void yieldKept(SoftmaxOp keeping);
  void countMaxSums();

  scf::ForOp loop;
  LoopSoftmax softmax;
  SoftmaxOp step;
  OpBuilder builder;
  Location loc;
  Value largest;    ///< what the sums of a step may come to
  SoftmaxEndOp end; ///< of the softmax, where its divisor takes in what the greatest weight is rounded by
  std::optional<unsigned> maxSums; ///< the number of the greatest sums so far, which the loop then carries
  SmallVector<unsigned> changing;  ///< the numbers of what a step makes by its maxima
};

} // namespace

/// Makes the loop carry the greatest sums of its lanes, of all steps but those that have maxima of their own: in these
/// the greatest weight is a power of two, which rounding leaves as it is.
void ConditionalRescaler::carryMaxSums() {
  maxSums = loop.getNumResults();
  IRRewriter rewriter(loop.getContext());
  rewriter.setInsertionPoint(loop);
  Value none = splat(rewriter, carried(softmax.sum), 0.0f);
  NewYieldValuesFn keep = [](OpBuilder &, Location, ArrayRef<BlockArgument> added) {
    return SmallVector<Value>(added.begin(), added.end());
  };
  auto grown = loop.replaceWithAdditionalYields(rewriter, none, /*replaceInitOperandUsesInLoop=*/false, keep);
  loop = cast<scf::ForOp>(grown->getOperation());
}

void ConditionalRescaler::findChanging() {
  for (auto [number, value] : llvm::enumerate(loop.getYieldedValues())) {
    Operation *maker = value.getDefiningOp();
    if ((maker && (maker == step || maker == softmax.scaling)) || number == maxSums)
      changing.push_back(number);
  }
}

/// The step by the references that the loop carries: its weights, and what they add up to in each lane. Adding to -0
/// changes nothing, whatever is added.
SoftmaxOp ConditionalRescaler::keepMaxima() {
  builder.setInsertionPoint(step);
  Value none = splat(builder, carried(softmax.sum), -0.0f);
  auto keeping = cast<SoftmaxOp>(builder.clone(*step));
  keeping.setFixed(true);
  keeping.getOwnMaxMutable().clear();
  keeping.getSumMutable().assign(none);
  return keeping;
}

/// Ends a branch with what `mapping` has for the step's results.
void ConditionalRescaler::yield(const IRMapping &mapping) {
  scf::YieldOp::create(builder, loc, llvm::map_to_vector(changing, [&](unsigned number) {
                         return mapping.lookupOrDefault(made(number));
                       }));
}

/// Ends a step some of whose rows have outgrown their references, or have none: it is done as it was, with maxima. They
/// are there for all rows that branch together, and rows that have grown by less will not branch soon if they take them
/// in as well: by whole octaves, so that a row's digits do not depend on its neighbours.
void ConditionalRescaler::yieldRenewed(Value parts, Value isOther) {
  // Lanes that share a row agree.
  Value total = WarpReduceOp::create(builder, loc, parts, /*max=*/true);
  Value isLarge = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGT, total, largest);
  Value isOutgrown = arith::OrIOp::create(builder, loc, isLarge, isOther);
  IRMapping mapping;
  // Steps are seldom done again: the numbers of dropout are not to be held for that.
  if (auto numbers = step.getNumbers() ? step.getNumbers().getDefiningOp<PhiloxOp>() : PhiloxOp())
    cast<PhiloxOp>(builder.clone(*numbers, mapping)).setAgain(true);
  auto again = cast<SoftmaxOp>(builder.clone(*step, mapping));
  again.getRenewedMutable().assign(isOutgrown);
  builder.clone(*softmax.scaling, mapping);
  if (maxSums) {
    Value greater = arith::MaxNumFOp::create(builder, loc, carried(*maxSums), parts);
    Value scaled = arith::MulFOp::create(builder, loc, greater, again.getShrink());
    mapping.map(made(*maxSums), arith::SelectOp::create(builder, loc, isOutgrown, splat(builder, total, 0.0f), scaled));
  }
  yield(mapping);
}

/// Ends a step whose rows keep their references.
void ConditionalRescaler::yieldKept(SoftmaxOp keeping) {
  IRMapping mapping;
  Value parts = keeping.getNewSum();
  mapping.map(step.getNewMax(), carried(softmax.max));
  if (maxSums)
    mapping.map(made(*maxSums), arith::MaxNumFOp::create(builder, loc, carried(*maxSums), parts));
  mapping.map(step.getNewSum(), arith::AddFOp::create(builder, loc, carried(softmax.sum), parts));
  mapping.map(step.getWeights(), keeping.getWeights());
  mapping.map(step.getShrink(), keeping.getShrink());
  mapping.map(made(softmax.out), softmax.scaling.getTiles()[0]);
  yield(mapping);
}

/// `branch` with one more result: `value`, of its first block, or `otherwise` in each row.
static Value yieldAlso(scf::IfOp branch, Value value, float otherwise) {
  OpBuilder builder(branch);
  SmallVector<Type> types(branch.getResultTypes());
  types.push_back(value.getType());
  auto grown = scf::IfOp::create(builder, branch.getLoc(), types, branch.getCondition(), /*withElseRegion=*/true);
  for (auto [from, to] : llvm::zip_equal(branch->getRegions(), grown->getRegions()))
    to.takeBody(from);
  builder.setInsertionPoint(grown.elseYield());
  Value none = splat(builder, value, otherwise);
  grown.thenYield().getResultsMutable().append(value);
  grown.elseYield().getResultsMutable().append(none);
  branch->replaceAllUsesWith(grown.getResults().drop_back());
  branch.erase();
  return grown.getResults().back();
}

/// Lets the divisor count the greatest of the sums that lanes had in steps as it is rounded: where one key has nearly
/// all of a row's weight, that is its weight.
void ConditionalRescaler::countMaxSums() {
  builder.setInsertionPointAfter(loop);
  Value sums = WarpReduceOp::create(builder, loc, loop.getResult(*maxSums), /*max=*/true);
  // Out of branches that the end is not in: rows without keys have no weights.
  while (!sums.getParentBlock()->findAncestorOpInBlock(*end))
    sums = yieldAlso(cast<scf::IfOp>(sums.getDefiningOp()->getParentOp()), sums, 0.0f);
  end.getMaxWeightMutable().assign(sums);
  end.setRounded(cast<VectorType>(step.getWeights().getType()).getElementType());
}

void ConditionalRescaler::run() {
  // Under dropout, the product may not take the greatest weight.
  if (!step.getNumbers())
    end = findEnd(loop.getResult(softmax.sum));
  largest = splat(builder, step.getSum(), findLargestSum(step, /*counted=*/static_cast<bool>(end)));
  if (end)
    carryMaxSums();
  findChanging();

  SoftmaxOp keeping = keepMaxima();
  Operation *last = loop.getBody()->getTerminator();
  builder.setInsertionPoint(last);
  // The sums of this step alone tell.
  Value parts = keeping.getNewSum(), isOther = buildIsOther(builder, step, carried(softmax.max));
  Value isLarge = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGT, parts, largest);
  Value some = AnyOp::create(builder, loc, builder.getI1Type(),
                             arith::OrIOp::create(builder, loc, isLarge, isOther).getResult());
  SmallVector<Type> types = llvm::map_to_vector(changing, [&](unsigned n) { return carried(n).getType(); });
  auto branch = scf::IfOp::create(builder, loc, types, some, /*withElseRegion=*/true);
  builder.setInsertionPointToEnd(branch.thenBlock());
  yieldRenewed(parts, isOther);
  builder.setInsertionPointToEnd(branch.elseBlock());
  yieldKept(keeping);
  if (end)
    countMaxSums();
  for (auto [number, result] : llvm::zip_equal(changing, branch.getResults()))
    last->setOperand(number, result);
  softmax.scaling.erase();
  step.erase();
}

namespace {
struct RescaleOnOverflow : attnc::tile::impl::TileRescaleOnOverflowBase<RescaleOnOverflow> {
  void runOnOperation() override {
    auto pipeline = getOperation().getPipelineAttr();
    if (!pipeline || pipeline.getRescaling() != attnc::attn::Rescaling::OnOverflow)
      return;
    SmallVector<scf::ForOp> loops;
    getOperation()->walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      if (std::optional<LoopSoftmax> softmax = match(loop)) {
        ConditionalRescaler(loop, *softmax).run();
        ++numReusing;
      }
  }
};
} // namespace
