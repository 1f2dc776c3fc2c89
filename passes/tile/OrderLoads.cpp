//===- OrderLoads.cpp - Loads of a thread on their way at once --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/tile/TensorBox.h"
#include "passes/tile/Passes.h"
#include "llvm/Support/MathExtras.h"

namespace attnc::tile {
#define GEN_PASS_DEF_TILEORDERLOADS
#include "passes/tile/Passes.h.inc"
} // namespace attnc::tile

using namespace mlir;
using namespace attnc;
using namespace attnc::tile;

/// Columns of f32 from which on accumulators leave room for the right operand of one product at a time, not of two.
static constexpr int64_t fullColumns = 224;
/// Columns of one product of a warp.
static constexpr int64_t productColumns = 8;
/// Of parts of f32: loads that keep tensor cores busy where a warp has one product for each.
static constexpr int64_t loadsOfParts = 2;
/// Of minima and maxima: loads that one tile of keys takes, and those of a row that counts as short.
static constexpr int64_t loadsOfTile = 4, loadsOfShortRow = 8;
/// Steps of a list whose short rows a warp loads together.
static constexpr int64_t stepsOfList = 4;

/// Elements along the last dimension of a box that is known to be a short row; 0 of other boxes.
static int64_t lengthOfShortRow(MinMaxOp minMax) {
  int64_t most = minMax.getMost().value_or(0);
  return minMax.isRow() && most <= loadsOfShortRow * lanesOfWarp ? most : 0;
}

namespace {
struct OrderLoads : attnc::tile::impl::TileOrderLoadsBase<OrderLoads> {
  void runOnOperation() override {
    if (!getOperation().getPipelineAttr())
      return;
    getOperation().walk([&](Operation *op) {
      if (auto product = dyn_cast<MmaOp>(op))
        order(product);
      else if (auto minMax = dyn_cast<MinMaxOp>(op))
        setTogether(op, std::max(loadsOfTile, llvm::divideCeilSigned(lengthOfShortRow(minMax), lanesOfWarp)));
      else if (isa<BlockMaskOp>(op))
        setTogether(op, stepsOfList);
    });
  }

  void setTogether(Operation *op, int64_t count) {
    op->setAttr(loadsTogetherAttrName, Builder(op).getI64IntegerAttr(count));
    ++numOrdered;
  }

  /// Each product waits for the one before it in its sum. Where a warp has sixteen rows, the two of one load leave
  /// tensor cores idle: of parts, which take no registers as numbers as well, two loads come at once.
  void order(MmaOp product) {
    if (!getTileType(product.getA()).getElementType().isF32())
      return;
    Builder builder(product);
    product->setAttr(loadAheadAttrName, builder.getUnitAttr());
    bool isInParts = tile::isInParts(product.getB()), hasSixteenRows = getOperation().getPanel() == warpgroupRows;
    if (!isInParts && product.getType().getDimSize(1) > fullColumns)
      product->setAttr(loadColumnsAttrName, builder.getI64IntegerAttr(productColumns));
    if (isInParts && hasSixteenRows)
      product->setAttr(loadsTogetherAttrName, builder.getI64IntegerAttr(loadsOfParts));
    ++numOrdered;
  }
};
} // namespace
