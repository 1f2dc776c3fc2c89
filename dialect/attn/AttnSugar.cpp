//===- AttnSugar.cpp - Meaning of the sugar operations ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Each `expand` is the whole meaning of its operation for the compiler; Reference.cpp states it a second time, plainly,
// and tests hold the two together.
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
  if ((cap || matchPattern(getCap(), m_Constant(&cap))) && !(cap.getValueAsDouble() > 0))
    return emitOpError() << "expected a positive cap, got " << cap.getValueAsDouble() << " [S4]";
  return success();
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
  return arith::MulFOp::create(b, loc, cap, math::TanhOp::create(b, loc, ratio));
}

LogicalResult AlibiOp::verify() { return verifyIndices(*this, getSlopes().getType(), getHead()); }

Value AlibiOp::expand(OpBuilder &b) {
  Location loc = getLoc();
  Value slope = loadF32(b, *this, getSlopes(), getHead());
  Value distance = math::AbsIOp::create(b, loc, arith::SubIOp::create(b, loc, getI(), getJ()));
  // Distances fit 32 bits: positions do (docs/spec.md).
  Value narrow = arith::IndexCastOp::create(b, loc, b.getI32Type(), distance);
  Value penalty = arith::MulFOp::create(b, loc, slope, arith::SIToFPOp::create(b, loc, b.getF32Type(), narrow));
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
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  if (!value)
    return literal && *literal <= most ? arith::ConstantIndexOp::create(b, loc, *literal).getResult() : Value();
  // The launch checks that it is not negative; arithmetic may rely on what is written here.
  Value below = arith::MinSIOp::create(b, loc, value, arith::ConstantIndexOp::create(b, loc, most));
  return arith::MaxSIOp::create(b, loc, below, arith::ConstantIndexOp::create(b, loc, 0));
}

/// `to` stands at most `side` positions past `from`: by their distance, which fits 32 bits where a sum of a position
/// and a run-time side need not.
static Value buildReach(OpBuilder &b, Location loc, Value from, Value to, Value side) {
  return compare(b, loc, arith::CmpIPredicate::sle, arith::SubIOp::create(b, loc, to, from), side);
}

Value WindowOp::expand(OpBuilder &b) {
  Location loc = getLoc();
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
    keep = keep ? arith::AndIOp::create(b, loc, keep, within).getResult() : within;
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
