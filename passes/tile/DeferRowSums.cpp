//===- DeferRowSums.cpp - Sums over lanes behind the loop -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/tile/Passes.h"

namespace attnc::tile {
#define GEN_PASS_DEF_TILEDEFERROWSUMS
#include "passes/tile/Passes.h.inc"
} // namespace attnc::tile

using namespace mlir;
using namespace attnc::tile;

/// Whether `value` is `state`, multiplied by row factors or added to by a reduction, on every way through branches;
/// collects the reductions.
static bool isSumOver(Value value, Value state, SmallVectorImpl<ReduceOp> &sums) {
  if (value == state)
    return true;
  if (auto reduce = value.getDefiningOp<ReduceOp>()) {
    sums.push_back(reduce);
    return reduce.getKind() == ReduceKind::Add && reduce->hasOneUse() && isSumOver(reduce.getAcc(), state, sums);
  }
  if (auto product = value.getDefiningOp<arith::MulFOp>())
    return product->hasOneUse() && isSumOver(product.getLhs(), state, sums);
  if (auto branch = value.getDefiningOp<scf::IfOp>()) {
    unsigned number = cast<OpResult>(value).getResultNumber();
    return value.hasOneUse() && isSumOver(branch.thenYield().getOperand(number), state, sums) &&
           isSumOver(branch.elseYield().getOperand(number), state, sums);
  }
  return false;
}

static void defer(scf::ForOp loop) {
  for (auto [number, yielded] : llvm::enumerate(loop.getYieldedValues())) {
    SmallVector<ReduceOp> sums;
    if (!isSumOver(yielded, loop.getRegionIterArg(number), sums) || sums.empty())
      continue;
    for (ReduceOp sum : sums)
      sum.setPartial(true);
    OpBuilder builder(loop);
    OpOperand &init = loop.getInitArgsMutable()[number];
    init.set(SpreadOp::create(builder, loop.getLoc(), init.get()));
    builder.setInsertionPointAfter(loop);
    Value result = loop.getResult(number);
    auto total = TotalOp::create(builder, loop.getLoc(), result);
    result.replaceAllUsesExcept(total, total);
  }
}

namespace {
struct DeferRowSums : attnc::tile::impl::TileDeferRowSumsBase<DeferRowSums> {
  void runOnOperation() override {
    if (getOperation().getPipelineAttr())
      getOperation()->walk([](scf::ForOp loop) { defer(loop); });
  }
};
} // namespace
