//===- TileParts.cpp - Tiles that go over parts of their keys ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Where queries are few, so are tiles: parts of their keys keep a machine busy (S16). Each part leaves the state of its
// rows in a workspace, and the program that combines them reads it there.
//===----------------------------------------------------------------------===//

#include "passes/attn-to-tile/TileParts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::attn;

/// Keys below which a part does not pay, where their number goes by that of blocks: a block takes some 3 us to come and
/// go, in which it could have read as many.
static constexpr int64_t leastKeysOfPart = 256;

/// Parts whose numbers and outputs are loaded together, so that one does not wait for the other.
static constexpr int64_t mostPartsTogether = 8;

int64_t TileParts::countPartColumns() { return llvm::alignTo(countOutputColumns(), 4) + 4; }

AffineExpr TileParts::hasParts(AffineExpr tiles, AffineExpr keys) {
  if (schedule.getSplits())
    return getAffineConstantExpr(schedule.getSplits() > 1, loc.getContext());
  auto isPositive = [](AffineExpr count) { return count.ceilDiv(count + 1); };
  // As `countParts`: twice as many blocks as tiles, and keys for two parts.
  AffineExpr most = getAffineConstantExpr(schedule.getSplitBlocks() / 2 + 1, loc.getContext());
  return isPositive(most.floorDiv(tiles + 1)) * isPositive(keys.floorDiv(2 * leastKeysOfPart));
}

AffineExpr TileParts::keysOfParts(SmallVectorImpl<int64_t> &sizes) {
  AffineExpr stored = keyRows(sizes);
  return kernel.areKeysPacked() ? stored.floorDiv(sizeOf(kernel.getKeyOffsets(), 0, sizes)) : stored;
}

Value TileParts::countKeysOfParts() {
  Value stored = countStored(Coordinate::Key, lookup(kernel.getKey()));
  if (!kernel.areKeysPacked())
    return stored;
  return arith::DivUIOp::create(builder, loc, stored, viewDim(lookup(kernel.getKeyOffsets()), 0));
}

AffineExpr TileParts::setWorkspaceOfParts(AffineExpr tiles, AffineExpr rows, SmallVectorImpl<int64_t> &sizes) {
  AffineExpr severalParts = hasParts(tiles, keysOfParts(sizes)), parts, rowsOfParts;
  if (int64_t splits = schedule.getSplits()) {
    parts = tiles * splits;
    AffineExpr stored = kernel.isPacked() ? rows : rows * sizeOf(kernel.getQuery(), 0, sizes);
    rowsOfParts = stored * kernel.getQueryHeads() * splits;
  } else {
    // No blocks where there are no tiles. Of several parts there are no more than blocks, each with the rows of a tile.
    parts = (tiles + schedule.getSplitBlocks()) * tiles.ceilDiv(tiles + 1);
    rowsOfParts = getAffineConstantExpr(schedule.getSplitBlocks() * getRows(), loc.getContext());
  }
  if (schedule.getProgram() == Program::Combine)
    parts = tiles * countColumnTiles() * severalParts;
  setWorkspace(partsWorkspace, rowsOfParts * severalParts, getAffineConstantExpr(countPartColumns(), loc.getContext()));
  return parts;
}

Value TileParts::countParts() {
  if (schedule.getSplits())
    return index(schedule.getSplits());
  Value ofBlocks = arith::DivUIOp::create(builder, loc, index(schedule.getSplitBlocks()), countTiles());
  Value ofKeys = arith::DivUIOp::create(builder, loc, countKeysOfParts(), index(leastKeysOfPart));
  return max(min(ofBlocks, ofKeys), index(1));
}

int64_t TileParts::countPartsTogether() const {
  int64_t splits = schedule.getSplits();
  return splits > 0 ? std::min(splits, mostPartsTogether) : mostPartsTogether;
}

ColumnBounds TileParts::takePart(ColumnBounds bounds) {
  if (!part)
    return bounds;
  Value step = index(getColumns());
  Value visited = max(sub(bounds.high, bounds.low), index(0));
  Value steps = arith::CeilDivUIOp::create(builder, loc, visited, step), parts = countParts();
  Value ofPart = arith::CeilDivUIOp::create(builder, loc, steps, parts);
  // Counted in steps, which stay far from the end of an index.
  Value first = min(mul(min(part, parts), ofPart), steps), last = min(add(first, ofPart), steps);
  auto columnOf = [&](Value number) { return add(bounds.low, mul(number, step)); };
  // Parts begin with whole steps; one without steps may begin after the last column.
  Value low = columnOf(first), high = min(columnOf(last), bounds.high);
  // Full columns of other parts are none of this one's.
  auto within = [&](Value column) { return min(max(column, low), max(high, low)); };
  return {low, within(bounds.fullLow), within(bounds.fullHigh), high, bounds.position};
}

Value TileParts::isFirstPart() {
  return part ? arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, part, index(0)).getResult() : Value();
}

Value TileParts::isOnlyPart() {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, countParts(), index(1));
}

Value TileParts::isPart() { return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, part, countParts()); }

SmallVector<Value> TileParts::partIndices(Value ofPart, Value column) {
  Value queries = lookup(kernel.getQuery()), heads = index(getHeads()), row = geometry.row0, entry, rowsOfPart, stored;
  Value headTiles = index(countHeadTiles()), headTile = arith::DivUIOp::create(builder, loc, geometry.head, heads);
  if (kernel.isPacked()) {
    stored = viewDim(queries, 0);
    row = add(geometry.query.base, row);
    entry = headTile;
    rowsOfPart = mul(headTiles, stored);
  } else {
    stored = geometry.query.stored;
    entry = add(mul(geometry.batch, headTiles), headTile);
    rowsOfPart = mul(mul(viewDim(queries, 0), headTiles), stored);
  }
  // All but the part's number is the same in a loop over parts.
  Value inPart = add(mul(entry, stored), row);
  return {mul(add(mul(ofPart, rowsOfPart), inPart), heads), column};
}

Value TileParts::endOfPartRows(Value first) {
  Value left = mul(sub(geometry.query.stored, geometry.row0), index(getHeads()));
  return add(first, min(left, index(getRows())));
}

Value TileParts::columnOf(PartNumber number) {
  return index(llvm::alignTo(countOutputColumns(), 4) + static_cast<int64_t>(number));
}

void TileParts::storePart(PartNumber number, Value rows) {
  SmallVector<Value> indices = partIndices(part, columnOf(number));
  tile::StoreOp::create(builder, loc, rows, Value(), program.getWorkspaceView(partsWorkspace), indices,
                        endOfPartRows(indices[0]), ArrayRef<int64_t>{0}, ArrayRef<int64_t>());
}

void TileParts::storePart(Value tile) {
  SmallVector<Value> indices = partIndices(part, index(0));
  tile::StoreOp::create(builder, loc, tile, Value(), program.getWorkspaceView(partsWorkspace), indices,
                        ValueRange{endOfPartRows(indices[0]), index(countOutputColumns())}, ArrayRef<int64_t>{0, 1},
                        ArrayRef<int64_t>());
}

Value TileParts::loadPart(PartNumber number, Value ofPart) {
  SmallVector<Value> indices = partIndices(ofPart, columnOf(number));
  return tile::LoadOp::create(builder, loc, rowType(builder.getF32Type()), program.getWorkspaceView(partsWorkspace),
                              indices, endOfPartRows(indices[0]), ArrayRef<int64_t>{0}, ArrayRef<int64_t>());
}

Value TileParts::loadPart(Value ofPart) {
  SmallVector<Value> indices = partIndices(ofPart, firstColumn);
  return tile::LoadOp::create(
      builder, loc, tileType(getColumns(), builder.getF32Type()), program.getWorkspaceView(partsWorkspace), indices,
      ValueRange{endOfPartRows(indices[0]), index(countOutputColumns())}, ArrayRef<int64_t>{0, 1}, ArrayRef<int64_t>());
}

Value TileParts::hasFirstColumns() {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, firstColumn, index(0));
}
