//===- ContractExponent.cpp - (x - m) * c + (m * c + b) ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "passes/tile/Passes.h"

namespace attnc::tile {
#define GEN_PASS_DEF_TILECONTRACTEXPONENT
#include "passes/tile/Passes.h.inc"
} // namespace attnc::tile

using namespace mlir;
using namespace attnc::tile;

/// The row vector that stands for `argument` in the body of `map`, or null.
static Value findRow(MapOp map, Value argument) {
  auto block = dyn_cast<BlockArgument>(argument);
  if (!block || block.getOwner() != &map.getBody().front() || block.getArgNumber() < map.getTiles().size())
    return {};
  unsigned number = block.getArgNumber() - map.getTiles().size();
  return number < map.getRows().size() ? map.getRows()[number] : Value();
}

/// Writes `sum` as x c + b where it is (x - m) c + t, and t = m c + b in each row.
static bool contract(MapOp map, math::FmaOp sum) {
  auto difference = sum.getA().getDefiningOp<arith::SubFOp>();
  Value maxima = difference ? findRow(map, difference.getRhs()) : Value(), rest = findRow(map, sum.getC());
  auto made = maxima && rest && sum.getC().hasOneUse() ? rest.getDefiningOp<math::FmaOp>() : math::FmaOp();
  FloatAttr factor;
  DenseFPElementsAttr factors;
  if (!made || made.getA() != maxima || !matchPattern(sum.getB(), m_Constant(&factor)) ||
      !matchPattern(made.getB(), m_Constant(&factors)) || !factors.isSplat() ||
      factors.getSplatValue<APFloat>() != factor.getValue())
    return false;
  unsigned number = cast<BlockArgument>(sum.getC()).getArgNumber() - map.getTiles().size();
  map.getRowsMutable()[number].set(made.getC());
  sum.getAMutable().set(difference.getLhs());
  if (difference.use_empty())
    difference.erase();
  return true;
}

namespace {
struct ContractExponent : attnc::tile::impl::TileContractExponentBase<ContractExponent> {
  void runOnOperation() override {
    getOperation()->walk([&](MapOp map) {
      for (auto sum : map.getBody().getOps<math::FmaOp>())
        numContracted += contract(map, sum);
    });
  }
};
} // namespace
