//===- TilePlace.cpp - Where a tile stands ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "passes/attn-to-tile/TilePlace.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::attn;

void TilePlace::placeHead(Value number) {
  if (getRowAxis() == Coordinate::Key)
    geometry.keyHead = number;
  else
    geometry.head = getHeads() == 1 ? number : mul(number, index(getHeads()));
}

void TilePlace::placeTile(Value tile) {
  bool isListed = hasBlockMask(kernel, schedule), lists = kind == ProgramKind::BlockMask;
  bool hasHeads = !lists || blockMaskKnowsHeads();
  Value heads = index(hasHeads ? countHeadTiles() : 1);
  if (kernel.isPacked()) {
    placeHead(arith::RemUIOp::create(builder, loc, tile, heads));
    Value place = arith::DivUIOp::create(builder, loc, tile, heads);
    buildPackedGeometry(place);
    if (isListed)
      listRow = lists || blockMaskKnowsHeads() ? tile : place;
    return;
  }
  geometry.query.stored = viewDim(lookup(kernel.getQuery()), 1);
  geometry.key.stored = countStored(Coordinate::Key, lookup(kernel.getKey()));
  Value rows = getSide(getRowAxis()).stored, extent = index(getExtent(getRowAxis()));
  Value tiles = arith::CeilDivUIOp::create(builder, loc, rows, extent);
  bool inSections = !lists && schedule.getPipeline() && schedule.getPipeline().getSectionBytes();
  auto [inHead, rest] = inSections ? buildSections(tile, tiles, geometry.key.stored)
                                   : std::pair<Value, Value>(arith::RemUIOp::create(builder, loc, tile, tiles),
                                                             arith::DivUIOp::create(builder, loc, tile, tiles));
  // A kernel takes the last queries first, and the first keys: under a causal mask they take longest. Tiles of one head
  // follow each other, so that its keys and values stay in the cache. Tiles of keys that add in an order begin with the
  // last: under a causal mask, or in a window, each comes to a query some steps after the tile that it adds after.
  bool keepsOrder = schedule.getProgram() == Program::Dqdkdv && ordersQuerySums();
  bool ascends = lists || (getRowAxis() == Coordinate::Key && !keepsOrder);
  Value number = ascends ? inHead : sub(sub(tiles, index(1)), inHead);
  geometry.row0 = mul(number, extent);
  if (schedule.getPipeline() && schedule.getPipeline().getBatchInside()) {
    Value batch = viewDim(lookup(kernel.getQuery()), 0);
    placeHead(arith::DivUIOp::create(builder, loc, rest, batch));
    geometry.batch = arith::RemUIOp::create(builder, loc, rest, batch);
  } else {
    placeHead(arith::RemUIOp::create(builder, loc, rest, heads));
    geometry.batch = arith::DivUIOp::create(builder, loc, rest, heads);
  }
  if (isListed)
    listRow = lists ? tile : add(mul(blockMaskKnowsHeads() ? rest : geometry.batch, tiles), number);
}

bool TilePlace::ordersQuerySums() {
  auto backward = dyn_cast<BackwardOp>(kernel.getOperation());
  return backward && isDeterministic(backward) && hasQuerySums();
}

bool TilePlace::hasQuerySums() {
  return llvm::any_of(kernel.getSchedules(),
                      [](ScheduleAttr schedule) { return schedule.getProgram() == Program::Dqdkdv; });
}

void TilePlace::buildGeometry() {
  Value tile = program.getTile();
  if (schedule.getProgram() == Program::Dbuckets)
    firstBucket = mul(takePlace(tile, index(countBucketTiles())), index(countBucketsOfTile()));
  if (schedule.getProgram() == Program::Combine) {
    firstColumn = mul(takePlace(tile, index(countColumnTiles())), index(getColumns()));
  } else if (schedule.isSplit()) {
    part = tile;
    tile = takePlace(part, countTiles());
  }
  placeTile(tile);
  if (!kernel.isPacked()) {
    geometry.query.base = geometry.key.base = index(0);
    Value queryLengths = kernel.getQueryLengths(), keyLengths = kernel.getKeyLengths();
    geometry.query.count =
        queryLengths ? loadLength(queryLengths, geometry.batch, geometry.query.stored) : geometry.query.stored;
    geometry.key.count = keyLengths ? loadLength(keyLengths, geometry.batch, geometry.key.stored) : geometry.key.stored;
  }
  int64_t group = kernel.getQueryHeads() / kernel.getKeyHeads();
  if (getRowAxis() == Coordinate::Query)
    geometry.keyHead = arith::DivUIOp::create(builder, loc, geometry.head, index(group));
  else if (group == 1 || kind == ProgramKind::BlockMask)
    geometry.head = geometry.keyHead;
  geometry.shift =
      kernel.getAlign() == Alignment::BottomRight ? sub(geometry.key.count, geometry.query.count) : index(0);
  if (Value offset = kernel.getQOffset())
    geometry.shift = add(geometry.shift, lookup(offset));
  Value left = sub(getSide(getRowAxis()).stored, geometry.row0);
  Value rows = getHeads() == 1 ? left : mul(left, index(getHeads()));
  tile::LiveRowsOp::create(builder, loc, max(min(rows, index(getRows())), index(0)));
}

/// Fewer heads in a section leave too few long tiles to fill the gaps at the end. Gradients take fewer, since sums of
/// gradients of queries share the cache with what their tiles read (docs/rationale/backward.md).
static constexpr int64_t fewestOfForward = 16, fewestOfGradients = 4;

std::pair<Value, Value> TilePlace::buildSections(Value tile, Value tilesOfHead, Value keyRows) {
  auto type = cast<RankedTensorType>(kernel.getKey().getType());
  int64_t dims = kernel.getHeadDim();
  if (Value value = kernel.getValueOrNull())
    dims += cast<RankedTensorType>(value.getType()).getShape().back();
  int64_t rowBytes = dims * type.getElementTypeBitWidth() / 8;
  auto divide = [&](Value a, Value b) -> Value { return arith::DivUIOp::create(builder, loc, a, b); };
  const int64_t fewest = isa<BackwardOp>(kernel.getOperation()) ? fewestOfGradients : fewestOfForward;
  // An index of a GPU has 32 bits, which hold any number of rows there is.
  int64_t rows = std::min<int64_t>(schedule.getPipeline().getSectionBytes() / rowBytes, INT32_MAX);
  Value fit = divide(index(rows), max(keyRows, index(1)));
  // A power of two, so that sections tend to divide the heads.
  Type i32 = builder.getI32Type();
  auto constant = [&](int32_t value) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(value));
  };
  Value word = arith::IndexCastOp::create(builder, loc, i32, max(fit, index(fewest)));
  Value leading = math::CountLeadingZerosOp::create(builder, loc, word);
  Value power =
      arith::ShLIOp::create(builder, loc, constant(1), arith::SubIOp::create(builder, loc, constant(31), leading));
  Value batch = viewDim(lookup(kernel.getQuery()), 0);
  Value all = mul(batch, index(countHeadTiles()));
  Value section = min(arith::IndexCastOp::create(builder, loc, builder.getIndexType(), power), all);
  Value tilesOfSection = mul(section, tilesOfHead);
  Value number = divide(tile, tilesOfSection);
  Value inside = arith::RemUIOp::create(builder, loc, tile, tilesOfSection);
  // The last section may have fewer heads. Both sizes are the same for all tiles, and so is what divisions by them
  // need.
  Value whole = divide(all, section), rest = max(sub(all, mul(whole, section)), index(1));
  Value isLast = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::uge, number, whole);
  auto ofBoth = [&](Value last, Value others) -> Value {
    return arith::SelectOp::create(builder, loc, isLast, last, others);
  };
  Value head =
      ofBoth(arith::RemUIOp::create(builder, loc, inside, rest), arith::RemUIOp::create(builder, loc, inside, section));
  return {ofBoth(divide(inside, rest), divide(inside, section)), add(mul(number, section), head)};
}

Value TilePlace::countSlots() {
  Value offsets = lookup(getRowAxis() == Coordinate::Query ? kernel.getQueryOffsets() : kernel.getKeyOffsets());
  Value rows = viewDim(lookup(rowTensor()), 0);
  Value tiles = arith::CeilDivUIOp::create(builder, loc, rows, index(getExtent(getRowAxis())));
  return max(add(tiles, sub(viewDim(offsets, 0), index(2))), index(1));
}

void TilePlace::buildPackedGeometry(Value slot) {
  bool ofQueries = getRowAxis() == Coordinate::Query;
  Value rowOffsets = ofQueries ? kernel.getQueryOffsets() : kernel.getKeyOffsets();
  Value one = index(1), rows = index(getExtent(getRowAxis()));
  Value offsets = lookup(rowOffsets);
  auto compare = [&](arith::CmpIPredicate predicate, Value a, Value b) -> Value {
    return arith::CmpIOp::create(builder, loc, predicate, a, b);
  };
  auto firstSlot = [&](Value offset, Value b) { return add(arith::DivUIOp::create(builder, loc, offset, rows), b); };
  Value batch = sub(viewDim(offsets, 0), one), lastBatch = max(sub(batch, one), index(0));
  slot = sub(sub(countSlots(), one), slot);

  // Three bits of its number at once, from the highest down: loads that do not wait for each other.
  constexpr int64_t digitBits = 3, digits = 1 << digitBits;
  Type i32 = builder.getI32Type();
  Value word = arith::IndexCastOp::create(builder, loc, i32, lastBatch);
  Value zeros = arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                           math::CountLeadingZerosOp::create(builder, loc, word));
  Value rounds = arith::CeilDivUIOp::create(builder, loc, sub(index(32), zeros), index(digitBits));
  auto loop = scf::ForOp::create(
      builder, loc, index(0), rounds, one, index(0), [&](OpBuilder &, Location, Value round, ValueRange state) {
        OpBuilder::InsertionGuard guard(builder);
        builder.setInsertionPointToEnd(round.getParentBlock());
        Value shift = mul(sub(sub(rounds, one), round), index(digitBits)), found = state[0];
        for (int64_t digit = 1; digit < digits; ++digit) {
          Value b = min(add(state[0], arith::ShLIOp::create(builder, loc, index(digit), shift)), lastBatch);
          Value start = firstSlot(loadLength(rowOffsets, b, {}), b);
          found = arith::SelectOp::create(builder, loc, compare(arith::CmpIPredicate::sle, start, slot), b, found);
        }
        scf::YieldOp::create(builder, loc, found);
      });
  geometry.batch = loop.getResult(0);
  // Without sequences there is no offset but the first; reading it twice gives the empty sequence that is wanted.
  Value next = min(add(geometry.batch, one), batch);
  geometry.query.base = loadLength(kernel.getQueryOffsets(), geometry.batch, {});
  geometry.key.base = kernel.isPaged() ? index(0) : loadLength(kernel.getKeyOffsets(), geometry.batch, {});
  Value queries = sub(loadLength(kernel.getQueryOffsets(), next, {}), geometry.query.base), keys;
  if (!kernel.isPaged()) {
    keys = sub(loadLength(kernel.getKeyOffsets(), next, {}), geometry.key.base);
  } else {
    keys = countStored(Coordinate::Key, lookup(kernel.getKey()));
    if (Value lengths = kernel.getKeyLengths())
      keys = loadLength(lengths, geometry.batch, keys);
  }
  Value base = ofQueries ? geometry.query.base : geometry.key.base;
  Value row = mul(sub(slot, firstSlot(base, geometry.batch)), rows);
  geometry.holds = compare(arith::CmpIPredicate::slt, row, ofQueries ? queries : keys);
  auto orNone = [&](Value value) -> Value {
    return arith::SelectOp::create(builder, loc, geometry.holds, value, index(0));
  };
  geometry.row0 = orNone(row);
  geometry.query.stored = geometry.query.count = orNone(queries);
  geometry.key.stored = geometry.key.count = orNone(keys);
}

void TilePlace::setBatch(Value batch) {
  geometry.batch = batch;
  auto place = [&](TileSide &side, Value tensor, Value lengths) {
    side.base = index(0);
    side.stored = viewDim(lookup(tensor), batch ? 1 : 0);
    side.count = lengths ? loadLength(lengths, batch, side.stored) : side.stored;
  };
  place(geometry.query, kernel.getQuery(), kernel.getQueryLengths());
  place(geometry.key, kernel.getKey(), kernel.getKeyLengths());
}

int64_t TilePlace::countOutputColumns() {
  auto forward = cast<ForwardOp>(kernel.getOperation());
  return isReturned(forward.getOut()) ? cast<RankedTensorType>(forward.getOut().getType()).getShape().back() : 0;
}

int64_t TilePlace::countColumnTiles() {
  return std::max<int64_t>(1, llvm::divideCeil(countOutputColumns(), getColumns()));
}

Value TilePlace::countTiles() {
  if (kernel.isPacked())
    return mul(countSlots(), index(countHeadTiles()));
  Value rows = viewDim(lookup(kernel.getQuery()), 1);
  Value tilesOfHead = arith::CeilDivUIOp::create(builder, loc, rows, index(getExtent(Coordinate::Query)));
  return max(mul(mul(tilesOfHead, viewDim(lookup(kernel.getQuery()), 0)), index(countHeadTiles())), index(1));
}

int64_t TilePlace::countBucketTiles() const { return llvm::divideCeil(captured->countBuckets(), countBucketsOfTile()); }

bool TilePlace::blockMaskKnowsHeads() {
  constexpr unsigned head = 1; // of (batch, head, ...)
  // An index into a single element tells nothing of the head. Indices follow the tensor; a range has them twice.
  auto tells = [](OpOperand &use) {
    if (!isa<LoadOp, LoadRangeOp>(use.getOwner()))
      return true;
    auto tensor = cast<RankedTensorType>(use.getOwner()->getOperand(0).getType());
    return tensor.getDimSize((use.getOperandNumber() - 1) % tensor.getRank()) != 1;
  };
  auto uses = [&](Region &region) {
    return !region.empty() && llvm::any_of(region.getArgument(head).getUses(), tells);
  };
  return uses(kernel.getBlocks()) || uses(kernel.getBounds());
}
