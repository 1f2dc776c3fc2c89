//===- TileMemory.cpp - Loads and stores of tile programs -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/attn-to-tile/TileBuilder.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::attn;

//===----------------------------------------------------------------------===//
// Loads and stores of the problem's tensors
//===----------------------------------------------------------------------===//

/// The limit of rows of a tile of `view` for a sequence of `count` rows from `base` on. A copy engine stops where the
/// tensor ends; it may do so where a sequence does not end before it, or where what lies beyond does no harm.
Value TileBuilder::rowLimit(Value view, Value base, Value count, bool endsEarly, bool anyBeyond) {
  PipelineAttr pipeline = getPipeline();
  if (pipeline && pipeline.getStaging() == Staging::Tma && (anyBeyond || !endsEarly))
    return viewDim(view, kernel.isPacked() ? 0 : 1);
  return add(base, count);
}

/// Indices of row `first` of an axis in a tensor that is laid out like queries or keys; `axes` are those of a tile of
/// its rows.
SmallVector<Value> TileBuilder::problemIndices(Coordinate axis, Value first, SmallVector<int64_t> &axes) {
  bool ofQueries = axis == Coordinate::Query;
  SmallVector<Value> indices{add(getSide(axis).base, first), ofQueries ? geometry.head : geometry.keyHead, index(0)};
  axes = {0, 2};
  if (!kernel.isPacked()) {
    indices.insert(indices.begin(), geometry.batch);
    axes = {1, 3};
  }
  return indices;
}

/// A tile of rows of `tensor` from row `first` of an axis on, as many as the program's tiles have rows or columns
/// there. `anyBeyond`: what lies past the last row does no harm.
Value TileBuilder::loadTile(Value tensor, Coordinate axis, Value first, bool anyBeyond) {
  Value view = lookup(tensor);
  auto type = cast<MemRefType>(view.getType());
  int64_t dim = type.getShape().back();
  const TileSide &side = getSide(axis);
  SmallVector<int64_t> axes, group;
  SmallVector<Value> indices = problemIndices(axis, first, axes);
  bool ofRows = axis == getRowAxis();
  if (ofRows)
    group = rowGroup(axes[0] + 1);
  bool endsEarly = kernel.isPacked() || (axis == Coordinate::Query ? kernel.getQueryLengths() : kernel.getKeyLengths());
  Value limit = rowLimit(view, side.base, side.count, endsEarly, anyBeyond);
  auto tile = VectorType::get({ofRows ? getRows() : getColumns(), dim}, type.getElementType());
  return tile::LoadOp::create(builder, loc, tile, view, indices, ValueRange{limit, index(dim)}, axes, group);
}

// What rows past the last give is not stored.
Value TileBuilder::loadRows(Value tensor) { return loadTile(tensor, getRowAxis(), geometry.row0, /*anyBeyond=*/true); }

// Masks do not look at what they drop. Weights of 0 do: they make NaN of all that is no number.
Value TileBuilder::loadColumns(Value tensor, Value first, bool masked) {
  return loadTile(tensor, getColumnAxis(), first, /*anyBeyond=*/masked);
}

/// Indices of the tile's first query in a tensor that is laid out like LSE; `axes` is that of its rows.
SmallVector<Value> TileBuilder::rowVectorIndices(SmallVector<int64_t> &axes) {
  SmallVector<Value> indices{geometry.head, add(geometry.query.base, geometry.row0)};
  axes = {1};
  if (!kernel.isPacked()) {
    indices.insert(indices.begin(), geometry.batch);
    axes = {2};
  }
  return indices;
}

Value TileBuilder::loadRowVector(Value tensor) {
  SmallVector<int64_t> axes;
  SmallVector<Value> indices = rowVectorIndices(axes);
  Value limit = add(geometry.query.base, geometry.query.count);
  return tile::LoadOp::create(builder, loc, rowType(builder.getF32Type()), lookup(tensor), indices, limit, axes,
                              rowGroup(axes[0] - 1));
}

void TileBuilder::storeRows(Value tile, Value result) {
  Coordinate axis = getRowAxis();
  const TileSide &side = getSide(axis);
  SmallVector<int64_t> axes;
  SmallVector<Value> indices = problemIndices(axis, geometry.row0, axes);
  for (Value view : destinations.lookup(result)) {
    // A padded tensor's own size, which equals the queries', so that a store is seen to reach its end.
    Value limit = kernel.isPacked() ? add(side.base, side.stored) : viewDim(view, 1);
    Value dims = index(cast<MemRefType>(view.getType()).getShape().back());
    tile::StoreOp::create(builder, loc, tile, Value(), view, indices, ValueRange{limit, dims}, axes,
                          rowGroup(axes[0] + 1));
  }
}

void TileBuilder::storeWeights(Value tile, Value result, Value j) {
  for (Value view : destinations.lookup(result))
    tile::StoreOp::create(builder, loc, tile, Value(), view,
                          ValueRange{geometry.batch, geometry.head, geometry.row0, j},
                          ValueRange{geometry.query.stored, viewDim(view, 3)}, ArrayRef<int64_t>{2, 3}, rowGroup(1));
}

void TileBuilder::storeRowVector(Value vector, Value result) {
  SmallVector<int64_t> axes;
  SmallVector<Value> indices = rowVectorIndices(axes);
  Value limit = add(geometry.query.base, geometry.query.stored);
  for (Value view : destinations.lookup(result))
    tile::StoreOp::create(builder, loc, vector, Value(), view, indices, limit, axes, rowGroup(axes[0] - 1));
}

//===----------------------------------------------------------------------===//
// Sinks
//===----------------------------------------------------------------------===//

/// Tiles of the sinks of a head, or of all heads that have their own.
int64_t TileBuilder::countSinkTiles() {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(kernel.getSinks().getType()).getShape();
  return llvm::divideCeil(shape.back(), getRows()) * (shape.size() == 2 ? shape.front() : 1);
}

void TileBuilder::buildSinkGeometry() {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(kernel.getSinks().getType()).getShape();
  Value tilesOfHead = index(llvm::divideCeil(shape.back(), getRows()));
  geometry.head = arith::DivUIOp::create(builder, loc, program.getTile(), tilesOfHead);
  geometry.row0 = mul(arith::RemUIOp::create(builder, loc, program.getTile(), tilesOfHead), index(getRows()));
  geometry.key.base = index(0);
  geometry.key.stored = geometry.key.count = index(shape.back());
  tile::LiveRowsOp::create(builder, loc, least(sub(geometry.key.count, geometry.row0), index(getRows())));
}

void TileBuilder::setBatch(Value batch) {
  geometry.batch = batch;
  geometry.query.base = index(0);
  geometry.query.stored = viewDim(lookup(kernel.getQuery()), batch ? 1 : 0);
  Value lengths = kernel.getQueryLengths();
  geometry.query.count = lengths ? loadLength(lengths, batch, geometry.query.stored) : geometry.query.stored;
}

SmallVector<Value> TileBuilder::sinkIndices() {
  bool ofHeads = cast<RankedTensorType>(kernel.getSinks().getType()).getRank() == 2;
  return ofHeads ? SmallVector<Value>{geometry.head, geometry.row0} : SmallVector<Value>{geometry.row0};
}

Value TileBuilder::loadSinks() {
  Value view = lookup(kernel.getSinks());
  SmallVector<Value> indices = sinkIndices();
  return tile::LoadOp::create(builder, loc, rowType(cast<MemRefType>(view.getType()).getElementType()), view, indices,
                              geometry.key.count, ArrayRef<int64_t>{static_cast<int64_t>(indices.size()) - 1},
                              ArrayRef<int64_t>());
}

void TileBuilder::storeSinkGradient(Value vector, Value result) {
  SmallVector<Value> indices = sinkIndices();
  for (Value view : destinations.lookup(result))
    tile::StoreOp::create(builder, loc, vector, Value(), view, indices, geometry.key.count,
                          ArrayRef<int64_t>{static_cast<int64_t>(indices.size()) - 1}, ArrayRef<int64_t>());
}

//===----------------------------------------------------------------------===//
// Row statistics of backward
//===----------------------------------------------------------------------===//

/// The row of the workspace that holds a statistic of the queries of the head at hand.
Value TileBuilder::statisticRow(RowStatistic statistic) {
  Value head = geometry.head;
  if (!kernel.isPacked())
    head = add(mul(geometry.batch, index(kernel.getQueryHeads())), head);
  return add(mul(head, index(2)), index(static_cast<int64_t>(statistic)));
}

void TileBuilder::storeStatistic(RowStatistic statistic, Value rows) {
  SmallVector<Value> indices{statisticRow(statistic), add(geometry.query.base, geometry.row0)};
  Value limit = add(geometry.query.base, geometry.query.count);
  tile::StoreOp::create(builder, loc, rows, Value(), program.getWorkspaceView(), indices, limit, ArrayRef<int64_t>{1},
                        ArrayRef<int64_t>());
}

Value TileBuilder::loadStatistic(RowStatistic statistic, Value first) {
  SmallVector<Value> indices{statisticRow(statistic), add(geometry.query.base, first)};
  Value limit = add(geometry.query.base, geometry.query.count);
  return tile::LoadOp::create(builder, loc, VectorType::get({getColumns()}, builder.getF32Type()),
                              program.getWorkspaceView(), indices, limit, ArrayRef<int64_t>{1}, ArrayRef<int64_t>());
}
