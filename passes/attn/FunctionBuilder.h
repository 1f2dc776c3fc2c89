//===- FunctionBuilder.h - Functions of f32 in arithmetic -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_ATTN_FUNCTIONBUILDER_H
#define ATTNC_PASSES_ATTN_FUNCTIONBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace attnc::attn {

/// Writes functions of scalars out. Those with a name of mathematics take and give f32 and treat infinities, signed
/// zeros and NaN as C's do; docs/spec.md states how exact they are. Helpers work on any float type.
class FunctionBuilder {
public:
  FunctionBuilder(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}

  /// sin (quarter 0) or cos (quarter 1) of x; of 0 where |x| is 2^48 or more.
  mlir::Value sin(mlir::Value x, int quarter);
  mlir::Value tan(mlir::Value x);
  mlir::Value asin(mlir::Value x);
  mlir::Value acos(mlir::Value x);
  mlir::Value atan(mlir::Value x);
  mlir::Value atan2(mlir::Value y, mlir::Value x);
  mlir::Value sinh(mlir::Value x);
  mlir::Value cosh(mlir::Value x);
  mlir::Value asinh(mlir::Value x);
  mlir::Value acosh(mlir::Value x);
  mlir::Value atanh(mlir::Value x);
  mlir::Value erf(mlir::Value x);
  mlir::Value erfc(mlir::Value x);
  mlir::Value expm1(mlir::Value x);
  mlir::Value log1p(mlir::Value x);
  mlir::Value log10(mlir::Value x);
  mlir::Value cbrt(mlir::Value x);
  mlir::Value pow(mlir::Value x, mlir::Value y);
  /// x^n for an integer of up to 32 bits.
  mlir::Value ipow(mlir::Value x, mlir::Value n);
  /// x - y trunc(x / y), exactly.
  mlir::Value fmod(mlir::Value x, mlir::Value y);
  /// `logarithm`, which is of f32, with an operand that is scaled up where it is below the normal numbers.
  mlir::Value scaledLog(mlir::Operation *logarithm);

  mlir::Value number(double value, mlir::Type type);
  mlir::Value infinity(mlir::Type type);
  mlir::Value convert(mlir::Value x, mlir::Type type);
  mlir::Value magnitude(mlir::Value x);
  mlir::Value compare(mlir::arith::CmpFPredicate predicate, mlir::Value x, mlir::Value y);
  mlir::Value select(mlir::Value condition, mlir::Value ifTrue, mlir::Value ifFalse);

  mlir::OpBuilder &builder;
  mlir::Location loc;

private:
  using Predicate = mlir::arith::CmpFPredicate;
  mlir::Type f32() { return builder.getF32Type(); }
  mlir::Type f64() { return builder.getF64Type(); }
  mlir::Value like(double value, mlir::Value x) { return number(value, x.getType()); }
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  mlir::Value div(mlir::Value x, mlir::Value y);
  mlir::Value fma(mlir::Value x, mlir::Value y, mlir::Value z);
  mlir::Value neg(mlir::Value x);
  mlir::Value root(mlir::Value x);
  mlir::Value withSign(mlir::Value size, mlir::Value sign);
  mlir::Value selectIf(Predicate predicate, mlir::Value x, double y, mlir::Value ifTrue, mlir::Value ifFalse);
  /// c[0] + c[1] x + c[2] x^2 + ...
  mlir::Value polynomial(mlir::Value x, llvm::ArrayRef<double> coefficients);
  mlir::Value wide(mlir::Value x) { return convert(x, f64()); }
  mlir::Value narrow(mlir::Value x) { return convert(x, f32()); }
  /// Rounds an f64 below 2^51 to a whole number, which the i32 holds the low bits of.
  std::pair<mlir::Value, mlir::Value> roundToWhole(mlir::Value x);
  /// 2^y of f64, for |y| up to 1000; an error of 1e-13.
  mlir::Value exp2Wide(mlir::Value y);
  /// e^x of f64 for f32; beyond what f32 has, anything beyond it.
  mlir::Value expWide(mlir::Value x);
  /// log2 x of positive normal f64; an error of 1e-13.
  mlir::Value log2Wide(mlir::Value x);
  mlir::Value isOddWhole(mlir::Value y);
  std::pair<mlir::Value, mlir::Value> reduceAngle(mlir::Value x);
  mlir::Value sinNearZero(mlir::Value r);
  mlir::Value cosNearZero(mlir::Value r);
  mlir::Value asinOfHalf(mlir::Value s, mlir::Value square);
  mlir::Value erfcOfPositive(mlir::Value a);
  mlir::Value nanWhere(mlir::Value condition, mlir::Value otherwise);
};

} // namespace attnc::attn

#endif // ATTNC_PASSES_ATTN_FUNCTIONBUILDER_H
