//===- AttnSugar.cpp - Meaning of the sugar operations ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Each `expand` is the whole meaning of its operation for the compiler; dialect/reference states it a second time,
// plainly, and tests hold the two together.
//===----------------------------------------------------------------------===//

#include "dialect/attn/AttnOps.h"
#include "dialect/attn/Coordinates.h"
#include "dialect/attn/Limits.h"
#include "mlir/IR/Matchers.h"
#include <limits>

using namespace mlir;
using namespace attnc::attn;

/// The value of a literal-or-value pair.
static Value materialize(OpBuilder &b, Location loc, Value value, FloatAttr literal) {
  return value ? value : arith::ConstantOp::create(b, loc, literal).getResult();
}

/// Loads the element at indices of a sugar operation, which start at its index `first` and mean what they mean there.
static Value loadElement(OpBuilder &b, IndexedOpInterface op, Value tensor, ValueRange indices, unsigned first = 0) {
  Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
  DenseBoolArrayAttr coordinates = getIndexCoordinates(op, first, indices.size());
  return LoadOp::create(b, op->getLoc(), element, tensor, indices, coordinates);
}

/// The same, widened to f32.
static Value loadF32(OpBuilder &b, IndexedOpInterface op, Value tensor, ValueRange indices) {
  Location loc = op->getLoc();
  Value element = loadElement(b, op, tensor, indices);
  return element.getType().isF32() ? element : arith::ExtFOp::create(b, loc, b.getF32Type(), element).getResult();
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

LogicalResult SoftcapOp::verify() {
  if (static_cast<bool>(getCap()) == getStaticCap().has_value())
    return emitOpError("expected one cap [S4]");
  FloatAttr cap = getStaticCapAttr();
  if (!cap && !matchPattern(getCap(), m_Constant(&cap)))
    return success();
  double value = cap.getValueAsDouble();
  if (!(value > 0))
    return emitOpError() << "expected a positive cap, got " << value << " [S4]";
  // The reciprocal of a smaller one is beyond f32, and logits of 0 would have no number.
  if (value < std::numeric_limits<float>::min())
    return emitOpError() << "expected a cap of at least 1.17549435e-38, the least normal f32, got " << value << " [S4]";
  return success();
}

/// Whether `value` is an argument of the function, whose number the launch checks.
static bool isCheckedByLaunch(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && isa<FunctionOpInterface>(argument.getOwner()->getParentOp());
}

Value SoftcapOp::expand(OpBuilder &b) {
  Location loc = getLoc();
  Value cap = materialize(b, loc, getCap(), getStaticCapAttr());
  Value ratio;
  if (FloatAttr literal = getStaticCapAttr()) {
    // A product instead of a quotient: the reciprocal of a literal is rounded once, here.
    FloatAttr inverse = b.getF32FloatAttr(static_cast<float>(1.0 / literal.getValueAsDouble()));
    ratio = arith::MulFOp::create(b, loc, getLogit(), arith::ConstantOp::create(b, loc, inverse));
  } else {
    ratio = arith::DivFOp::create(b, loc, getLogit(), cap);
  }
  Value capped = arith::MulFOp::create(b, loc, cap, math::TanhOp::create(b, loc, ratio));
  if (getStaticCapAttr() || isCheckedByLaunch(cap))
    return capped;
  Value infinity = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(std::numeric_limits<float>::infinity()));
  Value changesNothing = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, cap, infinity);
  return arith::SelectOp::create(b, loc, changesNothing, getLogit(), capped);
}

/// Whether `i` and `j` are positions as the region has them: these and their differences fit 32 bits (docs/spec.md).
/// Computed ones may be any numbers.
static bool arePositions(Value i, Value j) { return getCoordinate(i) && getCoordinate(j); }

LogicalResult AlibiOp::verify() { return verifyIndices(*this, getSlopes().getType(), getHead()); }

Value AlibiOp::expand(OpBuilder &b) {
  Location loc = getLoc();
  Value slope = loadF32(b, *this, getSlopes(), getHead());
  Value distance = math::AbsIOp::create(b, loc, arith::SubIOp::create(b, loc, getI(), getJ()));
  Type integer = arePositions(getI(), getJ()) ? b.getI32Type() : b.getI64Type();
  Value steps = arith::IndexCastOp::create(b, loc, integer, distance);
  Value penalty = arith::MulFOp::create(b, loc, slope, arith::SIToFPOp::create(b, loc, b.getF32Type(), steps));
  return arith::SubFOp::create(b, loc, getLogit(), penalty);
}

LogicalResult BiasOp::verify() { return verifyIndices(*this, getTensor().getType(), getIndices()); }

Value BiasOp::expand(OpBuilder &b) {
  return arith::AddFOp::create(b, getLoc(), getLogit(), loadF32(b, *this, getTensor(), getIndices()));
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

static Value compare(OpBuilder &b, Location loc, arith::CmpIPredicate predicate, Value lhs, Value rhs) {
  return arith::CmpIOp::create(b, loc, predicate, lhs, rhs);
}

Value CausalOp::expand(OpBuilder &b) { return compare(b, getLoc(), arith::CmpIPredicate::sle, getJ(), getI()); }

LogicalResult WindowOp::verify() {
  if ((getLeftValue() && getLeft()) || (getRightValue() && getRight()))
    return emitOpError("expected each side once, as a literal or a value [S5]");
  auto check = [&](std::optional<int64_t> side, Value value) -> LogicalResult {
    APInt constant;
    if (value && matchPattern(value, m_ConstantInt(&constant)))
      side = constant.getSExtValue();
    if (side && *side < 0)
      return emitOpError() << "expected a window side of 0 or more, got " << *side << " [S5]";
    return success();
  };
  if (failed(check(getLeft(), getLeftValue())) || failed(check(getRight(), getRightValue())))
    return failure();
  return success();
}

/// A side of a window, from 0 to 2^31 - 1, which reaches every position; null for one that is absent or a literal
/// beyond that.
static Value materializeSide(OpBuilder &b, Location loc, Value value, std::optional<int64_t> literal) {
  if (!value)
    return literal && *literal <= maxDistance ? arith::ConstantIndexOp::create(b, loc, *literal).getResult() : Value();
  // The launch checks those that are arguments; one that is computed counts as 0 where it is negative.
  Value below = arith::MinSIOp::create(b, loc, value, arith::ConstantIndexOp::create(b, loc, maxDistance));
  return arith::MaxSIOp::create(b, loc, below, arith::ConstantIndexOp::create(b, loc, 0));
}

/// `to` stands at most `side` positions past `from`: by their distance, which fits 32 bits where a sum of a position
/// and a run-time side need not.
static Value buildReach(OpBuilder &b, Location loc, Value from, Value to, Value side) {
  return compare(b, loc, arith::CmpIPredicate::sle, arith::SubIOp::create(b, loc, to, from), side);
}

/// The same for computed numbers, which may be further apart than any side of a window that reaches all positions.
static Value buildFarReach(OpBuilder &b, Location loc, Value from, Value to, Value value,
                           std::optional<int64_t> literal) {
  Value side = materializeSide(b, loc, value, literal);
  if (!side)
    return Value();
  Value within = buildReach(b, loc, from, to, side);
  if (!value)
    return within;
  Value most = arith::ConstantIndexOp::create(b, loc, maxDistance);
  return arith::OrIOp::create(b, loc, within, compare(b, loc, arith::CmpIPredicate::sgt, value, most));
}

/// Both, where there are two; null where there is none.
static Value conjunction(OpBuilder &b, Location loc, Value x, Value y) {
  return x && y ? arith::AndIOp::create(b, loc, x, y).getResult() : x ? x : y;
}

Value WindowOp::expand(OpBuilder &b) {
  Location loc = getLoc();
  if (!arePositions(getI(), getJ())) {
    Value keep = conjunction(b, loc, buildFarReach(b, loc, getJ(), getI(), getLeftValue(), getLeft()),
                             buildFarReach(b, loc, getI(), getJ(), getRightValue(), getRight()));
    return keep ? keep : arith::ConstantIntOp::create(b, loc, b.getI1Type(), 1).getResult();
  }
  auto isSmall = [](std::optional<int64_t> side) { return side && *side <= maxSize; };
  Value keep;
  if (Value left = materializeSide(b, loc, getLeftValue(), getLeft()))
    keep = isSmall(getLeft())
               ? compare(b, loc, arith::CmpIPredicate::sge, getJ(), arith::SubIOp::create(b, loc, getI(), left))
               : buildReach(b, loc, getJ(), getI(), left);
  if (Value right = materializeSide(b, loc, getRightValue(), getRight())) {
    Value within = isSmall(getRight()) ? compare(b, loc, arith::CmpIPredicate::sle, getJ(),
                                                 arith::AddIOp::create(b, loc, getI(), right))
                                       : buildReach(b, loc, getI(), getJ(), right);
    keep = conjunction(b, loc, keep, within);
  }
  return keep ? keep : arith::ConstantIntOp::create(b, loc, b.getI1Type(), 1).getResult();
}

LogicalResult SameSegmentOp::verify() {
  return success(succeeded(verifyIndices(*this, getQueryIds().getType(), getQueryIndices())) &&
                 succeeded(verifyIndices(*this, getKeyIds().getType(), getKeyIndices(), getQueryIndices().size())));
}

Value SameSegmentOp::expand(OpBuilder &b) {
  Location loc = getLoc();
  Value query = loadElement(b, *this, getQueryIds(), getQueryIndices());
  Value key = loadElement(b, *this, getKeyIds(), getKeyIndices(), getQueryIndices().size());
  Value zero = arith::ConstantIntOp::create(b, loc, b.getI32Type(), 0);
  Value equal = compare(b, loc, arith::CmpIPredicate::eq, query, key);
  return arith::AndIOp::create(b, loc, equal, compare(b, loc, arith::CmpIPredicate::sge, query, zero));
}

LogicalResult PrefixOp::verify() { return verifyIndices(*this, getLengths().getType(), getIndices()); }

Value PrefixOp::expand(OpBuilder &b) {
  Location loc = getLoc();
  Value length = loadElement(b, *this, getLengths(), getIndices());
  Value limit = arith::IndexCastOp::create(b, loc, b.getIndexType(), length);
  return compare(b, loc, arith::CmpIPredicate::slt, getJ(), limit);
}
