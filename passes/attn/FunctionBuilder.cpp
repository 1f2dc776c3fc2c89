//===- FunctionBuilder.cpp - Functions of f32 in arithmetic -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Polynomials for angles are those of Moshier's Cephes library (single precision).
//===----------------------------------------------------------------------===//

#include "passes/attn/FunctionBuilder.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace attnc::attn;

static constexpr double pi = 3.14159265358979323846, ln2 = 0.69314718055994530942, log2e = 1.44269504088896340736;
static constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

//===----------------------------------------------------------------------===//
// Small builders
//===----------------------------------------------------------------------===//

Value FunctionBuilder::number(double value, Type type) {
  return arith::ConstantOp::create(builder, loc, builder.getFloatAttr(type, value));
}
Value FunctionBuilder::infinity(Type type) { return number(std::numeric_limits<double>::infinity(), type); }
Value FunctionBuilder::convert(Value x, Type type) {
  unsigned from = x.getType().getIntOrFloatBitWidth(), to = type.getIntOrFloatBitWidth();
  if (x.getType() == type)
    return x;
  return from < to ? arith::ExtFOp::create(builder, loc, type, x).getResult()
                   : arith::TruncFOp::create(builder, loc, type, x).getResult();
}
Value FunctionBuilder::magnitude(Value x) { return math::AbsFOp::create(builder, loc, x); }
Value FunctionBuilder::compare(Predicate predicate, Value x, Value y) {
  return arith::CmpFOp::create(builder, loc, predicate, x, y);
}
Value FunctionBuilder::select(Value condition, Value ifTrue, Value ifFalse) {
  return arith::SelectOp::create(builder, loc, condition, ifTrue, ifFalse);
}
Value FunctionBuilder::add(Value x, Value y) { return arith::AddFOp::create(builder, loc, x, y); }
Value FunctionBuilder::sub(Value x, Value y) { return arith::SubFOp::create(builder, loc, x, y); }
Value FunctionBuilder::mul(Value x, Value y) { return arith::MulFOp::create(builder, loc, x, y); }
Value FunctionBuilder::div(Value x, Value y) { return arith::DivFOp::create(builder, loc, x, y); }
Value FunctionBuilder::fma(Value x, Value y, Value z) { return math::FmaOp::create(builder, loc, x, y, z); }
Value FunctionBuilder::neg(Value x) { return arith::NegFOp::create(builder, loc, x); }
Value FunctionBuilder::root(Value x) { return math::SqrtOp::create(builder, loc, x); }
Value FunctionBuilder::withSign(Value size, Value sign) { return math::CopySignOp::create(builder, loc, size, sign); }
Value FunctionBuilder::selectIf(Predicate predicate, Value x, double y, Value ifTrue, Value ifFalse) {
  return select(compare(predicate, x, like(y, x)), ifTrue, ifFalse);
}
Value FunctionBuilder::nanWhere(Value condition, Value otherwise) {
  return select(condition, like(notANumber, otherwise), otherwise);
}
Value FunctionBuilder::polynomial(Value x, ArrayRef<double> coefficients) {
  Value sum = like(coefficients.back(), x);
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    sum = fma(sum, x, like(coefficient, x));
  return sum;
}

//===----------------------------------------------------------------------===//
// Powers and logarithms in f64
//===----------------------------------------------------------------------===//

std::pair<Value, Value> FunctionBuilder::roundToWhole(Value x) {
  Value shifter = number(0x1.8p52, f64());
  Value shifted = add(x, shifter);
  Value bits = arith::BitcastOp::create(builder, loc, builder.getI64Type(), shifted);
  return {sub(shifted, shifter), arith::TruncIOp::create(builder, loc, builder.getI32Type(), bits)};
}

Value FunctionBuilder::exp2Wide(Value y) {
  auto [whole, exponent] = roundToWhole(y);
  Value fraction = mul(sub(y, whole), number(ln2, f64()));
  // e^f for |f| <= ln(2) / 2.
  SmallVector<double> coefficients = {1};
  for (int n = 1; n <= 11; ++n)
    coefficients.push_back(coefficients.back() / n);
  Value power = polynomial(fraction, coefficients);
  Type i64 = builder.getI64Type();
  auto word = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(value));
  };
  Value biased = arith::AddIOp::create(builder, loc, arith::ExtSIOp::create(builder, loc, i64, exponent), word(1023));
  Value bits = arith::ShLIOp::create(builder, loc, biased, word(52));
  return mul(power, arith::BitcastOp::create(builder, loc, f64(), bits));
}

Value FunctionBuilder::expWide(Value x) {
  constexpr double most = 200;
  Value inside = selectIf(Predicate::OGT, x, most, like(most, x), x);
  inside = selectIf(Predicate::OLT, x, -most, like(-most, x), inside);
  return exp2Wide(mul(wide(inside), number(log2e, f64())));
}

Value FunctionBuilder::log2Wide(Value x) {
  Type i64 = builder.getI64Type();
  auto word = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(value));
  };
  // x = m 2^e with m from sqrt(1/2) to sqrt(2).
  Value bits = arith::BitcastOp::create(builder, loc, i64, x);
  Value places = word(52);
  Value above = arith::SubIOp::create(builder, loc, bits, word(0x3fe6a09e667f3bcd));
  Value exponent = arith::ShRSIOp::create(builder, loc, above, places);
  Value ofMantissa = arith::SubIOp::create(builder, loc, bits, arith::ShLIOp::create(builder, loc, exponent, places));
  Value m = arith::BitcastOp::create(builder, loc, f64(), ofMantissa);
  Value one = number(1, f64());
  Value t = div(sub(m, one), add(m, one)), square = mul(t, t);
  // ln m = 2 atanh t.
  SmallVector<double> coefficients;
  for (int n = 0; n < 9; ++n)
    coefficients.push_back(2 * log2e / (2 * n + 1));
  Value e = arith::SIToFPOp::create(builder, loc, f64(),
                                    arith::TruncIOp::create(builder, loc, builder.getI32Type(), exponent));
  return fma(t, polynomial(square, coefficients), e);
}

Value FunctionBuilder::expm1(Value x) {
  Value x64 = wide(x);
  Value far = narrow(sub(expWide(x), number(1, f64())));
  Value near = narrow(mul(x64, polynomial(x64, {1, 0.5, 1.0 / 6})));
  return selectIf(Predicate::OLT, magnitude(x), 0x1p-10, near, far);
}

Value FunctionBuilder::log1p(Value x) {
  Value x64 = wide(x);
  Value far = narrow(mul(log2Wide(add(x64, number(1, f64()))), number(ln2, f64())));
  Value near = narrow(mul(x64, polynomial(x64, {1, -0.5, 1.0 / 3, -0.25})));
  Value result = selectIf(Predicate::OLT, magnitude(x), 0x1p-10, near, far);
  result = selectIf(Predicate::OEQ, x, -1, neg(infinity(f32())), result);
  result = selectIf(Predicate::OEQ, x, std::numeric_limits<double>::infinity(), x, result);
  return nanWhere(compare(Predicate::ULT, x, like(-1, x)), result);
}

Value FunctionBuilder::log10(Value x) {
  Value result = narrow(mul(log2Wide(wide(x)), number(std::log10(2.0), f64())));
  result = selectIf(Predicate::OEQ, x, 0, neg(infinity(f32())), result);
  result = selectIf(Predicate::OEQ, x, std::numeric_limits<double>::infinity(), x, result);
  return nanWhere(compare(Predicate::ULT, x, like(0, x)), result);
}

Value FunctionBuilder::scaledLog(Operation *logarithm) {
  constexpr double places = 24;
  Value x = logarithm->getOperand(0);
  Value isSmall = compare(Predicate::OLT, x, like(0x1p-126, x));
  Value scaled = select(isSmall, mul(x, like(std::exp2(places), x)), x);
  Operation *copy = builder.clone(*logarithm);
  copy->setOperand(0, scaled);
  double less = isa<math::LogOp>(logarithm) ? places * ln2 : places;
  Value result = copy->getResult(0);
  return select(isSmall, sub(result, like(less, x)), result);
}

Value FunctionBuilder::cbrt(Value x) {
  Value a = magnitude(x);
  Value result = withSign(narrow(exp2Wide(mul(log2Wide(wide(a)), number(1.0 / 3, f64())))), x);
  // 0, infinity and NaN are their own roots.
  Value isPlain = compare(Predicate::OGT, a, like(0, x));
  isPlain = arith::AndIOp::create(builder, loc, isPlain, compare(Predicate::OLT, a, infinity(f32())));
  return select(isPlain, result, x);
}

/// Whether y is an odd whole number.
Value FunctionBuilder::isOddWhole(Value y) {
  auto whole = [&](Value x) { return compare(Predicate::OEQ, math::TruncOp::create(builder, loc, x), x); };
  Value half = mul(y, like(0.5, y));
  Value isEven = whole(half);
  Value no = arith::ConstantOp::create(builder, loc, builder.getBoolAttr(false));
  return select(isEven, no, whole(y));
}

/// As C's pow: x^0 and 1^y are 1 even for NaN.
Value FunctionBuilder::pow(Value x, Value y) {
  Value a = magnitude(x), zero = like(0, x), one = like(1, x);
  Value log = log2Wide(wide(a));
  log = select(compare(Predicate::OEQ, a, zero), neg(infinity(f64())), log);
  log = select(compare(Predicate::OEQ, a, infinity(f32())), infinity(f64()), log);
  Value exponent = mul(wide(y), log);
  exponent = select(compare(Predicate::OEQ, a, one), number(0, f64()), exponent);
  constexpr double most = 300;
  exponent = selectIf(Predicate::OGT, exponent, most, number(most, f64()), exponent);
  exponent = selectIf(Predicate::OLT, exponent, -most, number(-most, f64()), exponent);
  Value result = narrow(exp2Wide(exponent));
  Value isOdd = isOddWhole(y);
  result = select(isOdd, withSign(result, x), result);
  // Roots of negative numbers.
  Value isNegative = compare(Predicate::OLT, x, zero);
  Value isFinite = compare(Predicate::OLT, a, infinity(f32()));
  Value isBroken = compare(Predicate::ONE, math::TruncOp::create(builder, loc, y), y);
  Value hasNone =
      arith::AndIOp::create(builder, loc, arith::AndIOp::create(builder, loc, isNegative, isFinite), isBroken);
  result = nanWhere(arith::OrIOp::create(builder, loc, hasNone, compare(Predicate::UNO, x, y)), result);
  Value isOne = arith::OrIOp::create(builder, loc, compare(Predicate::OEQ, x, one), compare(Predicate::OEQ, y, zero));
  return select(isOne, one, result);
}

Value FunctionBuilder::ipow(Value x, Value n) {
  Value y = arith::SIToFPOp::create(builder, loc, f64(), n);
  Value a = magnitude(x), zero = like(0, x), one = like(1, x);
  Value log = log2Wide(wide(a));
  log = select(compare(Predicate::OEQ, a, zero), neg(infinity(f64())), log);
  log = select(compare(Predicate::OEQ, a, infinity(f32())), infinity(f64()), log);
  Value exponent = mul(y, log);
  constexpr double most = 300;
  exponent = selectIf(Predicate::OGT, exponent, most, number(most, f64()), exponent);
  exponent = selectIf(Predicate::OLT, exponent, -most, number(-most, f64()), exponent);
  Value result = narrow(exp2Wide(exponent));
  Type type = n.getType();
  auto integer = [&](int64_t value) -> Value {
    APInt bits(type.getIntOrFloatBitWidth(), static_cast<uint64_t>(value));
    return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, bits));
  };
  Value odd = arith::AndIOp::create(builder, loc, n, integer(1));
  Value isOdd = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, odd, integer(0));
  result = select(isOdd, withSign(result, x), result);
  result = nanWhere(compare(Predicate::UNO, x, x), result);
  return select(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, n, integer(0)), one, result);
}

/// Quotients are taken 50 bits at a time, from the highest; each remainder is exact in f64, and each quotient off by
/// one at most.
Value FunctionBuilder::fmod(Value x, Value y) {
  Value rest = wide(magnitude(x)), divisor = wide(magnitude(y)), zero = number(0, f64());
  constexpr int bitsAtOnce = 50, steps = 6; // f32 quotients are below 2^277
  Value reciprocal = div(number(1, f64()), divisor);
  for (int step = steps; step-- > 0;) {
    double scale = std::ldexp(1.0, step * bitsAtOnce);
    Value multiple = mul(divisor, number(scale, f64()));
    Value quotient = math::TruncOp::create(builder, loc, mul(mul(rest, reciprocal), number(1 / scale, f64())));
    rest = fma(neg(quotient), multiple, rest);
    rest = select(compare(Predicate::OLT, rest, zero), add(rest, multiple), rest);
    rest = select(compare(Predicate::OGE, rest, multiple), sub(rest, multiple), rest);
  }
  // What is divided by infinity stays, unless it is infinite too.
  Value itself = add(x, sub(x, x));
  Value result = withSign(narrow(rest), x);
  return select(compare(Predicate::OEQ, magnitude(y), infinity(f32())), itself, result);
}

//===----------------------------------------------------------------------===//
// Hyperbolic and error functions
//===----------------------------------------------------------------------===//

Value FunctionBuilder::sinh(Value x) {
  Value power = expWide(x), x64 = wide(x);
  Value far = mul(sub(power, div(number(1, f64()), power)), number(0.5, f64()));
  Value near = mul(x64, polynomial(mul(x64, x64), {1, 1.0 / 6, 1.0 / 120}));
  return selectIf(Predicate::OLT, magnitude(x), 0x1p-6, narrow(near), narrow(far));
}

Value FunctionBuilder::cosh(Value x) {
  Value power = expWide(x);
  return narrow(mul(add(power, div(number(1, f64()), power)), number(0.5, f64())));
}

Value FunctionBuilder::asinh(Value x) {
  Value a = wide(magnitude(x)), square = mul(a, a);
  Value far = mul(log2Wide(add(a, root(add(square, number(1, f64()))))), number(ln2, f64()));
  Value near = mul(a, polynomial(square, {1, -1.0 / 6, 3.0 / 40, -15.0 / 336}));
  Value result = withSign(narrow(selectIf(Predicate::OLT, a, 0x1p-5, near, far)), x);
  // Infinities and NaN stay.
  return select(compare(Predicate::OLT, magnitude(x), infinity(f32())), result, x);
}

Value FunctionBuilder::acosh(Value x) {
  Value x64 = wide(x);
  Value inner = root(sub(mul(x64, x64), number(1, f64())));
  Value result = narrow(mul(log2Wide(add(x64, inner)), number(ln2, f64())));
  result = selectIf(Predicate::OEQ, x, std::numeric_limits<double>::infinity(), x, result);
  return nanWhere(compare(Predicate::ULT, x, like(1, x)), result);
}

Value FunctionBuilder::atanh(Value x) {
  Value a = wide(magnitude(x)), one = number(1, f64());
  Value far = mul(log2Wide(div(add(one, a), sub(one, a))), number(ln2 / 2, f64()));
  Value near = mul(a, polynomial(mul(a, a), {1, 1.0 / 3, 0.2, 1.0 / 7}));
  Value result = narrow(selectIf(Predicate::OLT, a, 0x1p-5, near, far));
  result = selectIf(Predicate::OEQ, a, 1, infinity(f32()), result);
  return nanWhere(compare(Predicate::UGT, magnitude(x), like(1, x)), withSign(result, x));
}

/// erfc of a >= 0, in f64; relative error 1.2e-7 (Press et al., "Numerical Recipes", 2nd edition, section 6.2).
Value FunctionBuilder::erfcOfPositive(Value a) {
  Value one = number(1, f64());
  // Past 15 it is below all f32.
  Value inside = selectIf(Predicate::OGT, a, 15, number(15, f64()), a);
  Value t = div(one, fma(inside, number(0.5, f64()), one));
  Value exponent = polynomial(t, {-1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398,
                                  1.48851587, -0.82215223, 0.17087277});
  exponent = sub(exponent, mul(inside, inside));
  return mul(t, exp2Wide(mul(exponent, number(log2e, f64()))));
}

Value FunctionBuilder::erf(Value x) {
  Value a = wide(magnitude(x));
  SmallVector<double> coefficients;
  double factor = 2 / std::sqrt(pi);
  for (int n = 0; n <= 12; factor /= -++n)
    coefficients.push_back(factor / (2 * n + 1));
  Value near = mul(a, polynomial(mul(a, a), coefficients));
  Value far = sub(number(1, f64()), erfcOfPositive(a));
  return withSign(narrow(selectIf(Predicate::OLT, a, 1, near, far)), x);
}

Value FunctionBuilder::erfc(Value x) {
  Value ofPositive = erfcOfPositive(wide(magnitude(x)));
  Value ofNegative = sub(number(2, f64()), ofPositive);
  return narrow(selectIf(Predicate::OLT, x, 0, ofNegative, ofPositive));
}

//===----------------------------------------------------------------------===//
// Angles
//===----------------------------------------------------------------------===//

/// x less the nearest multiple of pi / 2, in f32, and that multiple's low bits.
std::pair<Value, Value> FunctionBuilder::reduceAngle(Value x) {
  constexpr double high = 1.57079632679489661923, low = 6.12323399573676588613e-17;
  Value inside = wide(selectIf(Predicate::OGE, magnitude(x), 0x1p48, like(0, x), x));
  auto [whole, quarter] = roundToWhole(mul(inside, number(1 / high, f64())));
  Value rest = fma(whole, number(-high, f64()), inside);
  return {narrow(fma(whole, number(-low, f64()), rest)), quarter};
}

/// For |r| <= pi / 4.
Value FunctionBuilder::sinNearZero(Value r) {
  Value square = mul(r, r);
  Value sum = polynomial(square, {-1.6666654611e-1, 8.3321608736e-3, -1.9515295891e-4});
  return fma(mul(sum, square), r, r);
}

Value FunctionBuilder::cosNearZero(Value r) {
  Value square = mul(r, r);
  Value sum = polynomial(square, {4.166664568298827e-2, -1.388731625493765e-3, 2.443315711809948e-5});
  Value less = fma(square, like(-0.5, r), like(1, r));
  return fma(mul(square, square), sum, less);
}

Value FunctionBuilder::sin(Value x, int quarter) {
  auto [rest, number] = reduceAngle(x);
  auto word = [&](int32_t value) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(value));
  };
  Value place = quarter ? arith::AddIOp::create(builder, loc, number, word(quarter)).getResult() : number;
  auto has = [&](int32_t bit) -> Value {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                 arith::AndIOp::create(builder, loc, place, word(bit)), word(0));
  };
  Value size = select(has(1), cosNearZero(rest), sinNearZero(rest));
  return select(has(2), neg(size), size);
}

Value FunctionBuilder::tan(Value x) {
  auto [rest, number] = reduceAngle(x);
  auto word = [&](int32_t value) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(value));
  };
  Value isOdd = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                      arith::AndIOp::create(builder, loc, number, word(1)), word(0));
  Value sine = sinNearZero(rest), cosine = cosNearZero(rest);
  return div(select(isOdd, neg(cosine), sine), select(isOdd, sine, cosine));
}

/// asin s for s up to 1/2.
Value FunctionBuilder::asinOfHalf(Value s, Value square) {
  Value sum = polynomial(square, {1.6666752422e-1, 7.4953002686e-2, 4.5470025998e-2, 2.4181311049e-2, 4.2163199048e-2});
  return fma(mul(sum, square), s, s);
}

Value FunctionBuilder::asin(Value x) {
  Value a = magnitude(x);
  Value half = mul(sub(like(1, x), a), like(0.5, x));
  Value far = fma(asinOfHalf(root(half), half), like(-2, x), like(pi / 2, x));
  Value near = asinOfHalf(a, mul(a, a));
  return withSign(selectIf(Predicate::OLE, a, 0.5, near, far), x);
}

Value FunctionBuilder::acos(Value x) {
  Value a = magnitude(x);
  Value half = mul(sub(like(1, x), a), like(0.5, x));
  Value outside = mul(asinOfHalf(root(half), half), like(2, x));
  Value far = selectIf(Predicate::OLT, x, 0, sub(like(pi, x), outside), outside);
  Value near = sub(like(pi / 2, x), asinOfHalf(x, mul(x, x)));
  return selectIf(Predicate::OLE, a, 0.5, near, far);
}

Value FunctionBuilder::atan(Value x) {
  Value a = magnitude(x), one = like(1, x);
  Value isFar = compare(Predicate::OGT, a, like(2.414213562373095, x));
  Value isMiddle = compare(Predicate::OGT, a, like(0.4142135623730950, x));
  Value t = select(isMiddle, div(sub(a, one), add(a, one)), a);
  t = select(isFar, neg(div(one, a)), t);
  Value base = select(isFar, like(pi / 2, x), select(isMiddle, like(pi / 4, x), like(0, x)));
  Value square = mul(t, t);
  Value sum = polynomial(square, {-3.33329491539e-1, 1.99777106478e-1, -1.38776856032e-1, 8.05374449538e-2});
  return withSign(add(base, fma(mul(sum, square), t, t)), x);
}

Value FunctionBuilder::atan2(Value y, Value x) {
  Value ay = magnitude(y), ax = magnitude(x), zero = like(0, x);
  Value isSteep = compare(Predicate::OGT, ay, ax);
  Value low = select(isSteep, ax, ay), high = select(isSteep, ay, ax);
  Value ratio = select(compare(Predicate::OEQ, low, high), like(1, x), div(low, high));
  ratio = select(compare(Predicate::OEQ, high, zero), zero, ratio);
  Value angle = atan(ratio);
  angle = select(isSteep, sub(like(pi / 2, x), angle), angle);
  Value bits = arith::BitcastOp::create(builder, loc, builder.getI32Type(), x);
  Value none = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0));
  Value isLeft = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, bits, none);
  angle = select(isLeft, sub(like(pi, x), angle), angle);
  return withSign(nanWhere(compare(Predicate::UNO, x, y), angle), y);
}
