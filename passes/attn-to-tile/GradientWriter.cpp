//===- GradientWriter.cpp - The steps of programs of gradients --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Dao, Fu, Ermon, Rudra and Re, "FlashAttention" (2022), algorithm 4: probabilities are computed again from the saved
// LSE.
//===----------------------------------------------------------------------===//

#include "passes/attn-to-tile/GradientWriter.h"
#include "passes/attn/ElementRegisters.h"
#include "passes/attn/ScoreRange.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace attnc;
using namespace attnc::attn;

static constexpr float infinity = std::numeric_limits<float>::infinity();

GradientWriter::GradientWriter(TileBuilder &b, BackwardOp op) : b(b), op(op), builder(b.builder), loc(b.loc) {
  element = cast<RankedTensorType>(op.getQuery().getType()).getElementType();
  unit.octaves = b.countsOctaves();
  float scale = KernelOpInterface(op).getLiteralScale();
  // Sinks are natural, and may be as large as f32 holds.
  rawLogits = op.getScore().empty() && !op.getScale() && scale > smallestUnit && !op.getSinks();
  unit.factor = rawLogits ? scale * unit.perNatural() : unit.perNatural();
  lseFactor = rawLogits ? unit.perNatural() : 1;
}

Value GradientWriter::product(Value a, Value transposedB) {
  return b.product(a, transposedB, zeros(b.getColumns()), /*transposed=*/true);
}

bool GradientWriter::overlapsProducts() const {
  PipelineAttr pipeline = b.getPipeline();
  return pipeline && pipeline.getStaging() == Staging::Tma;
}

Value GradientWriter::productAhead(Value a, Value transposedB) {
  return overlapsProducts() ? product(a, transposedB) : Value();
}

std::pair<Value, Value> GradientWriter::buildStatistics(Value outGradient) {
  Value out = b.loadRows(op.getOut());
  auto wide = [&](Value x) -> Value {
    return x.getType().isF32() ? x : arith::ExtFOp::create(builder, loc, builder.getF32Type(), x).getResult();
  };
  Value products = b.buildMap({out, outGradient}, {}, {}, builder.getF32Type(), [&](ValueRange x) -> Value {
    return arith::MulFOp::create(builder, loc, wide(x[0]), wide(x[1]));
  });
  VectorType rows = b.rowType(builder.getF32Type());
  Value delta =
      tile::ReduceOp::create(builder, loc, tile::ReduceKind::Add, products, b.splat(rows, 0), /*partial=*/false);
  if (op.getDLse())
    delta = arith::SubFOp::create(builder, loc, delta, b.loadRowVector(op.getDLse()));

  Value lse = b.loadRowVector(op.getLse()), none = b.splat(rows, -infinity);
  Value isEmpty = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, lse, b.splat(rows, -infinity));
  Value offset = arith::MulFOp::create(builder, loc, lse, b.splat(rows, -lseFactor));
  offset = arith::SelectOp::create(builder, loc, isEmpty, none, offset);
  if (op.getQueryLengths()) {
    // Rows past the lengths may hold anything.
    Value exists = b.buildRowExists();
    offset = arith::SelectOp::create(builder, loc, exists, offset, none);
    delta = arith::SelectOp::create(builder, loc, exists, delta, b.splat(rows, 0));
  }
  return {offset, delta};
}

GradientWriter::Logits GradientWriter::buildLogits(Value products, Value first, bool wantsSlope) {
  if (rawLogits)
    return {products, products, {}};
  if (!wantsSlope || !hasSlope(op))
    return {products, b.buildNaturalScore(products, first), {}};
  auto [scores, slope] = b.buildScoreAndSlope(products, first);
  return {products, scores, slope};
}

GradientWriter::Weights GradientWriter::probabilities(const Logits &logits, const ColumnStep &step,
                                                      const Statistics &statistics) {
  Value scores = logits.scores;
  if (step.masked)
    scores = b.buildMask(scores, step.first, step.bounds);
  auto exponential = [&](ValueRange x) {
    auto inUnit = [&](Value value) -> Value {
      return unit.factor == 1 ? value : arith::MulFOp::create(builder, loc, value, b.f32(unit.factor)).getResult();
    };
    // Scores may be as large as f32 holds, and have no number in octaves then.
    Value distance = rawLogits ? arith::AddFOp::create(builder, loc, inUnit(x.front()), x.back())
                               : inUnit(arith::AddFOp::create(builder, loc, x.front(), x.back()));
    // Huge scores are above their LSE by its rounding, which may be more than any exponent.
    distance = arith::MinimumFOp::create(builder, loc, distance, b.f32(0));
    return unit.power(builder, loc, distance);
  };
  Type f32 = builder.getF32Type();
  SmallVector<Value> rows = statistics.rows({statistics.offset}), columns = statistics.columns({statistics.offset});
  if (!logits.slope) {
    Value weights = b.buildMap(scores, rows, columns, f32, exponential);
    return {weights, weights, b.buildNumbers(step.first)};
  }
  SmallVector<Value> both = b.buildMaps({scores, logits.slope}, rows, columns, {f32, f32}, [&](ValueRange x) {
    Value weight = exponential(x);
    return SmallVector<Value>{weight, unlessZero(weight, arith::MulFOp::create(builder, loc, weight, x[1]))};
  });
  return {both[0], both[1], b.buildNumbers(step.first)};
}

GradientWriter::Weights GradientWriter::mark(const Weights &weights) {
  if (!weights.numbers || weights.ofGradients != weights.all)
    return weights;
  return {weights.all, b.markDropped(weights.all, weights.numbers), Value(), /*areMarked=*/true};
}

Value GradientWriter::isKept(Value weight) {
  Value bits = arith::BitcastOp::create(builder, loc, builder.getI32Type(), weight);
  Value zero = arith::ConstantIntOp::create(builder, loc, builder.getI32Type(), 0);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, bits, zero);
}

Value GradientWriter::keptWeights(const Weights &weights) {
  if (!weights.areMarked)
    return b.buildDropout(weights.all, weights.numbers, element);
  return b.buildMap(weights.ofGradients, {}, {}, element, [&](ValueRange x) -> Value {
    Value kept = arith::SelectOp::create(builder, loc, isKept(x[0]), x[0], b.f32(0));
    return element.isF32() ? kept : arith::TruncFOp::create(builder, loc, element, kept).getResult();
  });
}

Value GradientWriter::unlessZero(Value factor, Value product) {
  Value none = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, factor, b.f32(0));
  return arith::SelectOp::create(builder, loc, none, b.f32(0), product);
}

GradientWriter::LogitGradients GradientWriter::logitGradients(const Weights &weights, const Logits &logits,
                                                              Value weightProducts, Value first,
                                                              const Statistics &statistics, bool wantsLogits,
                                                              ArrayRef<CapturedGradient> wanted) {
  Value dropped = b.buildDropout(weightProducts, weights.numbers, builder.getF32Type());
  Value keptFactor = weights.numbers || weights.areMarked ? b.buildKeptFactor() : Value();
  bool isDone = op.getCaptured().empty() && (op.getDerivative().empty() || logits.slope);
  // A slope may be anything where the score has no gradient.
  ScoreRange slopes = logits.slope ? findSlopeRange(op.getDerivative()) : ScoreRange{1, 1};
  bool isFinite = std::abs(slopes.low) < infinity && std::abs(slopes.high) < infinity;
  auto body = [&](ValueRange x) -> Value {
    Value weight = x[0], weightGradient = x[1];
    if (weights.areHandedOver) {
      weight = arith::ExtFOp::create(builder, loc, builder.getF32Type(), weight);
      if (element.isF16())
        weight = arith::MulFOp::create(builder, loc, weight, b.f32(1 / handedOverFactor));
    }
    if (weights.areMarked) {
      weightGradient = arith::SelectOp::create(builder, loc, isKept(weight), weightGradient, b.f32(0));
      weight = math::AbsFOp::create(builder, loc, weight);
    }
    if (keptFactor)
      weightGradient = arith::MulFOp::create(builder, loc, weightGradient, keptFactor);
    Value difference = arith::SubFOp::create(builder, loc, weightGradient, x.back());
    Value gradient = arith::MulFOp::create(builder, loc, weight, difference);
    if (!isFinite)
      gradient = unlessZero(difference, gradient);
    if (!isDone || element.isF32())
      return gradient;
    return arith::TruncFOp::create(builder, loc, element, gradient);
  };
  Value gradients = b.buildMap({weights.ofGradients, dropped}, statistics.rows({statistics.delta}),
                               statistics.columns({statistics.delta}), isDone ? element : builder.getF32Type(), body);
  if (isDone)
    return {gradients, {}};
  SmallVector<unsigned> places;
  if (wantsLogits)
    places.push_back(0);
  for (const CapturedGradient &one : wanted)
    for (unsigned number = 0; number < one.yieldedTypes().size(); ++number)
      places.push_back(one.yielded + number);
  SmallVector<Value> all = b.buildDerivatives(gradients, logits.products, first, places);
  LogitGradients result;
  if (wantsLogits)
    result.logits = all.front();
  result.captured.assign(all.begin() + (wantsLogits ? 1 : 0), all.end());
  if (wantsLogits && !element.isF32())
    result.logits = b.buildMap(result.logits, {}, {}, element, [&](ValueRange x) -> Value {
      return arith::TruncFOp::create(builder, loc, element, x[0]);
    });
  return result;
}

Value GradientWriter::scaled(Value tile, Value scale) {
  Value factors = b.broadcast(scale);
  bool hasPadding = static_cast<bool>(b.getRowAxis() == Coordinate::Key ? op.getKeyLengths() : op.getQueryLengths());
  if (hasPadding)
    factors =
        arith::SelectOp::create(builder, loc, b.buildRowExists(), factors, b.splat(b.rowType(builder.getF32Type()), 0));
  return b.scaleRows(tile, factors, element, /*mostlyOne=*/false, /*zeroDrops=*/hasPadding);
}
