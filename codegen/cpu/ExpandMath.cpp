//===- ExpandMath.cpp - Functions of vectors as polynomials -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include <limits>

namespace attnc::cpu {
#define GEN_PASS_DEF_CPUEXPANDMATH
#include "codegen/cpu/Passes.h.inc"
} // namespace attnc::cpu

using namespace mlir;

namespace {

/// Constants of one type, and the steps that exponentials share.
struct ExponentialBuilder {
  ExponentialBuilder(PatternRewriter &b, Location loc, VectorType type)
      : b(b), loc(loc), type(type), words(VectorType::get(type.getShape(), b.getI32Type())) {}

  Value number(float value) {
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, b.getF32FloatAttr(value)));
  }
  Value fma(Value x, Value y, Value z) { return math::FmaOp::create(b, loc, x, y, z); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, loc, x, y); }
  /// x, or `top` where x is greater.
  Value capped(Value x, float top) {
    Value limit = number(top);
    return arith::SelectOp::create(b, loc, arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, x, limit), limit,
                                   x);
  }
  /// 1 + f * (c0 + f * (c1 + ...)).
  Value polynomial(Value fraction, ArrayRef<float> coefficients) {
    Value sum = number(coefficients.back());
    for (float coefficient : llvm::reverse(coefficients.drop_back()))
      sum = fma(sum, fraction, number(coefficient));
    return fma(sum, fraction, number(1));
  }
  /// value * 2^n, where `shifted` holds n in its low bits; 0 where x is below `bottom`.
  Value scaled(Value value, Value shifted, Value x, float bottom) {
    Value bits = arith::BitcastOp::create(b, loc, words, shifted);
    Value places = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(words, b.getI32IntegerAttr(23)));
    Value exponent = arith::ShLIOp::create(b, loc, bits, places);
    Value sum = arith::AddIOp::create(b, loc, arith::BitcastOp::create(b, loc, words, value), exponent);
    Value tiny = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, x, number(bottom));
    return arith::SelectOp::create(b, loc, tiny, number(0), arith::BitcastOp::create(b, loc, type, sum));
  }

  PatternRewriter &b;
  Location loc;
  VectorType type, words;
};

/// Adding 1.5 * 2^23 rounds to a whole number and leaves it in the low bits.
constexpr float shifter = 12582912.0f;

/// 2^x of f32 vectors: x = n + f with n whole and |f| <= 1/2; 2^f by a polynomial of degree 6, interpolated at
/// Chebyshev nodes with the constant term held at 1 (relative error 1e-8 before rounding); n is added to the exponent's
/// bits. Below -126 the result is 0, from 128 on infinity.
struct ExpandExp2 : OpRewritePattern<math::Exp2Op> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::Exp2Op op, PatternRewriter &b) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    if (!type || !type.getElementType().isF32())
      return failure();
    ExponentialBuilder e(b, op.getLoc(), type);
    Value x = op.getOperand(), capped = e.capped(x, 128);
    Value shifted = arith::AddFOp::create(b, e.loc, capped, e.number(shifter));
    Value fraction = e.sub(capped, e.sub(shifted, e.number(shifter)));
    static constexpr float coefficients[] = {0.6931471824645996f,   0.24022650718688965f,   0.055503569543361664f,
                                             0.009618083015084267f, 0.0013390863314270973f, 0.00015453163359779865f};
    b.replaceOp(op, e.scaled(e.polynomial(fraction, coefficients), shifted, x, -126));
    return success();
  }
};

/// e^x of f32 vectors: x = n ln 2 + f with n whole and |f| <= ln(2)/2, ln 2 in two parts so that f is exact (Cody and
/// Waite 1980); e^f by a polynomial of degree 6, interpolated as above (relative error 1e-8 before rounding). Below
/// -87.3 the result is 0, past 88.72283 infinity.
struct ExpandExp : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::ExpOp op, PatternRewriter &b) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    if (!type || !type.getElementType().isF32())
      return failure();
    ExponentialBuilder e(b, op.getLoc(), type);
    Value x = op.getOperand();
    Value shifted = e.fma(x, e.number(1.44269504088896340736f), e.number(shifter));
    Value whole = e.sub(shifted, e.number(shifter));
    Value fraction = e.fma(whole, e.number(-0.693145751953125f), x);
    fraction = e.fma(whole, e.number(-1.428606820309417e-6f), fraction);
    static constexpr float coefficients[] = {
        1.0f, 0.5f, 0.16666504740715027f, 0.04166646674275398f, 0.008369149640202522f, 0.0013933642767369747f};
    Value scaled = e.scaled(e.polynomial(fraction, coefficients), shifted, x, -87.3f);
    // Past the greatest exponent the bits would be those of a NaN.
    Value huge = arith::CmpFOp::create(b, e.loc, arith::CmpFPredicate::OGT, x, e.number(88.7228317f));
    Value infinity = e.number(std::numeric_limits<float>::infinity());
    b.replaceOp(op, arith::SelectOp::create(b, e.loc, huge, infinity, scaled).getResult());
    return success();
  }
};

struct ExpandMath : attnc::cpu::impl::CpuExpandMathBase<ExpandMath> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandExp2, ExpandExp>(&getContext(), /*benefit=*/2);
    populateMathPolynomialApproximationPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
