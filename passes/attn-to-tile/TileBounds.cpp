//===- TileBounds.cpp - Columns that a tile visits --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "passes/attn-to-tile/TileBounds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::attn;

IntegerAttr TileBounds::lengthAlongLast(LoadRangeOp range, int64_t columns) {
  if (range.getFirst().empty())
    return {};
  std::optional<Coordinate> coordinate = getIndexCoordinate(range, range.getFirst().size() - 1);
  if (!coordinate)
    return range.getFirst().back() == range.getLast().back() ? builder.getI64IntegerAttr(1) : IntegerAttr();
  bool isLong = coordinate == Coordinate::Query || coordinate == Coordinate::Key;
  return builder.getI64IntegerAttr(!isLong ? 1 : *coordinate == getColumnAxis() ? columns : getExtent(*coordinate));
}

SmallVector<Value> TileBounds::inlineRegion(Region &region, ValueRange regionArguments, Value firstRow, Value lastRow,
                                            Value firstKey, Value lastKey, int64_t columns) {
  IRMapping mapping(arguments);
  mapping.map(region.getArguments(), regionArguments);
  auto indexOf = [&](IndexedOpInterface op, Value value, Value tensorView, unsigned dim, bool isLast) -> Value {
    std::optional<Coordinate> coordinate = getIndexCoordinate(op, dim);
    if (!coordinate) {
      Value last = sub(viewDim(tensorView, dim), index(1));
      return max(min(mapping.lookupOrDefault(value), last), index(0));
    }
    // A single element stands for the whole axis, at run time too.
    auto onAxis = [&](Value position, bool endsRange = false) {
      if (cast<MemRefType>(tensorView.getType()).getDimSize(dim) == 1)
        return index(0);
      Value inside = min(position, sub(viewDim(tensorView, dim), index(1)));
      // The last of no positions stands before the first.
      return endsRange ? inside : max(inside, index(0));
    };
    switch (*coordinate) {
    case Coordinate::Batch:
      return onAxis(geometry.batch);
    case Coordinate::Head:
      return onAxis(geometry.head);
    case Coordinate::Query:
      return onAxis(add(geometry.query.base, isLast ? lastRow : firstRow), isLast);
    case Coordinate::Key:
      return onAxis(add(geometry.key.base, isLast ? lastKey : firstKey), isLast);
    }
    llvm_unreachable("all coordinates are handled");
  };
  for (Operation &op : region.front().without_terminator()) {
    if (auto load = dyn_cast<LoadOp>(op)) {
      Value view = lookup(load.getTensor());
      SmallVector<Value> indices;
      for (auto [dim, position] : llvm::enumerate(load.getIndices()))
        indices.push_back(indexOf(load, position, view, dim, false));
      mapping.map(load.getResult(), memref::LoadOp::create(builder, loc, view, indices).getResult());
    } else if (auto range = dyn_cast<LoadRangeOp>(op)) {
      Value view = lookup(range.getTensor());
      SmallVector<Value> first, last;
      for (auto [dim, position] : llvm::enumerate(range.getFirst()))
        first.push_back(indexOf(range, position, view, dim, false));
      for (auto [dim, position] : llvm::enumerate(range.getLast()))
        last.push_back(indexOf(range, position, view, dim, true));
      Type type = range.getMin().getType();
      auto minMax =
          tile::MinMaxOp::create(builder, loc, type, type, view, first, last, lengthAlongLast(range, columns));
      mapping.map(range.getMin(), minMax.getMin());
      mapping.map(range.getMax(), minMax.getMax());
    } else {
      builder.clone(op, mapping);
    }
  }
  SmallVector<Value> results;
  for (Value value : region.front().getTerminator()->getOperands())
    results.push_back(mapping.lookupOrDefault(value));
  return results;
}

/// The last of the rows below `end` that holds a query or a key, or the row before the first.
static Value lastRow(TileBounds &b, Value end) {
  return b.sub(b.min(end, b.getSide(b.getRowAxis()).count), b.index(1));
}

std::pair<Value, Value> TileBounds::buildRowsOfBounds() {
  PipelineAttr pipeline = getPipeline();
  if (kind == ProgramKind::BlockMask || !pipeline || !pipeline.getOwnKeys() || getRowAxis() == Coordinate::Key ||
      getExtent(Coordinate::Query) % pipeline.getConsumers() != 0)
    return {geometry.row0, add(geometry.row0, index(getExtent(getRowAxis())))};
  auto part = tile::PartOp::create(builder, loc, getExtent(Coordinate::Query));
  Value first = add(geometry.row0, part.getFirst());
  // A part without rows begins after the last query, whose position may be the last that an index holds.
  if (kernel.getQOffset())
    first = max(min(first, sub(geometry.query.count, index(1))), geometry.row0);
  return {first, add(geometry.row0, part.getEnd())};
}

ColumnBounds TileBounds::buildBounds() {
  if (!hasBlockMask(kernel, schedule) || kind == ProgramKind::BlockMask)
    return getColumnAxis() == Coordinate::Query ? buildQueryBounds() : buildKeyBounds();
  Value zero = index(0);
  return {zero, zero, loadCount(zero), loadCount(index(1))};
}

TileBounds::AddingOrder TileBounds::buildAddingOrder() {
  Value row = geometry.row0, extent = index(getExtent(Coordinate::Key));
  AddingOrder order{arith::CeilDivUIOp::create(builder, loc, sub(geometry.key.stored, row), extent), {}};
  geometry.row0 = add(row, extent);
  order.next = buildQueryBounds();
  geometry.row0 = row;
  return order;
}

Value TileBounds::findPlaceBefore(const AddingOrder &order, Value first) {
  auto compare = [&](arith::CmpIPredicate predicate, Value a, Value b) -> Value {
    return arith::CmpIOp::create(builder, loc, predicate, a, b);
  };
  Value isReached = arith::AndIOp::create(builder, loc, compare(arith::CmpIPredicate::sle, order.next.low, first),
                                          compare(arith::CmpIPredicate::slt, first, order.next.high));
  return arith::SelectOp::create(builder, loc, isReached, sub(order.place, index(1)), index(0));
}

ColumnBounds TileBounds::buildQueryBounds() {
  Value zero = index(0), count = geometry.query.count;
  if (kernel.getMask().empty())
    return {zero, zero, count, count};
  Region *region = kernel.getQueryBoundsOrNull();
  if (region->empty())
    return {zero, zero, zero, count};
  Value last = lastRow(*this, add(geometry.row0, index(getExtent(Coordinate::Key))));
  SmallVector<Value> bounds = inlineRegion(*region, {geometry.batch, geometry.head, geometry.row0, last}, {}, {},
                                           geometry.row0, last, getColumns());
  // A position less that of the first query, within the rows that there are: in 64 bits until then.
  Type i64 = builder.getI64Type();
  auto wide = [&](Value value) { return arith::IndexCastOp::create(builder, loc, i64, value).getResult(); };
  auto rowOf = [&](Value position) {
    Value row = min(max(sub(position, wide(geometry.shift)), wide(zero)), wide(count));
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), row).getResult();
  };
  Value step = index(getColumns());
  Value low = mul(arith::DivUIOp::create(builder, loc, rowOf(bounds[0]), step), step);
  Value high = rowOf(bounds[3]);
  if (!kernel.getBlocks().empty())
    return {low, zero, zero, high};
  return {low, rowOf(bounds[1]), rowOf(bounds[2]), high};
}

ColumnBounds TileBounds::buildKeyBounds() {
  Value zero = index(0);
  if (kernel.getMask().empty())
    return {zero, zero, geometry.key.count, geometry.key.count};
  if (kernel.getBounds().empty())
    return {zero, zero, zero, geometry.key.count};
  auto [first, end] = buildRowsOfBounds();
  Value last = lastRow(*this, end);
  SmallVector<Value> bounds = inlineRegion(
      kernel.getBounds(), {geometry.batch, geometry.head, add(first, geometry.shift), add(last, geometry.shift)}, first,
      last, {}, {}, getColumns());
  // Whole steps from key 0, so that tiles fall on the same keys for every query.
  Value step = index(getColumns());
  Value low = mul(arith::DivUIOp::create(builder, loc, bounds[0], step), step);
  if (!kernel.getBlocks().empty())
    return {low, zero, zero, min(bounds[3], geometry.key.count)};
  return {low, bounds[1], min(bounds[2], geometry.key.count), min(bounds[3], geometry.key.count)};
}

std::pair<Value, Value> TileBounds::buildBlock(Value first, int64_t columns) {
  Coordinate rows = getRowAxis();
  Value count = getSide(getColumnAxis()).count, next = add(first, index(columns));
  Value last = lastRow(*this, add(geometry.row0, index(getExtent(rows)))), lastColumn = sub(min(next, count), index(1));
  bool ofQueries = rows == Coordinate::Query;
  Value i = ofQueries ? geometry.row0 : first, lastI = ofQueries ? last : lastColumn;
  Value j = ofQueries ? first : geometry.row0, lastJ = ofQueries ? lastColumn : last;
  SmallVector<Value> kept = inlineRegion(
      kernel.getBlocks(), {geometry.batch, geometry.head, add(i, geometry.shift), add(lastI, geometry.shift), j, lastJ},
      i, lastI, j, lastJ, columns);
  // A step that the columns end in is never full.
  Value whole = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle, next, count);
  return {kept[0], arith::AndIOp::create(builder, loc, kept[1], whole)};
}

Value TileBounds::loadCount(Value column) {
  Value count =
      memref::LoadOp::create(builder, loc, program.getWorkspaceView(stepsWorkspace), ValueRange{listRow, column});
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), count);
}

Value TileBounds::buildColumnStep() {
  return index(hasBlockMask(kernel, schedule) && kind == ProgramKind::Kernel ? 1 : getColumns());
}

Value TileBounds::buildColumn(Value iv) {
  return hasBlockMask(kernel, schedule) ? loadCount(add(iv, index(tile::BlockMaskOp::numCounts))) : iv;
}
