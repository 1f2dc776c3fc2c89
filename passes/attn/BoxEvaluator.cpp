//===- BoxEvaluator.cpp - Region values over ranges of positions *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "passes/attn/BoxEvaluator.h"
#include "dialect/attn/AttnOps.h"
#include "dialect/attn/Coordinates.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attnc::attn;

BoxEvaluator::BoxEvaluator(OpBuilder &builder, Region &mask, ArrayRef<Interval> coordinates)
    : builder(builder), mask(mask), exact(mask), limited(mask, scalarBits) {
  for (auto [argument, range] : llvm::zip_equal(mask.getArguments(), coordinates))
    ranges[argument] = range.min ? std::optional(range) : std::nullopt;
}

bool BoxEvaluator::mayWrap(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || op->hasTrait<OpTrait::ConstantLike>() || !mask.isAncestor(op->getParentRegion()))
    return false;
  if (limited.mayWrap(op))
    return true;
  assumesScalars |= exact.mayWrap(op);
  return false;
}

bool BoxEvaluator::fits(Value value, unsigned bits) {
  if (!limited.fits(value, bits))
    return false;
  assumesScalars |= !exact.fits(value, bits);
  return true;
}

Value BoxEvaluator::buildScalarCheck() {
  if (!assumesScalars)
    return {};
  SetVector<Value> scalars;
  for (Operation &op : mask.front())
    for (Value operand : op.getOperands())
      if (isa<BlockArgument>(operand) && !mask.isAncestor(operand.getParentRegion()) &&
          (operand.getType().isIndex() || operand.getType().isInteger(64)))
        scalars.insert(operand);
  Location loc = mask.getLoc();
  Value all;
  for (Value scalar : scalars) {
    auto end = [&](int64_t value) -> Value {
      return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(scalar.getType(), value));
    };
    constexpr int64_t limit = int64_t(1) << scalarBits;
    Value above = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, scalar, end(-limit));
    Value below = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, scalar, end(limit));
    Value within = arith::AndIOp::create(builder, loc, above, below);
    all = all ? arith::AndIOp::create(builder, loc, all, within).getResult() : within;
  }
  return all;
}

Value BoxEvaluator::boolean(bool value) {
  return arith::ConstantIntOp::create(builder, mask.getLoc(), builder.getI1Type(), value);
}

std::optional<Interval> BoxEvaluator::evaluate(Value value) {
  if (auto it = ranges.find(value); it != ranges.end())
    return it->second;
  Operation *op = value.getDefiningOp();
  // Captured from outside the kernel: the same for the whole box.
  std::optional<Interval> range = !op || !mask.isAncestor(op->getParentRegion())
                                      ? Interval{value, value}
                                      : evaluateOp(op, cast<OpResult>(value).getResultNumber());
  ranges[value] = range;
  return range;
}

Interval BoxEvaluator::evaluateCondition(Value value) {
  if (std::optional<Interval> range = evaluate(value))
    return *range;
  return {boolean(false), boolean(true)};
}

/// An operation on values that do not vary over the box is computed as it is.
std::optional<Interval> BoxEvaluator::cloneUniform(Operation *op, unsigned result) {
  IRMapping mapping;
  for (Value operand : op->getOperands()) {
    if (isa<ShapedType>(operand.getType()))
      continue;
    std::optional<Interval> range = evaluate(operand);
    if (!range || range->min != range->max)
      return std::nullopt;
    mapping.map(operand, range->min);
  }
  Value value = builder.clone(*op, mapping)->getResult(result);
  return Interval{value, value};
}

/// Arithmetic on narrower integers has no range: it may wrap.
static bool isWide(Value value) { return value.getType().isIndex() || value.getType().isInteger(64); }

std::optional<Interval> BoxEvaluator::evaluateOp(Operation *op, unsigned result) {
  if (std::optional<Interval> uniform = cloneUniform(op, result))
    return uniform;
  if (isa<arith::CmpIOp>(op))
    return evaluateCompare(op);
  if (isa<LoadOp>(op))
    return evaluateLoad(op);
  Type type = op->getResult(result).getType();
  if (type.isInteger(1))
    return evaluateLogic(op);
  if (isa<arith::IndexCastOp, arith::ExtSIOp>(op))
    return evaluateCast(op);
  if (!isWide(op->getResult(result)) ||
      !llvm::all_of(op->getOperands(), [](Value v) { return isWide(v) || v.getType().isInteger(1); }) ||
      mayWrap(op->getResult(result)))
    return std::nullopt;
  return evaluateArithmetic(op);
}

/// A condition made of conditions.
std::optional<Interval> BoxEvaluator::evaluateLogic(Operation *op) {
  Location loc = op->getLoc();
  auto condition = [&](unsigned operand) { return evaluateCondition(op->getOperand(operand)); };
  auto conj = [&](Value a, Value b) -> Value { return arith::AndIOp::create(builder, loc, a, b); };
  auto disj = [&](Value a, Value b) -> Value { return arith::OrIOp::create(builder, loc, a, b); };
  auto invert = [&](Value a) -> Value { return arith::XOrIOp::create(builder, loc, a, boolean(true)); };
  return llvm::TypeSwitch<Operation *, std::optional<Interval>>(op)
      .Case([&](arith::AndIOp) {
        Interval a = condition(0), b = condition(1);
        return Interval{conj(a.min, b.min), conj(a.max, b.max)};
      })
      .Case([&](arith::OrIOp) {
        Interval a = condition(0), b = condition(1);
        return Interval{disj(a.min, b.min), disj(a.max, b.max)};
      })
      .Case([&](arith::XOrIOp) -> std::optional<Interval> {
        if (!matchPattern(op->getOperand(1), m_One()))
          return std::nullopt;
        Interval a = condition(0);
        return Interval{invert(a.max), invert(a.min)};
      })
      .Case([&](arith::SelectOp) {
        Interval c = condition(0), a = condition(1), b = condition(2);
        Value whicheverAll = conj(a.min, b.min);
        Value all = disj(whicheverAll, disj(conj(c.min, a.min), conj(invert(c.max), b.min)));
        Value some = disj(conj(c.max, a.max), conj(invert(c.min), b.max));
        return Interval{all, some};
      })
      .Default([](Operation *) { return std::nullopt; });
}

/// An integer in more bits, or as an index.
std::optional<Interval> BoxEvaluator::evaluateCast(Operation *op) {
  std::optional<Interval> a = evaluate(op->getOperand(0));
  if (!a || a->min.getType().isInteger(1) || mayWrap(op->getResult(0)))
    return std::nullopt;
  auto cast = [&](Value v) -> Value {
    Type type = op->getResult(0).getType();
    if (isa<arith::IndexCastOp>(op))
      return arith::IndexCastOp::create(builder, op->getLoc(), type, v);
    return arith::ExtSIOp::create(builder, op->getLoc(), type, v);
  };
  return Interval{cast(a->min), cast(a->max)};
}

/// Arithmetic on integers that does not wrap.
std::optional<Interval> BoxEvaluator::evaluateArithmetic(Operation *op) {
  Location loc = op->getLoc();
  // Two operands, both of which have ranges.
  auto both = [&](unsigned first, unsigned second, auto combine) -> std::optional<Interval> {
    std::optional<Interval> a = evaluate(op->getOperand(first)), b = evaluate(op->getOperand(second));
    return a && b ? std::optional<Interval>(combine(*a, *b)) : std::nullopt;
  };
  auto add = [&](Value a, Value b) -> Value { return arith::AddIOp::create(builder, loc, a, b); };
  auto sub = [&](Value a, Value b) -> Value { return arith::SubIOp::create(builder, loc, a, b); };
  auto min = [&](Value a, Value b) -> Value { return arith::MinSIOp::create(builder, loc, a, b); };
  auto max = [&](Value a, Value b) -> Value { return arith::MaxSIOp::create(builder, loc, a, b); };
  return llvm::TypeSwitch<Operation *, std::optional<Interval>>(op)
      .Case([&](arith::AddIOp) {
        return both(0, 1, [&](Interval a, Interval b) { return Interval{add(a.min, b.min), add(a.max, b.max)}; });
      })
      .Case([&](arith::SubIOp) {
        return both(0, 1, [&](Interval a, Interval b) { return Interval{sub(a.min, b.max), sub(a.max, b.min)}; });
      })
      .Case([&](arith::MaxSIOp) {
        return both(0, 1, [&](Interval a, Interval b) { return Interval{max(a.min, b.min), max(a.max, b.max)}; });
      })
      .Case([&](arith::MinSIOp) {
        return both(0, 1, [&](Interval a, Interval b) { return Interval{min(a.min, b.min), min(a.max, b.max)}; });
      })
      .Case([&](arith::SelectOp) {
        return both(1, 2, [&](Interval a, Interval b) { return Interval{min(a.min, b.min), max(a.max, b.max)}; });
      })
      .Case([&](arith::MulIOp) -> std::optional<Interval> {
        APInt factor;
        std::optional<Interval> a = evaluate(op->getOperand(0));
        if (!a || !matchPattern(op->getOperand(1), m_ConstantInt(&factor)) || factor.abs().uge(maxFactor))
          return std::nullopt;
        Value constant = evaluate(op->getOperand(1))->min;
        Value first = arith::MulIOp::create(builder, loc, a->min, constant);
        Value second = arith::MulIOp::create(builder, loc, a->max, constant);
        return factor.isNegative() ? Interval{second, first} : Interval{first, second};
      })
      .Case<arith::DivSIOp, arith::FloorDivSIOp, arith::CeilDivSIOp>([&](auto) -> std::optional<Interval> {
        // All three grow with the dividend when the divisor is positive.
        APInt divisor;
        std::optional<Interval> a = evaluate(op->getOperand(0));
        if (!a || !matchPattern(op->getOperand(1), m_ConstantInt(&divisor)) || !divisor.isStrictlyPositive())
          return std::nullopt;
        Value constant = evaluate(op->getOperand(1))->min;
        auto divide = [&](Value v) {
          IRMapping mapping;
          mapping.map(op->getOperand(0), v);
          mapping.map(op->getOperand(1), constant);
          return builder.clone(*op, mapping)->getResult(0);
        };
        return Interval{divide(a->min), divide(a->max)};
      })
      .Case([&](math::AbsIOp) -> std::optional<Interval> {
        std::optional<Interval> a = evaluate(op->getOperand(0));
        if (!a)
          return std::nullopt;
        Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(op->getResult(0).getType()));
        Value negated = sub(zero, a->min);
        Value negatedMax = sub(zero, a->max);
        return Interval{max(zero, max(a->min, negatedMax)), max(negated, a->max)};
      })
      .Default([](Operation *) { return std::nullopt; });
}

std::optional<Interval> BoxEvaluator::evaluateCompare(Operation *op) {
  auto compare = cast<arith::CmpIOp>(op);
  // The ends of a condition's range are not in numeric order: a set i1 is -1.
  if (compare.getLhs().getType().isInteger(1))
    return std::nullopt;
  std::optional<Interval> a = evaluate(compare.getLhs()), b = evaluate(compare.getRhs());
  if (!a || !b)
    return std::nullopt;
  Location loc = op->getLoc();
  auto cmp = [&](arith::CmpIPredicate predicate, Value x, Value y) -> Value {
    return arith::CmpIOp::create(builder, loc, predicate, x, y);
  };
  using P = arith::CmpIPredicate;
  switch (compare.getPredicate()) {
  case P::slt:
  case P::sle:
    return Interval{cmp(compare.getPredicate(), a->max, b->min), cmp(compare.getPredicate(), a->min, b->max)};
  case P::sgt:
  case P::sge:
    return Interval{cmp(compare.getPredicate(), a->min, b->max), cmp(compare.getPredicate(), a->max, b->min)};
  case P::eq:
  case P::ne: {
    // Ranges that overlap may hold equal values; two single values must.
    Value some = arith::AndIOp::create(builder, loc, cmp(P::sle, a->min, b->max), cmp(P::sle, b->min, a->max));
    Value all = arith::AndIOp::create(builder, loc, cmp(P::eq, a->min, b->max), cmp(P::eq, a->max, b->min));
    if (compare.getPredicate() == P::eq)
      return Interval{all, some};
    return Interval{arith::XOrIOp::create(builder, loc, some, boolean(true)),
                    arith::XOrIOp::create(builder, loc, all, boolean(true))};
  }
  default:
    // Unsigned comparisons: not monotone over ranges that cross zero.
    return std::nullopt;
  }
}

std::optional<Interval> BoxEvaluator::evaluateLoad(Operation *op) {
  auto load = cast<LoadOp>(op);
  if (!isa<IntegerType>(load.getResult().getType()))
    return std::nullopt;
  SmallVector<Value> first, last;
  for (Value index : load.getIndices()) {
    std::optional<Interval> range = evaluate(index);
    if (!range)
      return std::nullopt;
    first.push_back(range->min);
    last.push_back(range->max);
  }
  Type type = load.getResult().getType();
  auto range = LoadRangeOp::create(builder, op->getLoc(), type, type, load.getTensor(), first, last,
                                   getIndexCoordinates(load, 0, load.getIndices().size()));
  return Interval{range.getMin(), range.getMax()};
}
