//===- MinMaxEmitter.cpp - Minima and maxima of boxes -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/MinMaxEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::nvptx;

/// What a lane loads at once of an area of booleans, and how many of these stand for a load of one element: memory's
/// bandwidth binds.
static constexpr int64_t pieceBytes = 16, piecesOfLoad = 2;

/// The integer type that holds elements of `type` on their way: i64 for those that need it, else i32.
static Type widthFor(Builder &builder, Type type) {
  return type.isInteger(64) ? builder.getI64Type() : builder.getI32Type();
}

Type MinMaxEmitter::wordType(tile::MinMaxOp minMax) { return widthFor(context.ptx.b, minMax.getMin().getType()); }

/// An element, sign-extended; a boolean is 0 or 1.
Value MinMaxEmitter::widen(Value element) {
  Ptx &ptx = context.ptx;
  Type type = element.getType(), wide = widthFor(ptx.b, type);
  if (type.isInteger(1))
    return arith::ExtUIOp::create(ptx.b, ptx.loc, wide, element);
  return type == wide ? element : arith::ExtSIOp::create(ptx.b, ptx.loc, wide, element).getResult();
}

MinMaxEmitter::Range MinMaxEmitter::join(Range range, Value min, Value max) {
  Ptx &ptx = context.ptx;
  return {arith::MinSIOp::create(ptx.b, ptx.loc, range.first, min),
          arith::MaxSIOp::create(ptx.b, ptx.loc, range.second, max)};
}

/// Goes over the dimensions that `position` does not fix yet; the lanes share the last.
MinMaxEmitter::Range MinMaxEmitter::walk(tile::MinMaxOp minMax, const View &view, SmallVector<Value> position,
                                         Range range) {
  Ptx &ptx = context.ptx;
  OpBuilder &b = ptx.b;
  size_t dim = position.size(), rank = view.sizes.size();
  if (dim == rank) {
    Value value = widen(view.load(ptx.b, ptx.loc, position));
    return join(range, value, value);
  }
  Value first = context.scalar(minMax.getFirst()[dim]), last = context.scalar(minMax.getLast()[dim]);
  // A box of one element in a dimension needs no loop.
  if (minMax.getFirst()[dim] == minMax.getLast()[dim] && dim + 1 < rank) {
    position.push_back(first);
    return walk(minMax, view, position, range);
  }
  bool shared = dim + 1 == rank;
  const int64_t loadsAtOnce = tile::countLoadsTogether(minMax);
  Value start = shared ? ptx.add(first, context.place.lane) : first;
  Value step = ptx.i32(shared ? lanesOfWarp * loadsAtOnce : 1);
  auto loop = scf::ForOp::create(b, ptx.loc, start, ptx.add(last, 1), step, ValueRange{range.first, range.second});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(loop.getBody());
  Range inner{loop.getRegionIterArg(0), loop.getRegionIterArg(1)};
  // Several loads are on their way together. Past the end they meet the last element again, which changes nothing.
  for (int64_t load = 0; load < (shared ? loadsAtOnce : 1); ++load) {
    SmallVector<Value> at(position);
    Value further = ptx.add(loop.getInductionVar(), load * lanesOfWarp);
    at.push_back(load ? arith::MinSIOp::create(b, ptx.loc, further, last).getResult() : further);
    inner = walk(minMax, view, at, inner);
    b.setInsertionPointToEnd(loop.getBody());
  }
  scf::YieldOp::create(b, ptx.loc, ValueRange{inner.first, inner.second});
  return {loop.getResult(0), loop.getResult(1)};
}

/// Whether the last two dimensions of the box, all that are not one element, are rows of whole aligned pieces.
Value MinMaxEmitter::arePieces(tile::MinMaxOp minMax, const View &view) {
  Ptx &ptx = context.ptx;
  OpBuilder &b = ptx.b;
  size_t column = view.sizes.size() - 1, row = column - 1;
  SmallVector<Value> first = llvm::map_to_vector(minMax.getFirst(), [&](Value v) { return context.scalar(v); });
  Value end = ptx.add(context.scalar(minMax.getLast()[column]), 1), length = ptx.sub(end, first[column]);
  Value address = LLVM::PtrToIntOp::create(b, ptx.loc, b.getI64Type(), view.address(b, ptx.loc, first)).getResult();
  // All bits that must be 0.
  Value odd = arith::OrIOp::create(b, ptx.loc, address, view.strides[row]);
  odd = arith::AndIOp::create(b, ptx.loc, arith::OrIOp::create(b, ptx.loc, odd, ptx.widen(length)),
                              ptx.i64(pieceBytes - 1));
  Value aligned = arith::CmpIOp::create(b, ptx.loc, arith::CmpIPredicate::eq, odd, ptx.i64(0));
  Value adjacent = arith::CmpIOp::create(b, ptx.loc, arith::CmpIPredicate::eq, view.strides[column], ptx.i64(1));
  Value some = ptx.less(ptx.i32(0), length);
  return arith::AndIOp::create(b, ptx.loc, some, arith::AndIOp::create(b, ptx.loc, aligned, adjacent));
}

/// Booleans 16 at a time. The lanes share all pieces of the box, each every 32nd: so many rows further, and so many
/// pieces along the row.
MinMaxEmitter::Range MinMaxEmitter::walkPieces(tile::MinMaxOp minMax, const View &view) {
  Ptx &ptx = context.ptx;
  OpBuilder &b = ptx.b;
  size_t column = view.sizes.size() - 1, row = column - 1;
  SmallVector<Value> first = llvm::map_to_vector(minMax.getFirst(), [&](Value v) { return context.scalar(v); });
  auto count = [&](size_t dim) { return ptx.add(ptx.sub(context.scalar(minMax.getLast()[dim]), first[dim]), 1); };
  Value ofRow = ptx.shiftRight(count(column), llvm::Log2_64(pieceBytes));
  Value pieces = arith::MulIOp::create(b, ptx.loc, arith::MaxSIOp::create(b, ptx.loc, count(row), ptx.i32(0)), ofRow);
  auto quotient = [&](Value x) -> Value { return arith::DivUIOp::create(b, ptx.loc, x, ofRow); };
  auto remainder = [&](Value x) -> Value { return arith::RemUIOp::create(b, ptx.loc, x, ofRow); };
  auto times = [&](Value x, Value y) -> Value { return arith::MulIOp::create(b, ptx.loc, ptx.widen(x), y); };
  auto plus = [&](Value x, Value y) -> Value { return arith::AddIOp::create(b, ptx.loc, x, y); };
  // Booleans take a byte each, and strides count them.
  Value stride = view.strides[row], piece = ptx.i64(pieceBytes), lane = context.place.lane,
        lanes = ptx.i32(lanesOfWarp);
  Value step = plus(times(quotient(lanes), stride), times(remainder(lanes), piece));
  Value toNextRow = arith::SubIOp::create(b, ptx.loc, stride, times(ofRow, piece));
  Value along = remainder(lanes);
  Value start = LLVM::PtrToIntOp::create(b, ptx.loc, b.getI64Type(), view.address(b, ptx.loc, first));
  start = plus(start, plus(times(quotient(lane), stride), times(remainder(lane), piece)));

  Value zero = ptx.i32(0);
  auto wordsType = VectorType::get({pieceBytes / 4}, b.getI32Type());
  const int64_t piecesAtOnce = tile::countLoadsTogether(minMax) * piecesOfLoad;
  auto loop = scf::ForOp::create(b, ptx.loc, lane, pieces, ptx.i32(lanesOfWarp * piecesAtOnce),
                                 ValueRange{zero, zero, start, remainder(lane)});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(loop.getBody());
    // Bits of bytes that are 0, and of those that are not.
    Value missing = loop.getRegionIterArg(0), kept = loop.getRegionIterArg(1);
    Value address = loop.getRegionIterArg(2), place = loop.getRegionIterArg(3), valid = address;
    SmallVector<Value> loaded;
    for (int64_t load = 0; load < piecesAtOnce; ++load) {
      // Past the end they meet their first piece again, which changes nothing.
      Value at = address;
      if (load)
        at = ptx.select(ptx.less(ptx.add(loop.getInductionVar(), load * lanesOfWarp), pieces), address, valid);
      Value pointer = LLVM::IntToPtrOp::create(b, ptx.loc, view.pointer.getType(), at);
      loaded.push_back(LLVM::LoadOp::create(b, ptx.loc, wordsType, pointer, pieceBytes));
      place = ptx.add(place, along);
      Value isBehind = arith::CmpIOp::create(b, ptx.loc, arith::CmpIPredicate::sge, place, ofRow);
      place = ptx.select(isBehind, ptx.sub(place, ofRow), place);
      address = plus(address, plus(step, ptx.select(isBehind, toNextRow, ptx.i64(0))));
    }
    auto orInto = [&](Value &all, Value bits) { all = arith::OrIOp::create(b, ptx.loc, all, bits); };
    for (Value words : loaded)
      for (int64_t number = 0; number < pieceBytes / 4; ++number) {
        Value word = LLVM::ExtractElementOp::create(b, ptx.loc, words, ptx.i32(number));
        orInto(kept, word);
        // The sign of a byte survives where that byte, or one below it, is 0.
        Value borrowed = ptx.sub(word, ptx.i32(0x01010101));
        Value clear = ptx.bitXor(word, ptx.i32(-1));
        orInto(missing, arith::AndIOp::create(b, ptx.loc, borrowed, clear));
      }
    scf::YieldOp::create(b, ptx.loc, ValueRange{missing, kept, address, place});
  }
  Value full = ptx.equal(ptx.bitAnd(loop.getResult(0), 0x80808080), 0);
  Value some = arith::CmpIOp::create(b, ptx.loc, arith::CmpIPredicate::ne, loop.getResult(1), zero);
  return {arith::ExtUIOp::create(b, ptx.loc, b.getI32Type(), full),
          arith::ExtUIOp::create(b, ptx.loc, b.getI32Type(), some)};
}

/// The lanes' parts of the minimum and the maximum, by pieces where a box of booleans consists of such.
MinMaxEmitter::Range MinMaxEmitter::walkPiecesIfWhole(tile::MinMaxOp minMax, const View &view, Range none) {
  Ptx &ptx = context.ptx;
  size_t rank = view.sizes.size();
  auto isOne = [&](size_t dim) { return minMax.getFirst()[dim] == minMax.getLast()[dim]; };
  bool isArea = rank >= 2 && llvm::all_of(llvm::seq<size_t>(rank - 2), isOne);
  if (!view.type.getElementType().isInteger(1) || !isArea)
    return walk(minMax, view, {}, none);
  Type word = ptx.b.getI32Type();
  auto branch = scf::IfOp::create(ptx.b, ptx.loc, TypeRange{word, word}, arePieces(minMax, view),
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(ptx.b);
  auto fill = [&](Block *block, auto part) {
    ptx.b.setInsertionPointToEnd(block);
    Range range = part();
    ptx.b.setInsertionPointToEnd(block);
    scf::YieldOp::create(ptx.b, ptx.loc, ValueRange{range.first, range.second});
  };
  fill(branch.thenBlock(), [&] { return walkPieces(minMax, view); });
  fill(branch.elseBlock(), [&] { return walk(minMax, view, {}, none); });
  return {branch.getResult(0), branch.getResult(1)};
}

/// The most elements of a short row.
static int64_t mostOf(tile::MinMaxOp minMax) { return static_cast<int64_t>(*minMax.getMost()); }

bool MinMaxEmitter::isShortRow(tile::MinMaxOp minMax) {
  return minMax.isRow() && minMax.getMost() && mostOf(minMax) <= lanesOfWarp * tile::countLoadsTogether(minMax);
}

MinMaxEmitter::Row MinMaxEmitter::describe(tile::MinMaxOp minMax) {
  Ptx &ptx = context.ptx;
  const View &view = context.abi.getView(minMax.getView());
  SmallVector<Value> first = llvm::map_to_vector(minMax.getFirst(), [&](Value v) { return context.scalar(v); });
  Value length = ptx.sub(context.scalar(minMax.getLast().back()), first.back());
  int64_t bytes = std::max(8U, view.type.getElementTypeBitWidth()) / 8;
  return {view.address(ptx.b, ptx.loc, first), length,
          arith::MulIOp::create(ptx.b, ptx.loc, view.strides.back(), ptx.i64(bytes))};
}

/// Elements of a short row. Lanes past its end load the last element again, which changes nothing.
SmallVector<Value> MinMaxEmitter::loadElements(tile::MinMaxOp minMax, const Row &row) {
  Ptx &ptx = context.ptx;
  OpBuilder &b = ptx.b;
  Type element = minMax.getMin().getType();
  // Booleans take a byte each.
  Type stored = element.isInteger(1) ? b.getI8Type() : element;
  Value holds = ptx.less(ptx.i32(-1), row.length);
  SmallVector<Value> elements;
  for (int64_t begin = 0; begin < mostOf(minMax); begin += lanesOfWarp) {
    Value position = arith::MinSIOp::create(b, ptx.loc, ptx.add(context.place.lane, begin), row.length);
    Value wide = arith::ExtUIOp::create(b, ptx.loc, b.getI64Type(), position);
    Value bytes = arith::MulIOp::create(b, ptx.loc, wide, row.stride);
    Value loaded = ptx.loadIf(stored, ptx.shift(row.base, b.getI8Type(), bytes), holds);
    if (stored != element)
      loaded = arith::CmpIOp::create(b, ptx.loc, arith::CmpIPredicate::ne, loaded,
                                     arith::ConstantOp::create(b, ptx.loc, b.getI8IntegerAttr(0)));
    elements.push_back(widen(loaded));
  }
  return elements;
}

/// How many elements of a short row follow each other in one load of a lane, if all lanes load as many; 1 where none
/// do.
static int64_t vectorOf(tile::MinMaxOp minMax) {
  int64_t perLane = mostOf(minMax) / lanesOfWarp;
  bool isEven = mostOf(minMax) % lanesOfWarp == 0;
  return minMax.getMin().getType().isInteger(32) && isEven && (perLane == 2 || perLane == 4) ? perLane : 1;
}

/// Elements of a short row that is whole, adjacent and aligned.
SmallVector<Value> MinMaxEmitter::loadVectors(tile::MinMaxOp minMax, const Row &row) {
  Ptx &ptx = context.ptx;
  OpBuilder &b = ptx.b;
  int64_t count = vectorOf(minMax);
  auto type = VectorType::get({count}, b.getI32Type());
  Value at = ptx.shift(row.base, type, context.place.lane);
  Value vector = LLVM::LoadOp::create(b, ptx.loc, type, at, count * 4);
  return llvm::map_to_vector(llvm::seq<int64_t>(count), [&](int64_t number) -> Value {
    return LLVM::ExtractElementOp::create(b, ptx.loc, vector, ptx.i32(number));
  });
}

/// Whether `loadVectors` serves all of these rows; null where it cannot.
Value MinMaxEmitter::areVectors(ArrayRef<tile::MinMaxOp> minMaxOps, ArrayRef<Row> rows) {
  Ptx &ptx = context.ptx;
  OpBuilder &b = ptx.b;
  // Bits of addresses that must be 0, what rows lack, and what strides differ by.
  Value low, lacks, strides;
  auto orInto = [&](Value &all, Value bits) {
    all = all ? arith::OrIOp::create(b, ptx.loc, all, bits).getResult() : bits;
  };
  for (auto [minMax, row] : llvm::zip_equal(minMaxOps, rows)) {
    if (vectorOf(minMax) == 1)
      return {};
    Value address = LLVM::PtrToIntOp::create(b, ptx.loc, b.getI32Type(), row.base);
    orInto(low, ptx.bitAnd(address, vectorOf(minMax) * 4 - 1));
    orInto(lacks, ptx.bitXor(row.length, ptx.i32(mostOf(minMax) - 1)));
    orInto(strides, arith::XOrIOp::create(b, ptx.loc, row.stride, ptx.i64(4)));
  }
  Value fits = ptx.equal(arith::OrIOp::create(b, ptx.loc, low, lacks), 0);
  Value adjacent = arith::CmpIOp::create(b, ptx.loc, arith::CmpIPredicate::eq, strides, ptx.i64(0));
  return arith::AndIOp::create(b, ptx.loc, fits, adjacent);
}

SmallVector<MinMaxEmitter::Parts> MinMaxEmitter::startRows(ArrayRef<tile::MinMaxOp> minMaxOps, ArrayRef<Row> rows) {
  Ptx &ptx = context.ptx;
  auto loadAll = [&](auto load) {
    SmallVector<Value> all;
    for (auto [minMax, row] : llvm::zip_equal(minMaxOps, rows))
      llvm::append_range(all, load(minMax, row));
    return all;
  };
  auto one = [&](tile::MinMaxOp minMax, const Row &row) { return loadElements(minMax, row); };
  auto vector = [&](tile::MinMaxOp minMax, const Row &row) { return loadVectors(minMax, row); };
  SmallVector<Value> all;
  if (Value areAll = areVectors(minMaxOps, rows)) {
    int64_t count = 0;
    for (tile::MinMaxOp minMax : minMaxOps)
      count += vectorOf(minMax);
    SmallVector<Type> types(count, ptx.b.getI32Type());
    auto branch = scf::IfOp::create(ptx.b, ptx.loc, types, areAll, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(ptx.b);
    ptx.b.setInsertionPointToEnd(branch.thenBlock());
    scf::YieldOp::create(ptx.b, ptx.loc, loadAll(vector));
    ptx.b.setInsertionPointToEnd(branch.elseBlock());
    scf::YieldOp::create(ptx.b, ptx.loc, loadAll(one));
    all = branch.getResults();
  } else {
    all = loadAll(one);
  }
  SmallVector<Parts> parts;
  for (auto [minMax, row] : llvm::zip_equal(minMaxOps, rows)) {
    size_t count = llvm::divideCeil(mostOf(minMax), lanesOfWarp);
    parts.push_back({SmallVector<Value>(ArrayRef(all).take_front(count)), ptx.less(row.length, ptx.i32(0))});
    all.erase(all.begin(), all.begin() + count);
  }
  return parts;
}

/// What an empty box gives: the type's greatest and least values.
MinMaxEmitter::Range MinMaxEmitter::emptyRange(tile::MinMaxOp minMax) {
  Ptx &ptx = context.ptx;
  unsigned bits = minMax.getMin().getType().getIntOrFloatBitWidth();
  int64_t max = bits == 1 ? 1 : llvm::maxIntN(bits), min = bits == 1 ? 0 : llvm::minIntN(bits);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(ptx.b, ptx.loc, ptx.b.getIntegerAttr(wordType(minMax), value));
  };
  return {constant(max), constant(min)};
}

MinMaxEmitter::Parts MinMaxEmitter::start(tile::MinMaxOp minMax) {
  const View &view = context.abi.getView(minMax.getView());
  if (isShortRow(minMax)) {
    Row row = describe(minMax);
    return {loadElements(minMax, row), context.ptx.less(row.length, context.ptx.i32(0))};
  }
  Range range = walkPiecesIfWhole(minMax, view, emptyRange(minMax));
  return {{range.first, range.second}, {}};
}

MinMaxEmitter::Range MinMaxEmitter::finish(tile::MinMaxOp minMax, const Parts &parts) {
  Ptx &ptx = context.ptx;
  Range range{parts.elements.front(), parts.elements.back()};
  if (parts.isEmpty) {
    range.second = range.first;
    for (Value element : ArrayRef(parts.elements).drop_front())
      range = join(range, element, element);
  }
  if (wordType(minMax).isInteger(32))
    range = {ptx.minOverLanes(range.first), ptx.maxOverLanes(range.second)};
  else
    for (int64_t mask = 1; mask < lanesOfWarp; mask *= 2)
      range = join(range, ptx.shuffleInteger(range.first, mask), ptx.shuffleInteger(range.second, mask));
  if (!parts.isEmpty)
    return range;
  Range none = emptyRange(minMax);
  return {ptx.select(parts.isEmpty, none.first, range.first), ptx.select(parts.isEmpty, none.second, range.second)};
}

void MinMaxEmitter::define(tile::MinMaxOp minMax, Range range) {
  Ptx &ptx = context.ptx;
  Type element = minMax.getMin().getType(), wide = wordType(minMax);
  auto narrow = [&](Value value) -> Value {
    return element == wide ? value : arith::TruncIOp::create(ptx.b, ptx.loc, element, value).getResult();
  };
  context.scalars[minMax.getMin()] = narrow(range.first);
  context.scalars[minMax.getMax()] = narrow(range.second);
}

void MinMaxEmitter::emit(tile::MinMaxOp minMax) { define(minMax, finish(minMax, start(minMax))); }
