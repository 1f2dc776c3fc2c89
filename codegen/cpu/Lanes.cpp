//===- Lanes.cpp - Query rows on SIMD lanes ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Lanes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attnc::cpu;

void EmitContext::setRows(int64_t rows) {
  vectors = ownVectors;
  while (rows % panelRows() != 0)
    --vectors;
  panels = rows / panelRows();
}

Value EmitContext::allocate(ArrayRef<int64_t> shape, Type element) {
  int64_t bytes = element.isIndex() ? 8 : llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  for (int64_t size : shape)
    bytes *= size;
  int64_t offset = scratchBytes;
  scratchBytes += llvm::alignTo(bytes, cacheLine);
  // Buffers are named once, where the scratch memory is, so that every loop sees them.
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(scratch);
  Value shift = index(offset);
  return memref::ViewOp::create(builder, loc, MemRefType::get(shape, element), scratch, shift, ValueRange{});
}

Value EmitContext::index(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }
Value EmitContext::constant(Type type, double value) {
  if (isa<FloatType>(type))
    return arith::ConstantOp::create(builder, loc, FloatAttr::get(type, value));
  return arith::ConstantOp::create(builder, loc, IntegerAttr::get(type, static_cast<int64_t>(value)));
}
Value EmitContext::add(Value a, Value b) { return arith::AddIOp::create(builder, loc, a, b); }
Value EmitContext::mul(Value a, Value b) { return arith::MulIOp::create(builder, loc, a, b); }
Value EmitContext::sub(Value a, Value b) { return arith::SubIOp::create(builder, loc, a, b); }
Value EmitContext::min(Value a, Value b) { return arith::MinSIOp::create(builder, loc, a, b); }
Value EmitContext::max(Value a, Value b) { return arith::MaxSIOp::create(builder, loc, a, b); }

Value EmitContext::splat(Value scalar) {
  return vector::BroadcastOp::create(builder, loc, vectorType(scalar.getType()), scalar);
}

/// `indices` moved on by `number` vectors.
static SmallVector<Value> advance(EmitContext &context, ValueRange indices, int64_t number) {
  SmallVector<Value> moved(indices);
  if (number != 0)
    moved.back() = context.add(moved.back(), context.index(number * context.lanes));
  return moved;
}

Value EmitContext::loadVector(Value buffer, ValueRange indices, int64_t number) {
  Type element = cast<MemRefType>(buffer.getType()).getElementType();
  return vector::LoadOp::create(builder, loc, vectorType(element), buffer, advance(*this, indices, number));
}

void EmitContext::storeVector(Value vector, Value buffer, ValueRange indices, int64_t number) {
  vector::StoreOp::create(builder, loc, vector, buffer, advance(*this, indices, number));
}

Type attnc::cpu::storageType(Type element) {
  if (isa<FloatType>(element))
    return Float32Type::get(element.getContext());
  if (element.isInteger(1))
    return IntegerType::get(element.getContext(), 8);
  if (element.isIndex())
    return IntegerType::get(element.getContext(), 64);
  return element;
}
