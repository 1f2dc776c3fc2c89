//===- NvptxExpandMath.cpp - Functions of numbers on a GPU ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// There is no library of functions on the device: what is not an instruction is written out. The errors of instructions
// are those that the PTX ISA promises (9.7.3, floating-point instructions).
//===----------------------------------------------------------------------===//

#include "codegen/llvm/Polynomials.h"
#include "codegen/nvptx/Passes.h"
#include "dialect/attn/AttnAttrs.h"
#include "dialect/tile/ShortPower.h"
#include "dialect/tile/TileOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <limits>

namespace attnc::nvptx {
#define GEN_PASS_DEF_NVPTXEXPANDMATH
#include "codegen/nvptx/Passes.h.inc"
} // namespace attnc::nvptx

using namespace mlir;
using namespace attnc;

namespace {

/// Writes out one function of an f32.
struct ScalarBuilder {
  ScalarBuilder(PatternRewriter &b, Location loc) : b(b), loc(loc) {}

  Value number(float value) { return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value)); }
  Value word(int32_t value) { return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(value)); }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, loc, x, y); }
  Value fma(Value x, Value y, Value z) { return math::FmaOp::create(b, loc, x, y, z); }
  /// `ifTrue` where the comparison holds, which it does not for NaN.
  Value select(arith::CmpFPredicate predicate, Value x, Value y, Value ifTrue, Value ifFalse) {
    return arith::SelectOp::create(b, loc, arith::CmpFOp::create(b, loc, predicate, x, y), ifTrue, ifFalse);
  }
  Value bits(Value x) { return arith::BitcastOp::create(b, loc, b.getI32Type(), x); }
  /// An instruction of the device, by the intrinsic that stands for it.
  Value instruction(StringRef name, Value x) {
    return LLVM::CallIntrinsicOp::create(b, loc, b.getF32Type(), b.getStringAttr(name), ValueRange{x}).getResult(0);
  }
  /// `x` between 0 and 1, and 0 for NaN: no instruction of its own for a sum (PTX ISA 9.7.3, `.sat`).
  Value saturate(Value x) { return instruction("llvm.nvvm.saturate.f", x); }
  /// 2^x. Below -126 the result is 0.
  Value exp2(Value x) { return instruction("llvm.nvvm.ex2.approx.ftz.f32", x); }
  /// 2^f for |f| <= 1/2 by a polynomial: the instruction's error is up to 2^-22.5.
  Value exp2Fraction(Value f) {
    Value sum = number(codegen::exp2Coefficients.back());
    for (float coefficient : llvm::reverse(ArrayRef(codegen::exp2Coefficients).drop_back()))
      sum = fma(sum, f, number(coefficient));
    return fma(sum, f, number(1));
  }

  PatternRewriter &b;
  Location loc;
};

/// Whether the device's approximation will do for `op`.
template <typename Op>
bool mayApproximate(Op op) {
  return bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::afn);
}

/// Whether `op` is, or stands in, a function whose results are of 16 bits.
bool hasNarrowResults(Operation *op) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    function = op->getParentOfType<FunctionOpInterface>();
  return function && function->hasAttr(nvptx::approximateMathAttrName);
}

constexpr float log2e = 1.44269504088896340736f, ln2 = 0.693147180559945309417f;

Value buildExp2(ScalarBuilder &s, Value x, bool approximate) { return s.exp2(x); }

/// e^x: x = n ln 2 + f ln 2 with n whole and |f| <= 1/2. The product with log2(e), in two parts, is subtracted from n
/// before it is rounded, so that f is as exact as 2^f. Below -87.3 the result is 0, past 88.72283 infinity.
Value buildExp(ScalarBuilder &s, Value x, bool approximate) {
  if (approximate)
    return s.exp2(s.mul(x, s.number(log2e)));
  using arith::CmpFPredicate;
  // Adding 1.5 * 2^23 rounds to a whole number and leaves it in the low bits.
  Value shifter = s.number(12582912.0f);
  Value low = s.number(-87.3f), high = s.number(88.7228317f);
  Value inside = s.select(CmpFPredicate::OLT, x, low, low, x);
  inside = s.select(CmpFPredicate::OGT, inside, high, high, inside);
  Value shifted = s.fma(inside, s.number(log2e), shifter);
  Value whole = s.sub(shifted, shifter);
  Value fraction = s.fma(inside, s.number(log2e), arith::NegFOp::create(s.b, s.loc, whole));
  fraction = s.fma(inside, s.number(1.925963033500011e-8f), fraction);
  Value exponent = arith::ShLIOp::create(s.b, s.loc, s.bits(shifted), s.word(23));
  Value sum = arith::AddIOp::create(s.b, s.loc, s.bits(s.exp2Fraction(fraction)), exponent);
  Value power = arith::BitcastOp::create(s.b, s.loc, s.b.getF32Type(), sum);
  power = s.select(CmpFPredicate::OLT, x, low, s.number(0), power);
  power = s.select(CmpFPredicate::OGT, x, high, s.number(std::numeric_limits<float>::infinity()), power);
  // Adding to the bits of a NaN need not give one.
  return s.select(CmpFPredicate::UNO, x, x, x, power);
}

/// tanh x from e^2x: 1 - 2 / (e^2x + 1), which has no cancellation where |x| is not small.
Value buildTanhOfPower(ScalarBuilder &s, Value power) {
  Value reciprocal = s.instruction("llvm.nvvm.rcp.approx.ftz.f", s.add(power, s.number(1)));
  return s.fma(reciprocal, s.number(-2), s.number(1));
}

/// tanh x: near 0, x + x^3 p(x^2), right to below 1 ulp; else from e^2|x|.
Value buildTanh(ScalarBuilder &s, Value x, bool approximate) {
  if (approximate) // This becomes tanh.approx.f32.
    return LLVM::TanhOp::create(
        s.b, s.loc, s.b.getF32Type(), x,
        LLVM::FastmathFlagsAttr::get(s.b.getContext(), LLVM::FastmathFlags::afn | LLVM::FastmathFlags::nnan));
  Value square = s.mul(x, x), polynomial = s.number(codegen::tanhCoefficients.back());
  for (float coefficient : llvm::reverse(ArrayRef(codegen::tanhCoefficients).drop_back()))
    polynomial = s.fma(polynomial, square, s.number(coefficient));
  Value small = s.fma(s.mul(x, square), polynomial, x);

  Value magnitude = math::AbsFOp::create(s.b, s.loc, x);
  // Here the power is off by 2^-22 of itself at most where it counts: 3 ulp of the result, next to what 16 bits show.
  bool isNarrow = hasNarrowResults(s.b.getInsertionBlock()->getParentOp());
  Value power = buildExp(s, s.add(magnitude, magnitude), /*approximate=*/isNarrow);
  Value large = math::CopySignOp::create(s.b, s.loc, buildTanhOfPower(s, power), x);
  return s.select(arith::CmpFPredicate::OLT, magnitude, s.number(codegen::tanhBorder), small, large);
}

/// 2^(x 2 log2(e)), which is e^2x. One factor serves where `x` is a product with a constant.
Value buildPowerOfTwice(ScalarBuilder &s, Value x) {
  float factor = 2 * log2e;
  FloatAttr constant;
  if (auto product = x.getDefiningOp<arith::MulFOp>();
      product && matchPattern(product.getRhs(), m_Constant(&constant))) {
    auto both = static_cast<float>(2.0 * llvm::numbers::log2e * constant.getValueAsDouble());
    // Infinity times a logit of 0 would be NaN.
    if (std::isfinite(both)) {
      x = product.getLhs();
      factor = both;
    }
  }
  return s.exp2(s.mul(x, s.number(factor)));
}

/// tanh x where an error of 2^-22 of 1 will do, be the result as small as it may: 1 - 2 / (2^(x 2 log2(e)) + 1), where
/// powers that overflow or vanish give 1 and -1.
struct ExpandCoarseTanh : OpRewritePattern<math::TanhOp> {
  ExpandCoarseTanh(MLIRContext *context) : OpRewritePattern(context, /*benefit=*/3) {}

  LogicalResult matchAndRewrite(math::TanhOp op, PatternRewriter &b) const override {
    if (!op->hasAttr(attn::errorOfOneAttrName) || mayApproximate(op) || !op.getType().isF32() || !hasNarrowResults(op))
      return failure();
    ScalarBuilder s(b, op.getLoc());
    b.replaceOp(op, buildTanhOfPower(s, buildPowerOfTwice(s, op.getOperand())));
    return success();
  }
};

/// The reciprocals of several numbers by one, that of their product: times all other numbers, it is that of each
/// (Montgomery's trick).
class SharedReciprocal {
public:
  /// There is a power of two of `numbers`, from 2 on.
  SharedReciprocal(ScalarBuilder &s, ArrayRef<Value> numbers) : s(s) {
    products.emplace_back(numbers);
    while (products.back().size() > 1) {
      ArrayRef<Value> last = products.back();
      SmallVector<Value> next;
      for (size_t n = 0; n < last.size(); n += 2)
        next.push_back(s.mul(last[n], last[n + 1]));
      products.push_back(std::move(next));
    }
  }

  Value getProduct() const { return products.back().front(); }

  /// For each number two factors, whose product is as many times its reciprocal as `reciprocal` is that of the product.
  SmallVector<std::pair<Value, Value>> split(Value reciprocal) {
    SmallVector<Value> inverses = {reciprocal};
    for (ArrayRef<Value> level : llvm::reverse(ArrayRef(products).drop_front().drop_back())) {
      SmallVector<Value> next;
      for (size_t n = 0; n < level.size(); ++n)
        next.push_back(s.mul(inverses[n / 2], level[n ^ 1]));
      inverses = std::move(next);
    }
    SmallVector<std::pair<Value, Value>> factors;
    for (size_t n = 0; n < products.front().size(); ++n)
      factors.emplace_back(inverses[n / 2], products.front()[n ^ 1]);
    return factors;
  }

private:
  ScalarBuilder &s;
  SmallVector<SmallVector<Value>> products; ///< of one number, of two, of four, ...
};

/// The same for elements that share a reciprocal. No product of divisors may overflow or vanish, since infinity times 0
/// would be what a neighbour gets: divisors are 2^-24 times 2^(x 2 log2(e)) + 1, and saturate at 1, which costs nothing
/// with a sum. There tanh x is 1 but for 2^-23. NaN saturates to 0: the reciprocal is infinite, and all other elements
/// are NaN.
///
/// A product with a constant and a sum that each element goes into take that of 1 - 2 / (...) in.
struct ExpandSharedTanh : OpRewritePattern<math::TanhOp> {
  ExpandSharedTanh(MLIRContext *context) : OpRewritePattern(context, /*benefit=*/3) {}

  LogicalResult matchAndRewrite(math::TanhOp op, PatternRewriter &b) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    auto operands = op.getOperand().getDefiningOp<vector::FromElementsOp>();
    if (!op->hasAttr(tile::sharedReciprocalAttrName) || !operands || !type.getElementType().isF32() ||
        !hasNarrowResults(op) || !llvm::all_of(op->getUsers(), llvm::IsaPred<vector::ExtractOp>))
      return failure();
    constexpr float unit = 0x1p-24f;
    ScalarBuilder s(b, op.getLoc());
    auto divisors = llvm::map_to_vector(operands.getElements(), [&](Value x) {
      return s.saturate(s.fma(buildPowerOfTwice(s, x), s.number(unit), s.number(unit)));
    });
    SharedReciprocal shared(s, divisors);
    Value reciprocal = s.instruction("llvm.nvvm.rcp.approx.ftz.f", shared.getProduct());
    std::optional<float> factor = findFactor(op);
    auto factors = shared.split(s.mul(reciprocal, s.number(-2 * unit * factor.value_or(1))));
    SmallVector<Operation *> users(op->getUsers());
    for (Operation *user : users) {
      auto [left, right] = factors[cast<vector::ExtractOp>(user).getStaticPosition().front()];
      auto linear = factor ? cast<math::FmaOp>(*user->user_begin()) : math::FmaOp();
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(linear ? linear : user);
      if (!linear) {
        b.replaceOp(user, s.fma(left, right, s.number(1)));
        continue;
      }
      FloatAttr summand;
      Value sum = matchPattern(linear.getC(), m_Constant(&summand))
                      ? s.number(*factor + summand.getValue().convertToFloat())
                      : s.add(s.number(*factor), linear.getC());
      b.replaceOp(linear, s.fma(left, right, sum));
      b.eraseOp(user);
    }
    b.eraseOp(op);
    if (operands->use_empty())
      b.eraseOp(operands);
    return success();
  }

  /// The factor of the product and sum that each element goes into, if that is all they do; else nothing.
  static std::optional<float> findFactor(math::TanhOp op) {
    std::optional<float> factor;
    for (Operation *element : op->getUsers()) {
      auto linear = element->hasOneUse() ? dyn_cast<math::FmaOp>(*element->user_begin()) : math::FmaOp();
      FloatAttr constant;
      if (!linear || linear.getA() != element->getResult(0) || !matchPattern(linear.getB(), m_Constant(&constant)) ||
          constant.getValue().convertToFloat() != factor.value_or(constant.getValue().convertToFloat()))
        return std::nullopt;
      factor = constant.getValue().convertToFloat();
    }
    return factor;
  }
};

Value buildRsqrt(ScalarBuilder &s, Value x, bool approximate) { return s.instruction("llvm.nvvm.rsqrt.approx.f", x); }

/// Logarithms have an instruction that is exact enough only far from 1.
Value buildLog2(ScalarBuilder &s, Value x, bool approximate) {
  return approximate ? s.instruction("llvm.nvvm.lg2.approx.ftz.f", x) : Value();
}

Value buildLog(ScalarBuilder &s, Value x, bool approximate) {
  return approximate ? s.mul(s.instruction("llvm.nvvm.lg2.approx.ftz.f", x), s.number(ln2)) : Value();
}

/// Rewrites `Op` of f32, or each element of its vector, to what `build` writes; it gives nothing where another pattern
/// is to do it.
template <typename Op, Value (*build)(ScalarBuilder &, Value, bool)>
struct Expand : OpRewritePattern<Op> {
  Expand(MLIRContext *context) : OpRewritePattern<Op>(context, /*benefit=*/2) {}

  LogicalResult matchAndRewrite(Op op, PatternRewriter &b) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    ScalarBuilder s(b, op.getLoc());
    bool approximate = mayApproximate(op);
    auto type = dyn_cast<VectorType>(op.getType());
    if (!type) {
      Value value = build(s, op.getOperand(), approximate);
      if (!value)
        return failure();
      b.replaceOp(op, value);
      return success();
    }
    if (type.getRank() != 1 || type.isScalable())
      return failure();
    SmallVector<Value> elements;
    for (int64_t i = 0; i < type.getDimSize(0); ++i) {
      Value element = vector::ExtractOp::create(b, s.loc, op.getOperand(), i);
      Value value = build(s, element, approximate);
      if (!value)
        return failure();
      elements.push_back(value);
    }
    b.replaceOpWithNewOp<vector::FromElementsOp>(op, type, elements);
    return success();
  }
};

/// 2^x for x < 127 by multiply-adds: the steps of `tile::findShortPower`.
struct ExpandOnMultiplyAdd : OpRewritePattern<math::Exp2Op> {
  ExpandOnMultiplyAdd(MLIRContext *context) : OpRewritePattern(context, /*benefit=*/3) {}

  LogicalResult matchAndRewrite(math::Exp2Op op, PatternRewriter &b) const override {
    if (!op->hasAttr(nvptx::multiplyAddAttrName) || !op.getType().isF32())
      return failure();
    ScalarBuilder s(b, op.getLoc());
    Value shifter = s.number(tile::wholeNumberShift);
    Value inside = arith::MaxNumFOp::create(b, s.loc, op.getOperand(), s.number(tile::leastShortExponent));
    Value shifted = s.add(inside, shifter);
    Value fraction = s.sub(inside, s.sub(shifted, shifter));
    Value power = s.number(tile::shortPowerCoefficients.front());
    for (float coefficient : ArrayRef(tile::shortPowerCoefficients).drop_front())
      power = s.fma(power, fraction, s.number(coefficient));
    Value exponent = arith::ShLIOp::create(b, s.loc, s.bits(shifted), s.word(23));
    Value sum = arith::AddIOp::create(b, s.loc, s.bits(power), exponent);
    b.replaceOpWithNewOp<arith::BitcastOp>(op, b.getF32Type(), sum);
    return success();
  }
};

/// Quotient and remainder of unsigned words: Rodeheffer, "Software Integer Division" (2008), section 4. The reciprocal
/// of the divisor is estimated in f32, rounded down, and refined once (Newton); the quotient then is at most 2 too
/// small. Written out, what the divisor alone decides is computed once where divisions are repeated by the same one.
std::pair<Value, Value> buildDivision(ScalarBuilder &s, Value x, Value y) {
  PatternRewriter &b = s.b;
  Location loc = s.loc;
  auto multiply = [&](Value a, Value c) -> Value { return arith::MulIOp::create(b, loc, a, c); };
  auto multiplyHigh = [&](Value a, Value c) -> Value { return arith::MulUIExtendedOp::create(b, loc, a, c).getHigh(); };
  auto approximate = arith::FastMathFlagsAttr::get(b.getContext(), arith::FastMathFlags::afn);
  Value divisor = arith::UIToFPOp::create(b, loc, b.getF32Type(), y);
  Value reciprocal = arith::DivFOp::create(b, loc, s.number(1), divisor, approximate);
  Value scaled = s.mul(reciprocal, s.number(0x1.fffff0p31f)); // 2^32 (1 - 2^-21)
  Value inverse = arith::FPToUIOp::create(b, loc, b.getI32Type(), scaled);
  Value error = multiply(arith::SubIOp::create(b, loc, s.word(0), y), inverse);
  inverse = arith::AddIOp::create(b, loc, inverse, multiplyHigh(inverse, error));
  Value quotient = multiplyHigh(x, inverse);
  Value remainder = arith::SubIOp::create(b, loc, x, multiply(quotient, y));
  for (int round = 0; round < 2; ++round) {
    Value fits = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge, remainder, y);
    Value next = arith::AddIOp::create(b, loc, quotient, s.word(1));
    Value less = arith::SubIOp::create(b, loc, remainder, y);
    quotient = arith::SelectOp::create(b, loc, fits, next, quotient);
    remainder = arith::SelectOp::create(b, loc, fits, less, remainder);
  }
  return {quotient, remainder};
}

/// Whether `op` divides words by one that is not known.
bool dividesWords(Operation *op) {
  return isa<arith::DivUIOp, arith::RemUIOp>(op) && op->getResult(0).getType().isInteger(32) &&
         !matchPattern(op->getOperand(1), m_Constant());
}

template <typename Op>
struct ExpandDivision : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &b) const override {
    if (!dividesWords(op))
      return failure();
    ScalarBuilder s(b, op.getLoc());
    auto [quotient, remainder] = buildDivision(s, op.getLhs(), op.getRhs());
    b.replaceOp(op, isa<arith::DivUIOp>(op) ? quotient : remainder);
    return success();
  }
};

/// Reciprocals in f32 that need not be exact are one instruction, with no branch for what it cannot do.
struct ApproximateReciprocal : OpRewritePattern<arith::DivFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::DivFOp op, PatternRewriter &b) const override {
    if (!isReciprocal(op) || !hasNarrowResults(op) || bitEnumContainsAny(op.getFastmath(), arith::FastMathFlags::afn))
      return failure();
    b.modifyOpInPlace(op, [&] { op.setFastmath(op.getFastmath() | arith::FastMathFlags::afn); });
    return success();
  }

  static bool isReciprocal(Operation *op) {
    auto division = dyn_cast<arith::DivFOp>(op);
    return division && division.getType().isF32() && matchPattern(division.getLhs(), m_OneFloat());
  }
};

/// Whether an operation of the math dialect can stay as it is: LLVM has an intrinsic that the device computes.
bool isInstruction(Operation *op) {
  return isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp, math::CountLeadingZerosOp,
             math::CountTrailingZerosOp, math::CtPopOp, math::FloorOp, math::FmaOp, math::IsFiniteOp, math::IsInfOp,
             math::IsNaNOp, math::IsNormalOp, math::RoundEvenOp, math::RoundOp, math::SqrtOp, math::TruncOp>(op);
}

struct NvptxExpandMath : nvptx::impl::NvptxExpandMathBase<NvptxExpandMath> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ApproximateReciprocal, ExpandDivision<arith::DivUIOp>, ExpandDivision<arith::RemUIOp>>(&getContext());
    patterns.add<ExpandCoarseTanh, ExpandSharedTanh, ExpandOnMultiplyAdd, Expand<math::Exp2Op, buildExp2>,
                 Expand<math::ExpOp, buildExp>, Expand<math::TanhOp, buildTanh>, Expand<math::RsqrtOp, buildRsqrt>,
                 Expand<math::LogOp, buildLog>, Expand<math::Log2Op, buildLog2>>(&getContext());
    // What 16-bit floats have instructions for stays in them.
    populateMathF32ExpansionPatterns(patterns, [](StringRef name) {
      return name != math::AbsFOp::getOperationName() && name != math::FmaOp::getOperationName() &&
             name != math::CopySignOp::getOperationName();
    });
    populateMathPolynomialApproximationPatterns(patterns, [](StringRef name) { return true; });
    math::populateExpansionPatterns(patterns,
                                    {"sinh", "cosh", "tan", "asinh", "acosh", "atanh", "powf", "fpowi", "clampf"});
    // Patterns look at functions, divisions and what they write, and at nothing else of thousands of operations; most
    // of those of this dialect are fused products.
    SmallVector<Operation *> functions;
    getOperation()->walk([&](Operation *op) {
      bool isFunction = isa<math::MathDialect>(op->getDialect()) && !isa<math::FmaOp>(op);
      if (isFunction || dividesWords(op) || ApproximateReciprocal::isReciprocal(op))
        functions.push_back(op);
    });
    GreedyRewriteConfig config;
    config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps);
    config.enableConstantCSE(false).enableFolding(false);
    if (failed(applyOpPatternsGreedily(functions, std::move(patterns), config)))
      return signalPassFailure();
    getOperation()->walk([&](Operation *op) {
      if (!isa<math::MathDialect>(op->getDialect()) || isInstruction(op))
        return;
      op->emitOpError() << "of " << op->getResult(0).getType() << " cannot be computed on this target";
      signalPassFailure();
    });
  }
};

} // namespace
