//===- LowerSoftmax.cpp - The online softmax as arithmetic ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/tile/Philox.h"
#include "dialect/tile/TileOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "passes/tile/ExponentTerms.h"
#include "passes/tile/Passes.h"
#include "passes/tile/RowVectors.h"
#include <limits>

namespace attnc::tile {
#define GEN_PASS_DEF_TILELOWERSOFTMAX
#include "passes/tile/Passes.h.inc"
} // namespace attnc::tile

using namespace mlir;
using namespace attnc::tile;

static constexpr float infinity = std::numeric_limits<float>::infinity();
static constexpr float ln2 = 0.693147180559945309417f;

namespace {

/// Lowers one step.
class StepLowering {
public:
  StepLowering(SoftmaxOp op, bool hasPipeline)
      : op(op), unit(op.getUnit()), hasPipeline(hasPipeline), builder(op), loc(op.getLoc()) {}

  void run();

private:
  Value constant(float value) { return splat(builder, op.getMax(), value); }
  Value multiply(Value a, Value b) { return arith::MulFOp::create(builder, loc, a, b); }
  Value raiseByOctaves(Value before, Value now);
  Value findMaximum();
  void buildRows();
  SmallVector<Value> rowsOfWeights();
  Value buildExponent(Value element, ValueRange rows);
  std::pair<Value, Value> buildWeights();
  Value addTo(Value sum, Value weights);

  SoftmaxOp op;
  ExponentUnit unit;
  bool hasPipeline;
  OpBuilder builder;
  Location loc;
  Reference reference;
  RowTerms terms;  ///< of fused exponents
  Value rest;      ///< t of split ones
  Value shrinkage; ///< the exponent of row factors; null where the maximum is fixed
};

} // namespace

/// `before`, raised by whole octaves of weights to `now` or, by less than one, above it.
Value StepLowering::raiseByOctaves(Value before, Value now) {
  float octaves = unit.factor / unit.perOctave();
  Value growth = multiply(arith::SubFOp::create(builder, loc, now, before), constant(octaves));
  Value whole = math::CeilOp::create(builder, loc, growth);
  return math::FmaOp::create(builder, loc, whole, constant(1 / octaves), before);
}

/// The maximum with this tile's scores; one that is rescaled on growth stays unless it has grown by 8 octaves: weights
/// stay below 2^8 then, and most steps need not rescale. The same maximum divides in the end, so that the result stays
/// exact.
Value StepLowering::findMaximum() {
  Value before = op.getMax(), own = op.getOwnMax();
  Value now = own ? arith::MaxNumFOp::create(builder, loc, before, own).getResult()
                  : ReduceOp::create(builder, loc, ReduceKind::Max, op.getScores(), before).getResult();
  if (op.getRescaleOnGrowth()) {
    constexpr float octaves = 8;
    Value growth = arith::SubFOp::create(builder, loc, now, before);
    Value scaled = multiply(growth, constant(unit.factor));
    Value isGrown =
        arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGT, scaled, constant(octaves * unit.perOctave()));
    now = arith::SelectOp::create(builder, loc, isGrown, now, before);
  }
  if (!op.getRenewed())
    return now;
  Value inWholeOctaves = raiseByOctaves(before, now);
  return arith::SelectOp::create(builder, loc, op.getRenewed(), now, inWholeOctaves);
}

/// What rows have of their own: what exponents are made of, and by how much references have grown since the last step,
/// of the same numbers, so that all weights of a row keep one scale.
void StepLowering::buildRows() {
  Value before = op.getMax(), factors = constant(unit.factor), growth, change;
  if (op.getFixed()) {
    if (op.getExponent() != Exponent::Exact)
      terms = {factors, buildOffsets(builder, unit, before, factors)};
    return;
  }
  if (op.getExponent() == Exponent::Fused)
    terms = buildTerms(builder, unit, reference);
  else if (op.getExponent() == Exponent::Split)
    rest = buildRest(builder, unit, reference);
  switch (op.getExponent()) {
  case Exponent::Exact:
    growth = arith::SubFOp::create(builder, loc, before, reference.number);
    shrinkage = multiply(growth, factors);
    return;
  case Exponent::Fused:
    shrinkage = arith::SubFOp::create(builder, loc, terms.offsets, buildOffsets(builder, unit, before, terms.factors));
    return;
  case Exponent::Split:
    growth = arith::SubFOp::create(builder, loc, before, reference.number);
    change = arith::SubFOp::create(builder, loc, buildRest(builder, unit, {before, before}), rest);
    shrinkage = math::FmaOp::create(builder, loc, growth, factors, change);
    return;
  }
}

/// The row vectors that `buildExponent` reads.
SmallVector<Value> StepLowering::rowsOfWeights() {
  switch (op.getExponent()) {
  case Exponent::Exact:
    return {reference.number};
  case Exponent::Fused:
    return {terms.offsets, terms.factors};
  case Exponent::Split:
    if (op.getFixed())
      return {terms.offsets};
    return {reference.number, rest};
  }
  llvm_unreachable("all kinds of exponents are above");
}

/// The exponent of an element's weight from the element and what `rowsOfWeights` are for its row.
Value StepLowering::buildExponent(Value element, ValueRange rows) {
  Value row = rows[0];
  if (op.getExponent() == Exponent::Fused)
    return math::FmaOp::create(builder, loc, element, /*factor*/ rows[1], row);
  auto number = [&](float value) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(value));
  };
  // A fixed number is near all scores: rounded offsets are exact enough.
  if (op.getExponent() == Exponent::Split && op.getFixed())
    return math::FmaOp::create(builder, loc, element, number(unit.factor), row);
  // The difference first: it is exact near the maximum, where a product of its own would be off by as much as its last
  // bit, which is large for large logits.
  Value exponent = arith::SubFOp::create(builder, loc, element, row);
  if (op.getExponent() == Exponent::Split)
    return math::FmaOp::create(builder, loc, exponent, number(unit.factor), /*rest*/ rows[1]);
  if (unit.factor != 1)
    exponent = multiply(exponent, number(unit.factor));
  if (unit.headroom)
    exponent = arith::SubFOp::create(builder, loc, exponent, number(unit.lowering()));
  return exponent;
}

/// The weights, in f32 for the sums and as the product takes them.
std::pair<Value, Value> StepLowering::buildWeights() {
  OpBuilder::InsertionGuard guard(builder);
  auto wide = cast<VectorType>(op.getScores().getType()), narrow = cast<VectorType>(op.getWeights().getType());
  SmallVector<Value> rows = rowsOfWeights();
  SmallVector<Value> tiles{op.getScores()};
  if (op.getNumbers())
    tiles.push_back(op.getNumbers());
  auto map = MapOp::create(builder, loc, TypeRange{wide, narrow}, tiles, rows, ValueRange{}, op.getI(), op.getJ());
  Type f32 = builder.getF32Type(), index = builder.getIndexType();
  SmallVector<Type> types{f32};
  if (op.getNumbers())
    types.push_back(builder.getI16Type());
  types.append(rows.size(), f32);
  types.append({index, index});
  Block *body = builder.createBlock(&map.getBody(), {}, types, SmallVector<Location>(types.size(), loc));
  ValueRange ofRows = body->getArguments().drop_front(tiles.size());
  Value exponent = buildExponent(body->getArgument(0), ofRows);
  Value weight = unit.power(builder, loc, exponent), kept = weight;
  weight.getDefiningOp()->setAttr(weightAttrName, builder.getUnitAttr());
  // Without a pipeline, no pass takes another number for the maximum.
  if (!hasPipeline && !op.getFixed() && !op.getRescaleOnGrowth())
    weight.getDefiningOp()->setAttr(nonpositiveAttrName, builder.getUnitAttr());
  if (op.getNumbers())
    kept = buildKept(builder, loc, weight, body->getArgument(1), op.getDropoutThreshold());
  if (narrow.getElementType() != f32)
    kept = arith::TruncFOp::create(builder, loc, narrow.getElementType(), kept);
  YieldOp::create(builder, loc, ValueRange{weight, kept});
  return {map.getResult(0), map.getResult(1)};
}

Value StepLowering::addTo(Value sum, Value weights) {
  if (hasPipeline)
    return ReduceOp::create(builder, loc, ReduceKind::Add, weights, sum, op.getPartial());
  // Among themselves first: next to a great sum, that of sinks say, small weights would be rounded one by one.
  Value added = ReduceOp::create(builder, loc, ReduceKind::Add, weights, constant(0));
  return arith::AddFOp::create(builder, loc, sum, added);
}

void StepLowering::run() {
  Value maximum = op.getMax(), sum = op.getSum(), shrink;
  reference = {maximum, maximum};
  if (!op.getFixed()) {
    maximum = findMaximum();
    // 0 for a row that has kept nothing, so that no difference of infinities arises (S7).
    Value isEmpty = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, maximum, constant(-infinity));
    reference = {arith::SelectOp::create(builder, loc, isEmpty, constant(0), maximum), maximum};
  }
  buildRows();
  if (shrinkage) {
    shrink = unit.power(builder, loc, shrinkage);
    sum = multiply(sum, shrink);
  } else if (!op.getShrink().use_empty()) {
    shrink = constant(1);
  }
  auto [wide, narrow] = buildWeights();
  op.getNewMax().replaceAllUsesWith(maximum);
  op.getNewSum().replaceAllUsesWith(addTo(sum, wide));
  op.getWeights().replaceAllUsesWith(narrow);
  if (shrink)
    op.getShrink().replaceAllUsesWith(shrink);
  op.erase();
}

/// A rounded offset b of -m c - h gives the maximum's weight an exponent fma(m, c, b) that is not -h, so that it is no
/// power of two, and conversion rounds it. Where m c is so large that r is not small (up to 8 at 2^27), one key mostly
/// has all the weight: with its rounding in the divisor, its part is exact again. A power of more than 2^127 would be
/// none any more: |m c| may not reach 2^31. Null where exponents are exact.
///
/// With rescaling on growth, m is the greatest logit by which the row was rescaled last. That has the weight 2^r; one
/// that passed it by less than the threshold was rounded from another power, and is as exact as any weight.
static Value buildWeightOfMaximum(OpBuilder &builder, SoftmaxEndOp op, Reference reference) {
  ExponentUnit unit = op.getUnit();
  Value exponent;
  if (op.getExponent() == Exponent::Exact)
    return {};
  if (op.getExponent() == Exponent::Split) {
    exponent = buildRest(builder, unit, reference);
  } else {
    RowTerms terms = buildTerms(builder, unit, reference);
    exponent = math::FmaOp::create(builder, op.getLoc(), reference.number, terms.factors, terms.offsets);
  }
  return unit.power(builder, op.getLoc(), exponent);
}

/// The divisor of the rows of `op`: their sums, with what their greatest weights changed by when they were rounded, in
/// rows of whose weight that is half or more.
static Value buildDivisor(OpBuilder &builder, SoftmaxEndOp op, Reference reference) {
  Location loc = op.getLoc();
  Value sums = op.getSum(), weight = buildWeightOfMaximum(builder, op, reference), maxWeight = op.getMaxWeight();
  if (weight && maxWeight)
    maxWeight = arith::MaxNumFOp::create(builder, loc, maxWeight, weight);
  else if (weight)
    maxWeight = weight;
  if (!maxWeight)
    return sums;
  auto rows = cast<VectorType>(maxWeight.getType());
  Value rounded = arith::TruncFOp::create(builder, loc, rows.clone(*op.getRounded()), maxWeight);
  Value back = arith::ExtFOp::create(builder, loc, rows, rounded);
  Value rounding = arith::SubFOp::create(builder, loc, back, maxWeight);
  Value twice = arith::AddFOp::create(builder, loc, maxWeight, maxWeight);
  Value isMost = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGE, twice, sums);
  rounding = arith::SelectOp::create(builder, loc, isMost, rounding, splat(builder, maxWeight, 0.0f));
  return arith::AddFOp::create(builder, loc, sums, rounding);
}

static void lower(SoftmaxEndOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  ExponentUnit unit = op.getUnit();
  auto constant = [&](float value) { return splat(builder, op.getMax(), value); };
  auto isOf = [&](arith::CmpFPredicate predicate, Value rows, float value) -> Value {
    return arith::CmpFOp::create(builder, loc, predicate, rows, constant(value));
  };
  Value isEmpty = isOf(arith::CmpFPredicate::OEQ, op.getSum(), 0);
  if (op.getPadding())
    isEmpty = arith::OrIOp::create(builder, loc, isEmpty, op.getPadding());
  auto buildFinite = [&]() -> Value {
    Value max = op.getMax();
    if (matchPattern(max, m_Constant())) // One that is fixed is there in all rows.
      return max;
    Value isNone = isOf(arith::CmpFPredicate::OEQ, max, -infinity);
    return arith::SelectOp::create(builder, loc, isNone, constant(0), max);
  };
  Value finite = op.getRounded() ? buildFinite() : Value();
  Value divisor = finite ? buildDivisor(builder, op, {finite, op.getMax()}) : op.getSum();
  Value reciprocal = arith::DivFOp::create(builder, loc, constant(1), divisor);
  Value factors = arith::SelectOp::create(builder, loc, isEmpty, constant(0), reciprocal);

  if (!finite)
    finite = buildFinite();
  Value max = arith::MulFOp::create(builder, loc, finite, constant(unit.factor / unit.perNatural()));
  if (Value sink = op.getSink()) {
    Value isAbove = isOf(arith::CmpFPredicate::OGT, op.getMax(), std::numeric_limits<float>::lowest());
    Value greater = arith::MaximumFOp::create(builder, loc, max, sink);
    max = arith::SelectOp::create(builder, loc, isAbove, greater, sink);
  }
  auto flags = op.getApproximate() ? arith::FastMathFlags::afn : arith::FastMathFlags::none;
  Value log = math::LogOp::create(builder, loc, op.getSum(), flags);
  if (unit.headroom)
    log = arith::AddFOp::create(builder, loc, log, constant(static_cast<float>(unit.headroom) * ln2));
  Value logSum = arith::AddFOp::create(builder, loc, max, log);
  op.getLse().replaceAllUsesWith(arith::SelectOp::create(builder, loc, isEmpty, constant(-infinity), logSum));
  op.getFactors().replaceAllUsesWith(factors);
  op.erase();
}

namespace {
struct LowerSoftmax : attnc::tile::impl::TileLowerSoftmaxBase<LowerSoftmax> {
  void runOnOperation() override {
    bool hasPipeline = getOperation().getPipelineAttr() != nullptr;
    getOperation()->walk([&](Operation *op) {
      if (auto step = dyn_cast<SoftmaxOp>(op))
        StepLowering(step, hasPipeline).run();
      else if (auto end = dyn_cast<SoftmaxEndOp>(op))
        lower(end);
    });
  }
};
} // namespace
