//===- TileSoftmaxOps.cpp - Rules of the online softmax ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/tile/TileOps.h"

using namespace mlir;
using namespace attnc::tile;

/// Sets what `unit` says.
template <typename Properties>
static void setUnit(OpBuilder &builder, Properties &properties, const ExponentUnit &unit) {
  properties.scale = builder.getF32FloatAttr(unit.factor);
  if (unit.octaves)
    properties.octaves = builder.getUnitAttr();
  properties.headroom = builder.getI64IntegerAttr(unit.headroom);
}

void SoftmaxOp::build(OpBuilder &builder, OperationState &state, Value scores, Value max, Value sum, Value i, Value j,
                      const ExponentUnit &unit, Type weight) {
  state.addOperands({scores, max, sum, i, j});
  state.addRegion();
  setUnit(builder, state.getOrAddProperties<Properties>(), unit);
  auto weights = VectorType::get(cast<VectorType>(scores.getType()).getShape(), weight);
  state.addTypes({max.getType(), max.getType(), weights, max.getType()});
}

void SoftmaxEndOp::build(OpBuilder &builder, OperationState &state, Value max, Value sum, Value padding, Value sink,
                         const ExponentUnit &unit) {
  auto &properties = state.getOrAddProperties<Properties>();
  setUnit(builder, properties, unit);
  properties.operandSegmentSizes = {1, 1, padding ? 1 : 0, sink ? 1 : 0};
  for (Value operand : {max, sum, padding, sink})
    if (operand)
      state.addOperands(operand);
  state.addTypes({max.getType(), max.getType()});
}

/// A scale that weights rise with.
static LogicalResult verifyScale(Operation *op, const APFloat &scale) {
  if (scale.isFinite() && !scale.isNegative() && !scale.isZero())
    return success();
  return op->emitOpError("expected a finite scale above 0");
}

LogicalResult SoftmaxOp::verify() {
  auto scores = cast<VectorType>(getScores().getType()), weights = cast<VectorType>(getWeights().getType());
  if (weights.getShape() != scores.getShape())
    return emitOpError("expected weights of the shape of the scores, got ") << weights;
  if (cast<VectorType>(getMax().getType()).getDimSize(0) != scores.getDimSize(0))
    return emitOpError("expected one number for each of the ") << scores.getDimSize(0) << " rows of the scores, got "
                                                               << getMax().getType();
  if (getLazy() && getFixed())
    return emitOpError("a fixed maximum never grows: 'lazy' and 'fixed' exclude each other");
  if (!getKept().empty()) {
    Block &body = getKept().front();
    Type f32 = Float32Type::get(getContext()), index = IndexType::get(getContext());
    if (body.getArgumentTypes() != ArrayRef<Type>{f32, index, index})
      return emitOpError("expected a region that takes a weight, a row and a column: f32, index, index");
    auto yield = body.empty() ? YieldOp() : dyn_cast<YieldOp>(body.back());
    if (!yield || yield.getOperandTypes() != ArrayRef<Type>{f32})
      return emitOpError("expected a region that yields one f32");
  }
  return verifyScale(*this, getScale());
}

LogicalResult SoftmaxEndOp::verify() {
  auto rows = cast<VectorType>(getMax().getType());
  if (getPadding() && cast<VectorType>(getPadding().getType()).getShape() != rows.getShape())
    return emitOpError("expected padding for each of the ") << rows.getDimSize(0) << " rows";
  if (getSink() && getSink().getType() != rows)
    return emitOpError("expected a sink for each of the ") << rows.getDimSize(0) << " rows";
  return verifyScale(*this, getScale());
}
