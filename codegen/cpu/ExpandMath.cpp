//===- ExpandMath.cpp - Functions of numbers as polynomials -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Passes.h"
#include "codegen/llvm/Polynomials.h"
#include "dialect/tile/TileOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include <array>
#include <cmath>

namespace attnc::cpu {
#define GEN_PASS_DEF_CPUEXPANDMATH
#include "codegen/cpu/Passes.h.inc"
} // namespace attnc::cpu

using namespace mlir;
using namespace attnc;

namespace {

/// Constants of f32 or a vector of it, and the steps that exponentials share.
struct ExponentialBuilder {
  ExponentialBuilder(PatternRewriter &b, Location loc, Type type) : b(b), loc(loc), type(type), words(b.getI32Type()) {
    if (auto vector = dyn_cast<VectorType>(type))
      words = VectorType::get(vector.getShape(), words);
  }

  /// A constant of type `like`.
  Value constant(Type like, TypedAttr value) {
    if (auto vector = dyn_cast<VectorType>(like))
      value = DenseElementsAttr::get(vector, value);
    return arith::ConstantOp::create(b, loc, value);
  }
  Value number(double value) { return constant(type, b.getF32FloatAttr(static_cast<float>(value))); }
  Value fma(Value x, Value y, Value z) { return math::FmaOp::create(b, loc, x, y, z); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, loc, x, y); }
  /// x, but at least (at most) a bound, in one instruction; NaN stays.
  Value atLeast(Value x, double bound) {
    Value least = number(bound);
    Value below = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, least, x);
    return arith::SelectOp::create(b, loc, below, least, x);
  }
  Value atMost(Value x, double bound) {
    Value most = number(bound);
    Value above = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, most, x);
    return arith::SelectOp::create(b, loc, above, most, x);
  }
  /// 2^n e^(s f) or 2^n 2^f: `shifted` holds n + 126 in its low bits, c0 (s f) + c1 (s f)^2 + ... is the power of s f
  /// less 1. The polynomial gives twice the power and the exponent's bits give 2^(n-1), so that the greatest results
  /// need no power past f32, and n = -126 gives 0.
  ///
  /// The polynomial is summed in pairs: a chain of four operations in place of six. How long a chain is, not how many
  /// operations there are, binds where several exponentials fill the window of instructions that a core looks at.
  Value power(Value shifted, Value fraction, const std::array<double, 6> &coefficients, double scale = 1) {
    auto twice = [&](size_t position) {
      return number(2 * coefficients[position] * std::pow(scale, static_cast<double>(position) + 1));
    };
    Value square = arith::MulFOp::create(b, loc, fraction, fraction);
    Value first = fma(fraction, twice(1), twice(0));
    Value second = fma(fraction, twice(3), twice(2));
    Value third = fma(fraction, twice(5), twice(4));
    Value sum = fma(square, fma(square, third, second), first);
    // The greatest term last, so that only its rounding counts.
    sum = fma(sum, fraction, number(2));
    Value bits = arith::BitcastOp::create(b, loc, words, shifted);
    Value places = constant(words, b.getI32IntegerAttr(23));
    Value exponent = arith::ShLIOp::create(b, loc, bits, places);
    return arith::MulFOp::create(b, loc, sum, arith::BitcastOp::create(b, loc, type, exponent));
  }

  PatternRewriter &b;
  Location loc;
  Type type, words;
};

/// Whether `type` is f32 or a vector of it.
bool isOfF32(Type type) { return getElementTypeOrSelf(type).isF32(); }

/// Adding 1.5 * 2^23 rounds to a whole number and leaves it in the low bits, here with the exponent's bias less 1.
constexpr float shifter = 12582912.0f + 126;

/// 2^x of f32, or a vector of it: x = n + f with n whole and |f| <= 1/2; 2^f by a polynomial. Below -125.5 the result
/// is 0, from 128 on infinity.
struct ExpandExp2 : OpRewritePattern<math::Exp2Op> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::Exp2Op op, PatternRewriter &b) const override {
    if (!isOfF32(op.getType()))
      return failure();
    ExponentialBuilder e(b, op.getLoc(), op.getType());
    Value x = e.atLeast(op.getOperand(), -126);
    if (!op->hasAttr(attnc::tile::nonpositiveAttrName))
      x = e.atMost(x, 128);
    Value shifted = arith::AddFOp::create(b, e.loc, x, e.number(shifter));
    Value fraction = e.sub(x, e.sub(shifted, e.number(shifter)));
    std::array<double, 6> coefficients;
    llvm::copy(codegen::exp2Coefficients, coefficients.begin());
    b.replaceOp(op, e.power(shifted, fraction, coefficients));
    return success();
  }
};

/// A positive factor of a product, a constant that is not so far from 1 that powers of it leave the normal numbers, and
/// the other factor; `x` and 1 where it is no such product.
///
/// No remark tells of those: each vector of a block has its own copy of the exponential, and what a factor costs that
/// is left where it was is one of some 26 instructions, no digit (docs/rationale/cpu-kernel.md).
static std::pair<Value, double> splitScale(Value x) {
  auto product = x.getDefiningOp<arith::MulFOp>();
  APFloat scale(0.0f);
  if (!product || !matchPattern(product.getRhs(), m_ConstantFloat(&scale)))
    return {x, 1};
  double factor = scale.convertToDouble();
  constexpr double least = 1e-4, most = 1e4;
  return factor >= least && factor <= most ? std::pair(product.getLhs(), factor) : std::pair(x, 1.0);
}

/// e^(s x) of f32, or a vector of it, s = 1 where the argument is no product with a constant: s x = n ln 2 + s f with n
/// whole and |s f| <= ln(2)/2. f comes from one fused operation, whose (ln 2) / s in f32 is off by at most 2^-24 of it,
/// so that the result is off by at most 6e-8 relative for each unit of s x (2.7e-9 where s is a power of two), as much
/// as by a rounded s x; e^(s f) by a polynomial of degree 6, interpolated as above (relative error 1e-8 before
/// rounding). Below -86.99 the result is 0, past 88.72283 infinity.
struct ExpandExp : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::ExpOp op, PatternRewriter &b) const override {
    if (!isOfF32(op.getType()))
      return failure();
    ExponentialBuilder e(b, op.getLoc(), op.getType());
    auto [argument, scale] = splitScale(op.getOperand());
    Value x = e.atLeast(argument, -87.3 / scale);
    if (!op->hasAttr(attnc::tile::nonpositiveAttrName))
      x = e.atMost(x, 89 / scale);
    Value shifted = e.fma(x, e.number(scale * 1.44269504088896340736), e.number(shifter));
    Value whole = e.sub(shifted, e.number(shifter));
    Value fraction = e.fma(whole, e.number(-0.69314718055994530942 / scale), x);
    static constexpr std::array<double, 6> coefficients = {
        1.0, 0.5, 0.16666504740715027, 0.04166646674275398, 0.008369149640202522, 0.0013933642767369747};
    b.replaceOp(op, e.power(shifted, fraction, coefficients, scale));
    return success();
  }
};

/// tanh of f32, or a vector of it. Near 0, x + x^3 P(x^2); from there on 1 - 2 / (e^2|x| + 1) with the sign of x, where
/// the quotient is below the result and its rounding counts half.
struct ExpandTanh : OpRewritePattern<math::TanhOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::TanhOp op, PatternRewriter &b) const override {
    if (!isOfF32(op.getType()))
      return failure();
    ExponentialBuilder e(b, op.getLoc(), op.getType());
    Value x = op.getOperand(), size = math::AbsFOp::create(b, e.loc, x);
    Value square = arith::MulFOp::create(b, e.loc, x, x);
    Value sum = e.number(codegen::tanhCoefficients.back());
    for (float coefficient : llvm::reverse(ArrayRef(codegen::tanhCoefficients).drop_back()))
      sum = e.fma(sum, square, e.number(coefficient));
    Value near = e.fma(arith::MulFOp::create(b, e.loc, sum, square), x, x);

    Value power = math::ExpOp::create(b, e.loc, arith::AddFOp::create(b, e.loc, size, size));
    Value sumWithOne = arith::AddFOp::create(b, e.loc, power, e.number(1));
    Value far = e.sub(e.number(1), arith::DivFOp::create(b, e.loc, e.number(2), sumWithOne));
    far = math::CopySignOp::create(b, e.loc, far, x);
    Value isNear = arith::CmpFOp::create(b, e.loc, arith::CmpFPredicate::OLT, size, e.number(codegen::tanhBorder));
    b.replaceOpWithNewOp<arith::SelectOp>(op, isNear, near, far);
    return success();
  }
};

struct ExpandMath : attnc::cpu::impl::CpuExpandMathBase<ExpandMath> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandExp2, ExpandExp, ExpandTanh>(&getContext(), /*benefit=*/2);
    populateMathPolynomialApproximationPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
