//===- Formula.cpp - Regions as formulas for people -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/explain/Formula.h"
#include "dialect/attn/AttnOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "passes/attn/PositionRange.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::explain;

/// How tightly operations bind, from loose to tight.
enum Strength { Choice, Disjunction, Conjunction, Comparison, Sum, Product, Prefix, Atom };

/// `attn-infer-bounds` writes the end of the axis for "no bound"; what is left of it after a sum is as good.
constexpr int64_t unbounded = attn::queryAxis.beyond / 2;

/// Formulas longer than this are cut: no one reads them.
constexpr size_t longest = 300;

/// A float as it would be written by hand.
static std::string printNumber(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.6g", value);
  return text;
}

/// An integer type as a function that takes numbers to it: "i32", "u32", "index".
static std::string printType(Type type, bool isUnsigned) {
  return type.isIndex() ? "index" : (isUnsigned ? "u" : "i") + std::to_string(type.getIntOrFloatBitWidth());
}

std::vector<std::string> FormulaPrinter::printYields(Region &region) {
  std::vector<std::string> formulas;
  if (!region.empty())
    for (Value value : region.front().getTerminator()->getOperands())
      formulas.push_back(get(value).text);
  return formulas;
}

const FormulaPrinter::Expr &FormulaPrinter::get(Value value) {
  if (auto it = known.find(value); it != known.end())
    return *it->second;
  auto expr = std::make_unique<Expr>(build(value));
  if (expr->text.size() > longest)
    *expr = {"(…)", Atom, std::nullopt};
  return *(known[value] = std::move(expr));
}

std::string FormulaPrinter::operand(Value value, int strength) {
  const Expr &expr = get(value);
  return expr.strength < strength ? "(" + expr.text + ")" : expr.text;
}

std::string FormulaPrinter::tensorName(Value tensor) const {
  auto argument = dyn_cast<BlockArgument>(tensor);
  return argument && argument.getArgNumber() < kernel.inputs.size() ? kernel.inputs[argument.getArgNumber()].name
                                                                    : "tensor";
}

std::string FormulaPrinter::call(StringRef name, OperandRange operands) {
  std::string text = name.str() + "(";
  llvm::ListSeparator separator;
  llvm::raw_string_ostream os(text);
  for (Value value : operands)
    os << separator << get(value).text;
  return text + ")";
}

FormulaPrinter::Expr FormulaPrinter::buildConstant(Attribute attribute) const {
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return {printNumber(number.getValueAsDouble()), Atom, std::nullopt};
  auto integer = dyn_cast<IntegerAttr>(attribute);
  if (!integer)
    return {"?", Atom, std::nullopt};
  if (integer.getType().isInteger(1))
    return {integer.getValue().isZero() ? "false" : "true", Atom, std::nullopt};
  int64_t value = integer.getInt();
  if (std::abs(value) >= unbounded)
    return {value > 0 ? "∞" : "-∞", Atom, value};
  return {std::to_string(value), value < 0 ? Prefix : Atom, value};
}

FormulaPrinter::Expr FormulaPrinter::build(Value value) {
  Attribute constant;
  if (matchPattern(value, m_Constant(&constant)))
    return buildConstant(constant);
  if (Operation *op = value.getDefiningOp())
    return buildOperation(op, value);
  auto argument = cast<BlockArgument>(value);
  auto op = dyn_cast<attn::KernelOpInterface>(argument.getOwner()->getParentOp());
  if (!op)
    return {tensorName(value), Atom, std::nullopt};
  static constexpr StringLiteral score[] = {"s", "b", "h", "i", "j"};
  static constexpr StringLiteral mask[] = {"b", "h", "i", "j"};
  static constexpr StringLiteral ranges[] = {"b", "h", "i_first", "i_last", "j_first", "j_last"};
  static constexpr StringLiteral derivative[] = {"ds", "s", "b", "h", "i", "j"};
  static constexpr StringLiteral queryBounds[] = {"b", "h", "j_first", "j_last"};
  static constexpr ArrayRef<StringLiteral> names[] = {score, mask, ranges, ranges, derivative, queryBounds};
  return {names[argument.getOwner()->getParent()->getRegionNumber()][argument.getArgNumber()].str(), Atom,
          std::nullopt};
}

/// a + b or a - b, with constants last: "i_first - 4095".
FormulaPrinter::Expr FormulaPrinter::buildSum(Operation *op, bool negate) {
  const Expr *left = &get(op->getOperand(0)), *right = &get(op->getOperand(1));
  if (isUnbounded(left->text) || isUnbounded(right->text))
    return isUnbounded(left->text) ? *left : Expr{negate == (right->text == "∞") ? "-∞" : "∞", Atom, right->constant};
  if (!negate && left->constant && !right->constant)
    std::swap(left, right);
  if (right->constant && *right->constant == 0)
    return *left;
  bool minus = negate;
  std::string tail = right->strength <= (negate ? Sum : Choice) ? "(" + right->text + ")" : right->text;
  if (right->constant && *right->constant < 0) {
    minus = !minus;
    tail = std::to_string(-*right->constant);
  }
  std::string head = left->strength < Sum ? "(" + left->text + ")" : left->text;
  if (negate && left->constant && *left->constant == 0)
    return {"-" + (right->strength < Prefix ? "(" + right->text + ")" : right->text), Prefix, std::nullopt};
  return {head + (minus ? " - " : " + ") + tail, Sum, std::nullopt};
}

/// min(a, b) or max(a, b), constants first and "no bound" left out.
FormulaPrinter::Expr FormulaPrinter::buildExtremum(Operation *op, bool least) {
  const Expr *left = &get(op->getOperand(0)), *right = &get(op->getOperand(1));
  for (auto [one, other] : {std::pair(left, right), std::pair(right, left)})
    if (isUnbounded(one->text))
      return (one->text == "∞") == least ? *other : *one;
  if (right->constant && !left->constant)
    std::swap(left, right);
  return {(least ? "min(" : "max(") + left->text + ", " + right->text + ")", Atom, std::nullopt};
}

FormulaPrinter::Expr FormulaPrinter::buildBinary(Operation *op) {
  struct Infix {
    StringLiteral symbol;
    int strength;
  };
  auto infix = llvm::StringSwitch<std::optional<Infix>>(op->getName().getStringRef())
                   .Cases({"arith.muli", "arith.mulf"}, Infix{" * ", Product})
                   .Cases({"arith.divf", "arith.divsi", "arith.floordivsi"}, Infix{" / ", Product})
                   .Case("arith.remsi", Infix{" mod ", Product})
                   .Case("arith.addf", Infix{" + ", Sum})
                   .Case("arith.subf", Infix{" - ", Sum})
                   .Case("arith.andi", Infix{" and ", Conjunction})
                   .Case("arith.ori", Infix{" or ", Disjunction})
                   .Default(std::nullopt);
  if (!infix)
    return {call(op->getName().stripDialect(), op->getOperands()), Atom, std::nullopt};
  const Expr &left = get(op->getOperand(0)), &right = get(op->getOperand(1));
  if (infix->strength == Conjunction && left.text == right.text)
    return left;
  return {operand(op->getOperand(0), infix->strength) + infix->symbol.str() +
              operand(op->getOperand(1), infix->strength == Conjunction || infix->strength == Disjunction
                                             ? infix->strength
                                             : infix->strength + 1),
          infix->strength, std::nullopt};
}

FormulaPrinter::Expr FormulaPrinter::buildOperation(Operation *op, Value value) {
  static constexpr StringLiteral integerTests[] = {"=", "≠", "<", "≤", ">", "≥", "<ᵤ", "≤ᵤ", ">ᵤ", "≥ᵤ"};
  auto atom = [](std::string text) { return Expr{std::move(text), Atom, std::nullopt}; };
  auto indices = [&](ValueRange list) {
    std::string text;
    for (Value index : list)
      text += (text.empty() ? "" : ", ") + get(index).text;
    return text;
  };
  return llvm::TypeSwitch<Operation *, Expr>(op)
      .Case([&](arith::AddIOp) { return buildSum(op, false); })
      .Case([&](arith::SubIOp) { return buildSum(op, true); })
      .Case<arith::MinSIOp, arith::MinimumFOp, arith::MinNumFOp>([&](auto) { return buildExtremum(op, true); })
      .Case<arith::MaxSIOp, arith::MaximumFOp, arith::MaxNumFOp>([&](auto) { return buildExtremum(op, false); })
      .Case<arith::IndexCastOp, arith::ExtSIOp, arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp>(
          [&](auto) { return get(op->getOperand(0)); })
      // What cuts a number off, or takes a negative one for another.
      .Case<arith::TruncIOp, arith::FPToSIOp, arith::FPToUIOp>(
          [&](auto) { return atom(call(printType(value.getType(), isa<arith::FPToUIOp>(op)), op->getOperands())); })
      .Case<arith::ExtUIOp, arith::IndexCastUIOp>([&](auto) {
        Type from = op->getOperand(0).getType();
        return from.isInteger(1) ? get(op->getOperand(0)) : atom(call(printType(from, true), op->getOperands()));
      })
      .Case([&](arith::CmpIOp compare) {
        const Expr &left = get(compare.getLhs()), &right = get(compare.getRhs());
        // An unbounded end compares with everything else by its sign.
        if ((isUnbounded(left.text) || isUnbounded(right.text)) && left.text != right.text) {
          using arith::CmpIPredicate;
          bool asksGreater = llvm::is_contained({CmpIPredicate::sgt, CmpIPredicate::sge}, compare.getPredicate());
          bool isGreater = left.text == "∞" || right.text == "-∞";
          return atom(asksGreater == isGreater ? "true" : "false");
        }
        return Expr{operand(compare.getLhs(), Sum) + " " +
                        integerTests[static_cast<unsigned>(compare.getPredicate())].str() + " " +
                        operand(compare.getRhs(), Sum),
                    Comparison, std::nullopt};
      })
      .Case([&](arith::CmpFOp compare) {
        return atom(call(arith::stringifyCmpFPredicate(compare.getPredicate()), op->getOperands()));
      })
      .Case([&](arith::SelectOp select) {
        StringRef condition = get(select.getCondition()).text;
        if (condition == "true" || condition == "false")
          return get(condition == "true" ? select.getTrueValue() : select.getFalseValue());
        return Expr{operand(select.getCondition(), Disjunction) + " ? " + operand(select.getTrueValue(), Disjunction) +
                        " : " + operand(select.getFalseValue(), Choice),
                    Choice, std::nullopt};
      })
      .Case([&](arith::XOrIOp exclusive) {
        if (matchPattern(exclusive.getRhs(), m_One()) && exclusive.getType().isInteger(1))
          return Expr{"not " + operand(exclusive.getLhs(), Prefix), Prefix, std::nullopt};
        return buildBinary(op);
      })
      .Case([&](arith::NegFOp) { return Expr{"-" + operand(op->getOperand(0), Prefix), Prefix, std::nullopt}; })
      .Case<math::AbsIOp, math::AbsFOp>([&](auto) { return atom("|" + get(op->getOperand(0)).text + "|"); })
      .Case([&](attn::LoadOp load) {
        return atom(tensorName(load.getTensor()) + "[" + indices(load.getIndices()) + "]");
      })
      .Case([&](attn::LoadRangeOp range) {
        std::string text;
        for (auto [first, last] : llvm::zip_equal(range.getFirst(), range.getLast()))
          text += (text.empty() ? "" : ", ") + get(first).text + (first == last ? "" : ".." + get(last).text);
        bool flags = value.getType().isInteger(1), least = value == range.getMin();
        StringRef verb = flags ? (least ? "all " : "any ") : (least ? "least " : "greatest ");
        return Expr{verb.str() + tensorName(range.getTensor()) + "[" + text + "]", Prefix, std::nullopt};
      })
      .Default([&](Operation *) { return buildBinary(op); });
}
