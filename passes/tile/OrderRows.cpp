//===- OrderRows.cpp - One row of a thread after the other ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/tile/RowwiseOps.h"
#include "mlir/IR/Matchers.h"
#include "passes/tile/Passes.h"

namespace attnc::tile {
#define GEN_PASS_DEF_TILEORDERROWS
#include "passes/tile/Passes.h.inc"
} // namespace attnc::tile

using namespace mlir;
using namespace attnc;
using namespace attnc::tile;

/// Whether the elements of `tile` have had what is the same for their rows left out (`tile-anchor-columns`).
static bool isShifted(Value tile) {
  while (auto mask = tile.getDefiningOp<MaskOp>())
    tile = mask.getTiles().front();
  auto map = tile.getDefiningOp<MapOp>();
  Operation *sum = map ? map.getBody().front().getTerminator()->getOperand(0).getDefiningOp() : nullptr;
  return sum && sum->hasAttr(rowShiftAttrName);
}

/// A row by itself has its maximum sooner by several chains. Overlapped with other work, of elements with a shift or of
/// a function that the maxima do not wait for, two are enough.
static int64_t chooseChains(ReduceOp reduce) {
  return isShifted(reduce.getSource()) || matchPattern(reduce.getAcc(), m_Constant()) ? 2 : 4;
}

namespace {
struct OrderRows : attnc::tile::impl::TileOrderRowsBase<OrderRows> {
  void runOnOperation() override {
    attn::PipelineAttr pipeline = getOperation().getPipelineAttr();
    if (!pipeline || !pipeline.getByRow())
      return;
    getOperation().walk([&](Block *block) {
      forEachRowwiseRun(*block, [&](ArrayRef<Operation *> run) {
        if (llvm::any_of(run, llvm::IsaPred<ReduceOp>))
          order(run);
      });
    });
  }

  /// Sums come last, with what is made from them: nothing else waits for them. So does what asks all rows at once.
  void order(ArrayRef<Operation *> run) {
    Builder builder(&getContext());
    llvm::SmallPtrSet<Operation *, 8> late;
    for (Operation *op : run) {
      auto reduce = dyn_cast<ReduceOp>(op);
      auto map = dyn_cast<MapOp>(op);
      bool isSum = reduce && reduce.getPartial(), asksAll = map && map.getMostlyOne();
      if (isSum || asksAll ||
          llvm::any_of(op->getOperands(), [&](Value value) { return late.contains(value.getDefiningOp()); })) {
        late.insert(op);
        continue;
      }
      op->setAttr(byRowAttrName, builder.getUnitAttr());
      ++numOrdered;
      if (reduce && reduce.getKind() == ReduceKind::Max)
        op->setAttr(chainsAttrName, builder.getI64IntegerAttr(chooseChains(reduce)));
    }
  }
};
} // namespace
