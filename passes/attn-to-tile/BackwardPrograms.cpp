//===- BackwardPrograms.cpp - Tile programs of gradients --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Two loops. What follows from the LSE and the output of a row is computed once, by the first program.
//===----------------------------------------------------------------------===//

#include "passes/attn-to-tile/BackwardPrograms.h"
#include "passes/attn-to-tile/GradientWriter.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::attn;

//===----------------------------------------------------------------------===//
// Tiles of queries
//===----------------------------------------------------------------------===//

SmallVector<Value> GradientWriter::queryStep(Value query, Value outGradient, const ColumnStep &step,
                                             const Statistics &statistics, ValueRange state) {
  Value first = step.first;
  Value keys = b.loadColumns(op.getKey(), first, /*masked=*/false);
  Value values = b.loadColumns(op.getValue(), first, /*masked=*/false);
  Value products = product(query, keys), weightProducts = productAhead(outGradient, values);
  Logits logits = buildLogits(products, first, /*wantsSlope=*/true);
  Weights weights = probabilities(logits, step, statistics);
  if (!weightProducts)
    weightProducts = product(outGradient, values);
  SmallVector<CapturedGradient> wanted = capturedOf({CapturedForm::Tiles, CapturedForm::QuerySums, CapturedForm::Sums});
  LogitGradients gradients =
      logitGradients(weights, logits, weightProducts, first, statistics, /*wantsLogits=*/true, wanted);
  SmallVector<Value> next{accumulate(gradients.logits, keys, state[0])};
  for (auto [one, tile] : llvm::zip_equal(wanted, gradients.captured)) {
    if (one.form == CapturedForm::Tiles)
      b.storeCapturedTile(existing(tile), one, first);
    else
      next.push_back(addColumns(tile, state[next.size()]));
  }
  return next;
}

GradientWriter::Statistics GradientWriter::storeStatistics(Value outGradient) {
  auto [offset, delta] = buildStatistics(outGradient);
  b.storeStatistic(b.offsetStatistic(), offset);
  b.storeStatistic(b.deltaStatistic(), delta);
  return {offset, delta, /*ofRows=*/true};
}

void GradientWriter::writeStatistics() {
  b.buildGeometry();
  // Stores go on while the loads below are on their way.
  b.clearQuerySums();
  storeStatistics(b.loadRows(op.getDOut()));
}

void GradientWriter::writeConvertedSums() {
  b.buildGeometry();
  b.storeRows(scaled(b.loadQuerySums(), b.buildScale()), op.getDQuery());
}

void GradientWriter::writeQueryGradient() {
  b.buildGeometry();
  b.buildCaptures();
  ColumnBounds bounds = b.buildBounds();
  Value query = b.loadRows(op.getQuery()), outGradient = b.loadRows(op.getDOut());
  Statistics statistics = storeStatistics(outGradient);
  storeUnvisited(bounds);
  SmallVector<CapturedGradient> summed = capturedOf({CapturedForm::QuerySums, CapturedForm::Sums});
  SmallVector<Value> initial{zeros(dimOf(op.getQuery()))};
  llvm::append_range(initial, emptySums(summed));
  SmallVector<Value> sums = b.overColumns(initial, bounds, [&](const ColumnStep &step, ValueRange state) {
    return queryStep(query, outGradient, step, statistics, state);
  });
  b.storeRows(scaled(sums[0], b.buildScale()), op.getDQuery());
  storeSums(summed, ArrayRef(sums).drop_front());
}

//===----------------------------------------------------------------------===//
// Tiles of keys
//===----------------------------------------------------------------------===//

void GradientWriter::share(Value tile) { tile::ShareOp::create(builder, loc, tile, Value()); }

Value GradientWriter::takeShared() {
  auto type = VectorType::get({b.getRows(), b.getColumns()}, element);
  return tile::TakeOp::create(builder, loc, tile::SharedTileType::get(builder.getContext(), type));
}

GradientWriter::Weights GradientWriter::handOver(const Weights &weights, Value kept) {
  assert(!weights.numbers && "numbers would be found by both warpgroups");
  bool areSame = weights.all == weights.ofGradients && !element.isF16();
  Value narrow = areSame ? kept : b.buildMap(weights.ofGradients, {}, {}, element, [&](ValueRange x) -> Value {
    Value raised = x[0];
    if (element.isF16())
      raised = arith::MulFOp::create(builder, loc, raised, b.f32(handedOverFactor));
    return arith::TruncFOp::create(builder, loc, element, raised);
  });
  share(narrow);
  Value read = tile::ReadOp::create(builder, loc, narrow.getType(), takeShared(), /*transposed=*/false);
  Weights handed{Value(), read, Value(), weights.areMarked};
  handed.areHandedOver = true;
  return handed;
}

Value GradientWriter::queryGradients(Value gradients, Value key) {
  auto part = VectorType::get({b.getColumns(), dimOf(op.getQuery())}, builder.getF32Type());
  return b.product(gradients, key, b.splat(part, 0), /*transposed=*/false, /*leftTransposed=*/true);
}

void GradientWriter::addOfStep(Value tile, Value first) {
  Value place = order ? order->place : Value(), after = order ? b.findPlaceBefore(*order, first) : Value();
  b.addToQuerySums(tile, b.rowOfQuerySums(first), place, after);
}

void GradientWriter::addOfStepBefore(Value tile, const KeySums &sums) {
  b.addToQuerySums(tile, sums.previous, order ? order->place : Value(), sums.after);
}

SmallVector<Value> GradientWriter::keyStep(Value key, Value value, const ColumnStep &step, KeySums sums) {
  Value first = step.first;
  // What queries get of the step before is multiplied first or last: other consumers have shared their part by then.
  PipelineAttr pipeline = b.getPipeline();
  bool queriesFirst = sums.previous && pipeline && pipeline.getOverlap() == Overlap::QueriesFirst;
  bool queriesLast = sums.previous && !queriesFirst;
  Value queries = b.loadColumns(op.getQuery(), first, /*masked=*/false);
  Value outGradients = b.loadColumns(op.getDOut(), first, /*masked=*/false);
  // Statistics that come straight from memory come ahead of the products, since it is far; others when they are wanted,
  // since they take registers, or where there are enough, with what is awaited anyway. A consumer is held up while it
  // starts a product, so LSEs are read before the start of dP, and are there when weights are computed.
  Statistics statistics{{}, {}, /*ofRows=*/false};
  Value shared = b.sharesStatistics() ? b.loadColumnStatistics(first) : Value();
  auto rowOf = [&](int64_t number) -> Value {
    return tile::RowOp::create(builder, loc, b.columnType(builder.getF32Type()), number, shared);
  };
  if (!shared) {
    statistics.offset = b.loadColumnStatistic(b.offsetStatistic(), first);
    statistics.delta = sums.key ? b.loadColumnStatistic(b.deltaStatistic(), first) : Value();
  } else if (queriesFirst) {
    statistics.offset = rowOf(0);
    statistics.delta = rowOf(1);
  }
  Value ofQueries = queriesFirst ? queryGradients(takeShared(), key) : Value();
  Value products = product(key, queries);
  if (queriesLast && !statistics.offset)
    statistics.offset = rowOf(0);
  Value weightProducts = sums.key ? productAhead(value, outGradients) : Value();
  if (!statistics.offset)
    statistics.offset = rowOf(0);
  Logits logits = buildLogits(products, first, /*wantsSlope=*/static_cast<bool>(sums.key));
  Weights weights = probabilities(logits, step, statistics);
  if (sums.key && sums.value)
    weights = mark(weights);
  // Warps that have some of a row's columns each share what products take of whole rows.
  bool sharesRows = b.sharesRows(), queriesInStep = sums.hasReducer || sharesRows;
  Value kept = sums.value ? keptWeights(weights) : Value();
  if (sums.ofReducer)
    weights = handOver(weights, kept);
  if (sharesRows)
    share(kept);
  else if (sums.value)
    sums.value = accumulate(kept, outGradients, sums.value);
  if (queriesFirst)
    addOfStepBefore(ofQueries, sums);
  if (sums.key) {
    if (!weightProducts)
      weightProducts = product(value, outGradients);
    if (!statistics.delta)
      statistics.delta = rowOf(1);
    LogitGradients gradients = logitGradients(weights, logits, weightProducts, first, statistics, /*wantsLogits=*/true,
                                              capturedOf({CapturedForm::KeySums}));
    if (queriesFirst || queriesInStep)
      share(gradients.logits);
    else if (queriesLast)
      ofQueries = queryGradients(takeShared(), key);
    // Both are shared by now, so that one barrier serves products with either.
    if (sharesRows)
      sums.value = accumulate(takeShared(), outGradients, sums.value);
    Value ofLogits = queriesInStep ? takeShared() : Value();
    auto addQueries = [&] { addOfStep(queryGradients(ofLogits, key), first); };
    if (sums.hasReducer)
      addQueries();
    sums.key = accumulate(sharesRows ? ofLogits : gradients.logits, queries, sums.key);
    // The next step's queries may come meanwhile.
    if (sharesRows)
      addQueries();
    if (queriesLast) {
      addOfStepBefore(ofQueries, sums);
      share(gradients.logits);
    }
    if (sums.previous)
      sums.previous = b.rowOfQuerySums(first);
    if (sums.after)
      sums.after = b.findPlaceBefore(*order, first);
    for (auto [tile, sum] : llvm::zip_equal(gradients.captured, sums.captured))
      sum = addColumns(tile, sum);
  }
  return sums.values();
}

void GradientWriter::writeKeyGradients(bool ofKeys, bool ofValues, bool ofQueries) {
  b.buildGeometry();
  // Gradients of queries are sums over the rows: weights of 0 make NaN of all that is no number.
  auto load = [&](Value tensor) { return b.loadRows(tensor, /*anyBeyond=*/!ofQueries); };
  Value key = load(op.getKey()), value = ofKeys ? load(op.getValue()) : Value();
  KeySums sums{ofKeys ? zeros(dimOf(op.getKey())) : Value(), ofValues ? zeros(dimOf(op.getValue())) : Value()};
  SmallVector<CapturedGradient> summed;
  if (ofKeys)
    summed = capturedOf({CapturedForm::KeySums});
  // The steps of the head at hand, or of all of the group together.
  auto ofHeads = [&](ValueRange state, bool together) {
    b.buildCaptures();
    ColumnBounds bounds = b.buildBounds();
    // Gradients of queries are sums over the rows. A score may be no number for keys that do not exist, and without one
    // what 0 is taken times may be beyond the type.
    if (ofQueries)
      bounds = b.maskRows(bounds);
    if (ofQueries && b.ordersQuerySums())
      order = b.buildAddingOrder();
    KeySums before = sums.with(state);
    before.captured = emptySums(summed);
    bool hasReducer = b.getPipeline() && b.getPipeline().getReducerRegisters() > 0;
    before.hasReducer = ofQueries && hasReducer;
    before.ofReducer = !ofQueries && hasReducer;
    bool isLate = ofQueries && !before.hasReducer && !b.sharesRows();
    if (isLate) {
      // Each step takes what the step before it has shared, and the first one this, which goes nowhere.
      Value none = b.splat(VectorType::get({b.getRows(), b.getColumns()}, element), 0);
      share(none);
      before.previous = b.endOfQuerySums();
      before.after = order ? b.index(0) : Value();
    }
    auto body = [&](const ColumnStep &step, ValueRange inner) { return keyStep(key, value, step, before.with(inner)); };
    KeySums after = before.with(together ? b.overColumnsOfHeads(before.values(), bounds, body)
                                         : b.overColumns(before.values(), bounds, body));
    if (isLate)
      addOfStepBefore(queryGradients(takeShared(), key), after);
    storeSums(summed, after.captured);
    return after.gradients();
  };
  KernelOpInterface kernel = op;
  int64_t group = kernel.getQueryHeads() / kernel.getKeyHeads();
  auto headOf = [&](Value number) { return b.add(b.mul(b.getGeometry().keyHead, b.index(group)), number); };
  if (group == 1) {
    sums = sums.with(ofHeads(sums.values(), /*together=*/false));
  } else if (summed.empty() && b.mayJoinHeads()) {
    b.setHead(headOf(b.index(0)));
    sums = sums.with(ofHeads(sums.values(), /*together=*/true));
  } else {
    auto loop = scf::ForOp::create(builder, loc, b.index(0), b.index(group), b.index(1), sums.values());
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(loop.getBody());
    b.setHead(headOf(loop.getInductionVar()));
    scf::YieldOp::create(builder, loc, ofHeads(loop.getRegionIterArgs(), /*together=*/false));
    sums = sums.with(loop.getResults());
  }
  if (sums.key)
    b.storeRows(scaled(sums.key, b.buildScale()), op.getDKey());
  if (sums.value)
    b.storeRows(scaled(sums.value, b.buildKeptFactor()), op.getDValue());
}

//===----------------------------------------------------------------------===//
// Tiles of sinks
//===----------------------------------------------------------------------===//

void GradientWriter::writeSinkGradients() {
  b.buildSinkGeometry();
  Value sinks = b.loadSinks(), zero = b.index(0), none = zeros(b.getColumns());
  Type f32 = builder.getF32Type();
  auto ofColumns = [&](Value sum) -> Value {
    auto loop = scf::ForOp::create(builder, loc, zero, b.getGeometry().query.count, b.index(b.getColumns()), sum);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(loop.getBody());
    Value first = loop.getInductionVar();
    SmallVector<Value> statistics{b.loadColumnStatistic(b.offsetStatistic(), first),
                                  b.loadColumnStatistic(b.deltaStatistic(), first)};
    Value terms = b.buildMap(none, sinks, statistics, f32, [&](ValueRange x) -> Value {
      Value sink = x[1].getType().isF32() ? x[1] : arith::ExtFOp::create(builder, loc, f32, x[1]).getResult();
      Value distance = arith::AddFOp::create(builder, loc, sink, x[2]);
      distance = arith::MinimumFOp::create(builder, loc, distance, b.f32(0));
      distance = arith::MulFOp::create(builder, loc, distance, b.f32(unit.perNatural()));
      Value probability = unit.power(builder, loc, distance);
      return arith::SubFOp::create(builder, loc, x[0], arith::MulFOp::create(builder, loc, probability, x[3]));
    });
    scf::YieldOp::create(builder, loc, addColumns(terms, loop.getRegionIterArg(0)));
    return loop.getResult(0);
  };
  auto overRange = [&](Value end, Value sum, function_ref<Value(Value, Value)> body) -> Value {
    auto loop = scf::ForOp::create(builder, loc, zero, end, b.index(1), sum);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(loop.getBody());
    scf::YieldOp::create(builder, loc, body(loop.getInductionVar(), loop.getRegionIterArg(0)));
    return loop.getResult(0);
  };
  KernelOpInterface kernel = op;
  auto ofHead = [&](Value sum) -> Value {
    if (kernel.isPacked()) {
      b.setBatch({});
      return ofColumns(sum);
    }
    return overRange(b.viewDim(b.lookup(op.getQuery()), 0), sum, [&](Value batch, Value inner) {
      b.setBatch(batch);
      return ofColumns(inner);
    });
  };
  Value sum = b.splat(b.rowType(f32), 0);
  if (cast<RankedTensorType>(op.getSinks().getType()).getRank() == 2)
    sum = ofHead(sum);
  else
    sum = overRange(b.index(kernel.getQueryHeads()), sum, [&](Value head, Value inner) {
      b.setHead(head);
      return ofHead(inner);
    });
  Type type = cast<RankedTensorType>(op.getSinks().getType()).getElementType();
  if (!type.isF32())
    sum = arith::TruncFOp::create(builder, loc, b.rowType(type), sum);
  b.storeSinkGradient(sum, op.getDSinks());
}

void attnc::attn::writeQueryGradient(TileBuilder &b, BackwardOp op) {
  GradientWriter(b, op).writeQueryGradient();
  b.finish();
}

void attnc::attn::writeStatistics(TileBuilder &b, BackwardOp op) {
  GradientWriter(b, op).writeStatistics();
  b.finish();
}

void attnc::attn::writeConvertedSums(TileBuilder &b, BackwardOp op) {
  GradientWriter(b, op).writeConvertedSums();
  b.finish();
}

void attnc::attn::writeKeyGradients(TileBuilder &b, BackwardOp op, bool ofKeys, bool ofValues, bool ofQueries) {
  GradientWriter(b, op).writeKeyGradients(ofKeys, ofValues, ofQueries);
  b.finish();
}

void attnc::attn::writeSinkGradients(TileBuilder &b, BackwardOp op) {
  GradientWriter(b, op).writeSinkGradients();
  b.finish();
}
