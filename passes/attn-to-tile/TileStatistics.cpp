//===- TileStatistics.cpp - Statistics and sums between programs *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "passes/attn-to-tile/TileStatistics.h"
#include "dialect/attn/Limits.h"
#include "dialect/tile/BlockedRows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <numeric>

using namespace mlir;
using namespace attnc;
using namespace attnc::attn;

//===----------------------------------------------------------------------===//
// Statistics of backward
//===----------------------------------------------------------------------===//

/// Those of every query: the LSE and delta.
static constexpr int64_t ownStatistics = 2;

int64_t TileStatistics::countStatistics() {
  int64_t count = ownStatistics;
  for (const CapturedGradient &one : getCapturedGradients(cast<BackwardOp>(kernel.getOperation())))
    count += one.countStatistics();
  return count;
}

TileStatistics::Statistic TileStatistics::sumStatistic(const CapturedGradient &of, Value bucket) {
  int64_t number = ownStatistics;
  for (const CapturedGradient &one : getCapturedGradients(cast<BackwardOp>(kernel.getOperation())))
    number += one.number < of.number ? one.countStatistics() : 0;
  return {bucket ? add(index(number), bucket) : index(number),
          of.form == CapturedForm::KeySums ? Coordinate::Key : Coordinate::Query};
}

Value TileStatistics::headOfBatch() {
  if (kernel.isPacked())
    return geometry.head;
  return add(mul(geometry.batch, index(kernel.getQueryHeads())), geometry.head);
}

void TileStatistics::setWorkspacesOfGradients(AffineExpr rows, SmallVectorImpl<int64_t> &sizes) {
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
  if (ordersQuerySums())
    setWorkspace(semaphoresWorkspace, getAffineConstantExpr(1, context), heads * columns);
}

int64_t TileStatistics::statisticUnit() {
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

int64_t TileStatistics::countStoredTogether() {
  int64_t together = 0;
  for (ScheduleAttr schedule : kernel.getSchedules())
    if (llvm::is_contained({Program::Dq, Program::Delta}, schedule.getProgram()))
      together = std::gcd(together, schedule.getRows());
  return together;
}

Value TileStatistics::countStatisticColumns() {
  Value queries = viewDim(lookup(kernel.getQuery()), kernel.isPacked() ? 0 : 1), unit = index(statisticUnit());
  return statisticUnit() == 1 ? queries : mul(arith::CeilDivUIOp::create(builder, loc, queries, unit), unit);
}

bool TileStatistics::sharesStatistics() {
  PipelineAttr pipeline = getPipeline();
  return pipeline && pipeline.getStaging() == Staging::Tma && !kernel.isPacked() && getRowAxis() == Coordinate::Key &&
         countStoredTogether() % getColumns() == 0;
}

Value TileStatistics::loadColumnStatistics(Value first) {
  Value statistics = program.getWorkspaceView(statisticsWorkspace);
  auto type = VectorType::get({ownStatistics, getColumns()}, builder.getF32Type());
  return tile::LoadOp::create(builder, loc, type, statistics, statisticIndices(offsetStatistic(), first),
                              ValueRange{viewDim(statistics, 0), viewDim(statistics, 1)}, ArrayRef<int64_t>{0, 1},
                              ArrayRef<int64_t>());
}

SmallVector<Value> TileStatistics::statisticIndices(Statistic statistic, Value first) {
  Value row = add(mul(headOfBatch(), index(countStatistics())), statistic.number);
  Value column = add(getSide(statistic.axis).base, first);
  if (statistic.axis == Coordinate::Key)
    column = add(column, countStatisticColumns());
  return {row, column};
}

Value TileStatistics::statisticLimit(Statistic statistic) {
  return statisticIndices(statistic, getSide(statistic.axis).count)[1];
}

void TileStatistics::storeStatistic(Statistic statistic, Value rows) {
  tile::StoreOp::create(builder, loc, rows, Value(), program.getWorkspaceView(statisticsWorkspace),
                        statisticIndices(statistic, geometry.row0),
                        statistic.ofAllRows ? countStatisticColumns() : statisticLimit(statistic), ArrayRef<int64_t>{1},
                        ArrayRef<int64_t>());
}

Value TileStatistics::loadStatistic(Statistic statistic, Value first, VectorType type) {
  return tile::LoadOp::create(builder, loc, type, program.getWorkspaceView(statisticsWorkspace),
                              statisticIndices(statistic, first), statisticLimit(statistic), ArrayRef<int64_t>{1},
                              ArrayRef<int64_t>());
}

Value TileStatistics::loadRowStatistic(Statistic statistic) {
  return loadStatistic(statistic, geometry.row0, rowType(builder.getF32Type()));
}

Value TileStatistics::loadColumnStatistic(Statistic statistic, Value first) {
  return loadStatistic(statistic, first, columnType(builder.getF32Type()));
}

//===----------------------------------------------------------------------===//
// Sums of gradients of queries
//===----------------------------------------------------------------------===//

bool TileStatistics::threadsAddQueries() {
  return llvm::any_of(kernel.getSchedules(), [](ScheduleAttr schedule) {
    PipelineAttr pipeline = schedule.getPipeline();
    return schedule.getProgram() == Program::Dqdkdv && pipeline && pipeline.getStaging() == Staging::CpAsync;
  });
}

Value TileStatistics::rowsOfHead() { return viewDim(program.getWorkspaceView(statisticsWorkspace), 1); }

/// The row of query `first` of the head at hand among all sums.
Value TileStatistics::rowOfQuerySums(Value first) { return add(mul(headOfBatch(), rowsOfHead()), first); }

Value TileStatistics::endOfQuerySums() { return index(maxWorkspaceRows); }

tile::StoreOp TileStatistics::storeQuerySums(Value tile, Value row, bool accumulate) {
  auto store = tile::StoreOp::create(
      builder, loc, tile, Value(), program.getWorkspaceView(querySumsWorkspace), ValueRange{row, index(0)},
      ValueRange{endOfQuerySums(), index(kernel.getHeadDim())}, ArrayRef<int64_t>{0, 1}, ArrayRef<int64_t>());
  store.setAccumulate(accumulate);
  store.setBlocked(true);
  store.setInterleaved(threadsAddQueries());
  return store;
}

void TileStatistics::addToQuerySums(Value tile, Value row, Value place, Value after) {
  // Ahead of the store, of which it is an operand.
  Value first = index(0);
  tile::StoreOp store = storeQuerySums(tile, row, /*accumulate=*/true);
  if (!place)
    return;
  store.getOrderMutable().assign(place);
  store.getAfterMutable().assign(after);
  store.getSemaphoresMutable().assign(program.getWorkspaceView(semaphoresWorkspace));
  store.getSemaphoreMutable().assign(ValueRange{first, row});
}

void TileStatistics::clearQuerySums() {
  Value row = rowOfQuerySums(geometry.row0);
  storeQuerySums(splat(tileType(kernel.getHeadDim(), builder.getF32Type()), 0), row, /*accumulate=*/false);
  if (!ordersQuerySums())
    return;
  Value semaphores = program.getWorkspaceView(semaphoresWorkspace), none = splat(rowType(builder.getI32Type()), 0);
  tile::StoreOp::create(builder, loc, none, Value(), semaphores, ValueRange{index(0), row}, viewDim(semaphores, 1),
                        ArrayRef<int64_t>{1}, ArrayRef<int64_t>());
}

Value TileStatistics::loadQuerySums() {
  Value row = rowOfQuerySums(geometry.row0);
  return tile::LoadOp::create(
      builder, loc, tileType(kernel.getHeadDim(), builder.getF32Type()), program.getWorkspaceView(querySumsWorkspace),
      ValueRange{row, index(0)}, ValueRange{add(row, index(getRows())), index(kernel.getHeadDim())},
      ArrayRef<int64_t>{0, 1}, ArrayRef<int64_t>(), /*pages=*/Value(), /*blocked=*/true, threadsAddQueries());
}
