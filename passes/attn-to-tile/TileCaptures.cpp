//===- TileCaptures.cpp - Captured tensors and derived bounds ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "passes/attn-to-tile/TileBuilder.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::attn;

/// Whether a value of a region depends on the positions of query or key, or on the logit.
static bool dependsOnElement(Value value, Region &region) {
  llvm::SmallDenseSet<Value> dependent;
  for (BlockArgument argument : region.getArguments()) {
    std::optional<Coordinate> coordinate = getCoordinate(argument);
    if (!coordinate || *coordinate == Coordinate::Query || *coordinate == Coordinate::Key)
      dependent.insert(argument);
  }
  for (Operation &op : region.front())
    if (llvm::any_of(op.getOperands(), [&](Value operand) { return dependent.contains(operand); }))
      dependent.insert(op.result_begin(), op.result_end());
  return dependent.contains(value);
}

/// A load by coordinates goes with the tile: as a tile, or as a vector along its rows or columns.
TileBuilder::Capture TileBuilder::classify(LoadOp load) {
  bool query = false, key = false;
  for (auto [dim, index] : llvm::enumerate(load.getIndices())) {
    std::optional<Coordinate> coordinate = getIndexCoordinate(load, dim);
    bool &along = coordinate == Coordinate::Key ? key : query;
    if (coordinate && (*coordinate == Coordinate::Query || *coordinate == Coordinate::Key)) {
      // The same coordinate twice addresses a diagonal.
      if (along)
        return Capture::Computed;
      along = true;
    } else if (!coordinate && dependsOnElement(index, *load->getParentRegion())) {
      return Capture::Computed;
    }
  }
  bool ofRows = getRowAxis() == Coordinate::Query ? query : key,
       ofColumns = getRowAxis() == Coordinate::Query ? key : query;
  return ofRows ? (ofColumns ? Capture::Tile : Capture::Row) : (ofColumns ? Capture::Column : Capture::Scalar);
}

/// Indices of a captured element in its view, at the tile's first row and at column `j`; dimensions along rows and
/// columns go to `axes`, with their limits. Dimensions of size 1 broadcast: statically here, at run time by a stride of
/// 0.
Value TileBuilder::batchIndex(Value view, int64_t dim) {
  // Packed: nothing ties this size to the number of sequences.
  return kernel.isPacked() ? least(geometry.batch, sub(viewDim(view, dim), index(1))) : geometry.batch;
}

SmallVector<Value> TileBuilder::viewIndices(LoadOp load, Value j, SmallVectorImpl<int64_t> &axes,
                                            SmallVectorImpl<Value> &limits) {
  SmallVector<Value> indices;
  int64_t queryDim = -1, keyDim = -1;
  bool rowsAreQueries = getRowAxis() == Coordinate::Query;
  IRMapping mapping(arguments);
  Region &region = *load->getParentRegion();
  for (auto [dim, position] : llvm::enumerate(load.getIndices())) {
    std::optional<Coordinate> coordinate = getIndexCoordinate(load, dim);
    bool single = load.getTensor().getType().getDimSize(dim) == 1;
    if (coordinate && single) {
      indices.push_back(index(0));
      if (*coordinate == Coordinate::Query)
        queryDim = dim;
      if (*coordinate == Coordinate::Key)
        keyDim = dim;
      continue;
    }
    if (!coordinate) {
      Value computed = cloneUniform(position, region, mapping);
      Value last = sub(viewDim(lookup(load.getTensor()), dim), index(1));
      indices.push_back(greatest(least(computed, last), index(0)));
      continue;
    }
    switch (*coordinate) {
    case Coordinate::Batch:
      indices.push_back(batchIndex(lookup(load.getTensor()), dim));
      break;
    case Coordinate::Head:
      indices.push_back(geometry.head);
      break;
    case Coordinate::Query:
      indices.push_back(add(geometry.query.base, rowsAreQueries ? geometry.row0 : j));
      queryDim = dim;
      break;
    case Coordinate::Key:
      indices.push_back(add(geometry.key.base, rowsAreQueries ? j : geometry.row0));
      keyDim = dim;
      break;
    }
  }
  for (Coordinate axis : {getRowAxis(), getColumnAxis()}) {
    int64_t dim = axis == Coordinate::Query ? queryDim : keyDim;
    if (dim < 0)
      continue;
    axes.push_back(dim);
    limits.push_back(add(getSide(axis).base, getSide(axis).count));
  }
  return indices;
}

/// Clones what computes a value that is the same for the whole tile.
Value TileBuilder::cloneUniform(Value value, Region &region, IRMapping &mapping) {
  if (Value mapped = mapping.lookupOrNull(value))
    return mapped;
  if (std::optional<Coordinate> coordinate = getCoordinate(value))
    return *coordinate == Coordinate::Batch ? geometry.batch : geometry.head;
  Operation *op = value.getDefiningOp();
  if (auto load = dyn_cast<LoadOp>(op)) {
    Value loaded = loadCapture(load, Capture::Scalar, {});
    mapping.map(value, loaded);
    return loaded;
  }
  for (Value operand : op->getOperands())
    mapping.map(operand, cloneUniform(operand, region, mapping));
  return builder.clone(*op, mapping)->getResult(cast<OpResult>(value).getResultNumber());
}

Value TileBuilder::loadCapture(LoadOp load, Capture kind, Value j) {
  SmallVector<int64_t> axes;
  SmallVector<Value> limits;
  SmallVector<Value> indices = viewIndices(load, j, axes, limits);
  Value view = lookup(load.getTensor());
  Type element = load.getResult().getType();
  VectorType type;
  switch (kind) {
  case Capture::Scalar:
    return memref::LoadOp::create(builder, loc, view, indices);
  case Capture::Row:
    type = rowType(element);
    break;
  case Capture::Column:
    type = columnType(element);
    break;
  case Capture::Tile:
    type = tileType(getColumns(), element);
    break;
  case Capture::Computed:
    llvm_unreachable("computed elements are loaded one by one");
  }
  // Nothing that depends on the head is read for several of them.
  SmallVector<int64_t> group = kind == Capture::Column ? SmallVector<int64_t>() : rowGroup(std::nullopt);
  return tile::LoadOp::create(builder, loc, type, view, indices, limits, axes, group);
}

void TileBuilder::buildCaptures() {
  for (Region *region : kernel.getElementRegions())
    region->walk([&](LoadOp load) {
      Capture kind = classify(load);
      // Uniform indices of other kinds of loads are computed where those are.
      if (kind == Capture::Scalar || kind == Capture::Row)
        captures[load] = loadCapture(load, kind, {});
    });
}

//===----------------------------------------------------------------------===//
// Bounds and blocks
//===----------------------------------------------------------------------===//

/// The most elements that a range has along the last dimension of its tensor; no number where it has no dimensions, and
/// where indices are computed, which may be as far apart as the tensor is long.
IntegerAttr TileBuilder::lengthAlongLast(LoadRangeOp range, int64_t columns) {
  if (range.getFirst().empty())
    return {};
  std::optional<Coordinate> coordinate = getIndexCoordinate(range, range.getFirst().size() - 1);
  if (!coordinate)
    return range.getFirst().back() == range.getLast().back() ? builder.getI64IntegerAttr(1) : IntegerAttr();
  bool isLong = coordinate == Coordinate::Query || coordinate == Coordinate::Key;
  return builder.getI64IntegerAttr(!isLong ? 1 : *coordinate == getColumnAxis() ? columns : getExtent(*coordinate));
}

/// Clones a `bounds` or `blocks` region here. Ranges of rows and keys serve its attn.load_range operations.
SmallVector<Value> TileBuilder::inlineRegion(Region &region, ValueRange regionArguments, Value firstRow, Value lastRow,
                                             Value firstKey, Value lastKey, int64_t columns) {
  IRMapping mapping(arguments);
  mapping.map(region.getArguments(), regionArguments);
  auto indexOf = [&](IndexedOpInterface op, Value value, Value tensorView, unsigned dim, bool isLast) -> Value {
    std::optional<Coordinate> coordinate = getIndexCoordinate(op, dim);
    if (!coordinate) {
      Value last = sub(viewDim(tensorView, dim), index(1));
      return greatest(least(mapping.lookupOrDefault(value), last), index(0));
    }
    // A single element stands for the whole axis, at run time too.
    auto onAxis = [&](Value position, bool endsRange = false) {
      if (cast<MemRefType>(tensorView.getType()).getDimSize(dim) == 1)
        return index(0);
      Value inside = least(position, sub(viewDim(tensorView, dim), index(1)));
      // The last of no positions stands before the first.
      return endsRange ? inside : greatest(inside, index(0));
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
static Value lastRow(TileBuilder &b, Value end) {
  return b.sub(b.least(end, b.getSide(b.getRowAxis()).count), b.index(1));
}

/// First row and end of those whose keys are visited together: of the tile, or of a consumer's part of it.
std::pair<Value, Value> TileBuilder::buildRowsOfBounds() {
  PipelineAttr pipeline = getPipeline();
  if (kind == ProgramKind::BlockMask || !pipeline || !pipeline.getOwnKeys() || getRowAxis() == Coordinate::Key ||
      getExtent(Coordinate::Query) % pipeline.getConsumers() != 0)
    return {geometry.row0, add(geometry.row0, index(getExtent(getRowAxis())))};
  auto part = tile::PartOp::create(builder, loc, getExtent(Coordinate::Query));
  Value first = add(geometry.row0, part.getFirst());
  // A part without rows begins after the last query, whose position may be the last that an index holds.
  if (kernel.getQOffset())
    first = greatest(least(first, sub(geometry.query.count, index(1))), geometry.row0);
  return {first, add(geometry.row0, part.getEnd())};
}

ColumnBounds TileBuilder::buildBounds() {
  if (!hasBlockMask(kernel, schedule) || kind == ProgramKind::BlockMask)
    return getColumnAxis() == Coordinate::Query ? buildQueryBounds() : buildKeyBounds();
  Value zero = index(0);
  return {zero, zero, loadCount(zero), loadCount(index(1))};
}

/// The queries that the kernel's `query_bounds` region gives, whose positions it speaks of, as rows.
ColumnBounds TileBuilder::buildQueryBounds() {
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
    Value row = least(greatest(sub(position, wide(geometry.shift)), wide(zero)), wide(count));
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), row).getResult();
  };
  Value step = index(getColumns());
  Value low = mul(arith::DivUIOp::create(builder, loc, rowOf(bounds[0]), step), step);
  Value high = rowOf(bounds[3]);
  if (!kernel.getBlocks().empty())
    return {low, zero, zero, high};
  return {low, rowOf(bounds[1]), rowOf(bounds[2]), high};
}

/// The keys that the kernel's `bounds` region gives.
ColumnBounds TileBuilder::buildKeyBounds() {
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
    return {low, zero, zero, least(bounds[3], geometry.key.count)};
  return {low, bounds[1], least(bounds[2], geometry.key.count), least(bounds[3], geometry.key.count)};
}

std::pair<Value, Value> TileBuilder::buildBlock(Value first, int64_t columns) {
  Coordinate rows = getRowAxis();
  Value count = getSide(getColumnAxis()).count, next = add(first, index(columns));
  Value last = lastRow(*this, add(geometry.row0, index(getExtent(rows)))),
        lastColumn = sub(least(next, count), index(1));
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
