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
  if (firstColumn)
    indices.back() = firstColumn;
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

int64_t TileBuilder::countSinks() { return cast<RankedTensorType>(kernel.getSinks().getType()).getShape().back(); }

/// Tiles of the sinks of a head, or of all heads that have their own.
int64_t TileBuilder::countSinkTiles() {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(kernel.getSinks().getType()).getShape();
  return llvm::divideCeil(shape.back(), getRows()) * (shape.size() == 2 ? shape.front() : 1);
}

void TileBuilder::buildSinkGeometry() {
  Value tilesOfHead = index(llvm::divideCeil(countSinks(), getRows()));
  geometry.head = arith::DivUIOp::create(builder, loc, program.getTile(), tilesOfHead);
  geometry.row0 = mul(arith::RemUIOp::create(builder, loc, program.getTile(), tilesOfHead), index(getRows()));
  tile::LiveRowsOp::create(builder, loc, least(sub(index(countSinks()), geometry.row0), index(getRows())));
}

void TileBuilder::setBatch(Value batch) {
  geometry.batch = batch;
  auto place = [&](TileSide &side, Value tensor, Value lengths) {
    side.base = index(0);
    side.stored = viewDim(lookup(tensor), batch ? 1 : 0);
    side.count = lengths ? loadLength(lengths, batch, side.stored) : side.stored;
  };
  place(geometry.query, kernel.getQuery(), kernel.getQueryLengths());
  place(geometry.key, kernel.getKey(), kernel.getKeyLengths());
}

SmallVector<Value> TileBuilder::sinkIndices() {
  bool ofHeads = cast<RankedTensorType>(kernel.getSinks().getType()).getRank() == 2;
  return ofHeads ? SmallVector<Value>{geometry.head, geometry.row0} : SmallVector<Value>{geometry.row0};
}

Value TileBuilder::loadSinks() {
  Value view = lookup(kernel.getSinks());
  SmallVector<Value> indices = sinkIndices();
  return tile::LoadOp::create(builder, loc, rowType(cast<MemRefType>(view.getType()).getElementType()), view, indices,
                              index(countSinks()), ArrayRef<int64_t>{static_cast<int64_t>(indices.size()) - 1},
                              ArrayRef<int64_t>());
}

void TileBuilder::storeSinkGradient(Value vector, Value result) {
  SmallVector<Value> indices = sinkIndices();
  for (Value view : destinations.lookup(result))
    tile::StoreOp::create(builder, loc, vector, Value(), view, indices, index(countSinks()),
                          ArrayRef<int64_t>{static_cast<int64_t>(indices.size()) - 1}, ArrayRef<int64_t>());
}

//===----------------------------------------------------------------------===//
// Statistics of backward
//===----------------------------------------------------------------------===//

/// Those of every query: the LSE and delta.
static constexpr int64_t ownStatistics = 2;

/// Statistics of a head: the LSE and delta of each query, and the sums of captured tensors.
int64_t TileBuilder::countStatistics() {
  int64_t count = ownStatistics;
  for (const CapturedGradient &one : getCapturedGradients(cast<BackwardOp>(kernel.getOperation())))
    count += one.countStatistics();
  return count;
}

TileBuilder::Statistic TileBuilder::sumStatistic(const CapturedGradient &of, Value bucket) {
  int64_t number = ownStatistics;
  for (const CapturedGradient &one : getCapturedGradients(cast<BackwardOp>(kernel.getOperation())))
    number += one.number < of.number ? one.countStatistics() : 0;
  return {bucket ? add(index(number), bucket) : index(number),
          of.form == CapturedForm::KeySums ? Coordinate::Key : Coordinate::Query};
}

/// Where a statistic of row or column `first` of the head at hand is in the workspace. Those of keys come after those
/// of queries.
SmallVector<Value> TileBuilder::statisticIndices(Statistic statistic, Value first) {
  Value head = geometry.head;
  if (!kernel.isPacked())
    head = add(mul(geometry.batch, index(kernel.getQueryHeads())), head);
  Value row = add(mul(head, index(countStatistics())), statistic.number);
  Value column = add(getSide(statistic.axis).base, first);
  if (statistic.axis == Coordinate::Key)
    column = add(column, viewDim(lookup(kernel.getQuery()), kernel.isPacked() ? 0 : 1));
  return {row, column};
}

/// The end of what a statistic has numbers for.
Value TileBuilder::statisticLimit(Statistic statistic) {
  return statisticIndices(statistic, getSide(statistic.axis).count)[1];
}

void TileBuilder::storeStatistic(Statistic statistic, Value rows) {
  tile::StoreOp::create(builder, loc, rows, Value(), program.getWorkspaceView(),
                        statisticIndices(statistic, geometry.row0), statisticLimit(statistic), ArrayRef<int64_t>{1},
                        ArrayRef<int64_t>());
}

Value TileBuilder::loadStatistic(Statistic statistic, Value first, int64_t count) {
  return tile::LoadOp::create(builder, loc, VectorType::get({count}, builder.getF32Type()), program.getWorkspaceView(),
                              statisticIndices(statistic, first), statisticLimit(statistic), ArrayRef<int64_t>{1},
                              ArrayRef<int64_t>());
}

Value TileBuilder::loadRowStatistic(Statistic statistic) { return loadStatistic(statistic, geometry.row0, getRows()); }

Value TileBuilder::loadColumnStatistic(Statistic statistic, Value first) {
  return loadStatistic(statistic, first, getColumns());
}
