//===- DeferRowSums.cpp - Sums over lanes after the loop --------*- C++ -*-===//
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

/// Whether `value` is `state`, multiplied by row factors or added to by a reduction or a step of the online softmax, on
/// every way through branches; collects the operations in between.
static bool isSumOver(Value value, Value state, SmallPtrSetImpl<Operation *> &path) {
  if (value == state)
    return true;
  path.insert(value.getDefiningOp());
  if (auto reduce = value.getDefiningOp<ReduceOp>())
    return reduce.getKind() == ReduceKind::Add && reduce->hasOneUse() && isSumOver(reduce.getAcc(), state, path);
  if (auto softmax = value.getDefiningOp<SoftmaxOp>())
    return value == softmax.getNewSum() && value.hasOneUse() && isSumOver(softmax.getSum(), state, path);
  if (auto product = value.getDefiningOp<arith::MulFOp>())
    return product->hasOneUse() && isSumOver(product.getLhs(), state, path);
  if (auto branch = value.getDefiningOp<scf::IfOp>()) {
    unsigned number = cast<OpResult>(value).getResultNumber();
    return value.hasOneUse() && isSumOver(branch.thenYield().getOperand(number), state, path) &&
           isSumOver(branch.elseYield().getOperand(number), state, path);
  }
  return false;
}

/// Whether nothing but the operations of `path` reads `state`, an argument of `loop`.
static bool isReadBy(const SmallPtrSetImpl<Operation *> &path, Value state, scf::ForOp loop) {
  return llvm::all_of(state.getUsers(), [&](Operation *user) {
    Operation *reader = isa<scf::YieldOp>(user) ? user->getParentOp() : user;
    return reader == loop || path.contains(reader);
  });
}

static void defer(scf::ForOp loop) {
  for (auto [number, yielded] : llvm::enumerate(loop.getYieldedValues())) {
    Value state = loop.getRegionIterArg(number);
    SmallPtrSet<Operation *, 8> path;
    if (!isSumOver(yielded, state, path) || !isReadBy(path, state, loop) ||
        llvm::none_of(path, llvm::IsaPred<ReduceOp, SoftmaxOp>))
      continue;
    for (Operation *op : path) {
      if (auto sum = dyn_cast<ReduceOp>(op))
        sum.setPartial(true);
      if (auto softmax = dyn_cast<SoftmaxOp>(op))
        softmax.setPartial(true);
    }
    OpBuilder builder(loop);
    OpOperand &init = loop.getInitArgsMutable()[number];
    init.set(LanePartialOp::create(builder, loop.getLoc(), init.get()));
    builder.setInsertionPointAfter(loop);
    Value result = loop.getResult(number);
    auto total = WarpReduceOp::create(builder, loop.getLoc(), result);
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
