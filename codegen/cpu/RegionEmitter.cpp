//===- RegionEmitter.cpp - Elementwise regions on lanes ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/cpu/RegionEmitter.h"
#include "codegen/cpu/PanelEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace attnc::cpu;

RegionEmitter::RegionEmitter(EmitContext &context, Block &body, const IRMapping &outside)
    : context(context), body(body), outside(outside) {}

/// The type of one lane of a region value.
Type RegionEmitter::laneType(Value value) const {
  Type type = value.getType();
  OpBuilder &b = context.builder;
  if (isa<FloatType>(type))
    return type.isF64() ? type : b.getF32Type();
  return type.isIndex() ? b.getI32Type() : type;
}

Value RegionEmitter::resize(EmitContext &context, Value lanes, Type element, bool isUnsigned) {
  auto type = cast<VectorType>(lanes.getType());
  Type from = type.getElementType();
  if (from == element)
    return lanes;
  auto target = VectorType::get(type.getShape(), element);
  if (from.getIntOrFloatBitWidth() < element.getIntOrFloatBitWidth() && isUnsigned)
    return arith::ExtUIOp::create(context.builder, context.loc, target, lanes);
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

Value RegionEmitter::emitElementwise(EmitContext &context, Operation &op, ValueRange operands) {
  Type element = getElementTypeOrSelf(op.getResult(0).getType()), held = element;
  if (isa<arith::ExtFOp, arith::TruncFOp>(op))
    return round(context, operands.front(), element);
  Operation *copy = context.builder.clone(op);
  copy->setOperands(operands);
  if (isa<FloatType>(element))
    held = context.builder.getF32Type();
  bool isOfLanes = llvm::any_of(operands.getTypes(), llvm::IsaPred<VectorType>);
  copy->getResult(0).setType(isOfLanes ? context.vectorType(held) : held);
  return isa<FloatType>(element) ? round(context, copy->getResult(0), element) : copy->getResult(0);
}

Value RegionEmitter::widen(EmitContext &context, Value scalar) {
  if (isa<FloatType>(scalar.getType()) && scalar.getType().getIntOrFloatBitWidth() < 32)
    return arith::ExtFOp::create(context.builder, context.loc, context.builder.getF32Type(), scalar);
  return scalar;
}

/// What stands for a region value now: lanes or a scalar; narrow floats from outside are widened.
Value RegionEmitter::held(Value value) {
  if (auto it = values.find(value); it != values.end())
    return it->second;
  return widen(context, outside.lookupOrDefault(value));
}

/// An operation on values that all rows share.
Value RegionEmitter::emitScalarOp(Operation &op) {
  OpBuilder &b = context.builder;
  auto type = dyn_cast<FloatType>(op.getResult(0).getType());
  bool narrowFloat = type && type.getWidth() < 32;
  if (isa<arith::ExtFOp, arith::TruncFOp>(op))
    return convert(held(op.getOperand(0)), type);
  // Narrow floats from outside are widened before the operation that reads them.
  SmallVector<Value> operands = llvm::map_to_vector(op.getOperands(), [&](Value operand) { return held(operand); });
  Operation *copy = b.clone(op);
  copy->setOperands(operands);
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

/// Whether what comes of `op` is nothing but an element of pairs, which are rounded when they are stored.
bool RegionEmitter::isRoundedWhenStored(Operation &op) const {
  auto map = dyn_cast<tile::MapOp>(body.getParentOp());
  if (!map || !isa<arith::TruncFOp>(op) || !op.getOperand(0).getType().isF32() || !op.getResult(0).getType().isBF16())
    return false;
  return llvm::all_of(op.getUses(), [&](OpOperand &use) {
    return use.getOwner() == body.getTerminator() && isPaired(context, map.getResult(use.getOperandNumber()));
  });
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
  if (isRoundedWhenStored(op))
    return asLanes(op.getOperand(0), laneType(op.getOperand(0)));
  if (isa<arith::ExtFOp, arith::TruncFOp>(op))
    return convert(asLanes(op.getOperand(0), laneType(op.getOperand(0))), cast<FloatType>(source.getType()));
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op))
    return resize(context, asLanes(op.getOperand(0), laneType(op.getOperand(0))), result,
                  /*isUnsigned=*/isa<arith::IndexCastUIOp>(op));

  SmallVector<Value> operands =
      llvm::map_to_vector(op.getOperands(), [&](Value operand) { return asLanes(operand, laneType(operand)); });
  Operation *copy = b.clone(op);
  copy->setOperands(operands);
  for (auto [from, to] : llvm::zip_equal(op.getResults(), copy->getResults()))
    to.setType(context.vectorType(laneType(from)));
  for (unsigned extra = 1; extra < op.getNumResults(); ++extra)
    values[op.getResult(extra)] = copy->getResult(extra);
  Value emitted = copy->getResult(0);
  if (auto type = dyn_cast<FloatType>(source.getType()); type && type.getWidth() < 32)
    emitted = round(context, emitted, type);
  return emitted;
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
