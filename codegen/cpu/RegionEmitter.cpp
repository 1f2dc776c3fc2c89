//===- RegionEmitter.cpp - Elementwise regions on lanes ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/cpu/RegionEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"

using namespace mlir;
using namespace attnc::cpu;

RegionEmitter::RegionEmitter(EmitContext &context, Block &body, const IRMapping &outside)
    : context(context), body(body), outside(outside) {
  findNarrowIndices();
}

/// Integer ranges through the region, by the operations' own rules. Positions are below 2^30 (checked at launch).
void RegionEmitter::findNarrowIndices() {
  llvm::DenseMap<Value, ConstantIntRanges> ranges;
  auto widthOf = [](Value v) { return v.getType().isIndex() ? 64u : v.getType().getIntOrFloatBitWidth(); };
  auto unknown = [&](Value v) { return ConstantIntRanges::maxRange(widthOf(v)); };
  auto record = [&](Value v, const ConstantIntRanges &range) {
    ranges.insert_or_assign(v, range);
    if (v.getType().isIndex() && range.smin().sge(INT32_MIN) && range.smax().sle(INT32_MAX))
      narrow.insert(v);
  };
  ConstantIntRanges position =
      ConstantIntRanges::fromSigned(APInt(64, -(int64_t(1) << 30), true), APInt(64, (int64_t(1) << 30) - 1, true));
  for (BlockArgument argument : body.getArguments())
    if (argument.getType().isIndex())
      record(argument, position);
  for (Operation &op : body.without_terminator()) {
    auto infer = dyn_cast<InferIntRangeInterface>(op);
    bool integers = llvm::all_of(op.getOperandTypes(), [](Type t) { return t.isIntOrIndex(); });
    if (!infer || !integers)
      continue;
    SmallVector<ConstantIntRanges> operands;
    for (Value operand : op.getOperands()) {
      auto it = ranges.find(operand);
      IntegerAttr constant;
      if (it != ranges.end())
        operands.push_back(it->second);
      else if (matchPattern(operand, m_Constant(&constant)))
        operands.push_back(ConstantIntRanges::constant(constant.getValue()));
      else
        operands.push_back(unknown(operand));
    }
    infer.inferResultRanges(operands, record);
  }
  // Constants from outside the region.
  for (Operation &op : body)
    for (Value operand : op.getOperands()) {
      IntegerAttr constant;
      if (operand.getType().isIndex() && matchPattern(operand, m_Constant(&constant)) &&
          constant.getValue().isSignedIntN(32))
        narrow.insert(operand);
    }
}

/// The type of one lane of a region value.
Type RegionEmitter::laneType(Value value) const {
  Type type = value.getType();
  OpBuilder &b = context.builder;
  if (isa<FloatType>(type))
    return type.isF64() ? type : b.getF32Type();
  if (type.isIndex())
    return narrow.contains(value) ? b.getI32Type() : b.getI64Type();
  return type;
}

Value RegionEmitter::resize(EmitContext &context, Value lanes, Type element) {
  auto type = cast<VectorType>(lanes.getType());
  Type from = type.getElementType();
  if (from == element)
    return lanes;
  auto target = VectorType::get(type.getShape(), element);
  if (from.getIntOrFloatBitWidth() < element.getIntOrFloatBitWidth())
    return arith::ExtSIOp::create(context.builder, context.loc, target, lanes);
  return arith::TruncIOp::create(context.builder, context.loc, target, lanes);
}

Value RegionEmitter::asLanes(Value value, Type element) {
  Value mapped = held(value);
  if (isa<VectorType>(mapped.getType()))
    return isa<IntegerType>(element) && !element.isInteger(1) ? resize(context, mapped, element) : mapped;
  OpBuilder &b = context.builder;
  if (mapped.getType().isIndex())
    mapped = arith::IndexCastOp::create(b, context.loc, element, mapped);
  return context.splat(mapped);
}

Value RegionEmitter::round(EmitContext &context, Value value, Type type) {
  OpBuilder &b = context.builder;
  Location loc = context.loc;
  if (type.isF32())
    return value;
  auto shaped = dyn_cast<VectorType>(value.getType());
  auto like = [&](Type element) -> Type { return shaped ? VectorType::get(shaped.getShape(), element) : element; };
  if (type.isF16())
    return arith::ExtFOp::create(b, loc, value.getType(),
                                 arith::TruncFOp::create(b, loc, like(type), value).getResult());
  // bf16: round to nearest, ties to even, in the bits; few CPUs have an instruction. A NaN stays as it is.
  Type i32 = b.getI32Type();
  auto bits = [&](int64_t pattern) -> Value {
    Value scalar = context.constant(i32, static_cast<double>(pattern));
    return shaped ? context.splat(scalar) : scalar;
  };
  Value word = arith::BitcastOp::create(b, loc, like(i32), value);
  Value odd = arith::AndIOp::create(b, loc, arith::ShRUIOp::create(b, loc, word, bits(16)), bits(1));
  Value up = arith::AddIOp::create(b, loc, word, arith::AddIOp::create(b, loc, odd, bits(0x7fff)));
  Value cut = arith::AndIOp::create(b, loc, up, bits(-0x10000));
  Value rounded = arith::BitcastOp::create(b, loc, value.getType(), cut);
  Value ordered = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ORD, value, value);
  return arith::SelectOp::create(b, loc, ordered, rounded, value);
}

/// A float of a region in another type. Those narrower than f32 are held in f32.
Value RegionEmitter::convert(Value value, FloatType type) {
  OpBuilder &b = context.builder;
  bool isWide = getElementTypeOrSelf(value.getType()).isF64();
  auto shaped = dyn_cast<VectorType>(value.getType());
  auto like = [&](Type element) -> Type { return shaped ? VectorType::get(shaped.getShape(), element) : element; };
  if (type.isF64())
    return isWide ? value : arith::ExtFOp::create(b, context.loc, like(type), value).getResult();
  if (isWide)
    value = arith::TruncFOp::create(b, context.loc, like(b.getF32Type()), value);
  return round(context, value, type);
}

Value RegionEmitter::emitVectorOp(EmitContext &context, Operation &op, ValueRange operands) {
  Operation *copy = context.builder.clone(op);
  copy->setOperands(operands);
  Type element = op.getResult(0).getType();
  if (auto vector = dyn_cast<VectorType>(element))
    element = vector.getElementType();
  if (isa<FloatType>(element))
    element = context.builder.getF32Type();
  copy->getResult(0).setType(context.vectorType(element));
  return copy->getResult(0);
}

/// What stands for a region value now: lanes or a scalar; narrow floats from outside are widened.
Value RegionEmitter::held(Value value) {
  if (auto it = values.find(value); it != values.end())
    return it->second;
  Value captured = outside.lookupOrDefault(value);
  if (isa<FloatType>(captured.getType()) && captured.getType().getIntOrFloatBitWidth() < 32)
    return arith::ExtFOp::create(context.builder, context.loc, context.builder.getF32Type(), captured);
  return captured;
}

/// An operation on values that all rows share.
Value RegionEmitter::emitScalarOp(Operation &op) {
  OpBuilder &b = context.builder;
  auto type = dyn_cast<FloatType>(op.getResult(0).getType());
  bool narrowFloat = type && type.getWidth() < 32;
  if (isa<arith::ExtFOp, arith::TruncFOp>(op))
    return convert(held(op.getOperand(0)), type);
  Operation *copy = b.clone(op);
  for (OpOperand &operand : copy->getOpOperands())
    operand.set(held(operand.get()));
  // All that is not the first result is recorded here.
  for (auto [from, to] : llvm::zip(op.getResults(), copy->getResults()))
    values[from] = to;
  Value result = copy->getResult(0);
  if (!narrowFloat)
    return result;
  if (isa<memref::LoadOp>(op) || op.hasTrait<OpTrait::ConstantLike>())
    return arith::ExtFOp::create(b, context.loc, b.getF32Type(), result);
  result.setType(b.getF32Type());
  return round(context, result, type);
}

/// Elements at computed indices, one lane after the other.
Value RegionEmitter::emitLoad(Operation &op) {
  auto load = cast<memref::LoadOp>(op);
  OpBuilder &b = context.builder;
  Location loc = context.loc;
  Type stored = load.getMemRefType().getElementType();
  Type element = isa<FloatType>(stored) ? b.getF32Type() : stored;
  SmallVector<Value> positions;
  for (Value position : load.getIndices())
    positions.push_back(held(position));
  Value result = context.splat(context.constant(element, 0));
  for (int64_t lane = 0; lane < context.lanes; ++lane) {
    SmallVector<Value> indices;
    for (Value position : positions) {
      if (isa<VectorType>(position.getType())) {
        Value number = vector::ExtractOp::create(b, loc, position, lane);
        position = arith::IndexCastOp::create(b, loc, b.getIndexType(), number);
      }
      indices.push_back(position);
    }
    Value scalar = memref::LoadOp::create(b, loc, held(load.getMemRef()), indices);
    if (scalar.getType() != element)
      scalar = arith::ExtFOp::create(b, loc, element, scalar);
    result = vector::InsertOp::create(b, loc, scalar, result, lane);
  }
  return result;
}

Value RegionEmitter::emitOp(Operation &op) {
  OpBuilder &b = context.builder;
  Value source = op.getResult(0);
  bool anyLanes = llvm::any_of(op.getOperands(), [&](Value operand) {
    auto it = values.find(operand);
    return it != values.end() && isa<VectorType>(it->second.getType());
  });
  if (!anyLanes)
    return emitScalarOp(op);
  if (isa<memref::LoadOp>(op))
    return emitLoad(op);

  // Casts between held types are mostly nothing.
  Type result = laneType(source);
  if (isa<arith::ExtFOp, arith::TruncFOp>(op))
    return convert(asLanes(op.getOperand(0), laneType(op.getOperand(0))), cast<FloatType>(source.getType()));
  if (isa<arith::IndexCastOp>(op))
    return resize(context, asLanes(op.getOperand(0), laneType(op.getOperand(0))), result);

  // Index operands of one operation share a width: 64 bits as soon as one needs it.
  bool wide = false;
  for (Value operand : op.getOperands())
    wide |= operand.getType().isIndex() && laneType(operand).isInteger(64);
  wide |= source.getType().isIndex() && result.isInteger(64);
  SmallVector<Value> operands;
  for (Value operand : op.getOperands()) {
    Type element = laneType(operand);
    if (operand.getType().isIndex() && wide)
      element = b.getI64Type();
    operands.push_back(asLanes(operand, element));
  }
  Operation *copy = b.clone(op);
  copy->setOperands(operands);
  for (OpResult opResult : copy->getResults()) {
    Type element = laneType(op.getResult(opResult.getResultNumber()));
    if (op.getResult(opResult.getResultNumber()).getType().isIndex() && wide)
      element = b.getI64Type();
    opResult.setType(context.vectorType(element));
  }
  for (unsigned extra = 1; extra < op.getNumResults(); ++extra)
    values[op.getResult(extra)] = copy->getResult(extra);
  Value emitted = copy->getResult(0);
  if (auto type = dyn_cast<FloatType>(source.getType()); type && type.getWidth() < 32)
    emitted = round(context, emitted, type);
  return source.getType().isIndex() ? resize(context, emitted, result) : emitted;
}

Lanes RegionEmitter::emit(ValueRange arguments) {
  values.clear();
  for (auto [argument, value] : llvm::zip_equal(body.getArguments(), arguments))
    values[argument] = value;
  for (Operation &op : body.without_terminator())
    values[op.getResult(0)] = emitOp(op);
  Lanes results;
  for (Value value : body.getTerminator()->getOperands())
    results.push_back(asLanes(value, laneType(value)));
  return results;
}
