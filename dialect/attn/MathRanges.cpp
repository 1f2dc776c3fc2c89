//===- MathRanges.cpp - Integer ranges of math operations -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// MLIR's math operations on integers say nothing of their ranges; models of its interface do, so that every analysis
// knows them.
//===----------------------------------------------------------------------===//

#include "dialect/attn/MathRanges.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"

using namespace mlir;

namespace {

/// Ranges that are not known yet count as everything.
void inferFromOptional(Operation *op, ArrayRef<IntegerValueRange> operands, SetIntLatticeFn set) {
  intrange::detail::defaultInferResultRanges(cast<InferIntRangeInterface>(op), operands, set);
}

/// |x|; that of the least number is itself.
struct AbsRange : InferIntRangeInterface::ExternalModel<AbsRange, math::AbsIOp> {
  void inferResultRangesFromOptional(Operation *op, ArrayRef<IntegerValueRange> operands, SetIntLatticeFn set) const {
    inferFromOptional(op, operands, set);
  }
  void inferResultRanges(Operation *op, ArrayRef<ConstantIntRanges> operands, SetIntRangeFn set) const {
    APInt low = operands[0].smin(), high = operands[0].smax();
    Value result = op->getResult(0);
    if (low.isMinSignedValue())
      return set(result, ConstantIntRanges::maxRange(low.getBitWidth()));
    APInt least = APInt::getZero(low.getBitWidth());
    if (low.isStrictlyPositive())
      least = low;
    else if (high.isNegative())
      least = -high;
    set(result, ConstantIntRanges::fromSigned(least, llvm::APIntOps::smax(-low, high)));
  }
};

/// Counts of bits: 0 to the width.
template <typename Op>
struct CountRange : InferIntRangeInterface::ExternalModel<CountRange<Op>, Op> {
  void inferResultRangesFromOptional(Operation *op, ArrayRef<IntegerValueRange> operands, SetIntLatticeFn set) const {
    inferFromOptional(op, operands, set);
  }
  void inferResultRanges(Operation *op, ArrayRef<ConstantIntRanges> operands, SetIntRangeFn set) const {
    unsigned width = operands[0].smin().getBitWidth();
    // One bit holds 0 and 1, and counts of one bit are no more.
    APInt most = width == 1 ? APInt(1, 1) : APInt(width, width);
    set(op->getResult(0), ConstantIntRanges::fromUnsigned(APInt::getZero(width), most));
  }
};

template <typename Op, typename Model>
void attach(MLIRContext *context) {
  if (!RegisteredOperationName::lookup(Op::getOperationName(), context)
           ->template hasInterface<InferIntRangeInterface>())
    Op::template attachInterface<Model>(*context);
}

} // namespace

void attnc::attn::attachMathRanges(MLIRContext *context) {
  attach<math::AbsIOp, AbsRange>(context);
  attach<math::CountLeadingZerosOp, CountRange<math::CountLeadingZerosOp>>(context);
  attach<math::CountTrailingZerosOp, CountRange<math::CountTrailingZerosOp>>(context);
  attach<math::CtPopOp, CountRange<math::CtPopOp>>(context);
}
