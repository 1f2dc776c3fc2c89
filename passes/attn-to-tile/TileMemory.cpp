//===- TileMemory.cpp - Loads and stores of tile programs -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "passes/attn-to-tile/TileMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::attn;

//===----------------------------------------------------------------------===//
// Loads and stores of the problem's tensors
//===----------------------------------------------------------------------===//

Value TileMemory::rowLimit(Value view, Coordinate axis, bool anyBeyond) {
  PipelineAttr pipeline = getPipeline();
  bool endsEarly = isPacked(axis) || (axis == Coordinate::Query ? kernel.getQueryLengths() : kernel.getKeyLengths());
  if (pipeline && pipeline.getStaging() == Staging::Tma && (anyBeyond || !endsEarly))
    return countStored(axis, view);
  const TileSide &side = getSide(axis);
  return add(side.base, side.count);
}

SmallVector<Value> TileMemory::problemIndices(Coordinate axis, Value first, SmallVector<int64_t> &axes) {
  bool ofQueries = axis == Coordinate::Query;
  SmallVector<Value> indices{add(getSide(axis).base, first), ofQueries ? geometry.head : geometry.keyHead, index(0)};
  axes = {0, 2};
  if (!isPacked(axis)) {
    indices.insert(indices.begin(), geometry.batch);
    axes = {1, 3};
  }
  return indices;
}

Value TileMemory::loadTile(Value tensor, Coordinate axis, Value first, bool anyBeyond) {
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

Value TileMemory::loadRows(Value tensor, bool anyBeyond) {
  return loadTile(tensor, getRowAxis(), geometry.row0, anyBeyond);
}

// Masks do not look at what they drop. Weights of 0 do: they make NaN of all that is no number.
Value TileMemory::loadColumns(Value tensor, Value first, bool masked) {
  return loadTile(tensor, getColumnAxis(), first, /*anyBeyond=*/masked);
}

SmallVector<Value> TileMemory::rowVectorIndices(SmallVector<int64_t> &axes) {
  SmallVector<Value> indices{geometry.head, add(geometry.query.base, geometry.row0)};
  axes = {1};
  if (!kernel.isPacked()) {
    indices.insert(indices.begin(), geometry.batch);
    axes = {2};
  }
  return indices;
}

Value TileMemory::loadRowVector(Value tensor) {
  SmallVector<int64_t> axes;
  SmallVector<Value> indices = rowVectorIndices(axes);
  Value limit = add(geometry.query.base, geometry.query.count);
  return tile::LoadOp::create(builder, loc, rowType(builder.getF32Type()), lookup(tensor), indices, limit, axes,
                              rowGroup(axes[0] - 1));
}

void TileMemory::storeRows(Value tile, Value result) {
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

void TileMemory::storeWeights(Value tile, Value result, Value j) {
  for (Value view : destinations.lookup(result))
    tile::StoreOp::create(builder, loc, tile, Value(), view,
                          ValueRange{geometry.batch, geometry.head, geometry.row0, j},
                          ValueRange{geometry.query.stored, viewDim(view, 3)}, ArrayRef<int64_t>{2, 3}, rowGroup(1));
}

void TileMemory::storeRowVector(Value vector, Value result) {
  SmallVector<int64_t> axes;
  SmallVector<Value> indices = rowVectorIndices(axes);
  Value limit = add(geometry.query.base, geometry.query.stored);
  for (Value view : destinations.lookup(result))
    tile::StoreOp::create(builder, loc, vector, Value(), view, indices, limit, axes, rowGroup(axes[0] - 1));
}

//===----------------------------------------------------------------------===//
// Sinks
//===----------------------------------------------------------------------===//

int64_t TileMemory::countSinks() { return cast<RankedTensorType>(kernel.getSinks().getType()).getShape().back(); }

int64_t TileMemory::countSinkTiles() {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(kernel.getSinks().getType()).getShape();
  return llvm::divideCeil(shape.back(), getRows()) * (shape.size() == 2 ? shape.front() : 1);
}

void TileMemory::buildSinkGeometry() {
  Value tilesOfHead = index(llvm::divideCeil(countSinks(), getRows()));
  geometry.head = arith::DivUIOp::create(builder, loc, program.getTile(), tilesOfHead);
  geometry.row0 = mul(arith::RemUIOp::create(builder, loc, program.getTile(), tilesOfHead), index(getRows()));
  tile::LiveRowsOp::create(builder, loc, min(sub(index(countSinks()), geometry.row0), index(getRows())));
}

SmallVector<Value> TileMemory::sinkIndices() {
  bool ofHeads = cast<RankedTensorType>(kernel.getSinks().getType()).getRank() == 2;
  return ofHeads ? SmallVector<Value>{geometry.head, geometry.row0} : SmallVector<Value>{geometry.row0};
}

Value TileMemory::loadSinks() {
  Value view = lookup(kernel.getSinks());
  SmallVector<Value> indices = sinkIndices();
  return tile::LoadOp::create(builder, loc, rowType(cast<MemRefType>(view.getType()).getElementType()), view, indices,
                              index(countSinks()), ArrayRef<int64_t>{static_cast<int64_t>(indices.size()) - 1},
                              ArrayRef<int64_t>());
}

void TileMemory::storeSinkGradient(Value vector, Value result) {
  SmallVector<Value> indices = sinkIndices();
  for (Value view : destinations.lookup(result))
    tile::StoreOp::create(builder, loc, vector, Value(), view, indices, index(countSinks()),
                          ArrayRef<int64_t>{static_cast<int64_t>(indices.size()) - 1}, ArrayRef<int64_t>());
}
