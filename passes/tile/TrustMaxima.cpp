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
#include "passes/tile/RowVectors.h"
#include <limits>

namespace attnc::tile {
#define GEN_PASS_DEF_TILETRUSTMAXIMA
#include "passes/tile/Passes.h.inc"
} // namespace attnc::tile

using namespace mlir;
using namespace attnc::tile;

/// What the weights of a lane's part of a row may add up to, and so each of them be: far above what weights of at most
/// 1 do in a step. docs/rationale/online-softmax.md derives both numbers. f16 holds no more than 65504. bf16 holds far
/// more, but a row with one key must not lose the exact 1 of its maximum too often.
static constexpr float largestOfHalf = 0x1p15f, largestOfWide = 0x1p20f;

namespace {

/// The softmax in a skewed loop: the numbers of its state, and the operations of a step that make the next.
struct Softmax {
  unsigned max = 0, sum = 0, out = 0;
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

/// Finds the softmax of `loop`: sums and an output that are multiplied by the same row factors, and the maxima that
/// these come from.
static std::optional<Softmax> match(scf::ForOp loop) {
  Block &body = *loop.getBody();
  ReduceOp maxima = findMaxima(body);
  if (!maxima)
    return std::nullopt;
  Softmax softmax;
  ForwardSliceOptions inBody;
  inBody.inclusive = true;
  inBody.filter = [&](Operation *op) { return op->getBlock() == &body && !op->hasTrait<OpTrait::IsTerminator>(); };
  getForwardSlice(maxima.getOperation(), &softmax.followers, inBody);
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
  if (!max || !softmax.sums || !softmax.scaling)
    return std::nullopt;
  softmax.max = *max;
  auto rescaled = softmax.sums.getAcc().getDefiningOp<arith::MulFOp>();
  if (!rescaled || rescaled.getLhs() != loop.getRegionIterArg(softmax.sum) ||
      rescaled.getRhs() != softmax.scaling.getRows()[0])
    return std::nullopt;
  return softmax;
}

/// The step as it was, with new maxima for the rows that have outgrown theirs; gives what the followers among
/// `yielded` become.
static SmallVector<Value> cloneStep(OpBuilder &builder, const Softmax &softmax, Value outgrown, Value before,
                                    ValueRange yielded) {
  IRMapping mapping;
  Value maximum = yielded[softmax.max];
  for (Operation *op : softmax.followers) {
    builder.clone(*op, mapping);
    // Rows beside one that has outgrown its maximum keep theirs: a row's result is its own.
    if (op == maximum.getDefiningOp())
      mapping.map(maximum, arith::SelectOp::create(builder, op->getLoc(), outgrown, mapping.lookup(maximum), before));
  }
  return llvm::map_to_vector(yielded, [&](Value value) { return mapping.lookupOrDefault(value); });
}

/// What f16 weights are multiplied by before they are rounded, or null: kept ones, under dropout.
static Value findFactor(MapOp weights) {
  for (Value yielded : weights.getBody().front().getTerminator()->getOperands()) {
    if (!yielded.getType().isF16())
      continue;
    SetVector<Operation *> makers;
    BackwardSliceOptions inBody;
    inBody.filter = [&](Operation *op) { return op->getBlock() == yielded.getParentBlock(); };
    if (failed(getBackwardSlice(yielded, &makers, inBody)))
      continue;
    for (Operation *op : makers)
      if (auto product = dyn_cast<arith::MulFOp>(op); product && product.getLhs().getDefiningOp<math::Exp2Op>() &&
                                                      product.getRhs().getParentBlock() != yielded.getParentBlock())
        return product.getRhs();
  }
  return {};
}

/// The largest sum for weights as `softmax` has them, in each row.
static Value createLargestSum(OpBuilder &builder, Softmax &softmax, Value rows) {
  auto weights = softmax.sums.getSource().getDefiningOp<MapOp>();
  bool isHalf = !weights || llvm::any_of(weights.getResultTypes(),
                                         [](Type type) { return cast<VectorType>(type).getElementType().isF16(); });
  Value factor = weights ? findFactor(weights) : Value();
  if (!factor)
    return splat(builder, rows, isHalf ? largestOfHalf : largestOfWide);
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

static void trust(scf::ForOp loop, Softmax &softmax) {
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  Value largest = createLargestSum(builder, softmax, loop.getRegionIterArg(softmax.sum));
  builder.setInsertionPoint(yield);
  Value maximum = loop.getYieldedValues()[softmax.max], before = loop.getRegionIterArg(softmax.max);
  Value sum = loop.getRegionIterArg(softmax.sum);
  SmallVector<unsigned> changing;
  for (auto [number, value] : llvm::enumerate(loop.getYieldedValues()))
    if (Operation *maker = value.getDefiningOp(); maker && softmax.followers.contains(maker))
      changing.push_back(number);
  SmallVector<Value> made(loop.getYieldedValues());
  SmallVector<Type> types = llvm::map_to_vector(changing, [&](unsigned number) { return made[number].getType(); });

  // The sums of this step alone tell. Adding to -0 changes nothing, whatever is added.
  Value part = ReduceOp::create(builder, loc, ReduceKind::Add, softmax.sums.getSource(), splat(builder, sum, -0.0f),
                                /*partial=*/true);
  SmallVector<arith::CmpFOp> tests = findTests(softmax, maximum);
  Value isOther = buildTests(builder, tests, maximum, before);
  auto isOutgrown = [&](Value sums) -> Value {
    Value large = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGT, sums, largest);
    return arith::OrIOp::create(builder, loc, large, isOther);
  };
  Value some = AnyOp::create(builder, loc, builder.getI1Type(), isOutgrown(part));
  auto branch = scf::IfOp::create(builder, loc, types, some, /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(branch.thenBlock());
    // Lanes that share a row agree.
    Value outgrown = isOutgrown(TotalOp::create(builder, loc, part, /*greatest=*/true));
    SmallVector<Value> again = cloneStep(builder, softmax, outgrown, before, made);
    scf::YieldOp::create(builder, loc, llvm::map_to_vector(changing, [&](unsigned number) { return again[number]; }));
    builder.setInsertionPointToEnd(branch.elseBlock());
    made[softmax.max] = before;
    made[softmax.sum] = arith::AddFOp::create(builder, loc, sum, part);
    made[softmax.out] = softmax.scaling.getTiles()[0];
    scf::YieldOp::create(builder, loc, llvm::map_to_vector(changing, [&](unsigned number) { return made[number]; }));
  }
  for (auto [number, result] : llvm::zip_equal(changing, branch.getResults()))
    yield->setOperand(number, result);
  // The step that trusts is for rows that the tests do not find.
  for (arith::CmpFOp test : tests) {
    builder.setInsertionPoint(test);
    test.replaceAllUsesWith(
        arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(cast<ShapedType>(test.getType()), false))
            .getResult());
  }
  maximum.replaceUsesWithIf(
      before, [&](OpOperand &use) { return use.getOwner()->getBlock() == loop.getBody() && use.getOwner() != yield; });
  softmax.scaling.erase();
  softmax.sums.erase();
}

namespace {
struct TrustMaxima : attnc::tile::impl::TileTrustMaximaBase<TrustMaxima> {
  void runOnOperation() override {
    auto pipeline = getOperation().getPipelineAttr();
    if (!pipeline || !pipeline.getOptimistic())
      return;
    getOperation()->walk([&](scf::ForOp loop) {
      if (std::optional<Softmax> softmax = match(loop)) {
        trust(loop, *softmax);
        ++numTrusting;
      }
    });
  }
};
} // namespace
