//===- TileCapturedGradients.cpp - Gradients of captured tensors - C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The programs of one captured tensor: its elements are the rows of tiles, or the tiles, and those that share an
// element are visited in turn, so that each has one writer and sums come in one order.
//===----------------------------------------------------------------------===//

#include "passes/attn-to-tile/TileCapturedGradients.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::attn;

/// Whether the gradient has rows of tiles along queries or keys, or a single number for all of them.
static bool hasRows(const CapturedGradient &captured) {
  return captured.form != CapturedForm::Sums && captured.form != CapturedForm::Buckets;
}

AffineExpr TileCapturedGradients::countCapturedTiles(SmallVectorImpl<int64_t> &sizes) {
  AffineExpr tiles = getAffineConstantExpr(1, loc.getContext());
  if (hasRows(*captured)) {
    Value tensor = capturedRows() == Coordinate::Query ? kernel.getQuery() : kernel.getKey();
    tiles = sizeOf(tensor, kernel.isPacked() ? 0 : 1, sizes).ceilDiv(getRows());
  }
  if (captured->form == CapturedForm::SharedTiles)
    tiles = tiles * sizeOf(kernel.getKey(), 1, sizes).ceilDiv(countSharedKeys());
  tiles = tiles * captured->countBuckets();
  if (captured->isAlong(Coordinate::Head))
    tiles = tiles * kernel.getQueryHeads();
  if (captured->isAlong(Coordinate::Batch))
    tiles = tiles * sizeOf(kernel.getQuery(), 0, sizes);
  return tiles;
}

void TileCapturedGradients::buildCapturedGeometry() {
  Value rest = program.getTile(), live = index(1);
  auto take = [&](Value count) { return takePlace(rest, count); };
  geometry.row0 = index(0);
  if (hasRows(*captured)) {
    bool ofQueries = capturedRows() == Coordinate::Query;
    Value rows = viewDim(lookup(ofQueries ? kernel.getQuery() : kernel.getKey()), kernel.isPacked() ? 0 : 1);
    Value extent = index(getRows());
    geometry.row0 = mul(take(arith::CeilDivUIOp::create(builder, loc, rows, extent)), extent);
    live = min(sub(rows, geometry.row0), extent);
  }
  if (captured->form == CapturedForm::SharedTiles) {
    Value extent = index(countSharedKeys());
    Value tiles = arith::CeilDivUIOp::create(builder, loc, viewDim(lookup(kernel.getKey()), 1), extent);
    firstKey = mul(take(tiles), extent);
  }
  if (captured->dimOfBuckets())
    firstBucket = take(index(captured->countBuckets()));
  if (captured->isAlong(Coordinate::Head))
    geometry.head = take(index(kernel.getQueryHeads()));
  if (captured->isAlong(Coordinate::Batch))
    geometry.batch = rest;
  tile::LiveRowsOp::create(builder, loc, live);
}

SmallVector<Value> TileCapturedGradients::listSharedSteps() {
  SmallVector<Value> steps;
  for (int64_t first = 0; first < countSharedKeys(); first += getColumns())
    steps.push_back(add(firstKey, index(first)));
  return steps;
}

SmallVector<Value> TileCapturedGradients::forSharers(ValueRange initial,
                                                     function_ref<SmallVector<Value>(ValueRange carried)> body) {
  using Body = function_ref<SmallVector<Value>(Value, ValueRange)>;
  auto overRange = [&](Value end, ValueRange carried, Body inner) -> SmallVector<Value> {
    auto loop = scf::ForOp::create(builder, loc, index(0), end, index(1), carried);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(loop.getBody());
    scf::YieldOp::create(builder, loc, inner(loop.getInductionVar(), loop.getRegionIterArgs()));
    return SmallVector<Value>(loop.getResults());
  };
  auto ofHead = [&](ValueRange carried) {
    int64_t group = kernel.getQueryHeads() / kernel.getKeyHeads();
    geometry.keyHead = arith::DivUIOp::create(builder, loc, geometry.head, index(group));
    return body(carried);
  };
  Value ownHead = geometry.head;
  auto ofBatch = [&](Value batch, ValueRange carried) {
    setBatch(batch);
    geometry.shift =
        kernel.getAlign() == Alignment::BottomRight ? sub(geometry.key.count, geometry.query.count) : index(0);
    if (Value offset = kernel.getQOffset())
      geometry.shift = add(geometry.shift, lookup(offset));
    if (ownHead)
      return ofHead(carried);
    return overRange(index(kernel.getQueryHeads()), carried, [&](Value head, ValueRange inner) {
      geometry.head = head;
      return ofHead(inner);
    });
  };
  bool isOneBatch = kernel.isPacked() || captured->isAlong(Coordinate::Batch);
  SmallVector<Value> result = isOneBatch ? ofBatch(kernel.isPacked() ? Value() : geometry.batch, initial)
                                         : overRange(viewDim(lookup(kernel.getQuery()), 0), initial, ofBatch);
  geometry.head = ownHead;
  return result;
}

SmallVector<Value> TileCapturedGradients::capturedIndices(const CapturedGradient &of, Value query, Value key) {
  SmallVector<Value> indices;
  for (auto [dim, axis] : llvm::enumerate(of.axes())) {
    if ((axis ? of.dimAlong(*axis) : of.dimOfBuckets()) != dim) {
      indices.push_back(index(0));
      continue;
    }
    if (!axis) {
      indices.push_back(firstBucket);
      continue;
    }
    switch (*axis) {
    case Coordinate::Batch:
      indices.push_back(geometry.batch);
      break;
    case Coordinate::Head:
      indices.push_back(geometry.head);
      break;
    case Coordinate::Query:
      indices.push_back(query);
      break;
    case Coordinate::Key:
      indices.push_back(key);
      break;
    }
  }
  return indices;
}

void TileCapturedGradients::storeCapturedTile(Value tile, const CapturedGradient &of, Value first) {
  Type element = getGradientType(of.tensor).getElementType();
  if (!element.isF32())
    tile = buildMap(tile, {}, {}, element,
                    [&](ValueRange x) -> Value { return arith::TruncFOp::create(builder, loc, element, x[0]); });
  SmallVector<int64_t> axes{*of.dimAlong(Coordinate::Query), *of.dimAlong(Coordinate::Key)};
  for (Value view : destinations.lookup(of.gradient))
    tile::StoreOp::create(builder, loc, tile, Value(), view, capturedIndices(of, geometry.row0, first),
                          ValueRange{viewDim(view, axes[0]), viewDim(view, axes[1])}, axes, ArrayRef<int64_t>());
}

void TileCapturedGradients::storeCapturedVector(Value vector) {
  Type element = getGradientType(captured->tensor).getElementType();
  if (!element.isF32())
    vector = arith::TruncFOp::create(builder, loc, rowType(element), vector);
  SmallVector<Value> indices = capturedIndices(*captured, geometry.row0, geometry.row0);
  for (Value view : destinations.lookup(captured->gradient)) {
    // A number for all rows is the first row's, and any dimension may be the one along them.
    int64_t dim = hasRows(*captured) ? *captured->dimAlong(capturedRows()) : 0;
    Value limit = hasRows(*captured) ? viewDim(view, dim) : add(indices[dim], index(1));
    tile::StoreOp::create(builder, loc, vector, Value(), view, indices, limit, ArrayRef<int64_t>{dim},
                          ArrayRef<int64_t>());
  }
}
