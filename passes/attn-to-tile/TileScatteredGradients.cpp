//===- TileScatteredGradients.cpp - Sums that any element adds to - C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The gradient of a captured tensor that is read in ways which give its elements no rows or tiles of their own: sums of
// f32 in a workspace, laid out like the tensor, to which each element of a tile adds what it has read.
//===----------------------------------------------------------------------===//

#include "passes/attn-to-tile/TileScatteredGradients.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::attn;

/// The dimension along which a tile's elements lie: the one of most elements, and of open ones the last.
static unsigned findRowDim(const CapturedGradient &captured) {
  RankedTensorType type = getGradientType(captured.tensor);
  unsigned found = type.getRank() - 1;
  for (int64_t dim = type.getRank() - 1; dim >= 0; --dim)
    if (!type.isDynamicDim(found) && (type.isDynamicDim(dim) || type.getDimSize(dim) > type.getDimSize(found)))
      found = dim;
  return found;
}

AffineExpr TileScatteredGradients::sizeOfDim(Value tensor, int64_t dim, SmallVectorImpl<int64_t> &sizes) {
  int64_t size = cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
  return ShapedType::isDynamic(size) ? sizeOf(tensor, dim, sizes) : getAffineConstantExpr(size, loc.getContext());
}

AffineExpr TileScatteredGradients::countScatteredTiles(SmallVectorImpl<int64_t> &sizes) {
  unsigned rowDim = findRowDim(*captured);
  AffineExpr tiles = sizeOfDim(captured->tensor, rowDim, sizes).ceilDiv(getRows());
  for (unsigned dim : captured->indexedDims())
    if (dim != rowDim)
      tiles = tiles * sizeOfDim(captured->tensor, dim, sizes);
  return tiles;
}

SmallVector<CapturedGradient> TileScatteredGradients::listScattered() {
  return getCapturedGradients(cast<BackwardOp>(kernel.getOperation()), {CapturedForm::Scattered});
}

std::string attnc::attn::scatteredWorkspace(const CapturedGradient &of) {
  return "scattered" + std::to_string(of.number);
}

void TileScatteredGradients::setScatteredWorkspaces(SmallVectorImpl<int64_t> &sizes) {
  constexpr int64_t columns = 256;
  for (const CapturedGradient &of : listScattered()) {
    AffineExpr elements = getAffineConstantExpr(1, loc.getContext());
    for (unsigned dim : of.indexedDims())
      elements = elements * sizeOfDim(of.tensor, dim, sizes);
    setWorkspace(scatteredWorkspace(of), elements.ceilDiv(columns), getAffineConstantExpr(columns, loc.getContext()));
  }
}

Value TileScatteredGradients::scatteredSums(const CapturedGradient &of) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(of.tensor.getType()).getShape();
  SmallVector<OpFoldResult> sizes, strides(shape.size(), builder.getIndexAttr(1));
  SmallVector<int64_t> layout(shape.size(), 1);
  auto sizeOf = [&](unsigned dim) -> OpFoldResult {
    if (ShapedType::isDynamic(shape[dim]))
      return viewDim(lookup(of.tensor), dim);
    return builder.getIndexAttr(shape[dim]);
  };
  auto valueOf = [&](OpFoldResult size) -> Value {
    auto value = dyn_cast<Value>(size);
    return value ? value : index(*getConstantIntValue(size));
  };
  for (unsigned dim = shape.size() - 1; dim > 0; --dim) {
    bool isStatic = !ShapedType::isDynamic(shape[dim]) && !ShapedType::isDynamic(layout[dim]);
    layout[dim - 1] = isStatic ? shape[dim] * layout[dim] : ShapedType::kDynamic;
    strides[dim - 1] = isStatic ? OpFoldResult(builder.getIndexAttr(layout[dim - 1]))
                                : OpFoldResult(mul(valueOf(sizeOf(dim)), valueOf(strides[dim])));
  }
  for (unsigned dim = 0; dim < shape.size(); ++dim)
    sizes.push_back(sizeOf(dim));
  auto type =
      MemRefType::get(shape, builder.getF32Type(), StridedLayoutAttr::get(builder.getContext(), /*offset=*/0, layout));
  return memref::ReinterpretCastOp::create(builder, loc, type, program.getWorkspaceView(scatteredWorkspace(of)),
                                           builder.getIndexAttr(0), sizes, strides);
}

void TileScatteredGradients::buildScatteredGeometry() {
  Value tensor = lookup(captured->tensor), rest = program.getTile();
  unsigned rowDim = findRowDim(*captured);
  scatteredIndices.assign(captured->axes().size(), index(0));
  Value size = viewDim(tensor, rowDim), extent = index(getRows());
  Value first = mul(takePlace(rest, arith::CeilDivUIOp::create(builder, loc, size, extent)), extent);
  for (unsigned dim : captured->indexedDims())
    scatteredIndices[dim] = dim == rowDim ? first : takePlace(rest, viewDim(tensor, dim));
  tile::LiveRowsOp::create(builder, loc, min(sub(size, first), extent));
}

void TileScatteredGradients::storeScatteredSums(Value vector) {
  unsigned rowDim = findRowDim(*captured);
  tile::StoreOp::create(builder, loc, vector, Value(), scatteredSums(*captured), scatteredIndices,
                        viewDim(lookup(captured->tensor), rowDim), ArrayRef<int64_t>{rowDim}, ArrayRef<int64_t>());
}

Value TileScatteredGradients::loadScatteredSums() {
  unsigned rowDim = findRowDim(*captured);
  return tile::LoadOp::create(builder, loc, rowType(builder.getF32Type()), scatteredSums(*captured), scatteredIndices,
                              viewDim(lookup(captured->tensor), rowDim), ArrayRef<int64_t>{rowDim},
                              ArrayRef<int64_t>());
}

void TileScatteredGradients::storeScattered(Value vector) {
  Type element = getGradientType(captured->tensor).getElementType();
  if (!element.isF32())
    vector = arith::TruncFOp::create(builder, loc, rowType(element), vector);
  unsigned rowDim = findRowDim(*captured);
  for (Value view : destinations.lookup(captured->gradient))
    tile::StoreOp::create(builder, loc, vector, Value(), view, scatteredIndices, viewDim(view, rowDim),
                          ArrayRef<int64_t>{rowDim}, ArrayRef<int64_t>());
}

Value TileScatteredGradients::buildPlaces(Coordinate axis, Value first) {
  OpBuilder::InsertionGuard guard(builder);
  auto type = VectorType::get({getRows(), getColumns()}, builder.getI32Type());
  auto map = tile::MapOp::create(builder, loc, TypeRange(type), ValueRange(), ValueRange(), ValueRange(),
                                 add(geometry.query.base, geometry.row0), add(geometry.key.base, first));
  Block *block = addElementwiseBody(map.getBody(), ValueRange(), ElementwiseOperands());
  Value place = block->getArgument(axis == Coordinate::Query ? 0 : 1);
  tile::YieldOp::create(builder, loc,
                        arith::IndexCastOp::create(builder, loc, builder.getI32Type(), place).getResult());
  return map.getResult(0);
}

void TileScatteredGradients::scatterCaptured(Value tile, const CapturedGradient &of, const Axes &read,
                                             ValueRange computed, Value first) {
  Type i32 = builder.getI32Type();
  RankedTensorType type = getGradientType(of.tensor);
  SmallVector<Value> places, indices(read.size(), index(0));
  SmallVector<int64_t> axes;
  for (unsigned dim : of.indexedDims()) {
    if (read[dim] == Coordinate::Head) {
      indices[dim] = geometry.head;
      continue;
    }
    if (read[dim] == Coordinate::Batch) {
      indices[dim] = batchIndex(lookup(of.tensor), dim);
      continue;
    }
    axes.push_back(dim);
    if (read[dim]) {
      places.push_back(buildPlaces(*read[dim], first));
      continue;
    }
    Value place = computed.front();
    computed = computed.drop_front();
    // The region has clamped what has a static size.
    if (type.isDynamicDim(dim)) {
      Value last = sub(viewDim(lookup(of.tensor), dim), index(1));
      last = arith::IndexCastOp::create(builder, loc, i32, last);
      place = buildMap(place, {}, {}, i32,
                       [&](ValueRange x) -> Value { return arith::MinSIOp::create(builder, loc, x[0], last); });
    }
    places.push_back(place);
  }
  // Where queries or keys address a dimension themselves, no two elements of a diagonal share a place.
  bool isOfComputed = !places.empty() && of.computedDims(read).size() == places.size();
  tile::ScatterOp::create(builder, loc, tile, scatteredSums(of), indices, places, axes, /*diagonals=*/isOfComputed);
}
