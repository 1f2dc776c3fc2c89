//===- ExtentEmitter.cpp - Least and greatest elements of boxes -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/ExtentEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <limits>

using namespace mlir;
using namespace attnc;
using namespace attnc::nvptx;

static constexpr int64_t lanesOfWarp = 32;
/// Loads of a lane before it uses the first of them: what one tile of keys takes.
static constexpr int64_t loadsAtOnce = 4;
/// What a lane loads at once of an area of booleans.
static constexpr int64_t pieceBytes = 16;

/// The integer type that holds elements of `type` on their way: i64 for those that need it, else i32.
static Type widthFor(Builder &builder, Type type) {
  return type.isInteger(64) ? builder.getI64Type() : builder.getI32Type();
}

/// An element, sign-extended; a boolean is 0 or 1.
Value ExtentEmitter::load(const View &view, ValueRange position) {
  Ptx &ptx = context.ptx;
  Type element = view.type.getElementType(), wide = widthFor(ptx.b, element);
  Value value = view.load(ptx.b, ptx.loc, position);
  if (element.isInteger(1))
    return arith::ExtUIOp::create(ptx.b, ptx.loc, wide, value);
  return element == wide ? value : arith::ExtSIOp::create(ptx.b, ptx.loc, wide, value).getResult();
}

ExtentEmitter::Range ExtentEmitter::join(Range range, Value least, Value greatest) {
  Ptx &ptx = context.ptx;
  return {arith::MinSIOp::create(ptx.b, ptx.loc, range.first, least),
          arith::MaxSIOp::create(ptx.b, ptx.loc, range.second, greatest)};
}

/// Goes over the dimensions that `position` does not fix yet; the lanes share the last.
ExtentEmitter::Range ExtentEmitter::walk(tile::ExtentOp extent, const View &view, SmallVector<Value> position,
                                         Range range) {
  Ptx &ptx = context.ptx;
  OpBuilder &b = ptx.b;
  size_t dim = position.size(), rank = view.sizes.size();
  if (dim == rank) {
    Value value = load(view, position);
    return join(range, value, value);
  }
  Value first = context.scalar(extent.getFirst()[dim]), last = context.scalar(extent.getLast()[dim]);
  // A box of one element in a dimension needs no loop.
  if (extent.getFirst()[dim] == extent.getLast()[dim] && dim + 1 < rank) {
    position.push_back(first);
    return walk(extent, view, position, range);
  }
  bool shared = dim + 1 == rank;
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
    inner = walk(extent, view, at, inner);
    b.setInsertionPointToEnd(loop.getBody());
  }
  scf::YieldOp::create(b, ptx.loc, ValueRange{inner.first, inner.second});
  return {loop.getResult(0), loop.getResult(1)};
}

/// Whether the last two dimensions of the box, all that are not one element, are rows of whole aligned pieces.
Value ExtentEmitter::arePieces(tile::ExtentOp extent, const View &view) {
  Ptx &ptx = context.ptx;
  OpBuilder &b = ptx.b;
  size_t column = view.sizes.size() - 1, row = column - 1;
  SmallVector<Value> first = llvm::map_to_vector(extent.getFirst(), [&](Value v) { return context.scalar(v); });
  Value end = ptx.add(context.scalar(extent.getLast()[column]), 1), length = ptx.sub(end, first[column]);
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

/// Booleans 16 at a time. The lanes share all pieces of the box.
ExtentEmitter::Range ExtentEmitter::walkPieces(tile::ExtentOp extent, const View &view) {
  Ptx &ptx = context.ptx;
  OpBuilder &b = ptx.b;
  size_t column = view.sizes.size() - 1, row = column - 1;
  SmallVector<Value> first = llvm::map_to_vector(extent.getFirst(), [&](Value v) { return context.scalar(v); });
  auto count = [&](size_t dim) { return ptx.add(ptx.sub(context.scalar(extent.getLast()[dim]), first[dim]), 1); };
  Value piecesOfRow = ptx.shiftRight(count(column), llvm::Log2_64(pieceBytes));
  Value pieces =
      arith::MulIOp::create(b, ptx.loc, arith::MaxSIOp::create(b, ptx.loc, count(row), ptx.i32(0)), piecesOfRow);
  Value last = ptx.add(pieces, -1), zero = ptx.i32(0);
  auto wordsType = VectorType::get({pieceBytes / 4}, b.getI32Type());
  auto loop = scf::ForOp::create(b, ptx.loc, context.place.lane, pieces, ptx.i32(lanesOfWarp * loadsAtOnce),
                                 ValueRange{zero, zero});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(loop.getBody());
    // Bits of bytes that are 0, and of those that are not.
    Value missing = loop.getRegionIterArg(0), kept = loop.getRegionIterArg(1);
    auto orInto = [&](Value &all, Value bits) { all = arith::OrIOp::create(b, ptx.loc, all, bits); };
    for (int64_t load = 0; load < loadsAtOnce; ++load) {
      Value piece = ptx.add(loop.getInductionVar(), load * lanesOfWarp);
      if (load)
        piece = arith::MinSIOp::create(b, ptx.loc, piece, last);
      SmallVector<Value> at(first);
      at[row] = ptx.add(at[row], arith::DivUIOp::create(b, ptx.loc, piece, piecesOfRow));
      Value inRow = arith::RemUIOp::create(b, ptx.loc, piece, piecesOfRow);
      at[column] = ptx.add(at[column], ptx.mul(inRow, pieceBytes));
      Value words = LLVM::LoadOp::create(b, ptx.loc, wordsType, view.address(b, ptx.loc, at), pieceBytes);
      for (int64_t number = 0; number < pieceBytes / 4; ++number) {
        Value word = LLVM::ExtractElementOp::create(b, ptx.loc, words, ptx.i32(number));
        orInto(kept, word);
        // The sign of a byte survives where that byte, or one below it, is 0.
        Value borrowed = ptx.sub(word, ptx.i32(0x01010101));
        Value clear = ptx.bitXor(word, ptx.i32(-1));
        orInto(missing, arith::AndIOp::create(b, ptx.loc, borrowed, clear));
      }
    }
    scf::YieldOp::create(b, ptx.loc, ValueRange{missing, kept});
  }
  Value full = ptx.equal(ptx.bitAnd(loop.getResult(0), 0x80808080), 0);
  Value some = arith::CmpIOp::create(b, ptx.loc, arith::CmpIPredicate::ne, loop.getResult(1), zero);
  return {arith::ExtUIOp::create(b, ptx.loc, b.getI32Type(), full),
          arith::ExtUIOp::create(b, ptx.loc, b.getI32Type(), some)};
}

/// The lanes' parts of an extent, by pieces where a box of booleans consists of such.
ExtentEmitter::Range ExtentEmitter::walkPiecesIfWhole(tile::ExtentOp extent, const View &view, Range none) {
  Ptx &ptx = context.ptx;
  size_t rank = view.sizes.size();
  auto isOne = [&](size_t dim) { return extent.getFirst()[dim] == extent.getLast()[dim]; };
  bool isArea = rank >= 2 && llvm::all_of(llvm::seq<size_t>(rank - 2), isOne);
  if (!view.type.getElementType().isInteger(1) || !isArea)
    return walk(extent, view, {}, none);
  Type word = ptx.b.getI32Type();
  auto branch = scf::IfOp::create(ptx.b, ptx.loc, TypeRange{word, word}, arePieces(extent, view),
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(ptx.b);
  auto fill = [&](Block *block, auto part) {
    ptx.b.setInsertionPointToEnd(block);
    Range range = part();
    ptx.b.setInsertionPointToEnd(block);
    scf::YieldOp::create(ptx.b, ptx.loc, ValueRange{range.first, range.second});
  };
  fill(branch.thenBlock(), [&] { return walkPieces(extent, view); });
  fill(branch.elseBlock(), [&] { return walk(extent, view, {}, none); });
  return {branch.getResult(0), branch.getResult(1)};
}

void ExtentEmitter::emit(tile::ExtentOp extent) {
  Ptx &ptx = context.ptx;
  const View &view = context.abi.getView(extent.getView());
  Type element = view.type.getElementType(), wide = widthFor(ptx.b, element);
  unsigned bits = element.getIntOrFloatBitWidth();
  // What an empty box gives: the type's greatest and least values.
  int64_t greatest = bits == 1 ? 1 : llvm::maxIntN(bits), least = bits == 1 ? 0 : llvm::minIntN(bits);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(ptx.b, ptx.loc, ptx.b.getIntegerAttr(wide, value));
  };
  Range range = walkPiecesIfWhole(extent, view, {constant(greatest), constant(least)});
  if (wide.isInteger(32))
    range = {ptx.least(range.first), ptx.greatest(range.second)};
  else
    for (int64_t mask = 1; mask < lanesOfWarp; mask *= 2)
      range = join(range, ptx.shuffleInteger(range.first, mask), ptx.shuffleInteger(range.second, mask));
  auto narrow = [&](Value value) -> Value {
    return element == wide ? value : arith::TruncIOp::create(ptx.b, ptx.loc, element, value).getResult();
  };
  context.scalars[extent.getLeast()] = narrow(range.first);
  context.scalars[extent.getGreatest()] = narrow(range.second);
}
