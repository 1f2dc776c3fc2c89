//===- ColumnVectors.cpp - One element a column -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A column vector is the same for all rows, and so for all panels: it is computed once, in scratch memory.
//===----------------------------------------------------------------------===//

#include "codegen/cpu/RegionEmitter.h"
#include "codegen/cpu/Staging.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::cpu;

Value attnc::cpu::splatElement(EmitContext &context, DenseElementsAttr constant) {
  auto splat = constant.getSplatValue<Attribute>();
  if (auto number = dyn_cast<FloatAttr>(splat))
    return context.constant(context.builder.getF32Type(), number.getValueAsDouble());
  return arith::ConstantOp::create(context.builder, context.loc, cast<TypedAttr>(splat));
}

Value attnc::cpu::columnElement(EmitContext &context, const ProgramValues &values, Value vector, Value position) {
  OpBuilder &b = context.builder;
  DenseElementsAttr constant;
  if (matchPattern(vector, m_Constant(&constant)))
    return splatElement(context, constant);
  Value element = memref::LoadOp::create(b, context.loc, values.columns.lookup(vector), position);
  Type type = cast<VectorType>(vector.getType()).getElementType();
  if (type.isInteger(1))
    return arith::TruncIOp::create(b, context.loc, type, element);
  return type.isIndex() ? arith::IndexCastOp::create(b, context.loc, type, element).getResult() : element;
}

void attnc::cpu::computeColumns(EmitContext &context, ProgramValues &values, Operation &op) {
  OpBuilder &b = context.builder;
  Location loc = context.loc;
  Value result = op.getResult(0);
  auto type = cast<VectorType>(result.getType());
  Type stored = storageType(type.getElementType());
  Value buffer = values.columns[result] = context.allocate(type.getDimSize(1), stored);
  forRange(context, context.index(0), context.index(type.getDimSize(1)), 1, [&](Value position) {
    Value element;
    if (auto broadcast = dyn_cast<vector::BroadcastOp>(op)) {
      element = RegionEmitter::widen(context, values.scalar(broadcast.getSource()));
    } else {
      SmallVector<Value> operands = llvm::map_to_vector(op.getOperands(), [&](Value operand) {
        return isa<VectorType>(operand.getType()) ? columnElement(context, values, operand, position)
                                                  : RegionEmitter::widen(context, values.scalar(operand));
      });
      element = RegionEmitter::emitElementwise(context, op, operands);
    }
    if (type.getElementType().isInteger(1))
      element = arith::ExtUIOp::create(b, loc, stored, element);
    else if (type.getElementType().isIndex())
      element = arith::IndexCastOp::create(b, loc, stored, element);
    memref::StoreOp::create(b, loc, element, buffer, position);
  });
}
