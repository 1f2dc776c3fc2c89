//===- PositionRange.cpp - Solving a mask for a position --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "passes/attn/PositionRange.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace attnc::attn;
using Predicate = arith::CmpIPredicate;

/// Numbers of this many bits, and what is made of them and of multiples of positions below, stay within 64.
static constexpr unsigned smallBits = 61;

PositionSolver::PositionSolver(OpBuilder &builder, Region &mask, BoxEvaluator &evaluator, const Axis &axis)
    : builder(builder), evaluator(evaluator), axis(axis), position(mask.getArgument(axis.argument)),
      loc(mask.getLoc()) {
  dependent.insert(position);
  for (Operation &op : mask.front())
    if (llvm::any_of(op.getOperands(), [this](Value operand) { return dependent.contains(operand); }))
      dependent.insert(op.result_begin(), op.result_end());
}

Value PositionSolver::constant(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }
Value PositionSolver::add(Value a, Value b) { return arith::AddIOp::create(builder, loc, a, b); }
Value PositionSolver::sub(Value a, Value b) { return arith::SubIOp::create(builder, loc, a, b); }
Value PositionSolver::min(Value a, Value b) { return arith::MinSIOp::create(builder, loc, a, b); }
Value PositionSolver::max(Value a, Value b) { return arith::MaxSIOp::create(builder, loc, a, b); }

PositionInterval PositionSolver::nothing() { return {constant(axis.beyond), constant(axis.first)}; }

/// Nothing is known: every position may be kept, none is known to be.
PositionRange PositionSolver::unknown() { return {{}, nothing(), false}; }

/// A condition that does not depend on the position keeps all or none.
PositionRange PositionSolver::uniform(Interval condition, bool negated) {
  APInt value;
  if (condition.min == condition.max && matchPattern(condition.min, m_ConstantInt(&value)))
    return value.isZero() == negated ? PositionRange{{}, {}, true} : PositionRange{nothing(), nothing(), true};
  Value all = condition.min, some = condition.max;
  if (negated) {
    Value one = arith::ConstantIntOp::create(builder, loc, builder.getI1Type(), 1);
    Value notSome = arith::XOrIOp::create(builder, loc, some, one);
    some = arith::XOrIOp::create(builder, loc, all, one);
    all = notSome;
  }
  auto choose = [&](Value keep) -> PositionInterval {
    return {arith::SelectOp::create(builder, loc, keep, constant(axis.first), constant(axis.beyond)),
            arith::SelectOp::create(builder, loc, keep, constant(axis.beyond), constant(axis.first))};
  };
  return {choose(some), choose(all), true};
}

PositionRange PositionSolver::conjunction(const PositionRange &a, const PositionRange &b) {
  auto intersect = [&](const PositionInterval &x, const PositionInterval &y) -> PositionInterval {
    return {x.low && y.low ? max(x.low, y.low)
            : x.low        ? x.low
                           : y.low,
            x.high && y.high ? min(x.high, y.high)
            : x.high         ? x.high
                             : y.high};
  };
  return {intersect(a.possible, b.possible), intersect(a.full, b.full), a.exact && b.exact};
}

PositionRange PositionSolver::disjunction(const PositionRange &a, const PositionRange &b) {
  PositionInterval hull{a.possible.low && b.possible.low ? min(a.possible.low, b.possible.low) : Value(),
                        a.possible.high && b.possible.high ? max(a.possible.high, b.possible.high) : Value()};
  // Two stretches that start or end together join; of two others, the longer one serves.
  PositionInterval full;
  if (!a.full.low && !b.full.low) {
    full = {{}, a.full.high && b.full.high ? max(a.full.high, b.full.high) : Value()};
  } else if (!a.full.high && !b.full.high) {
    full = {a.full.low && b.full.low ? min(a.full.low, b.full.low) : Value(), {}};
  } else {
    auto end = [&](Value v, int64_t otherwise) { return v ? v : constant(otherwise); };
    Value aLow = end(a.full.low, axis.first), aHigh = end(a.full.high, axis.beyond);
    Value bLow = end(b.full.low, axis.first), bHigh = end(b.full.high, axis.beyond);
    Value takeA = arith::CmpIOp::create(builder, loc, Predicate::sge, sub(aHigh, aLow), sub(bHigh, bLow));
    full = {arith::SelectOp::create(builder, loc, takeA, aLow, bLow),
            arith::SelectOp::create(builder, loc, takeA, aHigh, bHigh)};
  }
  // Both keep everything from the first position on: the union is one stretch. Otherwise there may be a gap.
  bool exact = a.exact && b.exact && ((!a.possible.low && !b.possible.low) || (!a.possible.high && !b.possible.high));
  return {hull, full, exact};
}

PositionRange PositionSolver::solve(Value condition, bool negated) {
  auto it = solved[negated].find(condition);
  if (it != solved[negated].end())
    return it->second;
  PositionRange range = solveOp(condition, negated);
  solved[negated].try_emplace(condition, range);
  return range;
}

PositionRange PositionSolver::solveOp(Value condition, bool negated) {
  if (!dependent.contains(condition))
    return uniform(evaluator.evaluateCondition(condition), negated);
  Operation *op = condition.getDefiningOp();
  if (!op)
    return unknown();
  llvm::SaveAndRestore<Location> place(loc, op->getLoc());
  if (isa<arith::AndIOp, arith::OrIOp>(op)) {
    PositionRange a = solve(op->getOperand(0), negated), b = solve(op->getOperand(1), negated);
    // De Morgan: a negated conjunction is a disjunction of negations.
    return isa<arith::AndIOp>(op) != negated ? conjunction(a, b) : disjunction(a, b);
  }
  if (isa<arith::XOrIOp>(op) && matchPattern(op->getOperand(1), m_One()))
    return solve(op->getOperand(0), !negated);
  if (isa<arith::SelectOp>(op)) {
    PositionRange chosen = conjunction(solve(op->getOperand(0)), solve(op->getOperand(1), negated));
    return disjunction(chosen, conjunction(solve(op->getOperand(0), true), solve(op->getOperand(2), negated)));
  }
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    Predicate predicate = negated ? arith::invertPredicate(compare.getPredicate()) : compare.getPredicate();
    return solveCompare(predicate, compare.getLhs(), compare.getRhs());
  }
  return unknown();
}

std::optional<PositionSolver::Linear> PositionSolver::decompose(Value value, const Variable &variable) {
  auto it = decomposed.find({value, variable.value});
  if (it != decomposed.end())
    return it->second;
  std::optional<Linear> linear = evaluator.fits(value, variable.bits) ? decomposeOp(value, variable) : std::nullopt;
  decomposed.try_emplace({value, variable.value}, linear);
  return linear;
}

std::optional<PositionSolver::Linear> PositionSolver::decomposeOp(Value value, const Variable &variable) {
  if (!value.getType().isIndex())
    return std::nullopt;
  if (value == variable.value)
    return Linear{1, {constant(0), constant(0)}};
  if (std::optional<Interval> range = evaluator.evaluate(value))
    return Linear{0, *range};
  Operation *op = value.getDefiningOp();
  if (!op || !isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op) || evaluator.mayWrap(value))
    return std::nullopt;
  llvm::SaveAndRestore<Location> place(loc, op->getLoc());
  if (isa<arith::SubIOp>(op))
    return subtract(op->getOperand(0), op->getOperand(1), variable);
  std::optional<Linear> a = decompose(op->getOperand(0), variable);
  if (!a)
    return std::nullopt;
  if (isa<arith::MulIOp>(op)) {
    APInt factor;
    if (!matchPattern(op->getOperand(1), m_ConstantInt(&factor)) || !factor.isStrictlyPositive() || factor.uge(1 << 20))
      return std::nullopt;
    if (a->factor > maxFactor / factor.getSExtValue() || a->factor < -maxFactor / factor.getSExtValue())
      return std::nullopt;
    Value by = constant(factor.getSExtValue());
    return Linear{
        a->factor * factor.getSExtValue(),
        {arith::MulIOp::create(builder, loc, a->rest.min, by), arith::MulIOp::create(builder, loc, a->rest.max, by)}};
  }
  std::optional<Linear> b = decompose(op->getOperand(1), variable);
  if (!b || std::abs(a->factor + b->factor) > maxFactor)
    return std::nullopt;
  return Linear{a->factor + b->factor, {add(a->rest.min, b->rest.min), add(a->rest.max, b->rest.max)}};
}

/// lhs - rhs.
std::optional<PositionSolver::Linear> PositionSolver::subtract(Value lhs, Value rhs, const Variable &variable) {
  std::optional<Linear> a = decompose(lhs, variable), b = decompose(rhs, variable);
  if (!a || !b || std::abs(a->factor - b->factor) > maxFactor)
    return std::nullopt;
  return Linear{a->factor - b->factor, {sub(a->rest.min, b->rest.max), sub(a->rest.max, b->rest.min)}};
}

/// The predicate of `b ? a` for `a ? b`.
static Predicate mirror(Predicate predicate) {
  switch (predicate) {
  case Predicate::slt:
    return Predicate::sgt;
  case Predicate::sle:
    return Predicate::sge;
  case Predicate::sgt:
    return Predicate::slt;
  case Predicate::sge:
    return Predicate::sle;
  default:
    return predicate;
  }
}

/// Comparisons with the greater or the lesser of two numbers that are taken apart, each of which has two others.
static constexpr unsigned mostChoices = 16;

/// A comparison with the greater or the lesser of two numbers, as two comparisons.
std::optional<PositionRange> PositionSolver::solveChoice(Predicate predicate, Value lhs, Value rhs) {
  Operation *op = rhs.getDefiningOp();
  bool isGreater = isa_and_nonnull<arith::MaxSIOp>(op);
  if (!dependent.contains(rhs) || (!isGreater && !isa_and_nonnull<arith::MinSIOp>(op)) || choices == mostChoices)
    return std::nullopt;
  bool isBelow = predicate == Predicate::slt || predicate == Predicate::sle;
  if (!isBelow && predicate != Predicate::sgt && predicate != Predicate::sge)
    return std::nullopt;
  ++choices;
  PositionRange a = solveCompare(predicate, lhs, op->getOperand(0));
  PositionRange b = solveCompare(predicate, lhs, op->getOperand(1));
  // Below the greater of two is below one of them; below the lesser is below both.
  return isBelow == isGreater ? disjunction(a, b) : conjunction(a, b);
}

/// A division in what two numbers are sums, differences and products of; null where there is none.
Operation *PositionSolver::findDivision(Value lhs, Value rhs) {
  SetVector<Operation *> within;
  auto add = [&](Value value) {
    if (Operation *op = value.getDefiningOp(); op && dependent.contains(value))
      within.insert(op);
  };
  add(lhs);
  add(rhs);
  for (size_t n = 0; n < within.size(); ++n) {
    Operation *op = within[n];
    if (isa<arith::FloorDivSIOp, arith::DivSIOp, arith::DivUIOp>(op))
      return op;
    if (isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
      llvm::for_each(op->getOperands(), add);
  }
  return nullptr;
}

std::optional<PositionSolver::Quotient> PositionSolver::readQuotient(Operation *op) {
  // Truncating division floors what is not negative; of the values here, a key's position is known to be.
  bool floors = isa<arith::FloorDivSIOp>(op) || (axis.first == 0 && op->getOperand(0) == position);
  APInt divisor;
  if (!floors || !matchPattern(op->getOperand(1), m_ConstantInt(&divisor)) || !divisor.isStrictlyPositive() ||
      divisor.uge(int64_t(1) << 31))
    return std::nullopt;
  std::optional<Linear> numerator = decompose(op->getOperand(0), {position, smallBits});
  if (!numerator || numerator->factor < 0)
    return std::nullopt;
  return Quotient{{op->getResult(0), smallBits - divisor.getActiveBits()}, *numerator, divisor.getSExtValue()};
}

PositionRange PositionSolver::solveCompare(Predicate predicate, Value lhs, Value rhs) {
  // a ? b  is  a - b ? 0.
  if (std::optional<Linear> difference = subtract(lhs, rhs, {position, smallBits})) {
    auto [factor, rest] = *difference;
    if (factor >= 0)
      return solveLinear(predicate, factor, rest);
    Value zero = constant(0);
    return solveLinear(mirror(predicate), -factor, {sub(zero, rest.max), sub(zero, rest.min)});
  }
  Operation *division = findDivision(lhs, rhs);
  if (std::optional<Quotient> quotient = division ? readQuotient(division) : std::nullopt)
    if (std::optional<Linear> difference = subtract(lhs, rhs, quotient->variable))
      return solveQuotient(predicate, *quotient, *difference);
  if (std::optional<PositionRange> choice = solveChoice(predicate, lhs, rhs))
    return *choice;
  return solveChoice(mirror(predicate), rhs, lhs).value_or(unknown());
}

/// factor * floor(e / c) + rest ? 0 is a comparison of e itself: floor(e / c) <= r is e <= c*r + c-1.
PositionRange PositionSolver::solveQuotient(Predicate predicate, const Quotient &quotient, Linear difference) {
  const int64_t factor = difference.factor;
  const Interval &rest = difference.rest;
  if (factor == 0)
    return solveLinear(predicate, factor, rest);
  if (factor < 0) {
    Value zero = constant(0);
    return solveQuotient(mirror(predicate), quotient, {-factor, {sub(zero, rest.max), sub(zero, rest.min)}});
  }
  const Linear &e = quotient.numerator;
  const int64_t c = quotient.divisor;
  // Quotients up to floor((slack - rest) / factor) satisfy factor * quotient + rest <= slack. The first e whose
  // quotient is greater:
  auto beyond = [&](Value r, int64_t slack) {
    Value last = sub(constant(factor == 1 ? 0 : slack), r);
    if (factor != 1)
      last = arith::FloorDivSIOp::create(builder, loc, last, constant(factor));
    return add(arith::MulIOp::create(builder, loc, last, constant(c)), constant(factor == 1 ? c * (slack + 1) : c));
  };
  auto against = [&](Predicate p, int64_t slack) {
    return solveLinear(p, e.factor,
                       {sub(e.rest.min, beyond(rest.min, slack)), sub(e.rest.max, beyond(rest.max, slack))});
  };
  switch (predicate) {
  case Predicate::slt:
    return against(Predicate::slt, -1);
  case Predicate::sle:
    return against(Predicate::slt, 0);
  case Predicate::sgt:
    return against(Predicate::sge, 0);
  case Predicate::sge:
    return against(Predicate::sge, -1);
  case Predicate::eq:
    return conjunction(against(Predicate::sge, -1), against(Predicate::slt, 0));
  case Predicate::ne:
    return disjunction(against(Predicate::slt, -1), against(Predicate::sge, 0));
  default:
    return unknown();
  }
}

/// factor * p + rest ? 0 with factor >= 0.
PositionRange PositionSolver::solveLinear(Predicate predicate, int64_t factor, Interval rest) {
  if (factor == 0) {
    Value zero = constant(0);
    auto cmp = [&](Predicate p, Value v) -> Value { return arith::CmpIOp::create(builder, loc, p, v, zero); };
    switch (predicate) {
    case Predicate::slt:
    case Predicate::sle:
      return uniform({cmp(predicate, rest.max), cmp(predicate, rest.min)}, false);
    case Predicate::sgt:
    case Predicate::sge:
      return uniform({cmp(predicate, rest.min), cmp(predicate, rest.max)}, false);
    default:
      return unknown();
    }
  }
  // The greatest p with factor * p <= -r is floor(-r / factor).
  auto last = [&](Value r, int64_t slack) -> Value {
    Value bound = sub(constant(slack), r);
    return factor == 1 ? bound : arith::FloorDivSIOp::create(builder, loc, bound, constant(factor)).getResult();
  };
  auto after = [&](Value p) { return add(p, constant(1)); };
  switch (predicate) {
  case Predicate::slt: // factor * p <= -rest - 1
    return {{{}, after(last(rest.min, -1))}, {{}, after(last(rest.max, -1))}, true};
  case Predicate::sle:
    return {{{}, after(last(rest.min, 0))}, {{}, after(last(rest.max, 0))}, true};
  case Predicate::sgt: // not factor * p <= -rest
    return {{after(last(rest.max, 0)), {}}, {after(last(rest.min, 0)), {}}, true};
  case Predicate::sge:
    return {{after(last(rest.max, -1)), {}}, {after(last(rest.min, -1)), {}}, true};
  case Predicate::eq:
    return conjunction(solveLinear(Predicate::sge, factor, rest), solveLinear(Predicate::sle, factor, rest));
  case Predicate::ne:
    return disjunction(solveLinear(Predicate::slt, factor, rest), solveLinear(Predicate::sgt, factor, rest));
  default:
    return unknown();
  }
}

Bounds attnc::attn::buildBounds(OpBuilder &builder, KernelOpInterface kernel, const Axis &axis, Value b, Value h,
                                Interval other) {
  Region &mask = kernel.getMask();
  bool ofKeys = axis.argument == keyAxis.argument;
  BoxEvaluator evaluator(builder, mask, {{b, b}, {h, h}, ofKeys ? other : Interval{}, ofKeys ? Interval{} : other});
  PositionSolver solver(builder, mask, evaluator, axis);
  PositionRange range = solver.solve(mask.front().getTerminator()->getOperand(0));

  Location loc = kernel.getLoc();
  auto constant = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(builder, loc, value); };
  Value first = constant(axis.first);
  auto low = [&](Value v) -> Value { return v ? arith::MaxSIOp::create(builder, loc, v, first).getResult() : first; };
  auto high = [&](Value v) -> Value { return v ? v : constant(axis.beyond); };
  Bounds bounds{{low(range.possible.low), low(range.full.low), high(range.full.high), high(range.possible.high)},
                range.exact};
  if (Value check = evaluator.buildScalarCheck()) {
    int64_t unknown[] = {axis.first, axis.first, axis.first, axis.beyond};
    for (auto [end, otherwise] : llvm::zip_equal(bounds.ends, unknown))
      end = arith::SelectOp::create(builder, loc, check, end, constant(otherwise));
  }
  return bounds;
}
