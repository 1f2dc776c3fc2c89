//===- ExpandFunctions.cpp - Functions that targets lack --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Written out once for all targets, in arithmetic that each of them carries out alike. Where f32 would cancel or
// overflow on the way, f64 does it: the functions are rare, and then right to a unit in the last place of f32.
//===----------------------------------------------------------------------===//

#include "dialect/attn/AttnOps.h"
#include "dialect/attn/RegionOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "passes/attn/FunctionBuilder.h"
#include "passes/attn/Passes.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>
#include <limits>

namespace attnc::attn {
#define GEN_PASS_DEF_ATTNEXPANDFUNCTIONS
#include "passes/attn/Passes.h.inc"
} // namespace attnc::attn

using namespace mlir;
using namespace attnc::attn;

/// base^exponent by squares, as many as the exponent has bits; a negative exponent leaves 1, -1 or 0.
static Value buildIntegerPower(FunctionBuilder &f, Value base, Value exponent) {
  OpBuilder &b = f.builder;
  Location loc = f.loc;
  Type type = base.getType();
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  auto constant = [&](int64_t value) -> Value {
    APInt number(width, static_cast<uint64_t>(value), /*isSigned=*/true, /*implicitTrunc=*/true);
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, number));
  };
  Value zero = constant(0), one = constant(1), minusOne = constant(-1);
  auto compare = [&](arith::CmpIPredicate predicate, Value x, Value y) -> Value {
    return arith::CmpIOp::create(b, loc, predicate, x, y);
  };
  APInt known;
  bool isKnown = matchPattern(exponent, m_ConstantInt(&known));
  unsigned bits = isKnown ? known.getActiveBits() : width - 1;
  Value result = one, square = base;
  for (unsigned bit = 0; bit < bits && (!isKnown || !known.isNegative()); ++bit) {
    Value isSet =
        compare(arith::CmpIPredicate::ne,
                arith::AndIOp::create(b, loc, exponent, constant(static_cast<int64_t>(uint64_t{1} << bit))), zero);
    result = f.select(isSet, arith::MulIOp::create(b, loc, result, square), result);
    if (bit + 1 < bits)
      square = arith::MulIOp::create(b, loc, square, square);
  }
  // Of bits, -1 is 1: all but 0 is 1, and 0 to the power 0.
  Value isOdd = compare(arith::CmpIPredicate::ne, arith::AndIOp::create(b, loc, exponent, one), zero);
  Value ofMinusOne = f.select(isOdd, minusOne, one);
  Value negative = f.select(compare(arith::CmpIPredicate::eq, base, minusOne), ofMinusOne, zero);
  if (width > 1)
    negative = f.select(compare(arith::CmpIPredicate::eq, base, one), one, negative);
  return f.select(compare(arith::CmpIPredicate::slt, exponent, zero), negative, result);
}

/// What `op` gives for its operands, which are f32 where they are floats; null where targets have it.
static Value buildFunction(FunctionBuilder &f, Operation *op, ValueRange x) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](math::SinOp) { return f.sin(x[0], 0); })
      .Case([&](math::CosOp) { return f.sin(x[0], 1); })
      .Case([&](math::TanOp) { return f.tan(x[0]); })
      .Case([&](math::AsinOp) { return f.asin(x[0]); })
      .Case([&](math::AcosOp) { return f.acos(x[0]); })
      .Case([&](math::AtanOp) { return f.atan(x[0]); })
      .Case([&](math::Atan2Op) { return f.atan2(x[0], x[1]); })
      .Case([&](math::SinhOp) { return f.sinh(x[0]); })
      .Case([&](math::CoshOp) { return f.cosh(x[0]); })
      .Case([&](math::AsinhOp) { return f.asinh(x[0]); })
      .Case([&](math::AcoshOp) { return f.acosh(x[0]); })
      .Case([&](math::AtanhOp) { return f.atanh(x[0]); })
      .Case([&](math::ErfOp) { return f.erf(x[0]); })
      .Case([&](math::ErfcOp) { return f.erfc(x[0]); })
      .Case([&](math::ExpM1Op) { return f.expm1(x[0]); })
      .Case([&](math::Log1pOp) { return f.log1p(x[0]); })
      .Case([&](math::Log10Op) { return f.log10(x[0]); })
      .Case([&](math::CbrtOp) { return f.cbrt(x[0]); })
      .Case([&](math::PowFOp) { return f.pow(x[0], x[1]); })
      .Case([&](math::FPowIOp) { return f.ipow(x[0], x[1]); })
      .Case([&](arith::RemFOp) { return f.fmod(x[0], x[1]); })
      .Default([](Operation *) { return Value(); });
}

/// What `op` gives, of any type; null where targets have it.
static Value buildAny(FunctionBuilder &f, Operation *op, ValueRange x) {
  OpBuilder &b = f.builder;
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](math::ClampFOp) {
        Value raised = arith::MaximumFOp::create(b, f.loc, x[0], x[1]);
        return arith::MinimumFOp::create(b, f.loc, raised, x[2]).getResult();
      })
      .Case([&](math::IsNaNOp) { return f.compare(arith::CmpFPredicate::UNO, x[0], x[0]); })
      .Case([&](math::IsInfOp) {
        return f.compare(arith::CmpFPredicate::OEQ, f.magnitude(x[0]), f.infinity(x[0].getType()));
      })
      .Case([&](math::IsFiniteOp) {
        return f.compare(arith::CmpFPredicate::OLT, f.magnitude(x[0]), f.infinity(x[0].getType()));
      })
      .Case([&](math::IPowIOp) { return buildIntegerPower(f, x[0], x[1]); })
      .Default([](Operation *) { return Value(); });
}

/// Whether a number is 0, or of a size that f32 has with all its bits, for all that is seen of it.
static bool isNormal(Value value) {
  if (value.getDefiningOp<arith::SIToFPOp>() || value.getDefiningOp<arith::UIToFPOp>())
    return true;
  auto product = value.getDefiningOp<arith::MulFOp>();
  FloatAttr factor;
  return product && matchPattern(product.getRhs(), m_Constant(&factor)) &&
         std::abs(factor.getValueAsDouble()) >= 0x1p-60 && isNormal(product.getLhs());
}

static void expand(Operation *op) {
  OpBuilder b(op);
  FunctionBuilder f(b, op->getLoc());
  Type type = op->getResult(0).getType();
  SmallVector<Value> operands(op->getOperands());
  if (Value made = buildAny(f, op, operands)) {
    op->replaceAllUsesWith(ValueRange(made));
    op->erase();
    return;
  }
  // Logarithms of f32 that targets have do not take numbers below the normal ones.
  if (isa<math::LogOp, math::Log2Op>(op)) {
    if (type.isF32() && !isNormal(op->getOperand(0))) {
      Value made = f.scaledLog(op);
      op->replaceAllUsesWith(ValueRange(made));
      op->erase();
    }
    return;
  }
  if (!isa<FloatType>(type) || type.getIntOrFloatBitWidth() > 32)
    return;
  // Narrow floats are computed in f32.
  for (Value &operand : operands)
    if (isa<FloatType>(operand.getType()) && !operand.getType().isF32())
      operand = f.convert(operand, b.getF32Type());
  Value made = buildFunction(f, op, operands);
  if (!made) {
    for (Value operand : operands)
      if (operand.use_empty() && !llvm::is_contained(op->getOperands(), operand))
        operand.getDefiningOp()->erase();
    return;
  }
  op->replaceAllUsesWith(ValueRange(f.convert(made, type)));
  op->erase();
}

/// How much of an error of `value` reaches the score that its region yields, where sums and constant factors are all
/// that stands between them; infinity where something else does.
static double reachOf(Value value, int64_t depth = 0) {
  constexpr double unknown = std::numeric_limits<double>::infinity();
  constexpr int64_t deepest = 8;
  if (depth == deepest)
    return unknown;
  double reach = 0;
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    unsigned other = 1 - std::min(use.getOperandNumber(), 1U);
    FloatAttr factor;
    if (isa<YieldOp>(user))
      reach += 1;
    else if (isa<arith::AddFOp, arith::SubFOp, arith::NegFOp>(user) ||
             (isa<arith::SelectOp>(user) && use.getOperandNumber() > 0))
      reach += reachOf(user->getResult(0), depth + 1);
    else if (isa<arith::MulFOp>(user) && matchPattern(user->getOperand(other), m_Constant(&factor)))
      reach += std::abs(factor.getValueAsDouble()) * reachOf(user->getResult(0), depth + 1);
    else
      return unknown;
  }
  return reach;
}

/// Lets targets approximate functions in the score region of `kernel` where results of 16 bits do not show it. The
/// instruction for tanh alone loses enough (2^-11, times a soft cap's limit) for an LSE to show it: there its error may
/// be 2^-22 of 1 under caps up to 128, which is a third of what the LSE's may be, and four times that under caps up to
/// 64 (docs/spec.md). What a mask compares is exact.
static void allowApproximations(KernelOpInterface kernel) {
  if (cast<RankedTensorType>(kernel.getQuery().getType()).getElementTypeBitWidth() > 16)
    return;
  auto forward = dyn_cast<ForwardOp>(kernel.getOperation());
  // Backward computes forward's probabilities again, from its LSE.
  bool showsCoarse =
      isa<BackwardOp>(kernel.getOperation()) || (forward && forward.getLse() && !forward.getLse().use_empty());
  kernel.getScore().walk([&](Operation *op) {
    constexpr double greatestReach = 128;
    Approximation approximation = getFunctionFacts(op).approximation;
    if (approximation == Approximation::Coarse && showsCoarse) {
      if (double reach = reachOf(op->getResult(0)); reach <= greatestReach)
        op->setAttr(errorOfOneAttrName, Builder(op->getContext()).getF64FloatAttr(reach));
    } else if (approximation != Approximation::None)
      op->setAttr("fastmath", arith::FastMathFlagsAttr::get(op->getContext(), arith::FastMathFlags::afn));
  });
}

/// The derivative of a score begins with the score's own operations: its functions are as exact as those, and a pass
/// that finds both computes them once.
static void copyApproximations(Region &score, Region &derivative) {
  auto collect = [](Region &region) {
    SmallVector<Operation *> functions;
    region.walk([&](Operation *op) {
      if (isa_and_nonnull<math::MathDialect>(op->getDialect()))
        functions.push_back(op);
    });
    return functions;
  };
  for (auto [from, to] : llvm::zip(collect(score), collect(derivative)))
    if (from->getName() == to->getName())
      to->setAttrs(from->getAttrDictionary());
}

namespace {
struct ExpandFunctions : attnc::attn::impl::AttnExpandFunctionsBase<ExpandFunctions> {
  void runOnOperation() override {
    getOperation()->walk([](KernelOpInterface kernel) {
      for (Region *region : kernel.getElementRegions()) {
        SmallVector<Operation *> ops;
        region->walk([&](Operation *op) {
          if (isa<arith::RemFOp>(op) || isa_and_nonnull<math::MathDialect>(op->getDialect()))
            ops.push_back(op);
        });
        llvm::for_each(ops, expand);
      }
      allowApproximations(kernel);
      if (Region *derivative = kernel.getDerivativeOrNull())
        copyApproximations(kernel.getScore(), *derivative);
    });
  }
};
} // namespace
