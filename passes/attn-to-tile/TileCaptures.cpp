//===- TileCaptures.cpp - Captured tensors ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "passes/attn-to-tile/TileCaptures.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

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

TileCaptures::Capture TileCaptures::classify(LoadOp load) {
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

Value TileCaptures::batchIndex(Value view, int64_t dim) {
  // Packed: nothing ties this size to the number of sequences.
  return kernel.isPacked() ? min(geometry.batch, sub(viewDim(view, dim), index(1))) : geometry.batch;
}

SmallVector<Value> TileCaptures::viewIndices(LoadOp load, Value j, SmallVectorImpl<int64_t> &axes,
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
      indices.push_back(max(min(computed, last), index(0)));
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

Value TileCaptures::cloneUniform(Value value, Region &region, IRMapping &mapping) {
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

Value TileCaptures::loadCapture(LoadOp load, Capture kind, Value j) {
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

void TileCaptures::buildCaptures() {
  for (Region *region : kernel.getElementRegions())
    region->walk([&](LoadOp load) {
      Capture kind = classify(load);
      // Uniform indices of other kinds of loads are computed where those are.
      if (kind == Capture::Scalar || kind == Capture::Row)
        captures[load] = loadCapture(load, kind, {});
    });
}
