//===- CapturedPrograms.cpp - Gradients of captured tensors -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Sums that heads and batch entries share come last, from what the other programs have left, and in one order.
//===----------------------------------------------------------------------===//

#include "passes/attn-to-tile/BackwardPrograms.h"
#include "passes/attn-to-tile/GradientWriter.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::attn;

SmallVector<Value> GradientWriter::emptySums(ArrayRef<CapturedGradient> list) {
  return SmallVector<Value>(list.size(), b.splat(b.rowType(builder.getF32Type()), 0));
}

void GradientWriter::storeSums(ArrayRef<CapturedGradient> list, ValueRange sums) {
  for (auto [one, sum] : llvm::zip_equal(list, sums))
    b.storeStatistic(b.sumStatistic(one), sum);
}

Value GradientWriter::existing(Value tile) { return op.getQueryLengths() ? ofExistingRows(tile) : tile; }

Value GradientWriter::ofExistingRows(Value tile) {
  VectorType rows = b.rowType(builder.getF32Type());
  Value factors = arith::SelectOp::create(builder, loc, b.buildRowExists(), b.splat(rows, 1), b.splat(rows, 0));
  return b.scaleRows(tile, factors, builder.getF32Type(), /*mostlyOne=*/false, /*zeroDrops=*/true);
}

void GradientWriter::storeUnvisited(const ColumnBounds &bounds) {
  SmallVector<CapturedGradient> tiles = capturedOf({CapturedForm::Tiles});
  if (tiles.empty())
    return;
  auto overRange = [&](Value low, Value high) {
    auto loop = scf::ForOp::create(builder, loc, low, high, b.index(b.getColumns()));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    for (const CapturedGradient &one : tiles)
      b.storeCapturedTile(zeros(b.getColumns()), one, loop.getInductionVar());
  };
  Value all = b.getGeometry().key.stored, step = b.index(b.getColumns());
  if (!op.getBlocks().empty())
    return overRange(b.index(0), all);
  // The loop goes by whole steps from the first on.
  Value visited = b.max(b.sub(bounds.high, bounds.low), b.index(0));
  Value steps = arith::CeilDivUIOp::create(builder, loc, visited, step);
  overRange(b.index(0), b.min(bounds.low, all));
  overRange(b.add(bounds.low, b.mul(steps, step)), all);
}

GradientWriter::QueryRows GradientWriter::loadQueryRows() {
  Value query = b.loadRows(op.getQuery()), outGradient = b.loadRows(op.getDOut());
  return {query,
          outGradient,
          {b.loadRowStatistic(b.offsetStatistic()), b.loadRowStatistic(b.deltaStatistic()), /*ofRows=*/true}};
}

Value GradientWriter::logitProducts(const QueryRows &rows, Value first) {
  return product(rows.query, b.loadColumns(op.getKey(), first, /*masked=*/false));
}

SmallVector<Value> GradientWriter::capturedGradients(const QueryRows &rows, const ColumnStep &step,
                                                     ArrayRef<CapturedGradient> wanted, Value products,
                                                     function_ref<void()> startNext) {
  Value values = b.loadColumns(op.getValue(), step.first, /*masked=*/false);
  Value ahead = productAhead(rows.outGradient, values);
  startNext();
  Logits logits = buildLogits(products, step.first, /*wantsSlope=*/true);
  Weights weights = probabilities(logits, step, rows.statistics);
  Value weightProducts = ahead ? ahead : product(rows.outGradient, values);
  return logitGradients(weights, logits, weightProducts, step.first, rows.statistics,
                        /*wantsLogits=*/false, wanted)
      .captured;
}

Value GradientWriter::addShared(const CapturedGradient &one, const QueryRows &rows, const ColumnStep &step,
                                Value products, Value sum, function_ref<void()> startNext) {
  Value gradient = existing(capturedGradients(rows, step, one, products, startNext).front());
  return b.buildMap({sum, gradient}, {}, {}, builder.getF32Type(), [&](ValueRange x) -> Value {
    auto next = arith::AddFOp::create(builder, loc, x[0], x[1]);
    // The gradient is a product that nothing else reads.
    next.setFastmath(arith::FastMathFlags::contract);
    return next;
  });
}

SmallVector<Value> GradientWriter::addSharedSteps(const CapturedGradient &one, ArrayRef<Value> steps,
                                                  const ColumnBounds &bounds, bool masked, ValueRange sums) {
  QueryRows rows = loadQueryRows();
  SmallVector<Value> all;
  Value products = logitProducts(rows, steps.front());
  for (size_t number = 0; number < steps.size(); ++number) {
    Value following;
    auto startNext = [&] {
      if (number + 1 < steps.size())
        following = logitProducts(rows, steps[number + 1]);
    };
    all.push_back(addShared(one, rows, {steps[number], bounds, masked}, products, sums[number], startNext));
    products = following;
  }
  return all;
}

SmallVector<Value> GradientWriter::addSharedAsDecided(const CapturedGradient &one, ArrayRef<Value> steps,
                                                      const ColumnBounds &bounds, ValueRange sums) {
  QueryRows rows = loadQueryRows();
  SmallVector<Value> all;
  for (size_t number = 0; number < steps.size(); ++number)
    llvm::append_range(all, b.buildStep(steps[number], sums[number], [&](bool masked) {
      Value products = logitProducts(rows, steps[number]);
      return SmallVector<Value>{
          addShared(one, rows, {steps[number], bounds, masked}, products, sums[number], /*startNext=*/[] {})};
    }));
  return all;
}

void GradientWriter::writeSharedTiles(const CapturedGradient &one) {
  b.buildCapturedGeometry();
  SmallVector<Value> steps = b.listSharedSteps(), none(steps.size(), zeros(b.getColumns()));
  Value first = steps.front(), end = b.add(steps.back(), b.index(b.getColumns()));
  // Whether low < x and y < high, or the same with equality.
  auto areBetween = [&](arith::CmpIPredicate predicate, Value low, Value x, Value y, Value high) -> Value {
    return arith::AndIOp::create(builder, loc, arith::CmpIOp::create(builder, loc, predicate, low, x),
                                 arith::CmpIOp::create(builder, loc, predicate, y, high));
  };
  SmallVector<Value> sums = b.forSharers(none, [&](ValueRange carried) {
    b.buildCaptures();
    ColumnBounds bounds = b.buildBounds();
    auto add = [&](bool masked) { return [&, masked] { return addSharedSteps(one, steps, bounds, masked, carried); }; };
    auto visit = [&] {
      if (b.looksAtSteps())
        return addSharedAsDecided(one, steps, bounds, carried);
      // Elsewhere steps ask for themselves whether all of them is kept.
      if (!overlapsProducts())
        return add(/*masked=*/true)();
      Value all = areBetween(arith::CmpIPredicate::sle, bounds.fullLow, first, end, bounds.fullHigh);
      return b.buildBranch(carried.getTypes(), all, add(/*masked=*/false), add(/*masked=*/true));
    };
    Value some = areBetween(arith::CmpIPredicate::slt, bounds.low, end, first, bounds.high);
    return b.buildBranch(carried.getTypes(), some, visit, [&] { return SmallVector<Value>(carried); });
  });
  for (auto [key, sum] : llvm::zip_equal(steps, sums))
    b.storeCapturedTile(sum, one, key);
}

void GradientWriter::writeBuckets(const CapturedGradient &one) {
  b.buildGeometry();
  b.buildCaptures();
  ColumnBounds bounds = b.buildBounds();
  QueryRows rows = loadQueryRows();
  int64_t count = b.countBucketsOfTile();
  auto bucket = [&](int64_t number) { return b.add(b.getFirstBucket(), b.index(number)); };
  SmallVector<CapturedGradient> each(count, one);
  SmallVector<Value> sums = b.overColumns(emptySums(each), bounds, [&](const ColumnStep &step, ValueRange state) {
    SmallVector<Value> gradients = capturedGradients(rows, step, one, logitProducts(rows, step.first));
    SmallVector<Value> next;
    for (auto [number, sum] : llvm::enumerate(state)) {
      Type i32 = builder.getI32Type(), f32 = builder.getF32Type();
      Value wanted =
          arith::SIToFPOp::create(builder, loc, f32, arith::IndexCastOp::create(builder, loc, i32, bucket(number)));
      Value chosen = b.buildMap(gradients, {}, {}, f32, [&](ValueRange x) -> Value {
        Value isChosen = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, x[1], wanted);
        return arith::SelectOp::create(builder, loc, isChosen, x[0], b.f32(0));
      });
      next.push_back(addColumns(chosen, sum));
    }
    return next;
  });
  for (auto [number, sum] : llvm::enumerate(sums)) {
    // The last tile may have fewer.
    OpBuilder::InsertionGuard guard(builder);
    if (one.countBuckets() % count != 0) {
      Value exists =
          arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, bucket(number), b.index(one.countBuckets()));
      auto branch = scf::IfOp::create(builder, loc, exists);
      builder.setInsertionPoint(branch.thenBlock()->getTerminator());
    }
    b.storeStatistic(b.sumStatistic(one, bucket(number)), sum);
  }
}

void GradientWriter::writeScattered() {
  b.buildGeometry();
  b.buildCaptures();
  ColumnBounds bounds = b.buildBounds();
  QueryRows rows = loadQueryRows();
  SmallVector<CapturedGradient> scattered = capturedOf({CapturedForm::Scattered});
  b.overColumns({}, bounds, [&](const ColumnStep &step, ValueRange) -> SmallVector<Value> {
    SmallVector<Value> gradients = capturedGradients(rows, step, scattered, logitProducts(rows, step.first));
    ArrayRef<Value> yielded = gradients;
    for (const CapturedGradient &one : scattered)
      for (const Axes &read : one.reads) {
        size_t dims = one.computedDims(read).size();
        b.scatterCaptured(ofExistingRows(yielded.front()), one, read, yielded.slice(1, dims), step.first);
        yielded = yielded.drop_front(1 + dims);
      }
    return {};
  });
}

void GradientWriter::writeClearing() {
  b.buildScatteredGeometry();
  b.storeScatteredSums(b.splat(b.rowType(builder.getF32Type()), 0));
}

void GradientWriter::writeSums(const CapturedGradient &one) {
  if (one.form == CapturedForm::Scattered) {
    b.buildScatteredGeometry();
    return b.storeScattered(b.loadScatteredSums());
  }
  b.buildCapturedGeometry();
  TileBuilder::Statistic statistic = b.sumStatistic(one, b.getFirstBucket());
  Type f32 = builder.getF32Type();
  auto addUp = [&](ValueRange carried) -> SmallVector<Value> {
    if (one.form == CapturedForm::QuerySums || one.form == CapturedForm::KeySums)
      return {arith::AddFOp::create(builder, loc, carried.front(), b.loadRowStatistic(statistic))};
    // All rows of the tile are the same sum.
    Value none = zeros(b.getColumns());
    auto loop =
        scf::ForOp::create(builder, loc, b.index(0), b.getGeometry().query.count, b.index(b.getColumns()), carried);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(loop.getBody());
    Value columns = b.loadColumnStatistic(statistic, loop.getInductionVar());
    Value terms = b.buildMap(none, {}, columns, f32,
                             [&](ValueRange x) -> Value { return arith::AddFOp::create(builder, loc, x[0], x[1]); });
    scf::YieldOp::create(builder, loc, addColumns(terms, loop.getRegionIterArg(0)));
    return {loop.getResult(0)};
  };
  b.storeCapturedVector(b.forSharers(b.splat(b.rowType(f32), 0), addUp).front());
}

void attnc::attn::writeScattered(TileBuilder &b, BackwardOp op) {
  GradientWriter(b, op).writeScattered();
  b.finish();
}

void attnc::attn::writeCapturedGradient(TileBuilder &b, BackwardOp op, const CapturedGradient &captured) {
  GradientWriter writer(b, op);
  if (b.getProgramKind() == Program::Dbias)
    writer.writeSharedTiles(captured);
  else if (b.getProgramKind() == Program::Dbuckets)
    writer.writeBuckets(captured);
  else if (b.getProgramKind() == Program::ClearScattered)
    writer.writeClearing();
  else
    writer.writeSums(captured);
  b.finish();
}
