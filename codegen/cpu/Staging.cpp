//===- Staging.cpp - Copies between tensors and scratch memory --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Staging.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <functional>

using namespace mlir;
using namespace attnc;
using namespace attnc::cpu;

void attnc::cpu::forRange(EmitContext &context, Value low, Value high, function_ref<void(Value)> body) {
  OpBuilder &b = context.builder;
  auto loop = scf::ForOp::create(b, context.loc, low, high, context.index(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

Value attnc::cpu::widen(EmitContext &context, Value element) {
  Type type = getElementTypeOrSelf(element.getType());
  Type stored = storageType(type);
  if (type == stored)
    return element;
  Type target = stored;
  if (auto vector = dyn_cast<VectorType>(element.getType()))
    target = VectorType::get(vector.getShape(), stored);
  if (isa<FloatType>(type))
    return arith::ExtFOp::create(context.builder, context.loc, target, element);
  return arith::ExtUIOp::create(context.builder, context.loc, target, element);
}

Value attnc::cpu::narrow(EmitContext &context, Value held, Type element) {
  OpBuilder &b = context.builder;
  Location loc = context.loc;
  if (held.getType() == element)
    return held;
  if (element.isBF16()) {
    // The low half is zero.
    Value bits = arith::BitcastOp::create(b, loc, b.getI32Type(), held);
    Value high = arith::ShRUIOp::create(b, loc, bits, context.constant(b.getI32Type(), 16));
    Value half = arith::TruncIOp::create(b, loc, b.getIntegerType(16), high);
    return arith::BitcastOp::create(b, loc, element, half);
  }
  if (isa<FloatType>(element))
    return arith::TruncFOp::create(b, loc, element, held);
  return arith::TruncIOp::create(b, loc, element, held);
}

bool attnc::cpu::isStaged(tile::LoadOp load) {
  return llvm::all_of(load->getUses(),
                      [](OpOperand &use) { return isa<tile::MmaOp>(use.getOwner()) && use.getOperandNumber() == 1; });
}

bool attnc::cpu::isColumnVector(tile::LoadOp load) {
  return cast<VectorType>(load.getResult().getType()).getRank() == 1 &&
         llvm::all_of(load->getUsers(), [&](Operation *user) {
           if (auto map = dyn_cast<tile::MapOp>(user))
             return llvm::is_contained(map.getCols(), load.getResult());
           auto mask = dyn_cast<tile::MaskOp>(user);
           return mask && llvm::is_contained(mask.getCols(), load.getResult());
         });
}

/// Elements below the limit along an axis, from 0 to `size`.
static Value liveBelow(EmitContext &context, Value first, Value limit, int64_t size) {
  Value left = context.greatest(context.sub(limit, first), context.index(0));
  return context.least(left, context.index(size));
}

void attnc::cpu::stageTile(EmitContext &context, ProgramValues &values, tile::LoadOp load) {
  OpBuilder &b = context.builder;
  Location loc = context.loc;
  auto type = cast<VectorType>(load.getResult().getType());
  int64_t rows = type.getDimSize(0), columns = type.getDimSize(1);
  // A cache line more than a row: rows a power of two apart would share the sets of the cache.
  Value buffer = context.allocate({rows, columns + 16}, b.getF32Type());
  values.staged[load.getResult()] = buffer;

  Value view = values.scalar(load.getView());
  SmallVector<Value> base;
  for (Value index : load.getIndices())
    base.push_back(values.scalar(index));
  int64_t rowAxis = load.getAxes()[0], columnAxis = load.getAxes()[1];
  Value live = liveBelow(context, base[rowAxis], values.scalar(load.getLimits()[0]), rows);
  // Head dims are multiples of 8.
  int64_t width = columns % context.lanes == 0 ? context.lanes : std::min<int64_t>(8, context.lanes);
  auto vectorType = VectorType::get({width}, type.getElementType());
  forRange(context, context.index(0), live, [&](Value row) {
    SmallVector<Value> from = base;
    from[rowAxis] = context.add(from[rowAxis], row);
    for (int64_t column = 0; column < columns; column += width) {
      SmallVector<Value> at = from;
      at[columnAxis] = context.add(at[columnAxis], context.index(column));
      Value vector = vector::LoadOp::create(b, loc, vectorType, view, at);
      vector::StoreOp::create(b, loc, widen(context, vector), buffer, ValueRange{row, context.index(column)});
    }
  });
  Value zero = arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(VectorType::get({width}, b.getF32Type()), b.getF32FloatAttr(0)));
  forRange(context, live, context.index(rows), [&](Value row) {
    for (int64_t column = 0; column < columns; column += width)
      vector::StoreOp::create(b, loc, zero, buffer, ValueRange{row, context.index(column)});
  });
}

void attnc::cpu::stageColumns(EmitContext &context, ProgramValues &values, tile::LoadOp load) {
  OpBuilder &b = context.builder;
  auto type = cast<VectorType>(load.getResult().getType());
  int64_t size = type.getDimSize(0), axis = load.getAxes()[0];
  Type element = storageType(type.getElementType());
  Value buffer = context.allocate({size}, element);
  values.columns[load.getResult()] = buffer;
  SmallVector<Value> base;
  for (Value index : load.getIndices())
    base.push_back(values.scalar(index));
  Value live = liveBelow(context, base[axis], values.scalar(load.getLimits()[0]), size);
  forRange(context, context.index(0), live, [&](Value position) {
    SmallVector<Value> from = base;
    from[axis] = context.add(from[axis], position);
    Value loaded = memref::LoadOp::create(b, context.loc, values.scalar(load.getView()), from);
    memref::StoreOp::create(b, context.loc, widen(context, loaded), buffer, position);
  });
  forRange(context, live, context.index(size), [&](Value position) {
    memref::StoreOp::create(b, context.loc, context.constant(element, 0), buffer, position);
  });
}

void attnc::cpu::emitExtent(EmitContext &context, ProgramValues &values, tile::ExtentOp extent) {
  OpBuilder &b = context.builder;
  Location loc = context.loc;
  Value view = values.scalar(extent.getView());
  Type element = extent.getLeast().getType();
  bool isCondition = element.isInteger(1);
  Type held = storageType(element);
  unsigned bits = held.getIntOrFloatBitWidth();
  Value least = arith::ConstantOp::create(b, loc, b.getIntegerAttr(held, APInt::getSignedMaxValue(bits)));
  Value greatest = arith::ConstantOp::create(b, loc, b.getIntegerAttr(held, APInt::getSignedMinValue(bits)));

  SmallVector<Value> indices(extent.getFirst().size());
  // Loops over the dimensions that are ranges, one inside the other.
  std::function<std::pair<Value, Value>(size_t, Value, Value)> visit = [&](size_t dim, Value low, Value high) {
    if (dim == indices.size()) {
      Value loaded = widen(context, memref::LoadOp::create(b, loc, view, indices));
      return std::pair<Value, Value>(arith::MinSIOp::create(b, loc, low, loaded),
                                     arith::MaxSIOp::create(b, loc, high, loaded));
    }
    Value first = values.scalar(extent.getFirst()[dim]), last = values.scalar(extent.getLast()[dim]);
    if (first == last) {
      indices[dim] = first;
      return visit(dim + 1, low, high);
    }
    auto loop =
        scf::ForOp::create(b, loc, first, context.add(last, context.index(1)), context.index(1), ValueRange{low, high});
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(loop.getBody());
    indices[dim] = loop.getInductionVar();
    auto [innerLow, innerHigh] = visit(dim + 1, loop.getRegionIterArgs()[0], loop.getRegionIterArgs()[1]);
    scf::YieldOp::create(b, loc, ValueRange{innerLow, innerHigh});
    return std::pair<Value, Value>(loop.getResult(0), loop.getResult(1));
  };
  std::tie(least, greatest) = visit(0, least, greatest);
  if (isCondition) {
    // No element at all leaves 127 and -128: all are set, none is.
    Value zero = context.constant(held, 0);
    least = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, least, zero);
    greatest = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, greatest, zero);
  }
  values.scalars.map(extent.getLeast(), least);
  values.scalars.map(extent.getGreatest(), greatest);
}
