//===- TileMemory.cpp - Loads and stores of tile programs -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/attn/Limits.h"
#include "dialect/tile/BlockedRows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/attn-to-tile/TileBuilder.h"
#include <numeric>

using namespace mlir;
using namespace attnc;
using namespace attnc::attn;

//===----------------------------------------------------------------------===//
// Loads and stores of the problem's tensors
//===----------------------------------------------------------------------===//

bool TileBuilder::isPacked(Coordinate axis) {
  return axis == Coordinate::Query ? kernel.isPacked() : kernel.areKeysPacked();
}

Value TileBuilder::countStored(Coordinate axis, Value view) {
  if (axis == Coordinate::Key && kernel.isPaged())
    return mul(viewDim(lookup(kernel.getPageTable()), 1), index(kernel.getPageRows()));
  return viewDim(view, isPacked(axis) ? 0 : 1);
}

AffineExpr TileBuilder::keyRows(SmallVectorImpl<int64_t> &sizes) {
  if (kernel.isPaged())
    return sizeOf(kernel.getPageTable(), 1, sizes) * kernel.getPageRows();
  return sizeOf(kernel.getKey(), kernel.areKeysPacked() ? 0 : 1, sizes);
}

/// The limit of rows of a tile of `view` for a sequence of `axis`. A copy engine stops where the tensor ends; it may do
/// so where a sequence does not end before it, or where what lies beyond does no harm.
Value TileBuilder::rowLimit(Value view, Coordinate axis, bool anyBeyond) {
  PipelineAttr pipeline = getPipeline();
  bool endsEarly = isPacked(axis) || (axis == Coordinate::Query ? kernel.getQueryLengths() : kernel.getKeyLengths());
  if (pipeline && pipeline.getStaging() == Staging::Tma && (anyBeyond || !endsEarly))
    return countStored(axis, view);
  const TileSide &side = getSide(axis);
  return add(side.base, side.count);
}

/// Indices of row `first` of an axis in a tensor that is laid out like queries or keys; `axes` are those of a tile of
/// its rows.
SmallVector<Value> TileBuilder::problemIndices(Coordinate axis, Value first, SmallVector<int64_t> &axes) {
  bool ofQueries = axis == Coordinate::Query;
  SmallVector<Value> indices{add(getSide(axis).base, first), ofQueries ? geometry.head : geometry.keyHead, index(0)};
  axes = {0, 2};
  if (!isPacked(axis)) {
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
  SmallVector<int64_t> axes, group;
  SmallVector<Value> indices = problemIndices(axis, first, axes);
  bool ofRows = axis == getRowAxis();
  if (ofRows)
    group = rowGroup(axes[0] + 1);
  Value limit = rowLimit(view, axis, anyBeyond);
  auto tile = VectorType::get({ofRows ? getRows() : getColumns(), dim}, type.getElementType());
  Value pages = axis == Coordinate::Key && kernel.isPaged() ? lookup(kernel.getPageTable()) : Value();
  return tile::LoadOp::create(builder, loc, tile, view, indices, ValueRange{limit, index(dim)}, axes, group, pages);
}

Value TileBuilder::loadRows(Value tensor, bool anyBeyond) {
  return loadTile(tensor, getRowAxis(), geometry.row0, anyBeyond);
}

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

/// The number of the head at hand among those of all batch entries.
Value TileBuilder::headOfBatch() {
  if (kernel.isPacked())
    return geometry.head;
  return add(mul(geometry.batch, index(kernel.getQueryHeads())), geometry.head);
}

/// Says how large the workspaces of gradients are, where tiles are of `rows` queries or keys: statistics of each head
/// (see `statisticIndices`), and the sums of gradients of queries, whose heads have as many rows as statistics have
/// columns.
void TileBuilder::setWorkspacesOfGradients(AffineExpr rows, SmallVectorImpl<int64_t> &sizes) {
  MLIRContext *context = loc.getContext();
  bool ofQueries = getRowAxis() == Coordinate::Query;
  int64_t ofRows = kernel.isPacked() ? 0 : 1, unit = statisticUnit();
  auto roundUp = [](AffineExpr count, int64_t multiple) {
    return multiple == 1 ? count : count.ceilDiv(multiple) * multiple;
  };
  AffineExpr columns = roundUp(ofQueries ? rows : sizeOf(kernel.getQuery(), ofRows, sizes), unit);
  if (!getCapturedGradients(cast<BackwardOp>(kernel.getOperation()), {CapturedForm::KeySums}).empty())
    columns = columns + (ofQueries ? sizeOf(kernel.getKey(), ofRows, sizes) : rows);
  // Rows begin at multiples of 16 bytes, and have whole bands of sums.
  if (unit > 1)
    columns = roundUp(columns, tile::BlockedRows::bandRows);
  AffineExpr heads = getAffineConstantExpr(kernel.getQueryHeads(), context);
  if (!kernel.isPacked())
    heads = heads * sizeOf(kernel.getQuery(), 0, sizes);
  setWorkspace(statisticsWorkspace, heads * countStatistics(), columns);
  if (hasQuerySums())
    setWorkspace(querySumsWorkspace, heads * columns, getAffineConstantExpr(kernel.getHeadDim(), context));
  setScatteredWorkspaces(sizes);
}

/// Queries that statistics, and sums, have room for in multiples of this: where copies bring statistics to shared
/// memory, those of whole tiles of the programs that store them, since such copies know no limit within a row; and
/// where there are sums, those of whole tiles of each program, which no limit cuts.
int64_t TileBuilder::statisticUnit() {
  int64_t unit = 1;
  for (ScheduleAttr schedule : kernel.getSchedules()) {
    bool hasTiles = llvm::is_contained({Program::Dq, Program::Delta, Program::ConvertDq}, schedule.getProgram());
    if (hasTiles && (schedule.getPipeline() || hasQuerySums()) && !kernel.isPacked())
      unit = std::lcm(unit, schedule.getRows());
    if (schedule.getProgram() == Program::Dqdkdv && !schedule.getPipeline())
      unit = std::lcm(unit, schedule.getColumns());
  }
  return unit;
}

/// Queries in multiples of which statistics are stored, whichever schedule is the one for a launch.
int64_t TileBuilder::countStoredTogether() {
  int64_t together = 0;
  for (ScheduleAttr schedule : kernel.getSchedules())
    if (llvm::is_contained({Program::Dq, Program::Delta}, schedule.getProgram()))
      together = std::gcd(together, schedule.getRows());
  return together;
}

/// Columns of the statistics that are those of queries.
Value TileBuilder::countStatisticColumns() {
  Value queries = viewDim(lookup(kernel.getQuery()), kernel.isPacked() ? 0 : 1), unit = index(statisticUnit());
  return statisticUnit() == 1 ? queries : mul(arith::CeilDivUIOp::create(builder, loc, queries, unit), unit);
}

bool TileBuilder::sharesStatistics() {
  PipelineAttr pipeline = getPipeline();
  return pipeline && pipeline.getStaging() == Staging::Tma && !kernel.isPacked() && getRowAxis() == Coordinate::Key &&
         countStoredTogether() % getColumns() == 0;
}

Value TileBuilder::loadColumnStatistics(Value first) {
  Value statistics = program.getWorkspaceView(statisticsWorkspace);
  auto type = VectorType::get({ownStatistics, getColumns()}, builder.getF32Type());
  return tile::LoadOp::create(builder, loc, type, statistics, statisticIndices(offsetStatistic(), first),
                              ValueRange{viewDim(statistics, 0), viewDim(statistics, 1)}, ArrayRef<int64_t>{0, 1},
                              ArrayRef<int64_t>());
}

/// Where a statistic of row or column `first` of the head at hand is among all. Those of keys come after those of
/// queries.
SmallVector<Value> TileBuilder::statisticIndices(Statistic statistic, Value first) {
  Value row = add(mul(headOfBatch(), index(countStatistics())), statistic.number);
  Value column = add(getSide(statistic.axis).base, first);
  if (statistic.axis == Coordinate::Key)
    column = add(column, countStatisticColumns());
  return {row, column};
}

/// The end of what a statistic has numbers for.
Value TileBuilder::statisticLimit(Statistic statistic) {
  return statisticIndices(statistic, getSide(statistic.axis).count)[1];
}

void TileBuilder::storeStatistic(Statistic statistic, Value rows) {
  tile::StoreOp::create(builder, loc, rows, Value(), program.getWorkspaceView(statisticsWorkspace),
                        statisticIndices(statistic, geometry.row0),
                        statistic.ofAllRows ? countStatisticColumns() : statisticLimit(statistic), ArrayRef<int64_t>{1},
                        ArrayRef<int64_t>());
}

Value TileBuilder::loadStatistic(Statistic statistic, Value first, VectorType type) {
  return tile::LoadOp::create(builder, loc, type, program.getWorkspaceView(statisticsWorkspace),
                              statisticIndices(statistic, first), statisticLimit(statistic), ArrayRef<int64_t>{1},
                              ArrayRef<int64_t>());
}

Value TileBuilder::loadRowStatistic(Statistic statistic) {
  return loadStatistic(statistic, geometry.row0, rowType(builder.getF32Type()));
}

Value TileBuilder::loadColumnStatistic(Statistic statistic, Value first) {
  return loadStatistic(statistic, first, columnType(builder.getF32Type()));
}

//===----------------------------------------------------------------------===//
// Sums of gradients of queries
//===----------------------------------------------------------------------===//

bool TileBuilder::hasQuerySums() {
  return llvm::any_of(kernel.getSchedules(),
                      [](ScheduleAttr schedule) { return schedule.getProgram() == Program::Dqdkdv; });
}

/// Rows that a head has among the sums: whole tiles of each program.
Value TileBuilder::rowsOfHead() { return viewDim(program.getWorkspaceView(statisticsWorkspace), 1); }

/// The row of query `first` of the head at hand among all sums.
Value TileBuilder::rowOfQuerySums(Value first) { return add(mul(headOfBatch(), rowsOfHead()), first); }

Value TileBuilder::endOfQuerySums() { return index(maxWorkspaceRows); }

void TileBuilder::storeQuerySums(Value tile, Value row, bool accumulate) {
  auto store = tile::StoreOp::create(
      builder, loc, tile, Value(), program.getWorkspaceView(querySumsWorkspace), ValueRange{row, index(0)},
      ValueRange{endOfQuerySums(), index(kernel.getHeadDim())}, ArrayRef<int64_t>{0, 1}, ArrayRef<int64_t>());
  store.setAccumulate(accumulate);
  store.setBlocked(true);
}

void TileBuilder::addToQuerySums(Value tile, Value row) { storeQuerySums(tile, row, /*accumulate=*/true); }

void TileBuilder::clearQuerySums() {
  storeQuerySums(splat(tileType(kernel.getHeadDim(), builder.getF32Type()), 0), rowOfQuerySums(geometry.row0),
                 /*accumulate=*/false);
}

Value TileBuilder::loadQuerySums() {
  Value row = rowOfQuerySums(geometry.row0);
  return tile::LoadOp::create(builder, loc, tileType(kernel.getHeadDim(), builder.getF32Type()),
                              program.getWorkspaceView(querySumsWorkspace), ValueRange{row, index(0)},
                              ValueRange{add(row, index(getRows())), index(kernel.getHeadDim())},
                              ArrayRef<int64_t>{0, 1}, ArrayRef<int64_t>(), /*pages=*/Value(), /*blocked=*/true);
}
