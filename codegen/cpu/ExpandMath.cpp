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

namespace attnc::cpu {
#define GEN_PASS_DEF_CPUEXPANDMATH
#include "codegen/cpu/Passes.h.inc"
} // namespace attnc::cpu

using namespace mlir;

namespace {

/// 2^x of f32 vectors: x = n + f with n whole and |f| <= 1/2; 2^f by a polynomial of degree 6, interpolated at Chebyshev
/// nodes with the constant term held at 1 (relative error 1e-8 before rounding); n is added to the exponent's bits.
/// Below -126 the result is 0, from 128 on infinity.
struct ExpandExp2 : OpRewritePattern<math::Exp2Op> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::Exp2Op op, PatternRewriter &b) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    if (!type || !type.getElementType().isF32())
      return failure();
    Location loc = op.getLoc();
    auto words = VectorType::get(type.getShape(), b.getI32Type());
    auto number = [&](float value) -> Value {
      return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, b.getF32FloatAttr(value)));
    };
    auto compare = [&](arith::CmpFPredicate predicate, Value x, Value y) -> Value {
      return arith::CmpFOp::create(b, loc, predicate, x, y);
    };
    Value x = op.getOperand();
    Value top = number(128);
    Value capped = arith::SelectOp::create(b, loc, compare(arith::CmpFPredicate::OGT, x, top), top, x);
    // Adding 1.5 * 2^23 rounds to a whole number and leaves it in the low bits.
    Value shifter = number(12582912.0f);
    Value shifted = arith::AddFOp::create(b, loc, capped, shifter);
    Value whole = arith::SubFOp::create(b, loc, shifted, shifter);
    Value fraction = arith::SubFOp::create(b, loc, capped, whole);
    static constexpr float coefficients[] = {0.6931471824645996f,   0.24022650718688965f,  0.055503569543361664f,
                                             0.009618083015084267f, 0.0013390863314270973f, 0.00015453163359779865f};
    Value sum = number(coefficients[5]);
    for (int i = 4; i >= 0; --i)
      sum = math::FmaOp::create(b, loc, sum, fraction, number(coefficients[i]));
    sum = math::FmaOp::create(b, loc, sum, fraction, number(1));
    Value bits = arith::BitcastOp::create(b, loc, words, shifted);
    Value exponentShift = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(words, b.getI32IntegerAttr(23)));
    Value exponent = arith::ShLIOp::create(b, loc, bits, exponentShift);
    Value scaledBits =
        arith::AddIOp::create(b, loc, arith::BitcastOp::create(b, loc, words, sum), exponent);
    Value scaled = arith::BitcastOp::create(b, loc, type, scaledBits);
    Value tiny = compare(arith::CmpFPredicate::OLT, x, number(-126));
    b.replaceOpWithNewOp<arith::SelectOp>(op, tiny, number(0), scaled);
    return success();
  }
};

struct ExpandMath : attnc::cpu::impl::CpuExpandMathBase<ExpandMath> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandExp2>(&getContext(), /*benefit=*/2);
    populateMathPolynomialApproximationPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
