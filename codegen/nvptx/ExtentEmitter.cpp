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
  Range range = walk(extent, view, {}, {constant(greatest), constant(least)});
  for (int64_t mask = 1; mask < lanesOfWarp; mask *= 2)
    range = join(range, ptx.shuffleInteger(range.first, mask), ptx.shuffleInteger(range.second, mask));
  auto narrow = [&](Value value) -> Value {
    return element == wide ? value : arith::TruncIOp::create(ptx.b, ptx.loc, element, value).getResult();
  };
  context.scalars[extent.getLeast()] = narrow(range.first);
  context.scalars[extent.getGreatest()] = narrow(range.second);
}
