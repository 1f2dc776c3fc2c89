//===- CudaArithmetic.cpp - Numbers in CUDA C++ -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Integers are unsigned: operations that read a sign convert. Types narrower than a word are computed in words by C++,
// and converted back. Sums and products stay apart as they are in the IR; what may be fused has been.
//===----------------------------------------------------------------------===//

#include "codegen/nvrtc/CudaWriter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::nvrtc;

using OptionalExpr = std::optional<Expr>;

/// The integer type with a sign that is as wide as `type`.
static std::string getSignedName(Type type) { return "i" + std::to_string(type.getIntOrFloatBitWidth()); }

/// `expr` of type `type` as C++ computes it, converted back where that is in words.
static Expr narrow(Expr expr, Type type) {
  bool isNarrow = isa<IntegerType>(type) && type.getIntOrFloatBitWidth() < 32 && !type.isInteger(1);
  return isNarrow ? Expr{getTypeName(type) + "(" + expr.text + ")"} : expr;
}

Expr CudaWriter::binary(Operation &op, StringRef sign, Binding binding) {
  // Products and sums associate to the left; mixed with others they are in brackets, which saves readers a table.
  bool isArithmetic = binding == Binding::Product || binding == Binding::Sum;
  Binding left = isArithmetic ? binding : Binding::Unary;
  Binding right = binding == Binding::Sum ? Binding::Product : Binding::Unary;
  Type type = op.getOperand(0).getType();
  std::string a = use(op.getOperand(0), left);
  // Two short numbers would be multiplied with a sign, and overflow.
  if (binding == Binding::Product && type.isInteger(16))
    a = "u32(" + use(op.getOperand(0)).text + ")";
  return narrow({a + " " + sign.str() + " " + use(op.getOperand(1), right), binding}, op.getResult(0).getType());
}

/// A binary operation on numbers with a sign.
Expr CudaWriter::signedBinary(Operation &op, StringRef sign, Binding binding) {
  Type type = op.getOperand(0).getType();
  std::string name = getSignedName(type);
  std::string text =
      name + "(" + use(op.getOperand(0)).text + ") " + sign.str() + " " + name + "(" + use(op.getOperand(1)).text + ")";
  Type result = op.getResult(0).getType();
  return result.isInteger(1) ? Expr{text, binding} : Expr{getTypeName(result) + "(" + text + ")"};
}

static StringRef signOf(arith::CmpIPredicate predicate) {
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return "==";
  case arith::CmpIPredicate::ne:
    return "!=";
  case arith::CmpIPredicate::slt:
  case arith::CmpIPredicate::ult:
    return "<";
  case arith::CmpIPredicate::sle:
  case arith::CmpIPredicate::ule:
    return "<=";
  case arith::CmpIPredicate::sgt:
  case arith::CmpIPredicate::ugt:
    return ">";
  case arith::CmpIPredicate::sge:
  case arith::CmpIPredicate::uge:
    return ">=";
  }
  llvm_unreachable("all predicates are listed");
}

static bool readsSign(arith::CmpIPredicate predicate) {
  return llvm::is_contained(
      {arith::CmpIPredicate::slt, arith::CmpIPredicate::sle, arith::CmpIPredicate::sgt, arith::CmpIPredicate::sge},
      predicate);
}

/// A comparison of floats with operands `a` and `b`. Those of C++ are false where one is NaN, but for `!=`.
static Expr compareFloats(arith::CmpFPredicate predicate, const std::string &a, const std::string &b) {
  auto plain = [&](StringRef sign) { return a + " " + sign.str() + " " + b; };
  auto opposite = [&](StringRef sign) { return Expr{"!(" + plain(sign) + ")", Binding::Unary}; };
  switch (predicate) {
  case arith::CmpFPredicate::AlwaysFalse:
    return {"false"};
  case arith::CmpFPredicate::AlwaysTrue:
    return {"true"};
  case arith::CmpFPredicate::OEQ:
    return {plain("=="), Binding::Equality};
  case arith::CmpFPredicate::UNE:
    return {plain("!="), Binding::Equality};
  case arith::CmpFPredicate::OLT:
    return {plain("<"), Binding::Relation};
  case arith::CmpFPredicate::OLE:
    return {plain("<="), Binding::Relation};
  case arith::CmpFPredicate::OGT:
    return {plain(">"), Binding::Relation};
  case arith::CmpFPredicate::OGE:
    return {plain(">="), Binding::Relation};
  case arith::CmpFPredicate::ULT:
    return opposite(">=");
  case arith::CmpFPredicate::ULE:
    return opposite(">");
  case arith::CmpFPredicate::UGT:
    return opposite("<=");
  case arith::CmpFPredicate::UGE:
    return opposite("<");
  case arith::CmpFPredicate::ONE:
    return {plain("<") + " || " + plain(">"), Binding::Choice};
  case arith::CmpFPredicate::UEQ:
    return {"!(" + plain("<") + " || " + plain(">") + ")", Binding::Unary};
  case arith::CmpFPredicate::ORD:
    return {a + " == " + a + " && " + b + " == " + b, Binding::Choice};
  case arith::CmpFPredicate::UNO:
    return {a + " != " + a + " || " + b + " != " + b, Binding::Choice};
  }
  llvm_unreachable("all predicates are listed");
}

OptionalExpr CudaWriter::writeInteger(Operation &op) {
  return llvm::TypeSwitch<Operation *, OptionalExpr>(&op)
      .Case([&](arith::AddIOp) {
        // Bits add without a carry.
        bool isBit = op.getResult(0).getType().isInteger(1);
        return isBit ? binary(op, "!=", Binding::Equality) : binary(op, "+", Binding::Sum);
      })
      .Case([&](arith::SubIOp) {
        bool isBit = op.getResult(0).getType().isInteger(1);
        return isBit ? binary(op, "!=", Binding::Equality) : binary(op, "-", Binding::Sum);
      })
      .Case([&](arith::MulIOp) {
        bool isBit = op.getResult(0).getType().isInteger(1);
        return isBit ? binary(op, "&", Binding::Bits) : binary(op, "*", Binding::Product);
      })
      .Case([&](arith::DivUIOp) { return binary(op, "/", Binding::Product); })
      .Case([&](arith::RemUIOp) { return binary(op, "%", Binding::Product); })
      .Case([&](arith::DivSIOp) { return signedBinary(op, "/", Binding::Product); })
      .Case([&](arith::RemSIOp) { return signedBinary(op, "%", Binding::Product); })
      .Case([&](arith::FloorDivSIOp) { return Expr{call("floorDiv", op.getOperands())}; })
      .Case([&](arith::CeilDivSIOp) { return Expr{call("ceilDiv", op.getOperands())}; })
      .Case([&](arith::CeilDivUIOp) { return Expr{call("ceilDivUnsigned", op.getOperands())}; })
      .Case([&](arith::AndIOp) { return binary(op, "&", Binding::Bits); })
      .Case([&](arith::OrIOp) { return binary(op, "|", Binding::Bits); })
      .Case([&](arith::XOrIOp) {
        if (!op.getResult(0).getType().isInteger(1))
          return binary(op, "^", Binding::Bits);
        if (matchPattern(op.getOperand(1), m_One()))
          return Expr{"!" + use(op.getOperand(0), Binding::Unary), Binding::Unary};
        return binary(op, "!=", Binding::Equality);
      })
      .Case([&](arith::ShLIOp) { return binary(op, "<<", Binding::Shift); })
      .Case([&](arith::ShRUIOp) { return binary(op, ">>", Binding::Shift); })
      .Case([&](arith::ShRSIOp) {
        return Expr{getTypeName(op.getResult(0).getType()) + "(" + getSignedName(op.getResult(0).getType()) + "(" +
                    use(op.getOperand(0)).text + ") >> " + use(op.getOperand(1), Binding::Unary) + ")"};
      })
      .Case([&](arith::MinSIOp) { return Expr{call("smin", op.getOperands())}; })
      .Case([&](arith::MaxSIOp) { return Expr{call("smax", op.getOperands())}; })
      .Case([&](arith::MinUIOp) { return Expr{call("umin", op.getOperands())}; })
      .Case([&](arith::MaxUIOp) { return Expr{call("umax", op.getOperands())}; })
      .Case([&](arith::CmpIOp compare) {
        bool isRelation = compare.getPredicate() > arith::CmpIPredicate::ne;
        Binding binding = isRelation ? Binding::Relation : Binding::Equality;
        bool isBit = compare.getLhs().getType().isInteger(1);
        if (readsSign(compare.getPredicate()) && !isBit)
          return signedBinary(op, signOf(compare.getPredicate()), binding);
        // The bit with a sign is 0 or -1: the order turns round.
        if (readsSign(compare.getPredicate()))
          return Expr{use(compare.getRhs(), Binding::Unary) + " " + signOf(compare.getPredicate()).str() + " " +
                          use(compare.getLhs(), Binding::Unary),
                      binding};
        return binary(op, signOf(compare.getPredicate()), binding);
      })
      .Default(OptionalExpr());
}

OptionalExpr CudaWriter::writeFloat(Operation &op) {
  return llvm::TypeSwitch<Operation *, OptionalExpr>(&op)
      .Case([&](arith::AddFOp) { return binary(op, "+", Binding::Sum); })
      .Case([&](arith::SubFOp) { return binary(op, "-", Binding::Sum); })
      .Case([&](arith::MulFOp) { return binary(op, "*", Binding::Product); })
      .Case([&](arith::DivFOp division) {
        bool approximate = bitEnumContainsAny(division.getFastmath(), arith::FastMathFlags::afn);
        if (!approximate || !op.getResult(0).getType().isF32())
          return binary(op, "/", Binding::Product);
        if (matchPattern(division.getLhs(), m_OneFloat()))
          return Expr{call("reciprocalApproxIeee", division.getRhs())};
        return Expr{call("divideApprox", op.getOperands())};
      })
      .Case([&](arith::NegFOp) { return Expr{"-" + use(op.getOperand(0), Binding::Primary), Binding::Unary}; })
      .Case([&](arith::RemFOp) {
        return Expr{call(op.getResult(0).getType().isF64() ? "fmod" : "fmodf", op.getOperands())};
      })
      .Case([&](arith::MaxNumFOp) {
        return Expr{call(op.getResult(0).getType().isF32() ? "fmaxf" : "fmax", op.getOperands())};
      })
      .Case([&](arith::MinNumFOp) {
        return Expr{call(op.getResult(0).getType().isF32() ? "fminf" : "fmin", op.getOperands())};
      })
      .Case([&](arith::MaximumFOp) { return Expr{call("maximum", op.getOperands())}; })
      .Case([&](arith::MinimumFOp) { return Expr{call("minimum", op.getOperands())}; })
      .Case([&](arith::CmpFOp compare) {
        return compareFloats(compare.getPredicate(), use(compare.getLhs(), Binding::Unary),
                             use(compare.getRhs(), Binding::Unary));
      })
      .Default(OptionalExpr());
}

OptionalExpr CudaWriter::writeConversion(Operation &op) {
  if (op.getNumResults() != 1 || op.getNumOperands() != 1)
    return std::nullopt;
  Type from = op.getOperand(0).getType(), to = op.getResult(0).getType();
  std::string name = getTypeName(to);
  if (name.empty())
    return std::nullopt;
  auto operand = [&] { return use(op.getOperand(0)).text; };
  /// To a float of type `to`, from a number of C++.
  auto toFloat = [&](const std::string &number) {
    if (to.isBF16() || to.isF16())
      return Expr{(to.isBF16() ? "toBf16(" : "toF16(") + number + ")"};
    return Expr{name + "(" + number + ")"};
  };
  /// A float that C++ converts.
  auto plainFloat = [&] { return isNarrowFloat(from) ? "toF32(" + operand() + ")" : operand(); };
  return llvm::TypeSwitch<Operation *, OptionalExpr>(&op)
      .Case([&](arith::TruncIOp) {
        return to.isInteger(1) ? Expr{"(" + use(op.getOperand(0), Binding::Unary) + " & 1) != 0", Binding::Equality}
                               : Expr{name + "(" + operand() + ")"};
      })
      .Case([&](arith::ExtUIOp) { return Expr{name + "(" + operand() + ")"}; })
      .Case([&](arith::ExtSIOp) {
        if (from.isInteger(1))
          return Expr{name + "(" + use(op.getOperand(0), Binding::Unary) + " ? -1 : 0)"};
        return Expr{"sext" + std::to_string(to.getIntOrFloatBitWidth()) + "(" + operand() + ")"};
      })
      .Case([&](arith::SIToFPOp) {
        if (from.isInteger(1))
          return toFloat(use(op.getOperand(0), Binding::Unary) + " ? -1 : 0");
        return toFloat(getSignedName(from) + "(" + operand() + ")");
      })
      .Case([&](arith::UIToFPOp) { return toFloat(operand()); })
      .Case([&](arith::FPToSIOp) {
        if (to.isInteger(1))
          return Expr{"i32(" + plainFloat() + ") != 0", Binding::Equality};
        return Expr{name + "(" + getSignedName(to) + "(" + plainFloat() + "))"};
      })
      .Case([&](arith::FPToUIOp) {
        if (to.isInteger(1))
          return Expr{"u32(" + plainFloat() + ") != 0", Binding::Equality};
        return Expr{name + "(" + plainFloat() + ")"};
      })
      .Case<arith::ExtFOp, arith::TruncFOp>([&](auto) {
        StringRef function = to.isBF16() ? "toBf16" : to.isF16() ? "toF16" : to.isF32() ? "toF32" : "toF64";
        return Expr{(function + "(" + operand() + ")").str()};
      })
      .Case<arith::BitcastOp, LLVM::BitcastOp>([&](auto) -> OptionalExpr {
        if (from == to || name == getTypeName(from))
          return use(op.getOperand(0));
        if (isNarrowFloat(to))
          return Expr{name + "{" + operand() + "}"};
        if (isNarrowFloat(from))
          return Expr{use(op.getOperand(0), Binding::Primary) + ".bits"};
        StringRef function = to.isF32() ? "asF32" : to.isF64() ? "asF64" : from.isF32() ? "asU32" : "asU64";
        return Expr{(function + "(" + operand() + ")").str()};
      })
      .Default(OptionalExpr());
}

OptionalExpr CudaWriter::writeMath(Operation &op) {
  if (op.getNumResults() != 1)
    return std::nullopt;
  Type type = op.getResult(0).getType();
  /// The function of f32 and of f64; narrow floats are computed in f32.
  auto function = [&](StringRef name) -> OptionalExpr {
    if (type.isF64() || !isNarrowFloat(type))
      return Expr{call(name + (type.isF64() ? "" : "f"), op.getOperands())};
    std::string list;
    for (Value operand : op.getOperands())
      list += (list.empty() ? "toF32(" : ", toF32(") + use(operand).text + ")";
    return Expr{(type.isBF16() ? "toBf16(" : "toF16(") + name.str() + "f(" + list + "))"};
  };
  /// One that attnc_device.cuh has for narrow floats as well.
  auto overloaded = [&](StringRef name) -> OptionalExpr {
    return Expr{call(name + (type.isF32() ? "f" : ""), op.getOperands())};
  };
  auto classify = [&](StringRef name) -> OptionalExpr {
    std::string operand = use(op.getOperand(0)).text;
    return Expr{name.str() + "(" + (isNarrowFloat(op.getOperand(0).getType()) ? "toF32(" + operand + ")" : operand) +
                ")"};
  };
  return llvm::TypeSwitch<Operation *, OptionalExpr>(&op)
      .Case([&](math::FmaOp) { return Expr{call("fmaRn", op.getOperands())}; })
      .Case([&](math::AbsFOp) { return overloaded("fabs"); })
      .Case([&](math::CopySignOp) { return overloaded("copysign"); })
      .Case([&](math::AbsIOp) { return Expr{call("magnitude", op.getOperands())}; })
      .Case([&](math::CeilOp) { return function("ceil"); })
      .Case([&](math::FloorOp) { return function("floor"); })
      .Case([&](math::TruncOp) { return function("trunc"); })
      .Case([&](math::RoundOp) { return function("round"); })
      .Case([&](math::RoundEvenOp) { return function("rint"); })
      .Case([&](math::SqrtOp root) {
        bool approximate = bitEnumContainsAny(root.getFastmath(), arith::FastMathFlags::afn);
        return approximate && type.isF32() ? OptionalExpr(Expr{call("sqrtApprox", op.getOperands())})
                                           : function("sqrt");
      })
      .Case([&](math::CountLeadingZerosOp) { return Expr{call("countLeadingZeros", op.getOperands())}; })
      .Case([&](math::CountTrailingZerosOp) { return Expr{call("countTrailingZeros", op.getOperands())}; })
      .Case([&](math::CtPopOp) { return Expr{call("countOnes", op.getOperands())}; })
      .Case([&](math::IsNaNOp) { return classify("isNan"); })
      .Case([&](math::IsInfOp) { return classify("isInf"); })
      .Case([&](math::IsFiniteOp) { return classify("isFinite"); })
      .Default(OptionalExpr());
}

OptionalExpr CudaWriter::writeArith(Operation &op) {
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    auto arm = [&](Value value) {
      bool isPointer = isa<LLVM::LLVMPointerType>(value.getType());
      return isPointer ? pointer(value, pointee(select)) : use(value, Binding::Bits);
    };
    return Expr{use(select.getCondition(), Binding::Unary) + " ? " + arm(select.getTrueValue()) + " : " +
                    arm(select.getFalseValue()),
                Binding::Choice};
  }
  for (auto write :
       {&CudaWriter::writeInteger, &CudaWriter::writeFloat, &CudaWriter::writeConversion, &CudaWriter::writeMath})
    if (OptionalExpr expr = (this->*write)(op))
      return expr;
  return std::nullopt;
}
