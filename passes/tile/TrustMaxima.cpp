//===- TrustMaxima.cpp - Weights by the maxima so far -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Row maxima keep weights in the range of their type, and any number near them does: the same one divides in the end.
// Those of the first step mostly do for a whole row. Looking for new ones costs a step of 128 keys a third of its
// instructions, and nothing can run before they are there.
//===----------------------------------------------------------------------===//

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "passes/tile/Passes.h"
#include "passes/tile/RoundedWeights.h"
#include "passes/tile/RowVectors.h"
#include <limits>

namespace attnc::tile {
#define GEN_PASS_DEF_TILETRUSTMAXIMA
#include "passes/tile/Passes.h.inc"
} // namespace attnc::tile

using namespace mlir;
using namespace attnc::tile;

/// What the weights of a lane's part of a row may add up to in a step, and so each of them be: f16 holds no more than
/// 65504. bf16 holds more, but products with values and their sums over a row need octaves of their own. Without the
/// greatest weight's rounding in the divisor (`countRounded`), a row with one key must not lose the exact weight of its
/// maximum too often. docs/rationale/online-softmax.md derives all three.
static constexpr float largestOfHalf = 0x1p15f, largestOfWide = 0x1p60f, largestUncounted = 0x1p20f;

namespace {

/// The softmax in a skewed loop: the numbers of its state, and the operations of a step that make the next.
struct Softmax {
  unsigned max = 0, sum = 0, out = 0;
  Value maximum;                    ///< what the step yields as the first of these
  ReduceOp maxima;                  ///< of the logits
  MapOp weights;                    ///< in f32 for the sums, and narrow for the product
  unsigned narrowResult = 0;        ///< the number of the latter
  ReduceOp sums;                    ///< of the weights, onto the rescaled sums before
  MapOp scaling;                    ///< of the output
  SetVector<Operation *> followers; ///< what depends on the step's row maxima, these included
};

} // namespace

/// The step's row maxima, where it has one reduction to them.
static ReduceOp findMaxima(Block &body) {
  ReduceOp maxima;
  for (auto reduce : body.getOps<ReduceOp>()) {
    if (reduce.getKind() != ReduceKind::Max)
      continue;
    if (maxima)
      return {};
    maxima = reduce;
  }
  return maxima;
}

/// Finds the weights that `softmax` sums: one result of their map is narrow, for the product.
static LogicalResult matchWeights(Softmax &softmax) {
  softmax.weights = softmax.sums.getSource().getDefiningOp<MapOp>();
  if (!softmax.weights || !softmax.followers.contains(softmax.weights))
    return failure();
  auto isNarrow = [](Type type) { return cast<VectorType>(type).getElementTypeBitWidth() == 16; };
  auto types = softmax.weights->getResultTypes();
  softmax.narrowResult = std::distance(types.begin(), llvm::find_if(types, isNarrow));
  return success(llvm::count_if(types, isNarrow) == 1);
}

/// Finds the softmax of `loop`: sums and an output that are multiplied by the same row factors, and the maxima that
/// these come from.
static std::optional<Softmax> match(scf::ForOp loop) {
  Block &body = *loop.getBody();
  Softmax softmax;
  softmax.maxima = findMaxima(body);
  if (!softmax.maxima)
    return std::nullopt;
  ForwardSliceOptions inBody;
  inBody.inclusive = true;
  inBody.filter = [&](Operation *op) { return op->getBlock() == &body && !op->hasTrait<OpTrait::IsTerminator>(); };
  getForwardSlice(softmax.maxima.getOperation(), &softmax.followers, inBody);
  softmax.followers = topologicalSort(softmax.followers);

  std::optional<unsigned> max;
  for (auto [number, yielded] : llvm::enumerate(loop.getYieldedValues())) {
    Operation *maker = yielded.getDefiningOp();
    // Row factors of a step that no other reads.
    if (!maker || !softmax.followers.contains(maker) || loop.getRegionIterArg(number).use_empty())
      continue;
    auto reduce = dyn_cast<ReduceOp>(maker);
    auto map = dyn_cast<MapOp>(maker);
    bool isRow = cast<VectorType>(yielded.getType()).getRank() == 1;
    if (reduce && reduce.getKind() == ReduceKind::Add && reduce.getPartial()) {
      softmax.sums = reduce;
      softmax.sum = number;
    } else if (isRow) {
      if (max)
        return std::nullopt;
      max = number;
    } else if (map && map.getNumResults() == 1 && map.getTiles().size() == 1 && map.getRows().size() == 1 &&
               !map.getMostlyOne() && map.getTiles()[0].getDefiningOp<MmaOp>() && map.getResult(0).hasOneUse()) {
      softmax.scaling = map;
      softmax.out = number;
    }
  }
  if (!max || !softmax.sums || !softmax.scaling || failed(matchWeights(softmax)))
    return std::nullopt;
  softmax.max = *max;
  softmax.maximum = loop.getYieldedValues()[*max];
  auto rescaled = softmax.sums.getAcc().getDefiningOp<arith::MulFOp>();
  if (!rescaled || rescaled.getLhs() != loop.getRegionIterArg(softmax.sum) ||
      rescaled.getRhs() != softmax.scaling.getRows()[0])
    return std::nullopt;
  return softmax;
}

/// What weights are multiplied by before they are rounded, or null: kept ones, under dropout.
static Value findFactor(const Softmax &softmax) {
  MapOp weights = softmax.weights;
  Block &body = weights.getBody().front();
  SetVector<Operation *> makers;
  BackwardSliceOptions inBody;
  inBody.filter = [&](Operation *op) { return op->getBlock() == &body; };
  if (failed(getBackwardSlice(body.getTerminator()->getOperand(softmax.narrowResult), &makers, inBody)))
    return {};
  for (Operation *op : makers)
    if (auto product = dyn_cast<arith::MulFOp>(op);
        product && product.getLhs().getDefiningOp<math::Exp2Op>() && product.getRhs().getParentBlock() != &body)
      return product.getRhs();
  return {};
}

/// The largest sum for weights as `softmax` has them, in each row. `factor` multiplies them before they are rounded;
/// `counted` is whether the divisor takes their rounding in.
static Value createLargestSum(OpBuilder &builder, const Softmax &softmax, Value rows, Value factor, bool counted) {
  MapOp weights = softmax.weights;
  bool isHalf = cast<VectorType>(weights.getResult(softmax.narrowResult).getType()).getElementType().isF16();
  if (!isHalf)
    return splat(builder, rows, counted ? largestOfWide : largestUncounted);
  if (!factor)
    return splat(builder, rows, largestOfHalf);
  Location loc = weights.getLoc();
  // A step may compute what dropout multiplies by.
  OpBuilder::InsertionGuard guard(builder);
  if (weights->getParentRegion()->isAncestor(factor.getParentRegion()))
    builder.setInsertionPointAfterValue(factor);
  Value half = arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(largestOfHalf));
  return vector::BroadcastOp::create(builder, loc, rows.getType(),
                                     arith::DivFOp::create(builder, loc, half, factor).getResult());
}

/// What tells rows by their maxima among `followers`: ones that have none, and ones so large that they go another way.
static SmallVector<arith::CmpFOp> findTests(const Softmax &softmax, Value maximum) {
  SmallVector<arith::CmpFOp> tests;
  for (Operation *op : softmax.followers)
    if (auto test = dyn_cast<arith::CmpFOp>(op); test && matchPattern(test.getRhs(), m_Constant())) {
      auto magnitude = test.getLhs().getDefiningOp<math::AbsFOp>();
      if (test.getLhs() == maximum || (magnitude && magnitude.getOperand() == maximum))
        tests.push_back(test);
    }
  return tests;
}

/// Whether a row without a maximum passes `test`.
static bool holdsForNone(arith::CmpFOp test) {
  using Predicate = arith::CmpFPredicate;
  Predicate predicate = test.getPredicate();
  if (test.getLhs().getDefiningOp<math::AbsFOp>())
    return predicate == Predicate::UGE || predicate == Predicate::OGE;
  return predicate == Predicate::OEQ && matchPattern(test.getRhs(), m_NegInfFloat());
}

/// The rows whose maxima `before` some of `tests` tell from others, those that have none among them.
static Value buildTests(OpBuilder &builder, ArrayRef<arith::CmpFOp> tests, Value maximum, Value before) {
  // One of magnitudes finds infinite ones as well.
  auto magnitudes = llvm::find_if(
      tests, [](arith::CmpFOp test) { return test.getLhs().getDefiningOp<math::AbsFOp>() && holdsForNone(test); });
  IRMapping mapping;
  mapping.map(maximum, before);
  Value some;
  for (arith::CmpFOp test : tests) {
    bool isOther = magnitudes != tests.end() && test != *magnitudes && holdsForNone(test);
    if (isOther)
      continue;
    if (Operation *magnitude = test.getLhs().getDefiningOp<math::AbsFOp>())
      builder.clone(*magnitude, mapping);
    Value found = builder.clone(*test, mapping)->getResult(0);
    some = some ? arith::OrIOp::create(builder, test.getLoc(), some, found).getResult() : found;
  }
  if (some && llvm::any_of(tests, holdsForNone))
    return some;
  Value none = arith::CmpFOp::create(builder, before.getLoc(), arith::CmpFPredicate::OEQ, before,
                                     splat(builder, before, -std::numeric_limits<float>::infinity()));
  return some ? arith::OrIOp::create(builder, before.getLoc(), some, none).getResult() : none;
}

namespace {

/// Rewrites one loop.
class Truster {
public:
  Truster(scf::ForOp loop, Softmax softmax)
      : loop(loop), softmax(std::move(softmax)), builder(loop), loc(loop.getLoc()) {}

  void run();

private:
  Value carried(unsigned number) { return loop.getRegionIterArg(number); }
  Value made(unsigned number) { return loop.getYieldedValues()[number]; }

  void carryGreatest();
  void findChanging();
  void yieldRenewed(Value parts, Value isOther);
  void yieldTrusted(Value parts);
  void trustMaxima(ArrayRef<arith::CmpFOp> tests);
  void countGreatest();

  scf::ForOp loop;
  Softmax softmax;
  OpBuilder builder;
  Location loc;
  Value largest;                    ///< what the sums of a step may come to
  std::optional<unsigned> greatest; ///< the number of the greatest sums so far, where the loop carries them
  SmallVector<unsigned> changing;   ///< the numbers of what a step makes by its maxima
};

} // namespace

/// Makes the loop carry the greatest sums of its lanes, of all steps but those that have maxima of their own: in these
/// the greatest weight is a power of two, which rounding leaves as it is.
void Truster::carryGreatest() {
  greatest = loop.getNumResults();
  IRRewriter rewriter(loop.getContext());
  rewriter.setInsertionPoint(loop);
  Value none = splat(rewriter, carried(softmax.sum), 0.0f);
  NewYieldValuesFn keep = [](OpBuilder &, Location, ArrayRef<BlockArgument> added) {
    return SmallVector<Value>(added.begin(), added.end());
  };
  auto grown = loop.replaceWithAdditionalYields(rewriter, none, /*replaceInitOperandUsesInLoop=*/false, keep);
  loop = cast<scf::ForOp>(grown->getOperation());
}

void Truster::findChanging() {
  for (auto [number, value] : llvm::enumerate(loop.getYieldedValues()))
    if (Operation *maker = value.getDefiningOp(); maker && softmax.followers.contains(maker))
      changing.push_back(number);
  if (greatest)
    changing.push_back(*greatest);
}

/// Ends a step some of whose rows have outgrown their references, or have none: it is done as it was, with maxima.
void Truster::yieldRenewed(Value parts, Value isOther) {
  // Lanes that share a row agree.
  Value total = TotalOp::create(builder, loc, parts, /*greatest=*/true);
  Value isLarge = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGT, total, largest);
  Value isOutgrown = arith::OrIOp::create(builder, loc, isLarge, isOther);
  IRMapping mapping;
  Value maximum = softmax.maximum;
  for (Operation *op : softmax.followers) {
    builder.clone(*op, mapping);
    // Rows next to one that has outgrown its maximum keep theirs: a row's result is its own.
    if (op == maximum.getDefiningOp())
      mapping.map(maximum,
                  arith::SelectOp::create(builder, loc, isOutgrown, mapping.lookup(maximum), carried(softmax.max)));
  }
  if (greatest) {
    Value grown = arith::MaxNumFOp::create(builder, loc, carried(*greatest), parts);
    mapping.map(made(*greatest), arith::SelectOp::create(builder, loc, isOutgrown, splat(builder, total, 0.0f), grown));
  }
  scf::YieldOp::create(builder, loc, llvm::map_to_vector(changing, [&](unsigned number) {
                         return mapping.lookupOrDefault(made(number));
                       }));
}

/// Ends a step whose rows keep their references.
void Truster::yieldTrusted(Value parts) {
  IRMapping mapping;
  mapping.map(made(softmax.max), carried(softmax.max));
  if (greatest)
    mapping.map(made(*greatest), arith::MaxNumFOp::create(builder, loc, carried(*greatest), parts));
  mapping.map(made(softmax.sum), arith::AddFOp::create(builder, loc, carried(softmax.sum), parts));
  mapping.map(made(softmax.out), softmax.scaling.getTiles()[0]);
  scf::YieldOp::create(builder, loc, llvm::map_to_vector(changing, [&](unsigned number) {
                         return mapping.lookupOrDefault(made(number));
                       }));
}

/// Takes the references that the loop carries for the maxima of the step, which is for rows that `tests` do not find.
void Truster::trustMaxima(ArrayRef<arith::CmpFOp> tests) {
  Operation *yield = loop.getBody()->getTerminator();
  Value maximum = softmax.maximum;
  for (arith::CmpFOp test : tests) {
    builder.setInsertionPoint(test);
    test.replaceAllUsesWith(
        arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(cast<ShapedType>(test.getType()), false))
            .getResult());
  }
  maximum.replaceUsesWithIf(carried(softmax.max), [&](OpOperand &use) {
    return use.getOwner()->getBlock() == loop.getBody() && use.getOwner() != yield;
  });
  softmax.scaling.erase();
  softmax.sums.erase();
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
void Truster::countGreatest() {
  arith::DivFOp reciprocal = findReciprocal(loop.getResult(softmax.sum));
  builder.setInsertionPointAfter(loop);
  Value sums = TotalOp::create(builder, loc, loop.getResult(*greatest), /*greatest=*/true);
  // Out of branches that the division is not in: rows without keys have no weights.
  while (!sums.getParentBlock()->findAncestorOpInBlock(*reciprocal))
    sums = yieldAlso(cast<scf::IfOp>(sums.getDefiningOp()->getParentOp()), sums, 0.0f);
  Type narrow = cast<VectorType>(softmax.weights.getResult(softmax.narrowResult).getType()).getElementType();
  countRounded(reciprocal, sums, narrow);
}

void Truster::run() {
  Value factor = findFactor(softmax);
  bool counted = !factor && findReciprocal(loop.getResult(softmax.sum));
  largest = createLargestSum(builder, softmax, carried(softmax.sum), factor, counted);
  if (counted)
    carryGreatest();
  findChanging();

  // The sums of this step alone tell. Adding to -0 changes nothing, whatever is added.
  Operation *yield = loop.getBody()->getTerminator();
  builder.setInsertionPoint(yield);
  Value parts = ReduceOp::create(builder, loc, ReduceKind::Add, softmax.sums.getSource(),
                                 splat(builder, carried(softmax.sum), -0.0f), /*partial=*/true);
  SmallVector<arith::CmpFOp> tests = findTests(softmax, softmax.maximum);
  Value isOther = buildTests(builder, tests, softmax.maximum, carried(softmax.max));
  Value isLarge = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGT, parts, largest);
  Value some = AnyOp::create(builder, loc, builder.getI1Type(),
                             arith::OrIOp::create(builder, loc, isLarge, isOther).getResult());
  SmallVector<Type> types = llvm::map_to_vector(changing, [&](unsigned n) { return carried(n).getType(); });
  auto branch = scf::IfOp::create(builder, loc, types, some, /*withElseRegion=*/true);
  builder.setInsertionPointToEnd(branch.thenBlock());
  yieldRenewed(parts, isOther);
  builder.setInsertionPointToEnd(branch.elseBlock());
  yieldTrusted(parts);
  for (auto [number, result] : llvm::zip_equal(changing, branch.getResults()))
    yield->setOperand(number, result);
  trustMaxima(tests);
  if (greatest)
    countGreatest();
}

namespace {
struct TrustMaxima : attnc::tile::impl::TileTrustMaximaBase<TrustMaxima> {
  void runOnOperation() override {
    auto pipeline = getOperation().getPipelineAttr();
    if (!pipeline || !pipeline.getOptimistic())
      return;
    SmallVector<scf::ForOp> loops;
    getOperation()->walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      if (std::optional<Softmax> softmax = match(loop)) {
        Truster(loop, std::move(*softmax)).run();
        ++numTrusting;
      }
  }
};
} // namespace
