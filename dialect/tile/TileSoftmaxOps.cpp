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
  auto &properties = state.getOrAddProperties<Properties>();
  setUnit(builder, properties, unit);
  properties.operandSegmentSizes = {1, 1, 1, 1, 1, 0, 0, 0, 0};
  state.addOperands({scores, max, sum, i, j});
  auto weights = VectorType::get(cast<VectorType>(scores.getType()).getShape(), weight);
  state.addTypes({max.getType(), max.getType(), weights, max.getType()});
}

void SoftmaxEndOp::build(OpBuilder &builder, OperationState &state, Value max, Value sum, Value padding, Value sink,
                         const ExponentUnit &unit) {
  auto &properties = state.getOrAddProperties<Properties>();
  setUnit(builder, properties, unit);
  properties.operandSegmentSizes = {1, 1, padding ? 1 : 0, sink ? 1 : 0, 0};
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
    return emitOpError("expected one number for each of the ")
           << scores.getDimSize(0) << " rows of the scores, got " << getMax().getType();
  if (getRescaleOnGrowth() && getFixed())
    return emitOpError("a fixed maximum never grows: 'rescale_on_growth' and 'fixed' exclude each other");
  if (getFixed() && (getOwnMax() || getRenewed()))
    return emitOpError("a fixed maximum never grows: it has no maxima of the tile's own and no rows to renew");
  if (getOwnMax() && getOwnMax().getType() != getMax().getType())
    return emitOpError("expected maxima of the tile's own of type ") << getMax().getType();
  if (getRenewed() && cast<VectorType>(getRenewed().getType()).getDimSize(0) != scores.getDimSize(0))
    return emitOpError("expected to be told of each of the ") << scores.getDimSize(0) << " rows whether it is renewed";
  if (!getNumbers() != !getDropoutThreshold())
    return emitOpError("expected numbers and the least that is kept, or neither");
  if (getNumbers() && cast<VectorType>(getNumbers().getType()).getShape() != scores.getShape())
    return emitOpError("expected numbers of the shape of the scores, got ") << getNumbers().getType();
  return verifyScale(*this, getScale());
}

LogicalResult SoftmaxEndOp::verify() {
  auto rows = cast<VectorType>(getMax().getType());
  if (getPadding() && cast<VectorType>(getPadding().getType()).getShape() != rows.getShape())
    return emitOpError("expected padding for each of the ") << rows.getDimSize(0) << " rows";
  if (getSink() && getSink().getType() != rows)
    return emitOpError("expected a sink for each of the ") << rows.getDimSize(0) << " rows";
  if (getMaxWeight() && getMaxWeight().getType() != rows)
    return emitOpError("expected a max_weight for each of the ") << rows.getDimSize(0) << " rows";
  if (getMaxWeight() && !getRounded())
    return emitOpError("expected 'rounded': the type that the greatest weight was converted to");
  return verifyScale(*this, getScale());
}
