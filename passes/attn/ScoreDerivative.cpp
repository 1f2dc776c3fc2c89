//===- ScoreDerivative.cpp - Reverse mode through a score region - C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "passes/attn/ScoreDerivative.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attnc::attn;

namespace {

/// Arithmetic on floats of one type, f32 or f64.
struct Floats {
  OpBuilder &b;
  Location loc;
  Type type;

  Value number(double value) const { return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, value)); }
  Value add(Value x, Value y) const { return arith::AddFOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) const { return arith::SubFOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) const { return arith::MulFOp::create(b, loc, x, y); }
  Value mul(Value x, double y) const { return mul(x, number(y)); }
  Value div(Value x, Value y) const { return arith::DivFOp::create(b, loc, x, y); }
  Value neg(Value x) const { return arith::NegFOp::create(b, loc, x); }
  Value square(Value x) const { return mul(x, x); }
  Value one() const { return number(1); }
  Value overRoot(Value x) const { return div(one(), math::SqrtOp::create(b, loc, x)); }
  Value is(arith::CmpFPredicate predicate, Value x, Value y) const {
    return arith::CmpFOp::create(b, loc, predicate, x, y);
  }
  Value select(Value condition, Value x, Value y) const { return arith::SelectOp::create(b, loc, condition, x, y); }
  template <typename Op>
  Value call(Value x) const {
    return Op::create(b, loc, x);
  }
  template <typename Op>
  Value call(Value x, Value y) const {
    return Op::create(b, loc, x, y);
  }
};

} // namespace

ScoreDerivative::ScoreDerivative(Block *block, ValueRange inputs)
    : builder(OpBuilder::atBlockEnd(block)), loc(block->getParent()->getLoc()), inputs(inputs),
      active(inputs.begin(), inputs.end()) {
  for (Operation &op : *block)
    if (llvm::any_of(op.getOperands(), [&](Value operand) { return active.contains(operand); }))
      for (Value result : op.getResults())
        if (isa<FloatType>(result.getType()))
          active.insert(result);
}

SmallVector<Value> ScoreDerivative::run(Value result, Value gradient) {
  SmallVector<Operation *> ops;
  for (Operation &op : *builder.getBlock())
    ops.push_back(&op);
  add(result, gradient);
  for (Operation *op : llvm::reverse(ops))
    visit(op);
  SmallVector<Value> results;
  for (Value input : inputs) {
    Value found = gradients.lookup(input);
    results.push_back(found ? convert(found, builder.getF32Type()) : constant(0, builder.getF32Type()));
  }
  return results;
}

Value ScoreDerivative::constant(double value, Type type) {
  return arith::ConstantOp::create(builder, loc, builder.getFloatAttr(type, value));
}

Value ScoreDerivative::convert(Value value, Type type) {
  unsigned from = value.getType().getIntOrFloatBitWidth(), to = type.getIntOrFloatBitWidth();
  if (from < to)
    return arith::ExtFOp::create(builder, loc, type, value);
  return from > to ? arith::TruncFOp::create(builder, loc, type, value).getResult() : value;
}

/// A float in the type of its gradient.
Value ScoreDerivative::wide(Value value) {
  return value.getType().getIntOrFloatBitWidth() < 32 ? convert(value, builder.getF32Type()) : value;
}

/// Adds to the gradient of `value`, where anything comes of it.
void ScoreDerivative::add(Value value, Value gradient) {
  if (!active.contains(value))
    return;
  Type type = value.getType().isF64() ? value.getType() : Type(builder.getF32Type());
  Value added = convert(gradient, type);
  Value &sum = gradients[value];
  bool maySumBeZero = mayBeZero.contains(gradient) || (sum && mayBeZero.contains(sum));
  sum = sum ? arith::AddFOp::create(builder, loc, sum, added).getResult() : added;
  if (maySumBeZero)
    mayBeZero.insert(sum);
}

/// `gradient`, or 0 where `condition` is not `taken`.
Value ScoreDerivative::choose(Value condition, bool taken, Value gradient) {
  Value zero = constant(0, gradient.getType());
  Value chosen = arith::SelectOp::create(builder, loc, condition, taken ? gradient : zero, taken ? zero : gradient);
  mayBeZero.insert(chosen);
  return chosen;
}

/// gradient * slope. What has a gradient of 0 hands none on, whatever the slope is there: that of a value which was not
/// chosen, or of an exponential that a sigmoid has left behind, is no number. Where the gradient of the score itself is
/// 0, the caller knows.
Value ScoreDerivative::scale(Value gradient, Value slope) {
  Value product = arith::MulFOp::create(builder, loc, gradient, slope);
  bool isConstant = matchPattern(slope, m_Constant());
  if (!isConstant && mayBeZero.contains(gradient)) {
    Value zero = constant(0, gradient.getType());
    Value isZero = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, gradient, zero);
    product = arith::SelectOp::create(builder, loc, isZero, zero, product);
  }
  if (!isConstant || mayBeZero.contains(gradient))
    mayBeZero.insert(product);
  return product;
}

/// Hands a gradient to the first of `a` and `b` that equals `chosen`.
void ScoreDerivative::addToChosen(Value chosen, Value a, Value b, Value gradient) {
  Value took = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, chosen, wide(a));
  add(a, choose(took, true, gradient));
  add(b, choose(took, false, gradient));
}

void ScoreDerivative::visit(Operation *op) {
  Value gradient = op->getNumResults() == 1 ? gradients.lookup(op->getResult(0)) : Value();
  if (!gradient)
    return;
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    add(select.getTrueValue(), choose(select.getCondition(), true, gradient));
    add(select.getFalseValue(), choose(select.getCondition(), false, gradient));
    return;
  }
  if (op->getNumOperands() == 1)
    return visitFunction(op, gradient);
  visitPair(op, gradient);
}

/// dy/dx of a function of one float, or null where it has none.
Value ScoreDerivative::slopeOf(Operation *op) {
  Value x = wide(op->getOperand(0)), y = wide(op->getResult(0));
  Floats f{builder, loc, x.getType()};
  Value one = f.one();
  constexpr double twoOverRootPi = 2 * llvm::numbers::inv_sqrtpi;
  auto gauss = [&](double factor) { return f.mul(f.call<math::ExpOp>(f.neg(f.square(x))), factor); };
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](math::AbsFOp) {
        Value zero = f.number(0);
        Value below = f.select(f.is(arith::CmpFPredicate::OLT, x, zero), f.number(-1), zero);
        return f.select(f.is(arith::CmpFPredicate::OGT, x, zero), one, below);
      })
      .Case([&](math::ExpOp) { return y; })
      .Case([&](math::Exp2Op) { return f.mul(y, llvm::numbers::ln2); })
      .Case([&](math::ExpM1Op) { return f.add(y, one); })
      .Case([&](math::LogOp) { return f.div(one, x); })
      .Case([&](math::Log2Op) { return f.div(f.number(1 / llvm::numbers::ln2), x); })
      .Case([&](math::Log10Op) { return f.div(f.number(1 / llvm::numbers::ln10), x); })
      .Case([&](math::Log1pOp) { return f.div(one, f.add(one, x)); })
      .Case([&](math::SqrtOp) { return f.div(f.number(0.5), y); })
      .Case([&](math::RsqrtOp) { return f.div(f.mul(y, -0.5), x); })
      .Case([&](math::CbrtOp) { return f.div(f.number(1.0 / 3), f.square(y)); })
      .Case([&](math::SinOp) { return f.call<math::CosOp>(x); })
      .Case([&](math::CosOp) { return f.neg(f.call<math::SinOp>(x)); })
      .Case([&](math::TanOp) { return f.add(one, f.square(y)); })
      .Case([&](math::AsinOp) { return f.overRoot(f.sub(one, f.square(x))); })
      .Case([&](math::AcosOp) { return f.neg(f.overRoot(f.sub(one, f.square(x)))); })
      .Case([&](math::AtanOp) { return f.div(one, f.add(one, f.square(x))); })
      .Case([&](math::SinhOp) { return f.call<math::CoshOp>(x); })
      .Case([&](math::CoshOp) { return f.call<math::SinhOp>(x); })
      .Case([&](math::TanhOp) { return f.sub(one, f.square(y)); })
      .Case([&](math::AsinhOp) { return f.overRoot(f.add(f.square(x), one)); })
      .Case([&](math::AcoshOp) { return f.overRoot(f.sub(f.square(x), one)); })
      .Case([&](math::AtanhOp) { return f.div(one, f.sub(one, f.square(x))); })
      .Case([&](math::ErfOp) { return gauss(twoOverRootPi); })
      .Case([&](math::ErfcOp) { return gauss(-twoOverRootPi); })
      // Roundings and conversions from integers.
      .Default([](Operation *) { return Value(); });
}

void ScoreDerivative::visitFunction(Operation *op, Value gradient) {
  Value operand = op->getOperand(0);
  if (!active.contains(operand))
    return;
  if (isa<arith::ExtFOp, arith::TruncFOp>(op))
    return add(operand, gradient);
  if (isa<arith::NegFOp>(op))
    return add(operand, scale(gradient, constant(-1, gradient.getType())));
  if (Value slope = slopeOf(op))
    add(operand, scale(gradient, slope));
}

/// Functions of two operands and more.
void ScoreDerivative::visitPair(Operation *op, Value gradient) {
  Floats f{builder, loc, gradient.getType()};
  auto isFloat = [&](unsigned number) { return isa<FloatType>(op->getOperand(number).getType()); };
  Value a = op->getOperand(0), b = op->getOperand(1), y = wide(op->getResult(0));
  Value x = isFloat(0) ? wide(a) : a, z = isFloat(1) ? wide(b) : b;
  Value one = f.one(), zero = f.number(0);
  auto unlessZero = [&](Value number, Value slope) {
    return f.select(f.is(arith::CmpFPredicate::OEQ, number, zero), zero, slope);
  };
  auto slopeOfPower = [&](Value exponent) {
    return unlessZero(exponent, f.mul(exponent, f.call<math::PowFOp>(x, f.sub(exponent, one))));
  };
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](arith::AddFOp) {
        add(a, gradient);
        add(b, gradient);
      })
      .Case([&](arith::SubFOp) {
        add(a, gradient);
        add(b, scale(gradient, f.number(-1)));
      })
      .Case<arith::MulFOp, math::FmaOp>([&](auto) {
        add(a, scale(gradient, z));
        add(b, scale(gradient, x));
        if (auto fma = dyn_cast<math::FmaOp>(op))
          add(fma.getC(), gradient);
      })
      .Case([&](arith::DivFOp) {
        // GPUs compute reciprocals in an instruction, and other quotients in a call.
        Value reciprocal = f.div(one, z);
        add(a, scale(gradient, reciprocal));
        if (active.contains(b))
          add(b, scale(gradient, f.neg(f.mul(y, reciprocal))));
      })
      .Case([&](arith::RemFOp) {
        add(a, gradient);
        if (active.contains(b))
          add(b, scale(gradient, f.neg(f.call<math::TruncOp>(f.div(x, z)))));
      })
      .Case<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp>(
          [&](auto) { addToChosen(y, a, b, gradient); })
      .Case([&](math::ClampFOp clamp) {
        // The least of the greatest.
        Value raised = f.call<arith::MaximumFOp>(x, z);
        Value kept = f.is(arith::CmpFPredicate::OEQ, y, raised);
        addToChosen(raised, a, b, choose(kept, true, gradient));
        add(clamp.getMax(), choose(kept, false, gradient));
      })
      .Case([&](math::CopySignOp) {
        add(a, scale(gradient, f.mul(f.call<math::CopySignOp>(one, x), f.call<math::CopySignOp>(one, z))));
      })
      .Case([&](math::PowFOp) {
        if (active.contains(a))
          add(a, scale(gradient, slopeOfPower(z)));
        if (active.contains(b))
          add(b, scale(gradient,
                       f.select(f.is(arith::CmpFPredicate::OGT, x, zero), f.mul(y, f.call<math::LogOp>(x)), zero)));
      })
      .Case([&](math::FPowIOp) {
        add(a, scale(gradient, slopeOfPower(arith::SIToFPOp::create(builder, loc, f.type, b))));
      })
      .Case([&](math::Atan2Op) {
        Value squares = f.add(f.square(x), f.square(z));
        add(a, scale(gradient, f.div(z, squares)));
        add(b, scale(gradient, f.neg(f.div(x, squares))));
      });
}
