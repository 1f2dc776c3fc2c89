//===- LowerSoftmax.cpp - The online softmax as arithmetic ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/tile/TileOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
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
  Value findMaximum();
  std::pair<Value, Value> buildWeights(Value maximum);
  Value addTo(Value sum, Value weights);

  SoftmaxOp op;
  ExponentUnit unit;
  bool hasPipeline;
  OpBuilder builder;
  Location loc;
};

} // namespace

/// The maximum with this tile's scores; one that is lazy stays unless it has grown by 8 octaves: weights stay below 2^8
/// then, and most steps need not rescale. The same maximum divides in the end, so that the result stays exact.
Value StepLowering::findMaximum() {
  Value before = op.getMax();
  Value now = ReduceOp::create(builder, loc, ReduceKind::Max, op.getScores(), before);
  if (!op.getLazy())
    return now;
  constexpr float octaves = 8;
  Value growth = arith::SubFOp::create(builder, loc, now, before);
  Value scaled = multiply(growth, constant(unit.factor));
  Value isGrown = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGT, scaled,
                                        constant(unit.octaves ? octaves : octaves * ln2));
  return arith::SelectOp::create(builder, loc, isGrown, now, before);
}

/// The weights relative to `maximum`, in f32 for the sums and as the product takes them.
std::pair<Value, Value> StepLowering::buildWeights(Value maximum) {
  OpBuilder::InsertionGuard guard(builder);
  auto wide = cast<VectorType>(op.getScores().getType()), narrow = cast<VectorType>(op.getWeights().getType());
  auto map = MapOp::create(builder, loc, TypeRange{wide, narrow}, ValueRange{op.getScores()}, ValueRange{maximum},
                           ValueRange{}, op.getI(), op.getJ());
  Type f32 = builder.getF32Type(), index = builder.getIndexType();
  Block *body = builder.createBlock(&map.getBody(), {}, {f32, f32, index, index}, {loc, loc, loc, loc});
  auto number = [&](float value) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(value));
  };
  // The difference first: it is exact near the maximum, where a product of its own would be off by as much as its last
  // bit, which is large for large logits. A target with cheaper fused operations may trade that.
  Value exponent = arith::SubFOp::create(builder, loc, body->getArgument(0), body->getArgument(1));
  if (unit.factor != 1)
    exponent = multiply(exponent, number(unit.factor));
  if (unit.headroom)
    exponent = arith::SubFOp::create(builder, loc, exponent, number(unit.headroom * unit.perOctave()));
  Value weight = unit.power(builder, loc, exponent), kept = weight;
  weight.getDefiningOp()->setAttr(weightAttrName, builder.getUnitAttr());
  // Without a pipeline, no pass takes another number for the maximum.
  if (!hasPipeline && !op.getFixed() && !op.getLazy())
    weight.getDefiningOp()->setAttr(nonpositiveAttrName, builder.getUnitAttr());
  if (!op.getKept().empty()) {
    Block &region = op.getKept().front();
    IRMapping mapping;
    mapping.map(region.getArguments(), ValueRange{weight, body->getArgument(2), body->getArgument(3)});
    for (Operation &inner : region.without_terminator())
      builder.clone(inner, mapping);
    kept = mapping.lookupOrDefault(region.getTerminator()->getOperand(0));
  }
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
  Value maximum = op.getMax(), sum = op.getSum(), shrink, reference = maximum;
  if (!op.getFixed()) {
    maximum = findMaximum();
    // 0 for a row that has kept nothing, so that no difference of infinities arises (S7).
    Value isEmpty = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, maximum, constant(-infinity));
    reference = arith::SelectOp::create(builder, loc, isEmpty, constant(0), maximum);
    Value growth = arith::SubFOp::create(builder, loc, op.getMax(), reference);
    shrink = unit.power(builder, loc, multiply(growth, constant(unit.factor)));
    sum = multiply(sum, shrink);
  } else if (!op.getShrink().use_empty()) {
    shrink = constant(1);
  }
  auto [wide, narrow] = buildWeights(reference);
  op.getNewMax().replaceAllUsesWith(maximum);
  op.getNewSum().replaceAllUsesWith(addTo(sum, wide));
  op.getWeights().replaceAllUsesWith(narrow);
  if (shrink)
    op.getShrink().replaceAllUsesWith(shrink);
  op.erase();
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
  Value reciprocal = arith::DivFOp::create(builder, loc, constant(1), op.getSum());
  Value factors = arith::SelectOp::create(builder, loc, isEmpty, constant(0), reciprocal);

  Value finite = op.getMax();
  if (!matchPattern(finite, m_Constant())) // One that is fixed is there in all rows.
    finite = arith::SelectOp::create(builder, loc, isOf(arith::CmpFPredicate::OEQ, finite, -infinity), constant(0), finite);
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
