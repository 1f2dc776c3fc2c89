//===- ForwardWriter.cpp - The steps of programs of forward -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "passes/attn-to-tile/ForwardWriter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/attn/ScoreRange.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace attnc;
using namespace attnc::attn;

static constexpr float infinity = std::numeric_limits<float>::infinity();

SmallVector<Value> ForwardWriter::State::values() const {
  return llvm::to_vector(llvm::make_filter_range(ArrayRef{out, max, sum}, [](Value value) { return !!value; }));
}

ForwardWriter::State ForwardWriter::State::with(ValueRange values) const {
  State state;
  for (auto [from, to] : {std::pair(out, &state.out), std::pair(max, &state.max), std::pair(sum, &state.sum)})
    if (from) {
      *to = values.front();
      values = values.drop_front();
    }
  return state;
}

ForwardWriter::ForwardWriter(ModuleOp module, const KernelFunction &function, KernelOpInterface kernel,
                             ScheduleAttr schedule, StringRef name)
    : b(module, function, kernel, schedule, name), kernel(kernel), schedule(schedule), builder(b.builder), loc(b.loc),
      listed(hasBlockMask(kernel, schedule)) {}

Value ForwardWriter::equals(Value x, float value) {
  return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, x, constant(value));
}

Value ForwardWriter::finiteMax(Value max) {
  return arith::SelectOp::create(builder, loc, equals(max, -infinity), constant(0), max);
}

void ForwardWriter::chooseUnit() {
  // Weights of f32 are results themselves: what the power of 2 of a GPU lacks would be seen in each, and averaged in
  // none.
  unit.octaves = b.countsOctaves() && !(b.isExact() && isa<WeightsOp>(kernel.getOperation()));
  unit.factor = b.getScoreUnit() * unit.perNatural();
  if (b.getPipeline() && isa<ForwardOp>(kernel.getOperation()))
    unit.headroom = b.getPipeline().getHeadroom();
  if (!kernel.getScore().empty() || kernel.getScale())
    return;
  float scale = kernel.getLiteralScale();
  if (!(scale > smallestUnit))
    return;
  rawLogits = true;
  unit.factor = scale * unit.perNatural();
}

/// Row maxima keep weights in range. Scores with limits need none, and their weights leave no room for more headroom,
/// whatever the schedule says.
void ForwardWriter::chooseReference() {
  std::optional<ScoreRange> range = findNarrowRange(kernel);
  // Parts leave maxima.
  if (!b.getPipeline() || !range || schedule.isSplit())
    return;
  unsigned digits = APFloat::semanticsPrecision(cast<FloatType>(elementType()).getFloatSemantics());
  reference = static_cast<float>(findCommonReference(*range, digits) / b.getScoreUnit());
  unit.headroom = 0;
}

/// Maximum and sum of a row that has seen its sinks only (S6): they are logits in natural units.
std::pair<Value, Value> ForwardWriter::sinkState() {
  Value view = b.lookup(kernel.getSinks());
  auto type = cast<MemRefType>(view.getType());
  bool ofHeads = type.getRank() == 2;
  auto load = [&](int64_t n) -> Value {
    auto loadOf = [&](Value head) -> Value {
      SmallVector<Value> indices{b.index(n)};
      if (ofHeads)
        indices.insert(indices.begin(), head);
      Value sink = memref::LoadOp::create(builder, loc, view, indices);
      return sink.getType().isF32() ? sink
                                    : arith::ExtFOp::create(builder, loc, builder.getF32Type(), sink).getResult();
    };
    return ofHeads ? b.gatherHeads(loadOf) : loadOf({});
  };
  // One number for the tile, or one for each of its rows.
  bool inRows = ofHeads && b.getHeads() > 1;
  auto number = [&](float value) { return inRows ? constant(value) : b.f32(value); };
  int64_t count = type.getShape().back();
  SmallVector<Value> sinks;
  for (int64_t n = 0; n < count; ++n)
    sinks.push_back(load(n));
  Value max = number(-infinity), sum = number(0);
  for (Value sink : sinks)
    max = arith::MaximumFOp::create(builder, loc, max, sink);
  // Sinks of -inf take nothing away; their differences from a maximum of -inf would be NaN (S7).
  Value none = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, max, number(-infinity));
  Value finite = arith::SelectOp::create(builder, loc, none, number(0), max);
  for (Value sink : sinks) {
    Value distance = arith::SubFOp::create(builder, loc, sink, finite);
    Value exponent = arith::MulFOp::create(builder, loc, distance, number(unit.perNatural()));
    sum = arith::AddFOp::create(builder, loc, sum, unit.power(builder, loc, exponent));
  }
  if (unit.headroom)
    sum = arith::MulFOp::create(builder, loc, sum, number(std::exp2(-static_cast<float>(unit.headroom))));
  Value inUnits = arith::MulFOp::create(builder, loc, max, number(unit.perNatural() / unit.factor));
  // In a small unit, a large sink may be beyond f32: it still outweighs all logits, or none.
  if (unit.factor < unit.perNatural()) {
    constexpr float greatest = std::numeric_limits<float>::max();
    inUnits = arith::MinimumFOp::create(builder, loc, inUnits, number(greatest));
    inUnits = arith::MaximumFOp::create(builder, loc, inUnits, number(-greatest));
    inUnits = arith::SelectOp::create(builder, loc, none, max, inUnits);
    greatestSink = inRows ? max : b.broadcast(max);
  }
  return inRows ? std::pair(inUnits, sum) : std::pair(b.broadcast(inUnits), b.broadcast(sum));
}

ForwardWriter::State ForwardWriter::initialState() {
  State state;
  if (Value value = valueOrNull()) {
    int64_t dim = cast<RankedTensorType>(value.getType()).getShape().back();
    state.out = b.splat(b.tileType(dim, builder.getF32Type()), 0);
  }
  state.sum = constant(0);
  if (kernel.getSinks()) {
    std::tie(state.max, state.sum) = sinkState();
    // Of all parts one has them.
    if (Value isFirst = b.isFirstPart()) {
      state.max = arith::MinimumFOp::create(builder, loc, state.max, b.choose(isFirst, infinity, -infinity));
      state.sum = arith::MulFOp::create(builder, loc, state.sum, b.choose(isFirst, 1, 0));
    }
    // Next to a sink's weight of 1, small ones that are alike would all be rounded the same way. Results of f32 show
    // that.
    if (b.isExact()) {
      lateSinks.max = state.max;
      lateSinks.sum = state.sum;
      state.sum = constant(0);
    }
  } else if (!reference)
    state.max = constant(-infinity);
  return state;
}

/// Logits of the query tile and the keys from j on.
Value ForwardWriter::logits(Value query, Value j, const ColumnBounds &bounds, bool masked) {
  Value keys = b.loadColumns(kernel.getKey(), j, /*masked=*/true);
  Value zero = b.splat(b.tileType(b.getColumns(), builder.getF32Type()), 0);
  Value scores = b.product(query, keys, zero, /*transposed=*/true);
  if (!rawLogits)
    scores = b.buildScore(scores, j);
  return masked ? b.buildMask(scores, j, bounds) : scores;
}

ForwardWriter::State ForwardWriter::step(Value query, Value j, State state, const ColumnBounds &bounds, bool masked) {
  // They wait for nothing, and so come before the logits.
  Value numbers = b.buildNumbers(j);
  Value scores = logits(query, j, bounds, masked);
  Value max = reference ? constant(*reference) : state.max;
  tile::SoftmaxOp softmax = b.buildSoftmax(scores, max, state.sum, unit, j, numbers, elementType());
  softmax.setFixed(reference.has_value());
  softmax.setRescaleOnGrowth(!reference && rescalesOnGrowth());
  if (!reference)
    state.max = softmax.getNewMax();
  state.sum = softmax.getNewSum();
  if (state.out) {
    Value values = b.loadColumns(valueOrNull(), j, /*masked=*/false);
    if (!reference)
      state.out = b.scaleRows(state.out, softmax.getShrink(), builder.getF32Type(), rescalesOnGrowth());
    state.out = b.product(softmax.getWeights(), values, state.out, /*transposed=*/false);
  }
  return state;
}

/// Reciprocal row sums and LSE. Rows past the queries of a padded sequence are empty (S11).
tile::SoftmaxEndOp ForwardWriter::finish(State state) {
  Value padding;
  if (kernel.getQueryLengths()) {
    Value one = arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(b.rowType(builder.getI1Type()), true));
    padding = arith::XOrIOp::create(builder, loc, b.buildRowExists(), one);
  }
  Value max = reference ? constant(*reference) : state.max;
  if (lateSinks.sum)
    state.sum = arith::AddFOp::create(builder, loc, state.sum, weightsOfPart(lateSinks, finiteMax(max)));
  auto end = tile::SoftmaxEndOp::create(builder, loc, max, state.sum, padding, greatestSink, unit);
  end.setApproximate(!b.isExact());
  return end;
}

/// What rows of the output, or of the weights, are multiplied by.
Value ForwardWriter::outputFactors(tile::SoftmaxEndOp end) {
  if (!kernel.getSeed())
    return end.getFactors();
  return arith::MulFOp::create(builder, loc, end.getFactors(), b.broadcast(b.buildKeptFactor()));
}

/// Multiplies by reciprocal row sums. Rows past the queries of a padded sequence may hold anything.
Value ForwardWriter::divideRows(Value tile, Value factors, Type element) {
  bool hasPadding = static_cast<bool>(kernel.getQueryLengths());
  return b.scaleRows(tile, factors, element, /*mostlyOne=*/false, /*zeroDrops=*/hasPadding);
}

void ForwardWriter::storeOutput(ForwardOp op, State state, tile::SoftmaxEndOp end) {
  Type element = cast<RankedTensorType>(op.getOut().getType()).getElementType();
  b.storeRows(divideRows(state.out, outputFactors(end), element), op.getOut());
}

void ForwardWriter::storeResults(ForwardOp op, State state, tile::SoftmaxEndOp end) {
  if (state.out)
    storeOutput(op, state, end);
  if (b.isReturned(op.getLse()))
    b.storeRowVector(end.getLse(), op.getLse());
}

void ForwardWriter::writeForward(ForwardOp op, State state) {
  OpBuilder::InsertionGuard guard(builder);
  // A tile without rows has no keys either. On a GPU its results would take as long as others.
  if (Value holds = b.getGeometry().holds; holds && b.getPipeline()) {
    auto branch = scf::IfOp::create(builder, loc, holds);
    builder.setInsertionPoint(branch.thenBlock()->getTerminator());
  }
  storeResults(op, state, finish(state));
}

/// A second walk over the keys, now that maxima and sums are known; it visits all, since every weight is stored.
void ForwardWriter::writeWeights(WeightsOp op, Value query, State state) {
  Value factors = outputFactors(finish(state)), max;
  if (reference) {
    max = constant(*reference);
  } else {
    // Rows that have kept nothing keep nothing here.
    max = finiteMax(state.max);
  }
  Type element = cast<RankedTensorType>(op.getWeights().getType()).getElementType();
  Value end = memref::DimOp::create(builder, loc, b.lookup(op.getKey()), 1);
  auto loop = scf::ForOp::create(builder, loc, b.index(0), end, b.index(b.getColumns()));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value j = loop.getInductionVar(), zero = b.index(0);
  Value scores = logits(query, j, {zero, zero, zero, end}, /*masked=*/true);
  tile::SoftmaxOp softmax = b.buildSoftmax(scores, max, constant(0), unit, j, b.buildNumbers(j), builder.getF32Type());
  softmax.setFixed(true);
  b.storeWeights(divideRows(softmax.getWeights(), factors, element), op.getWeights(), j);
}

void ForwardWriter::write() {
  chooseUnit();
  chooseReference();
  b.buildGeometry();
  b.buildCaptures();
  ColumnBounds bounds = b.takePart(b.buildBounds());
  Value query = b.loadRows(kernel.getQuery());
  State initial = initialState();
  auto loop = scf::ForOp::create(builder, loc, bounds.low, bounds.high, b.buildColumnStep(), initial.values());
  b.setOverlap(loop);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(loop.getBody());
    Value iv = loop.getInductionVar();
    if (listed)
      bounds.position = iv;
    State before = initial.with(loop.getRegionIterArgs());
    Value j = b.buildColumn(iv);
    scf::YieldOp::create(builder, loc, b.buildStep(j, before.values(), [&](bool masked) {
      return step(query, j, before, bounds, masked).values();
    }));
  }
  State state = initial.with(loop.getResults());
  if (schedule.isSplit())
    writePart(cast<ForwardOp>(kernel.getOperation()), state);
  else if (auto forward = dyn_cast<ForwardOp>(kernel.getOperation()))
    writeForward(forward, state);
  else
    writeWeights(cast<WeightsOp>(kernel.getOperation()), query, state);
  b.finish();
}
