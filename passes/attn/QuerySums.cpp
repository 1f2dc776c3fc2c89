//===- QuerySums.cpp - Gradients of queries as sums in memory ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "passes/attn/QuerySums.h"
#include "dialect/attn/CapturedGradients.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attnc::attn;

/// Whether `value`, of a region of bounds, never falls, or never rises, while the keys that it is for move on.
static bool isMonotonic(Value value, Region &region, bool rises) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    constexpr unsigned firstPosition = 2; // of (batch, head, first, last)
    return rises || argument.getOwner()->getParent() != &region || argument.getArgNumber() < firstPosition;
  }
  Operation *op = value.getDefiningOp();
  if (op->getParentRegion() != &region || op->hasTrait<OpTrait::ConstantLike>())
    return true;
  auto is = [&](unsigned operand, bool direction) { return isMonotonic(op->getOperand(operand), region, direction); };
  if (isa<arith::IndexCastOp, arith::ExtSIOp>(op))
    return is(0, rises);
  if (isa<arith::AddIOp, arith::MinSIOp, arith::MaxSIOp>(op))
    return is(0, rises) && is(1, rises);
  if (isa<arith::SubIOp>(op))
    return is(0, rises) && is(1, !rises);
  APInt factor;
  if (!isa<arith::MulIOp, arith::DivSIOp, arith::FloorDivSIOp, arith::CeilDivSIOp>(op) ||
      !matchPattern(op->getOperand(1), m_ConstantInt(&factor)))
    return false;
  return is(0, factor.isNegative() ? !rises : rises);
}

/// Whether the tiles of keys that reach a query follow each other: the first and the last query that a tile reaches
/// rise with its number. A tile adds after the next one then, if that reaches the query, and else before all others.
static bool areTilesOfQueriesAdjacent(BackwardOp op) {
  if (!op.getBlocks().empty())
    return false;
  Region &bounds = op.getQueryBounds();
  if (op.getMask().empty() || bounds.empty())
    return true;
  Operation *yield = bounds.front().getTerminator();
  return isMonotonic(yield->getOperand(0), bounds, /*rises=*/true) &&
         isMonotonic(yield->getOperand(3), bounds, /*rises=*/true);
}

bool attnc::attn::mayAddUpQueries(BackwardOp op, bool listsSteps, bool keepsOrder) {
  // What rows of queries add up for captured tensors is the business of a program whose tiles are of queries.
  bool hasRowSums =
      !getCapturedGradients(op, {CapturedForm::Tiles, CapturedForm::QuerySums, CapturedForm::Sums}).empty();
  // Keys that do not exist are masked, and where each step is looked at, data may say that nothing is. Their scores may
  // be no numbers then, or their gradients beyond f16; else they are finite, and times keys of 0.
  bool isNarrow = cast<RankedTensorType>(op.getQuery().getType()).getElementType().isF16();
  bool leavesOutMasks = !op.getBlocks().empty() && !listsSteps && (isNarrow || !op.getScore().empty());
  return !KernelOpInterface(op).isPacked() && !hasRowSums && !leavesOutMasks &&
         (!isDeterministic(op) || (keepsOrder && areTilesOfQueriesAdjacent(op)));
}
