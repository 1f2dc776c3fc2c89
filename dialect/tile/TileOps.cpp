//===- TileOps.cpp - Verifying tile operations ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/tile/TileOps.h"
#include "dialect/tile/BlockedRows.h"
#include "dialect/tile/SharedLayout.h"

using namespace mlir;
using namespace attnc::tile;

#define GET_OP_CLASSES
#include "dialect/tile/TileOps.cpp.inc"

/// A load or store of `tile` through `view`: one index a dimension, one limit an axis, axes of the view, and groups of
/// its rows.
static LogicalResult verifyAccess(Operation *op, VectorType tile, MemRefType view, ValueRange indices,
                                  ValueRange limits, ArrayRef<int64_t> axes, ArrayRef<int64_t> group) {
  if (static_cast<int64_t>(indices.size()) != view.getRank())
    return op->emitOpError() << "expected " << view.getRank() << " indices, got " << indices.size();
  if (axes.size() != static_cast<size_t>(tile.getRank()) || limits.size() != axes.size())
    return op->emitOpError() << "expected one axis and one limit for each of the " << tile.getRank()
                             << " dimensions of the tile, got " << axes.size() << " and " << limits.size();
  for (auto [number, axis] : llvm::enumerate(axes)) {
    if (axis < 0 || axis >= view.getRank())
      return op->emitOpError() << "expected axes of the view, got " << axis;
    if (llvm::is_contained(axes.take_front(number), axis))
      return op->emitOpError() << "expected each axis once, got " << axis << " twice";
  }
  if (tile.getElementType() != view.getElementType())
    return op->emitOpError() << "expected a tile of " << view.getElementType() << ", got " << tile.getElementType();
  if (group.size() > 2)
    return op->emitOpError() << "expected a group of [rows] or [rows, dimension], got " << group.size() << " numbers";
  RowGroup rows(group);
  if (rows.size <= 0 || tile.getDimSize(0) % rows.size != 0)
    return op->emitOpError() << "expected the group to divide the " << tile.getDimSize(0) << " rows of the tile, got "
                             << rows.size;
  if (group.size() == 2 &&
      (rows.dimension < 0 || rows.dimension >= view.getRank() || llvm::is_contained(axes, rows.dimension)))
    return op->emitOpError() << "expected the group along a dimension of the view that is no axis, got "
                             << rows.dimension;
  return success();
}

/// Rows that share an element cannot be stored, nor brought by one box.
template <typename Op>
static LogicalResult verifyDistinctRows(Op op) {
  if (op.getGroup().size() == 1)
    return op.emitOpError() << "expected a dimension that the rows of a group go along";
  return success();
}

/// Pages of a static number of rows, and a table of them.
static LogicalResult verifyPages(Operation *op, Value pages, VectorType tile, MemRefType view, ArrayRef<int64_t> axes,
                                 ArrayRef<int64_t> group) {
  if (!pages)
    return success();
  if (tile.getRank() != 2 || view.getRank() < 3 || axes[0] != 1 || view.isDynamicDim(1) || !group.empty())
    return op->emitOpError() << "expected rows along dimension 1, of a static size, and no group with 'pages', got "
                             << tile << " of " << view;
  auto table = cast<MemRefType>(pages.getType());
  if (table.getRank() != 2 || !table.getElementType().isInteger(32))
    return op->emitOpError() << "expected a page table of rank 2 of i32, got " << table;
  return success();
}

/// A tile of a view of whole bands of rows.
static LogicalResult verifyBlocked(Operation *op, VectorType tile, MemRefType view, ArrayRef<int64_t> axes,
                                   ArrayRef<int64_t> group) {
  if (tile.getRank() != 2 || !tile.getElementType().isF32() || view.getRank() != 2 ||
      !llvm::equal(axes, ArrayRef<int64_t>{0, 1}) || !group.empty() ||
      tile.getDimSize(0) % BlockedRows::bandRows != 0 || tile.getDimSize(1) != view.getDimSize(1) ||
      tile.getDimSize(1) % BlockedRows::blockColumns != 0)
    return op->emitOpError() << "expected f32 tiles of whole rows, in multiples of " << BlockedRows::bandRows
                             << ", of a view of two dimensions whose rows have a multiple of "
                             << BlockedRows::blockColumns << " columns, with 'blocked'; got " << tile << " of " << view;
  return success();
}

/// The order of `blocked` has two forms; `bringsPieces`: whether what a lane has together is what is added.
static LogicalResult verifyInterleaved(Operation *op, bool isInterleaved, bool isBlocked, bool bringsPieces) {
  if (isInterleaved && !isBlocked)
    return op->emitOpError("expected 'blocked' with 'interleaved'");
  if (isInterleaved && bringsPieces)
    return op->emitOpError("expected no buffer and no order with 'interleaved': they add what a lane has together");
  return success();
}

LogicalResult LoadOp::verify() {
  VectorType tile = getResult().getType();
  if (getBlocked() && failed(verifyBlocked(*this, tile, getView().getType(), getAxes(), getGroup())))
    return failure();
  if (failed(verifyInterleaved(*this, getInterleaved(), getBlocked(), /*bringsPieces=*/false)))
    return failure();
  if (isColumnVector(tile)) {
    if (!getGroup().empty())
      return emitOpError() << "expected no group of columns, got one with " << tile;
    tile = VectorType::get(tile.getDimSize(1), tile.getElementType());
  }
  if (failed(verifyAccess(*this, tile, getView().getType(), getIndices(), getLimits(), getAxes(), getGroup())))
    return failure();
  return verifyPages(*this, getPages(), tile, getView().getType(), getAxes(), getGroup());
}

/// What adds in an order has a semaphore that says who has added.
static LogicalResult verifyOrder(StoreOp store) {
  if (!store.getOrder() && !store.getAfter() && !store.getSemaphores() && store.getSemaphore().empty())
    return success();
  if (!store.getOrder() || !store.getAfter() || !store.getSemaphores())
    return store.emitOpError("expected an order, the place before it and its semaphore, or none of them");
  if (!store.getAccumulate())
    return store.emitOpError("expected 'accumulate' with 'order'");
  auto semaphores = cast<MemRefType>(store.getSemaphores().getType());
  if (!semaphores.getElementType().isInteger(32) ||
      semaphores.getRank() != static_cast<int64_t>(store.getSemaphore().size()))
    return store.emitOpError() << "expected a semaphore of i32, and an index for each dimension, got " << semaphores
                               << " and " << store.getSemaphore().size();
  return success();
}

/// What adds to memory goes with the order of `blocked`, and what the copy engine stores in that order it adds.
static LogicalResult verifyAccumulate(StoreOp store) {
  if (store.getAccumulate() && !store.getBlocked())
    return store.emitOpError("expected 'blocked' with 'accumulate'");
  if (store.getDeferred() && !(store.getAccumulate() && store.getBuffer()))
    return store.emitOpError("expected 'accumulate' and a buffer with 'deferred'");
  if (!store.getBlocked() || !store.getBuffer())
    return success();
  if (!store.getAccumulate())
    return store.emitOpError("expected 'accumulate' with 'blocked' through a buffer");
  if (VectorType buffer = store.getBuffer().getType().getTile(); buffer != store.getValue().getType())
    return store.emitOpError() << "expected a buffer of " << store.getValue().getType() << ", all of it, got "
                               << buffer;
  return success();
}

LogicalResult StoreOp::verify() {
  if (getBuffer()) {
    auto value = cast<VectorType>(getValue().getType());
    VectorType buffer = getBuffer().getType().getTile();
    if (value.getRank() != 2 || buffer.getDimSize(0) != value.getDimSize(0) ||
        buffer.getDimSize(1) > value.getDimSize(1) || buffer.getElementType() != value.getElementType())
      return emitOpError() << "expected a buffer with the rows and some or all columns of " << value << ", got "
                           << buffer;
  }
  if (failed(verifyAccumulate(*this)) || failed(verifyOrder(*this)) ||
      failed(verifyInterleaved(*this, getInterleaved(), getBlocked(), /*bringsPieces=*/getBuffer() || getOrder())))
    return failure();
  if (getBlocked() &&
      failed(verifyBlocked(*this, cast<VectorType>(getValue().getType()), getView().getType(), getAxes(), getGroup())))
    return failure();
  if (failed(verifyDistinctRows(*this)))
    return failure();
  return verifyAccess(*this, cast<VectorType>(getValue().getType()), getView().getType(), getIndices(), getLimits(),
                      getAxes(), getGroup());
}

LogicalResult PutOp::verify() {
  auto tile = dyn_cast<VectorType>(getRing().getType().getElement());
  if (!tile)
    return emitOpError() << "expected a ring of tiles, got " << getRing().getType();
  if (failed(verifyDistinctRows(*this)))
    return failure();
  if (failed(verifyAccess(*this, tile, getView().getType(), getIndices(), getLimits(), getAxes(), getGroup())))
    return failure();
  return verifyPages(*this, getPages(), tile, getView().getType(), getAxes(), getGroup());
}

LogicalResult ScatterOp::verify() {
  MemRefType view = getView().getType();
  if (!view.getElementType().isF32() || static_cast<int64_t>(getIndices().size()) != view.getRank())
    return emitOpError() << "expected a view of f32 and an index for each of its dimensions, got " << view << " and "
                         << getIndices().size();
  if (getAxes().size() != getPlaces().size())
    return emitOpError() << "expected an axis for each tile of places, got " << getAxes().size() << " for "
                         << getPlaces().size();
  for (auto [number, axis] : llvm::enumerate(getAxes()))
    if (axis < 0 || axis >= view.getRank() || llvm::is_contained(getAxes().take_front(number), axis))
      return emitOpError() << "expected different axes of the view, got " << axis;
  ArrayRef<int64_t> shape = cast<VectorType>(getValue().getType()).getShape();
  for (Type places : getPlaces().getTypes())
    if (cast<VectorType>(places).getShape() != shape)
      return emitOpError() << "expected a place for each element of " << getValue().getType() << ", got " << places;
  return success();
}

bool MinMaxOp::isRow() {
  size_t rank = getFirst().size();
  return rank > 0 && getFirst().drop_back() == getLast().drop_back();
}

LogicalResult MinMaxOp::verify() {
  MemRefType view = getView().getType();
  for (ValueRange indices : {getFirst(), getLast()})
    if (static_cast<int64_t>(indices.size()) != view.getRank())
      return emitOpError() << "expected " << view.getRank() << " indices, got " << indices.size();
  if (!isa<IntegerType>(view.getElementType()))
    return emitOpError() << "expected a view of integers, got " << view;
  for (Type type : getResultTypes())
    if (type != view.getElementType())
      return emitOpError() << "expected results of type " << view.getElementType() << ", got " << type;
  return success();
}

LogicalResult BlockMaskOp::verify() {
  auto view = cast<MemRefType>(getList().getType());
  if (view.getRank() != 2 || !view.getElementType().isInteger(32))
    return emitOpError() << "expected a list of rows of i32, got " << view;
  Block &body = getBody().front();
  if (body.getNumArguments() != 1 || !body.getArgument(0).getType().isIndex())
    return emitOpError("expected a region of one index, where a step starts");
  auto yield = dyn_cast<YieldOp>(body.getTerminator());
  if (!yield || yield.getNumOperands() != 2 ||
      llvm::any_of(yield.getOperandTypes(), [](Type type) { return !type.isInteger(1); }))
    return emitOpError("expected the region to yield whether some and whether all elements are kept, (i1, i1)");
  return success();
}

LogicalResult ReduceOp::verify() {
  auto source = cast<VectorType>(getSource().getType()), acc = cast<VectorType>(getAcc().getType());
  if (acc.getDimSize(0) != source.getDimSize(0))
    return emitOpError() << "expected an accumulator of " << source.getDimSize(0) << " elements, one a row of "
                         << source << ", got " << acc;
  if (getPartial() && getKind() != ReduceKind::Add)
    return emitOpError("expected parts of sums alone: <add> with partial");
  return success();
}

VectorType attnc::tile::getPartsOf(VectorType tile) {
  SmallVector<int64_t, 3> shape{floatParts};
  llvm::append_range(shape, tile.getShape());
  return VectorType::get(shape, BFloat16Type::get(tile.getContext()));
}

bool attnc::tile::isInParts(VectorType tile) {
  return tile.getRank() == 3 && tile.getDimSize(0) == floatParts && tile.getElementType().isBF16();
}

bool attnc::tile::isInParts(Value operand) {
  auto shared = dyn_cast<SharedTileType>(operand.getType());
  return shared && isInParts(shared.getTile());
}

VectorType attnc::tile::getTileType(Value operand) {
  if (auto shared = dyn_cast<SharedTileType>(operand.getType())) {
    VectorType tile = shared.getTile();
    return isInParts(tile) ? VectorType::get(tile.getShape().drop_front(), Float32Type::get(tile.getContext())) : tile;
  }
  return cast<VectorType>(operand.getType());
}

/// Shapes of acc + a * b agree.
template <typename Op>
static LogicalResult verifyProduct(Op op) {
  VectorType a = getTileType(op.getA()), b = getTileType(op.getB()), acc = cast<VectorType>(op.getAcc().getType());
  bool transposed = op.getTransposed(), leftTransposed = op.getLeftTransposed();
  int64_t n = b.getDimSize(transposed ? 0 : 1), k = b.getDimSize(transposed ? 1 : 0);
  if (a.getDimSize(leftTransposed ? 1 : 0) != acc.getDimSize(0) || n != acc.getDimSize(1) ||
      a.getDimSize(leftTransposed ? 0 : 1) != k)
    return op.emitOpError() << "expected shapes of a product, got " << a << " and " << b << " into " << acc;
  return success();
}

LogicalResult MmaOp::verify() {
  if (isInParts(getA()))
    return emitOpError() << "expected parts as the right operand alone, got " << getA().getType();
  if (getTf32() && isInParts(getB()))
    return emitOpError() << "expected no parts with 'tf32', got " << getB().getType();
  if (getTf32() && !getTileType(getA()).getElementType().isF32())
    return emitOpError() << "expected tiles of f32 with 'tf32', got " << getA().getType();
  return verifyProduct(*this);
}

LogicalResult StartOp::verify() {
  if (isInParts(getA()) || isInParts(getB()))
    return emitOpError() << "expected no parts, got " << getA().getType() << " and " << getB().getType();
  if (getResult().getType().getTile() != getAcc().getType())
    return emitOpError() << "expected a result of " << getAcc().getType() << " in flight, got "
                         << getResult().getType();
  if (getLeftTransposed() && isa<VectorType>(getA().getType()))
    return emitOpError() << "expected a tile in shared memory with 'left_transposed', got " << getA().getType();
  return verifyProduct(*this);
}
