//===- RoundedWeights.cpp - Row sums of what products see -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "passes/tile/RoundedWeights.h"
#include "dialect/tile/TileOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "passes/tile/RowVectors.h"

using namespace mlir;
using namespace attnc;

arith::DivFOp tile::findReciprocal(Value sums) {
  for (OpOperand &use : sums.getUses()) {
    Operation *user = use.getOwner();
    if (auto quotient = dyn_cast<arith::DivFOp>(user); quotient && matchPattern(quotient.getLhs(), m_OneFloat()))
      return quotient;
    Value next;
    if (isa<scf::YieldOp>(user) && isa<scf::IfOp>(user->getParentOp()))
      next = user->getParentOp()->getResult(use.getOperandNumber());
    else if (isa<TotalOp, arith::AddFOp>(user))
      next = user->getResult(0);
    if (arith::DivFOp found = next ? findReciprocal(next) : arith::DivFOp())
      return found;
  }
  return {};
}

/// The greatest weight that a divisor counts as rounded, if it is one that `countRounded` wrote: the operand of the
/// conversion and its only other reader.
static arith::SubFOp findRounding(Value divisor) {
  auto sum = divisor.getDefiningOp<arith::AddFOp>();
  auto choice = sum ? sum.getRhs().getDefiningOp<arith::SelectOp>() : arith::SelectOp();
  auto rounding = choice ? choice.getTrueValue().getDefiningOp<arith::SubFOp>() : arith::SubFOp();
  auto wide = rounding ? rounding.getLhs().getDefiningOp<arith::ExtFOp>() : arith::ExtFOp();
  auto narrow = wide ? wide.getIn().getDefiningOp<arith::TruncFOp>() : arith::TruncFOp();
  return narrow && narrow.getIn() == rounding.getRhs() ? rounding : arith::SubFOp();
}

void tile::countRounded(arith::DivFOp reciprocal, Value greatest, Type narrow) {
  OpBuilder builder(reciprocal);
  Location loc = reciprocal.getLoc();
  Value sums = reciprocal.getRhs();
  if (arith::SubFOp rounding = findRounding(sums)) {
    greatest = arith::MaxNumFOp::create(builder, loc, greatest, rounding.getRhs());
    sums = sums.getDefiningOp<arith::AddFOp>().getLhs();
  }
  auto rows = cast<VectorType>(greatest.getType());
  Value rounded = arith::TruncFOp::create(builder, loc, rows.clone(narrow), greatest);
  Value back = arith::ExtFOp::create(builder, loc, rows, rounded);
  Value rounding = arith::SubFOp::create(builder, loc, back, greatest);
  Value twice = arith::AddFOp::create(builder, loc, greatest, greatest);
  Value isMost = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGE, twice, sums);
  rounding = arith::SelectOp::create(builder, loc, isMost, rounding, splat(builder, greatest, 0.0f));
  reciprocal.getRhsMutable().set(arith::AddFOp::create(builder, loc, sums, rounding));
}
