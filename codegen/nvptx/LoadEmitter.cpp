//===- LoadEmitter.cpp - Captured tensors to registers ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/LoadEmitter.h"
#include "dialect/tile/BlockedRows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::nvptx;

/// Columns from one pair of a thread to the next, and pairs of 16-bit elements that a load of 16 bytes brings.
static constexpr int64_t pairStride = 2 * lanesOfRow, pairsOfWide = 4;

/// Bits that an element takes in memory: booleans have a byte each.
static unsigned storedBits(Type element) { return std::max(8U, element.getIntOrFloatBitWidth()); }

/// Pairs of narrow elements travel in one word, so that a tile takes half the registers.
static bool travelInPairs(Type element) { return storedBits(element) <= 16; }

/// The type of what is loaded and travels: a pair of elements, or one.
static Type carriedType(OpBuilder &builder, Type element) {
  return travelInPairs(element) ? Type(builder.getIntegerType(2 * storedBits(element))) : element;
}

/// Both elements of what was loaded as one word, or a word each.
static SmallVector<Value> unpack(Ptx &ptx, ArrayRef<Value> words, Type element) {
  if (!travelInPairs(element))
    return llvm::to_vector(words);
  SmallVector<Value> values;
  Type stored = ptx.b.getIntegerType(storedBits(element));
  for (Value word : words)
    for (int64_t part : {0, 1}) {
      Value shift =
          arith::ConstantOp::create(ptx.b, ptx.loc, ptx.b.getIntegerAttr(word.getType(), part * storedBits(element)));
      Value shifted = part ? arith::ShRUIOp::create(ptx.b, ptx.loc, word, shift).getResult() : word;
      Value bits = arith::TruncIOp::create(ptx.b, ptx.loc, stored, shifted);
      if (element.isInteger(1)) {
        Value zero = arith::ConstantOp::create(ptx.b, ptx.loc, ptx.b.getIntegerAttr(stored, 0));
        values.push_back(arith::CmpIOp::create(ptx.b, ptx.loc, arith::CmpIPredicate::ne, bits, zero));
      } else {
        values.push_back(stored == element ? bits : arith::BitcastOp::create(ptx.b, ptx.loc, element, bits));
      }
    }
  return values;
}

static Value conjunction(Ptx &ptx, Value x, Value y) {
  return x && y ? arith::AndIOp::create(ptx.b, ptx.loc, x, y).getResult() : x ? x : y;
}

Value LoadEmitter::isBelow(Value position, Value limit) { return context.ptx.less(position, context.scalar(limit)); }

/// The first column that the thread reads of the tile, or vector along columns, of `load`.
Value LoadEmitter::findColumn(tile::LoadOp load) {
  Value own = context.findColumn(load.getResult().getType());
  return load->hasAttr(tile::adjacentAttrName) ? context.ptx.mul(own, pairsOfWide) : own;
}

/// How many columns pair number `pair` of the thread is from its first.
Value LoadEmitter::offsetOfPair(tile::LoadOp load, Value pair) {
  Ptx &ptx = context.ptx;
  if (!load->hasAttr(tile::adjacentAttrName))
    return ptx.mul(pair, pairStride);
  Value wide = ptx.shiftRight(pair, llvm::Log2_64(pairsOfWide)), inWide = ptx.bitAnd(pair, pairsOfWide - 1);
  return ptx.add(ptx.mul(wide, pairsOfWide * pairStride), ptx.shiftLeft(inWide, 1));
}

/// The run of the thread's row `threadRow`, or of a vector along columns. The last axis is that of columns.
LoadEmitter::Run LoadEmitter::findRun(tile::LoadOp load, int64_t threadRow) {
  Ptx &ptx = context.ptx;
  const View &view = context.abi.getView(load.getView());
  ArrayRef<int64_t> axes = load.getAxes();
  SmallVector<Value> positions =
      llvm::map_to_vector(load.getIndices(), [&](Value value) { return context.scalar(value); });
  Run run;
  if (axes.size() == 2) {
    context.moveToRow(positions, axes[0], load.getRowGroup(), ptx.add(context.place.row, rowOf(threadRow)));
    run.inside = isBelow(positions[axes[0]], load.getLimits()[0]);
    positions[axes[0]] = ptx.select(run.inside, positions[axes[0]], ptx.i32(0));
  }
  Value column = ptx.add(positions[axes.back()], findColumn(load));
  positions[axes.back()] = column;
  run.first = view.address(ptx.b, ptx.loc, positions);
  return run;
}

/// Whether all elements of the thread are there, and pairs of them lie next to each other where one load gets both.
Value LoadEmitter::areWholePairs(tile::LoadOp load, const Run &run, int64_t pairs) {
  Ptx &ptx = context.ptx;
  const View &view = context.abi.getView(load.getView());
  int64_t axis = load.getAxes().back();
  Value column = ptx.add(context.scalar(load.getIndices()[axis]), findColumn(load));
  bool isAdjacent = load->hasAttr(tile::adjacentAttrName);
  Value last = ptx.add(offsetOfPair(load, ptx.i32(static_cast<int32_t>(pairs - 1))), 1);
  Value whole = isBelow(ptx.add(column, last), load.getLimits().back());
  Value adjacent = arith::CmpIOp::create(ptx.b, ptx.loc, arith::CmpIPredicate::eq, view.strides[axis], ptx.i64(1));
  whole = conjunction(ptx, whole, adjacent);
  int64_t loadBytes = (isAdjacent ? 2 * pairsOfWide : 2) * storedBits(view.type.getElementType()) / 8;
  Value address = LLVM::PtrToIntOp::create(ptx.b, ptx.loc, ptx.b.getI64Type(), run.first);
  Value odd = arith::AndIOp::create(ptx.b, ptx.loc, address, ptx.i64(loadBytes - 1));
  Value aligned = arith::CmpIOp::create(ptx.b, ptx.loc, arith::CmpIPredicate::eq, odd, ptx.i64(0));
  whole = conjunction(ptx, conjunction(ptx, whole, run.inside), aligned);
  return whole;
}

/// Eight elements a load, which lie next to each other.
SmallVector<Value> LoadEmitter::readAdjacent(tile::LoadOp load, const Run &run, int64_t pairs) {
  Ptx &ptx = context.ptx;
  OpBuilder &b = ptx.b;
  SmallVector<Value> words;
  for (int64_t pair = 0; pair < pairs; pair += pairsOfWide) {
    Value address = ptx.shift(run.first, b.getI16Type(), static_cast<int32_t>(pair * pairStride));
    Value all = LLVM::LoadOp::create(b, ptx.loc, VectorType::get({pairsOfWide}, b.getI32Type()), address,
                                     /*alignment=*/4 * pairsOfWide);
    for (int64_t word = 0; word < pairsOfWide; ++word)
      words.push_back(LLVM::ExtractElementOp::create(b, ptx.loc, all, ptx.i32(static_cast<int32_t>(word))));
  }
  return words;
}

/// Two elements a load.
SmallVector<Value> LoadEmitter::readPairs(tile::LoadOp load, const Run &run, int64_t pairs) {
  Ptx &ptx = context.ptx;
  OpBuilder &b = ptx.b;
  Type element = cast<VectorType>(load.getResult().getType()).getElementType(), carried = carriedType(b, element);
  unsigned bits = storedBits(element);
  SmallVector<Value> words;
  for (int64_t pair = 0; pair < pairs; ++pair) {
    auto offset = static_cast<int32_t>(pair * pairStride);
    Value address = ptx.shift(run.first, b.getIntegerType(bits), offset);
    if (travelInPairs(element)) {
      words.push_back(LLVM::LoadOp::create(b, ptx.loc, carried, address));
      continue;
    }
    Value both = LLVM::LoadOp::create(b, ptx.loc, VectorType::get({2}, element), address, 2 * bits / 8);
    for (int64_t part : {0, 1})
      words.push_back(LLVM::ExtractElementOp::create(b, ptx.loc, both, ptx.i32(part)));
  }
  return words;
}

/// The words of a pair of elements so many columns on, one element a load, and only those below the limits.
SmallVector<Value> LoadEmitter::readPair(tile::LoadOp load, const Run &run, Value offset) {
  Ptx &ptx = context.ptx;
  OpBuilder &b = ptx.b;
  const View &view = context.abi.getView(load.getView());
  Type element = view.type.getElementType(), carried = carriedType(b, element);
  bool inPairs = travelInPairs(element);
  Type stored = inPairs ? Type(b.getIntegerType(storedBits(element))) : element;
  int64_t axis = load.getAxes().back();
  Value column = ptx.add(ptx.add(context.scalar(load.getIndices()[axis]), findColumn(load)), offset);
  SmallVector<Value> both;
  for (int64_t part : {0, 1}) {
    Value below = isBelow(ptx.add(column, part), load.getLimits().back());
    Value distance = arith::MulIOp::create(b, ptx.loc, ptx.widen(ptx.add(offset, part)), view.strides[axis]);
    Value address = ptx.shift(run.first, stored, distance);
    both.push_back(ptx.loadIf(stored, address, conjunction(ptx, run.inside, below)));
  }
  if (!inPairs)
    return both;
  Value low = arith::ExtUIOp::create(b, ptx.loc, carried, both[0]);
  Value high = arith::ExtUIOp::create(b, ptx.loc, carried, both[1]);
  Value shift = arith::ConstantOp::create(b, ptx.loc, b.getIntegerAttr(carried, storedBits(element)));
  return {arith::OrIOp::create(b, ptx.loc, low, arith::ShLIOp::create(b, ptx.loc, high, shift))};
}

/// Elements one by one: a loop over pairs, whose words meet in local memory. Unrolled, it would need more registers
/// than the fast way.
SmallVector<Value> LoadEmitter::readElements(tile::LoadOp load, const Run &run, int64_t pairs) {
  Ptx &ptx = context.ptx;
  OpBuilder &b = ptx.b;
  Type element = context.abi.getView(load.getView()).type.getElementType(), carried = carriedType(b, element);
  int64_t wordsOfPair = travelInPairs(element) ? 1 : 2;
  Value words = context.localArray(carried, pairs * wordsOfPair);
  auto wordAt = [&](Value number) { return ptx.shift(words, carried, number); };
  auto loop = scf::ForOp::create(b, ptx.loc, ptx.i32(0), ptx.i32(pairs), ptx.i32(1));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(loop.getBody()->getTerminator());
    Value pair = loop.getInductionVar();
    for (auto [number, word] : llvm::enumerate(readPair(load, run, offsetOfPair(load, pair))))
      LLVM::StoreOp::create(b, ptx.loc, word, wordAt(ptx.add(ptx.mul(pair, wordsOfPair), number)), /*alignment=*/0,
                            /*isVolatile=*/true);
  }
  SmallVector<Value> read;
  for (int64_t number = 0; number < pairs * wordsOfPair; ++number)
    read.push_back(LLVM::LoadOp::create(b, ptx.loc, carried, wordAt(ptx.i32(number)), /*alignment=*/0,
                                        /*isVolatile=*/true));
  return read;
}

/// Zeros, for a row that does not exist.
SmallVector<Value> LoadEmitter::readNothing(tile::LoadOp load, int64_t pairs) {
  OpBuilder &b = context.ptx.b;
  Type element = cast<VectorType>(load.getResult().getType()).getElementType(), carried = carriedType(b, element);
  Value zero = arith::ConstantOp::create(b, context.ptx.loc, b.getZeroAttr(carried));
  return SmallVector<Value>((travelInPairs(element) ? 1 : 2) * pairs, zero);
}

/// Words of the thread's columns of its row `threadRow`, or of a vector along columns: by predicates where the load
/// says so, else with a branch a row, since both rows together would need more registers than there are. Rows that do
/// not exist load nothing.
SmallVector<Value> LoadEmitter::readWords(tile::LoadOp load, int64_t threadRow, int64_t pairs) {
  Ptx &ptx = context.ptx;
  Run run = findRun(load, threadRow);
  if (load->hasAttr(tile::predicatedAttrName)) {
    SmallVector<Value> words;
    for (int64_t pair = 0; pair < pairs; ++pair)
      llvm::append_range(words, readPair(load, run, ptx.i32(static_cast<int32_t>(pair * pairStride))));
    return words;
  }
  Type element = cast<VectorType>(load.getResult().getType()).getElementType();
  SmallVector<Type> types((travelInPairs(element) ? 1 : 2) * pairs, carriedType(ptx.b, element));
  auto choose = [&](Value condition, function_ref<SmallVector<Value>()> yes, function_ref<SmallVector<Value>()> no) {
    auto branch = scf::IfOp::create(ptx.b, ptx.loc, types, condition, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(ptx.b);
    for (auto [block, read] : {std::pair(branch.thenBlock(), yes), std::pair(branch.elseBlock(), no)}) {
      ptx.b.setInsertionPointToEnd(block);
      scf::YieldOp::create(ptx.b, ptx.loc, read());
    }
    return llvm::to_vector_of<Value>(branch.getResults());
  };
  auto elements = [&] { return readElements(load, run, pairs); };
  return choose(
      areWholePairs(load, run, pairs),
      [&] {
        return load->hasAttr(tile::adjacentAttrName) ? readAdjacent(load, run, pairs) : readPairs(load, run, pairs);
      },
      [&] { return run.inside ? choose(run.inside, elements, [&] { return readNothing(load, pairs); }) : elements(); });
}

/// The element of a vector along rows.
Value LoadEmitter::readRow(tile::LoadOp load, int64_t threadRow) {
  Ptx &ptx = context.ptx;
  const View &view = context.abi.getView(load.getView());
  int64_t axis = load.getAxes().front();
  SmallVector<Value> positions =
      llvm::map_to_vector(load.getIndices(), [&](Value value) { return context.scalar(value); });
  context.moveToRow(positions, axis, load.getRowGroup(), ptx.add(context.place.row, rowOf(threadRow)));
  Value below = isBelow(positions[axis], load.getLimits().front());
  positions[axis] = ptx.select(below, positions[axis], ptx.i32(0));
  Value zero = arith::ConstantOp::create(ptx.b, ptx.loc, ptx.b.getZeroAttr(view.type.getElementType()));
  return ptx.select(below, view.load(ptx.b, ptx.loc, positions), zero);
}

/// A tile in the order of `tile::BlockedRows`.
void LoadEmitter::loadBlocked(tile::LoadOp load) {
  Ptx &ptx = context.ptx;
  using tile::BlockedRows;
  VectorType type = load.getResult().getType();
  bool isInterleaved = load.getInterleaved();
  Value ofLane = ptx.mul(context.place.lane, BlockedRows::placeOf(/*lane=*/1, /*inPiece=*/0, isInterleaved));
  SmallVector<Value> starts = context.findBands(load.getView(), context.scalar(load.getIndices()[0]), type);
  for (Value &start : starts)
    start = ptx.shift(start, ptx.b.getF32Type(), ofLane);
  Fragment fragment;
  for (int64_t block = 0; block < context.columnsOfWarp(type) / BlockedRows::blockColumns; ++block)
    for (Value start : starts) {
      auto at = [&](int64_t number) {
        return ptx.shift(start, ptx.b.getF32Type(), static_cast<int32_t>(block * BlockedRows::blockElements + number));
      };
      if (!isInterleaved)
        llvm::append_range(fragment.values, ptx.loadFloats(at(0), BlockedRows::pieceElements));
      for (int64_t n = 0; isInterleaved && n < BlockedRows::pieceElements; ++n)
        fragment.values.push_back(LLVM::LoadOp::create(ptx.b, ptx.loc, ptx.b.getF32Type(),
                                                       at(BlockedRows::placeOf(/*lane=*/0, n, isInterleaved))));
    }
  context.tiles[load.getResult()] = fragment;
}

LogicalResult LoadEmitter::emit(tile::LoadOp load) {
  if (load.getPages())
    return load.emitOpError("expected rows in pages to come through a ring");
  if (load.getBlocked()) {
    loadBlocked(load);
    return success();
  }
  Ptx &ptx = context.ptx;
  auto type = cast<VectorType>(load.getResult().getType());
  Type element = type.getElementType();
  int64_t pairs = tile::isRowVector(type) ? 0 : context.columnsOfWarp(type) / pairStride;
  if (tile::isTile(type)) {
    // Two 16-bit elements travel as a fragment has them.
    Fragment fragment{isPacked(type), {}};
    SmallVector<SmallVector<Value>> byRow;
    for (int64_t threadRow = 0; threadRow < context.rowsOfThread; ++threadRow)
      byRow.push_back(fragment.packed ? readWords(load, threadRow, pairs)
                                      : unpack(ptx, readWords(load, threadRow, pairs), element));
    int64_t ofPair = fragment.packed ? 1 : 2;
    for (int64_t n = 0; n < context.rowsOfThread * ofPair * pairs; ++n)
      fragment.values.push_back(
          byRow[n / ofPair % context.rowsOfThread][n / (context.rowsOfThread * ofPair) * ofPair + n % ofPair]);
    context.tiles[load.getResult()] = fragment;
  } else if (tile::isColumnVector(type)) {
    context.columns[load.getResult()] = unpack(ptx, readWords(load, /*threadRow=*/0, pairs), element);
  } else {
    SmallVector<Value> &rows = context.rows[load.getResult()];
    for (int64_t threadRow = 0; threadRow < context.rowsOfThread; ++threadRow)
      rows.push_back(readRow(load, threadRow));
  }
  return success();
}
