//===- NonpositiveExponents.cpp - Exponentials that cannot overflow -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/cpu/NonpositiveExponents.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attnc;

/// Whether `rows` are the row maxima of `tile`, or 0 where these are -inf, as all of the tile's row then is.
static bool isMaximumOf(Value rows, Value tile) {
  if (auto choice = rows.getDefiningOp<arith::SelectOp>()) {
    auto compare = choice.getCondition().getDefiningOp<arith::CmpFOp>();
    if (!compare || compare.getPredicate() != arith::CmpFPredicate::OEQ || compare.getLhs() != choice.getFalseValue() ||
        !matchPattern(compare.getRhs(), m_NegInfFloat()))
      return false;
    rows = choice.getFalseValue();
  }
  auto reduce = rows.getDefiningOp<tile::ReduceOp>();
  return reduce && reduce.getKind() == tile::ReduceKind::Max && reduce.getSource() == tile;
}

void cpu::markNonpositiveExponents(tile::ProgramOp program) {
  program.walk([](math::ExpOp exponential) {
    auto map = dyn_cast<tile::MapOp>(exponential->getParentOp());
    if (!map)
      return;
    Value argument = exponential.getOperand();
    FloatAttr scale;
    if (auto product = argument.getDefiningOp<arith::MulFOp>();
        product && matchPattern(product.getRhs(), m_Constant(&scale)) && !scale.getValue().isNegative())
      argument = product.getLhs();
    auto difference = argument.getDefiningOp<arith::SubFOp>();
    if (!difference)
      return;
    auto left = dyn_cast<BlockArgument>(difference.getLhs()), right = dyn_cast<BlockArgument>(difference.getRhs());
    int64_t tiles = map.getTiles().size(), rows = map.getRows().size();
    if (!left || !right || left.getOwner() != &map.getRegion().front() || right.getOwner() != left.getOwner())
      return;
    int64_t row = static_cast<int64_t>(right.getArgNumber()) - tiles;
    if (left.getArgNumber() < tiles && row >= 0 && row < rows &&
        isMaximumOf(map.getRows()[row], map.getTiles()[left.getArgNumber()]))
      exponential->setAttr(nonpositiveAttrName, UnitAttr::get(exponential.getContext()));
  });
}
