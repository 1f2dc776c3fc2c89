//===- DefineArithmetic.cpp - A meaning for every operand -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// What MLIR leaves open, docs/spec.md defines. Operations that ranges prove to be safe stay as they are.
//===----------------------------------------------------------------------===//

#include "dialect/attn/AttnOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "passes/attn/Passes.h"
#include "passes/attn/RegionRanges.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

namespace attnc::attn {
#define GEN_PASS_DEF_ATTNDEFINEARITHMETIC
#include "passes/attn/Passes.h.inc"
} // namespace attnc::attn

using namespace mlir;
using namespace attnc::attn;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

namespace {

/// Rewrites the operations of one region, in order.
class Definer {
public:
  Definer(Region &region, Pass::Statistic &guards)
      : region(region), b(region.getContext()), loc(b.getUnknownLoc()), guards(guards),
        ranges(RegionRanges::ofArguments(region)) {}

  void run();

private:
  void define(Operation *op);
  void defineDivision(Operation *op, bool isSigned, bool isRemainder);
  void defineShift(Operation *op);
  void defineConversion(Operation *op, bool isSigned);
  void defineNarrowing(Operation *op, bool isSigned);

  Value integer(Type type, const APInt &value) {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
  }
  Value integer(Type type, int64_t value) {
    return integer(type, APInt(widthOf(type), static_cast<uint64_t>(value), /*isSigned=*/true, /*implicitTrunc=*/true));
  }
  Value compare(CmpIPredicate predicate, Value x, Value y) { return arith::CmpIOp::create(b, loc, predicate, x, y); }
  Value select(Value condition, Value x, Value y) { return arith::SelectOp::create(b, loc, condition, x, y); }
  /// Replaces the uses of `op`'s result by the value that `make` builds from it, after `op`.
  void wrap(Operation *op, llvm::function_ref<Value(Value)> make);

  static unsigned widthOf(Type type) { return ConstantIntRanges::getStorageBitwidth(type); }

  Region &region;
  OpBuilder b;
  Location loc;
  Pass::Statistic &guards;
  RegionRanges ranges;
};

} // namespace

void Definer::wrap(Operation *op, llvm::function_ref<Value(Value)> make) {
  ++guards;
  Value result = op->getResult(0);
  b.setInsertionPointAfter(op);
  Operation *before = op->getNextNode();
  Value made = make(result);
  if (made == result)
    return;
  SmallPtrSet<Operation *, 4> own;
  for (Operation *inner = op->getNextNode(); inner != before; inner = inner->getNextNode())
    own.insert(inner);
  result.replaceAllUsesExcept(made, own);
}

/// Division by zero gives 0 and leaves the dividend; the least number divided by -1 is itself.
void Definer::defineDivision(Operation *op, bool isSigned, bool isRemainder) {
  Value x = op->getOperand(0), y = op->getOperand(1);
  Type type = x.getType();
  unsigned width = widthOf(type);
  if (width == 1) {
    // Quotients and remainders of bits, signed or not: there is no divisor but 0 and the bit itself.
    ++guards;
    Value divisor = isRemainder ? arith::XOrIOp::create(b, loc, y, integer(type, 1)).getResult() : y;
    op->getResult(0).replaceAllUsesWith(arith::AndIOp::create(b, loc, x, divisor));
    op->erase();
    return;
  }
  ConstantIntRanges dividends = ranges.get(x), divisors = ranges.get(y);
  APInt zero = APInt::getZero(width);
  bool mayBeZero = divisors.umin().isZero() && divisors.smin().sle(zero) && divisors.smax().sge(zero);
  bool mayBeMinusOne = divisors.umax().isAllOnes() && divisors.smin().isNegative() && divisors.smax().sge(-1);
  bool mayWrap = isSigned && mayBeMinusOne && dividends.smin().isMinSignedValue();
  if (!mayBeZero && !mayWrap)
    return;
  Value isZero, one = integer(type, 1), safe = y;
  if (mayBeZero) {
    isZero = compare(CmpIPredicate::eq, y, integer(type, 0));
    safe = select(isZero, one, safe);
  }
  if (mayWrap) {
    Value isLeast = compare(CmpIPredicate::eq, x, integer(type, APInt::getSignedMinValue(width)));
    Value isMinusOne = compare(CmpIPredicate::eq, y, integer(type, -1));
    safe = select(arith::AndIOp::create(b, loc, isLeast, isMinusOne), one, safe);
  }
  op->setOperand(1, safe);
  wrap(op, [&](Value result) { return isZero ? select(isZero, isRemainder ? x : integer(type, 0), result) : result; });
}

/// Shifts by the width or more move all bits out.
void Definer::defineShift(Operation *op) {
  Value amount = op->getOperand(1);
  Type type = amount.getType();
  unsigned width = widthOf(type);
  if (ranges.get(amount).umax().ult(width))
    return;
  Value zero = integer(type, 0);
  Value isWithin =
      width == 1 ? compare(CmpIPredicate::eq, amount, zero) : compare(CmpIPredicate::ult, amount, integer(type, width));
  if (isa<arith::ShRSIOp>(op)) {
    op->setOperand(1, select(isWithin, amount, integer(type, width - 1)));
    ++guards;
    return;
  }
  op->setOperand(1, select(isWithin, amount, zero));
  wrap(op, [&](Value result) { return select(isWithin, result, zero); });
}

/// Numbers beyond the type's give its greatest or least, and NaN gives 0.
void Definer::defineConversion(Operation *op, bool isSigned) {
  Value x = op->getOperand(0);
  auto from = cast<FloatType>(x.getType());
  Type to = op->getResult(0).getType();
  unsigned width = widthOf(to);
  auto number = [&](double value) -> Value { return arith::ConstantOp::create(b, loc, b.getFloatAttr(from, value)); };
  double limit = std::ldexp(1.0, static_cast<int>(isSigned ? width - 1 : width));
  Value isAbove = arith::CmpFOp::create(b, loc, CmpFPredicate::OGE, x, number(limit));
  // What is above -1 is cut to 0, which unsigned types have.
  Value isInside = arith::CmpFOp::create(b, loc, CmpFPredicate::OGT, x, number(isSigned ? -limit : -1));
  Value isBelow = arith::CmpFOp::create(b, loc, CmpFPredicate::OLE, x, number(isSigned ? -limit : -1));
  Value isFit =
      arith::AndIOp::create(b, loc, isInside, arith::XOrIOp::create(b, loc, isAbove, integer(b.getI1Type(), 1)));
  op->setOperand(0, select(isFit, x, number(0)));
  wrap(op, [&](Value result) {
    APInt greatest = isSigned ? APInt::getSignedMaxValue(width) : APInt::getMaxValue(width);
    Value cut = select(isAbove, integer(to, greatest), result);
    return isSigned ? select(isBelow, integer(to, APInt::getSignedMinValue(width)), cut) : cut;
  });
}

/// An index cast to fewer bits than it may need, as a truncation of 64 bits: MLIR folds a cast and one back to the
/// index itself.
void Definer::defineNarrowing(Operation *op, bool isSigned) {
  Value x = op->getOperand(0);
  Type to = op->getResult(0).getType();
  if (!x.getType().isIndex() || widthOf(to) >= 64)
    return;
  if (isSigned ? ranges.fits(x, widthOf(to)) : ranges.get(x).umax().isIntN(widthOf(to)))
    return;
  ++guards;
  Value word = arith::IndexCastOp::create(b, loc, b.getI64Type(), x);
  op->getResult(0).replaceAllUsesWith(arith::TruncIOp::create(b, loc, to, word));
  op->erase();
}

/// Takes off the flags that promise something of operands.
static void dropPromises(Operation *op) {
  MLIRContext *context = op->getContext();
  if (auto flagged = dyn_cast<arith::ArithIntegerOverflowFlagsInterface>(op))
    op->setAttr(flagged.getIntegerOverflowAttrName(),
                arith::IntegerOverflowFlagsAttr::get(context, arith::IntegerOverflowFlags::none));
  if (auto flagged = dyn_cast<arith::ArithFastMathInterface>(op)) {
    StringRef name = flagged.getFastMathAttrName();
    if (isa<arith::ExtFOp, arith::TruncFOp>(op))
      op->removeAttr(name);
    else
      op->setAttr(name, arith::FastMathFlagsAttr::get(context, arith::FastMathFlags::none));
  }
  llvm::TypeSwitch<Operation *>(op).Case<arith::DivUIOp, arith::DivSIOp, arith::ShRUIOp, arith::ShRSIOp>(
      [](auto division) { division.setIsExact(false); });
}

void Definer::define(Operation *op) {
  b.setInsertionPoint(op);
  loc = op->getLoc();
  // Always and never: a pattern of arith that compares with converted integers knows neither, and ends the process.
  if (auto compare = dyn_cast<arith::CmpFOp>(op)) {
    bool isAlways = compare.getPredicate() == CmpFPredicate::AlwaysTrue;
    if (isAlways || compare.getPredicate() == CmpFPredicate::AlwaysFalse) {
      compare.replaceAllUsesWith(integer(b.getI1Type(), isAlways));
      compare.erase();
      return;
    }
  }
  dropPromises(op);
  llvm::TypeSwitch<Operation *>(op)
      .Case<arith::DivSIOp, arith::FloorDivSIOp, arith::CeilDivSIOp>([&](auto) { defineDivision(op, true, false); })
      .Case<arith::DivUIOp, arith::CeilDivUIOp>([&](auto) { defineDivision(op, false, false); })
      .Case([&](arith::RemSIOp) { defineDivision(op, true, true); })
      .Case([&](arith::RemUIOp) { defineDivision(op, false, true); })
      .Case<arith::ShLIOp, arith::ShRUIOp, arith::ShRSIOp>([&](auto) { defineShift(op); })
      .Case([&](arith::FPToSIOp) { defineConversion(op, true); })
      .Case([&](arith::FPToUIOp) { defineConversion(op, false); })
      .Case([&](arith::IndexCastOp) { defineNarrowing(op, true); })
      .Case([&](arith::IndexCastUIOp) { defineNarrowing(op, false); });
}

void Definer::run() {
  if (region.empty())
    return;
  Block &block = region.front();
  for (Operation *op = &block.front(); op;) {
    Operation *next = op->getNextNode(), *previous = op->getPrevNode();
    if (isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op->getDialect()))
      define(op);
    // What stands there now: the operation, and what was put around it.
    ranges.inferBetween(block, previous, next);
    op = next;
  }
}

namespace {
struct DefineArithmetic : attnc::attn::impl::AttnDefineArithmeticBase<DefineArithmetic> {
  using AttnDefineArithmeticBase::AttnDefineArithmeticBase;
  void runOnOperation() override {
    getOperation()->walk([&](KernelOpInterface kernel) {
      for (Region *region : kernel.getElementRegions())
        Definer(*region, numGuards).run();
    });
  }
};
} // namespace
