//===- NarrowDivisions.cpp - Divisions that fit 32 bits ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A quotient is no further from 0 than its dividend. So where a dividend fits 32 bits, as positions and their
// differences do, 32 bits are enough whatever the divisor is, which may be any number of the launch: one that does not
// fit is greater than the dividend, and the result is known.
//===----------------------------------------------------------------------===//

#include "dialect/attn/AttnOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/attn/Passes.h"
#include "passes/attn/RegionRanges.h"

namespace attnc::attn {
#define GEN_PASS_DEF_ATTNNARROWDIVISIONS
#include "passes/attn/Passes.h.inc"
} // namespace attnc::attn

using namespace mlir;
using namespace attnc::attn;
using arith::CmpIPredicate;

namespace {

/// Rewrites one region of a kernel.
class Narrower {
public:
  explicit Narrower(Region &region)
      : region(region), ranges(RegionRanges::ofArguments(region)), b(region.getContext()) {}

  /// Returns how many divisions and remainders now compute in 32 bits.
  int64_t run();

private:
  bool gains(Operation *op) const;
  void narrow(Operation *op);
  Value truncated(Value value);
  Value compare(CmpIPredicate predicate, Value x, int64_t y);
  Value resultBeyond(Operation *op, Value dividend, Value divisor);
  Value number(Type type, int64_t value) { return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value)); }

  Region &region;
  RegionRanges ranges;
  OpBuilder b;
  Location loc = b.getUnknownLoc();
};

} // namespace

static bool isSigned(Operation *op) {
  return isa<arith::DivSIOp, arith::RemSIOp, arith::FloorDivSIOp, arith::CeilDivSIOp>(op);
}

static bool isUnsigned(Operation *op) { return isa<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp>(op); }

/// Whether `op` divides 64-bit numbers of which the dividend fits 32 bits. The least number of 32 bits does not count:
/// by -1 it has no quotient there, and its magnitude is that of a divisor which does not fit. Indices that all fit stay
/// as they are: attn-legalize-index knows those.
bool Narrower::gains(Operation *op) const {
  if ((!isSigned(op) && !isUnsigned(op)) || !isa<IndexType, IntegerType>(op->getResult(0).getType()))
    return false;
  ConstantIntRanges dividend = ranges.get(op->getOperand(0)), divisor = ranges.get(op->getOperand(1));
  if (dividend.smin().getBitWidth() != 64)
    return false;
  if (isUnsigned(op) ? !dividend.umax().isIntN(32)
                     : !RegionRanges::fits(dividend, 32) || dividend.smin() == APInt::getSignedMinValue(32).sext(64))
    return false;
  bool isNarrow = RegionRanges::fits(dividend, 32) && RegionRanges::fits(divisor, 32) &&
                  ranges.fits(op->getResult(0), 32) && (isSigned(op) || divisor.smin().isNonNegative());
  return !op->getResult(0).getType().isIndex() || !isNarrow;
}

/// The low 32 bits of a number of 64.
Value Narrower::truncated(Value value) {
  if (value.getType().isIndex())
    value = arith::IndexCastOp::create(b, loc, b.getI64Type(), value);
  return arith::TruncIOp::create(b, loc, b.getI32Type(), value);
}

Value Narrower::compare(CmpIPredicate predicate, Value x, int64_t y) {
  return arith::CmpIOp::create(b, loc, predicate, x, number(x.getType(), y));
}

/// What `op` gives, in 32 bits, where its divisor is further from 0 than its dividend.
Value Narrower::resultBeyond(Operation *op, Value dividend, Value divisor) {
  Type i32 = b.getI32Type();
  if (isa<arith::RemSIOp, arith::RemUIOp>(op))
    return dividend;
  Value zero = number(i32, 0);
  if (isa<arith::DivSIOp, arith::DivUIOp>(op))
    return zero;
  // The quotient lies between -1 and 1, and is no whole number unless it is 0.
  Value isBetween = compare(CmpIPredicate::ne, dividend, 0);
  if (isSigned(op)) {
    Value differs = arith::XOrIOp::create(b, loc, compare(CmpIPredicate::slt, dividend, 0),
                                          compare(CmpIPredicate::slt, divisor, 0));
    if (isa<arith::CeilDivSIOp>(op))
      differs = arith::XOrIOp::create(b, loc, differs, number(b.getI1Type(), 1));
    isBetween = arith::AndIOp::create(b, loc, isBetween, differs);
  }
  return arith::SelectOp::create(b, loc, isBetween, number(i32, isa<arith::FloorDivSIOp>(op) ? -1 : 1), zero);
}

void Narrower::narrow(Operation *op) {
  b.setInsertionPoint(op);
  loc = op->getLoc();
  Type type = op->getResult(0).getType(), i64 = b.getI64Type();
  ConstantIntRanges range = ranges.get(op->getOperand(1));
  Value dividend = truncated(op->getOperand(0)), divisor = truncated(op->getOperand(1)), fits, wide;
  if (isSigned(op) ? !RegionRanges::fits(range, 32) : !range.umax().isIntN(32)) {
    wide = op->getOperand(1);
    if (type.isIndex())
      wide = arith::IndexCastOp::create(b, loc, i64, wide);
    if (isSigned(op))
      fits = arith::CmpIOp::create(b, loc, CmpIPredicate::eq, arith::ExtSIOp::create(b, loc, i64, divisor), wide);
    else
      fits = compare(CmpIPredicate::ult, wide, int64_t(1) << 32);
    divisor = arith::SelectOp::create(b, loc, fits, divisor, number(b.getI32Type(), 1));
  }
  OperationState state(loc, op->getName(), {dividend, divisor}, {b.getI32Type()});
  Value result = b.create(state)->getResult(0);
  if (fits)
    result = arith::SelectOp::create(b, loc, fits, result, resultBeyond(op, dividend, wide));
  if (isSigned(op))
    result = arith::ExtSIOp::create(b, loc, i64, result);
  else
    result = arith::ExtUIOp::create(b, loc, i64, result);
  if (type.isIndex())
    result = arith::IndexCastOp::create(b, loc, type, result);
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
}

int64_t Narrower::run() {
  int64_t narrowed = 0;
  Block &block = region.front();
  for (Operation &op : llvm::make_early_inc_range(block)) {
    ranges.infer(op);
    if (op.getNumResults() != 1 || !gains(&op))
      continue;
    Operation *next = op.getNextNode(), *previous = op.getPrevNode();
    narrow(&op);
    ++narrowed;
    ranges.inferBetween(block, previous, next);
  }
  return narrowed;
}

namespace {
struct NarrowDivisions : attnc::attn::impl::AttnNarrowDivisionsBase<NarrowDivisions> {
  void runOnOperation() override {
    getOperation()->walk([&](KernelOpInterface kernel) {
      for (Region &region : kernel->getRegions())
        if (!region.empty())
          numNarrowed += Narrower(region).run();
    });
  }
};
} // namespace
