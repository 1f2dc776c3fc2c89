//===- Numbers.cpp - Numbers, arrays and what operations do -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/sim/Numbers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <cmath>

using namespace mlir;
using namespace attnc;
using namespace attnc::sim;
using namespace attnc::attn::reference;
using attn::ElementKind;

/// Width of an integer or index type; 0 for any other. On GPUs an index has 32 bits (attn-legalize-index).
static unsigned getIntegerWidth(Type type) {
  if (type.isIndex())
    return 32;
  auto integer = dyn_cast<IntegerType>(type);
  return integer && integer.getWidth() <= 64 ? integer.getWidth() : 0;
}

Number sim::toNumber(Attribute attribute) {
  Number number;
  if (auto real = dyn_cast<FloatAttr>(attribute))
    number.f = real.getValueAsDouble();
  else
    number.i = cast<IntegerAttr>(attribute).getValue().getSExtValue();
  return number;
}

Number sim::loadNumber(ElementKind kind, const void *data, int64_t offset) {
  Number number;
  switch (kind) {
  case ElementKind::F64:
  case ElementKind::F32:
  case ElementKind::F16:
  case ElementKind::BF16:
    number.f = attn::loadElement(kind, data, offset);
    break;
  case ElementKind::I1:
    number.i = -attn::loadIntegerElement(kind, data, offset);
    break;
  default:
    number.i = attn::loadIntegerElement(kind, data, offset);
  }
  return number;
}

//===----------------------------------------------------------------------===//
// Reading operations
//===----------------------------------------------------------------------===//

/// Operations that a function of ReferenceRules.h means.
bool ElementOp::compileRule(Operation *op) {
  StringRef name = op->getName().getStringRef();
  isUnary = op->getNumOperands() == 1;
  unary = findUnaryRule(name);
  if (unary) {
    kind = Kind::Unary;
    return true;
  }
  binary = findBinaryRule(name);
  if (binary) {
    kind = Kind::Binary;
    return true;
  }
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    integer = getIntegerComparison(static_cast<unsigned>(compare.getPredicate()));
  else
    integer = findIntegerRule(name);
  if (integer) {
    kind = Kind::Integer;
    return true;
  }
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    testFloat = getFloatComparison(static_cast<unsigned>(compare.getPredicate()));
  else
    testFloat = findFloatPredicate(name);
  kind = Kind::TestFloat;
  return testFloat != nullptr;
}

bool ElementOp::compileConversion(Operation *op) {
  Type result = getElementTypeOrSelf(op->getResult(0)), operand = getElementTypeOrSelf(op->getOperand(0));
  bool isBitcast = isa<arith::BitcastOp>(op);
  if (isa<arith::SIToFPOp, arith::UIToFPOp>(op) || (isBitcast && isa<FloatType>(result))) {
    kind = Kind::ToFloat;
    toFloat = isBitcast ? bitsToFloat : isa<arith::SIToFPOp>(op) ? signedToFloat : unsignedToFloat;
    return !isBitcast || width > 16;
  }
  if (isa<arith::FPToSIOp, arith::FPToUIOp>(op) || (isBitcast && getIntegerWidth(result) && isa<FloatType>(operand))) {
    kind = Kind::ToInteger;
    toInteger = isBitcast ? floatToBits : isa<arith::FPToSIOp>(op) ? floatToSigned : floatToUnsigned;
    return !isBitcast || resultWidth > 16;
  }
  return false;
}

bool ElementOp::compile(Operation *op) {
  if (op->getNumResults() == 0 || op->getNumOperands() == 0)
    return false;
  Type result = getElementTypeOrSelf(op->getResult(0)), operand = getElementTypeOrSelf(op->getOperand(0));
  if (isa<FloatType>(result)) {
    std::optional<ElementKind> known = attn::getElementKind(result);
    if (!known)
      return false;
    rounding = *known;
  }
  if (unsigned bits = getIntegerWidth(result))
    resultWidth = bits;
  if (unsigned bits = getIntegerWidth(operand))
    width = bits;
  if (isa<arith::MulUIExtendedOp, arith::MulSIExtendedOp>(op)) {
    kind = Kind::WideProduct;
    isUnsigned = isa<arith::MulUIExtendedOp>(op);
    return true;
  }
  if (op->getNumResults() != 1)
    return false;
  if (isa<arith::SelectOp>(op)) {
    kind = Kind::Select;
    return true;
  }
  if (isa<math::FmaOp>(op)) {
    kind = Kind::Fma;
    return true;
  }
  if (isa<vector::BroadcastOp>(op)) {
    kind = Kind::Copy;
    return true;
  }
  return compileRule(op) || compileConversion(op);
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

static void roundAll(ElementKind kind, Number *numbers, int64_t count) {
  if (kind == ElementKind::F64)
    return;
  if (kind == ElementKind::F32) {
    for (int64_t n = 0; n < count; ++n)
      numbers[n].f = static_cast<float>(numbers[n].f);
    return;
  }
  for (int64_t n = 0; n < count; ++n)
    numbers[n].f = attn::roundToKind(kind, numbers[n].f);
}

void ElementOp::run(ArrayRef<const Number *> operands, ArrayRef<Number *> results, int64_t count) const {
  const Number *a = operands[0], *b = isUnary || operands.size() < 2 ? a : operands[1];
  Number *out = results[0];
  auto compute = [&](auto function) {
    for (int64_t n = 0; n < count; ++n)
      out[n] = function(n);
  };
  auto real = [](double value) {
    Number number;
    number.f = value;
    return number;
  };
  auto whole = [](int64_t value) {
    Number number;
    number.i = value;
    return number;
  };
  switch (kind) {
  case Kind::Unary:
    compute([&](int64_t n) { return real(unary->value(a[n].f)); });
    return roundAll(rounding, out, count);
  case Kind::Binary:
    compute([&](int64_t n) { return real(binary->value(a[n].f, b[n].f)); });
    return roundAll(rounding, out, count);
  case Kind::Fma: {
    const Number *c = operands[2];
    if (rounding == ElementKind::F32)
      return compute([&](int64_t n) {
        return real(std::fma(static_cast<float>(a[n].f), static_cast<float>(b[n].f), static_cast<float>(c[n].f)));
      });
    compute([&](int64_t n) { return real(std::fma(a[n].f, b[n].f, c[n].f)); });
    return roundAll(rounding, out, count);
  }
  case Kind::Integer:
    return compute([&](int64_t n) { return whole(wrapToWidth(integer(a[n].i, b[n].i, width), resultWidth)); });
  case Kind::WideProduct:
    for (int64_t n = 0; n < count; ++n) {
      __int128 product = isUnsigned ? static_cast<__int128>(static_cast<unsigned __int128>(toUnsigned(a[n].i, width)) *
                                                            toUnsigned(b[n].i, width))
                                    : static_cast<__int128>(a[n].i) * b[n].i;
      results[1][n].i = wrapToWidth(static_cast<int64_t>(product >> width), width);
      out[n].i = wrapToWidth(static_cast<int64_t>(product), width);
    }
    return;
  case Kind::TestFloat:
    return compute([&](int64_t n) { return whole(testFloat(a[n].f, b[n].f) ? -1 : 0); });
  case Kind::ToFloat:
    compute([&](int64_t n) { return real(toFloat(a[n].i, width)); });
    return roundAll(rounding, out, count);
  case Kind::ToInteger:
    return compute([&](int64_t n) { return whole(wrapToWidth(toInteger(a[n].f, resultWidth), resultWidth)); });
  case Kind::Select: {
    const Number *c = operands[2];
    return compute([&](int64_t n) { return a[n].i ? b[n] : c[n]; });
  }
  case Kind::Copy:
    return compute([&](int64_t n) { return a[n]; });
  }
}
