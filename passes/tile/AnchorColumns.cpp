//===- AnchorColumns.cpp - Products with linear columns ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/tile/RowTerms.h"
#include "dialect/tile/TensorBox.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/tile/Passes.h"

namespace attnc::tile {
#define GEN_PASS_DEF_TILEANCHORCOLUMNS
#include "passes/tile/Passes.h.inc"
} // namespace attnc::tile

using namespace mlir;
using namespace attnc;
using namespace attnc::tile;

/// Whether all that uses a tile adds what has been left out of its elements: maps and maxima do, and masks hand it on.
static bool takesShift(Value tile, Block *block) {
  return llvm::all_of(tile.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (!block->findAncestorOpInBlock(*user))
      return false;
    if (auto mask = dyn_cast<MaskOp>(user))
      return takesShift(mask.getResult(), block);
    auto reduce = dyn_cast<ReduceOp>(user);
    return isa<MapOp>(user) || (reduce && reduce.getKind() == ReduceKind::Max);
  });
}

/// The last column of a thread, counted from its first: of each group of columns it has the first two from there on.
static int64_t findLastColumn(MapOp map) {
  return cast<VectorType>(map.getResult(0).getType()).getDimSize(1) - columnsOfGroup + 1;
}

namespace {
struct AnchorColumns : attnc::tile::impl::TileAnchorColumnsBase<AnchorColumns> {
  void runOnOperation() override {
    if (!getOperation()->hasAttr(approximateMathAttrName))
      return;
    getOperation().walk([&](MapOp map) {
      bool isCut = llvm::any_of(map->getUsers(), llvm::IsaPred<MaskOp>);
      if (!isCut && map->hasAttr(upToQueryAttrName))
        anchorProducts(map);
    });
  }

  void anchorProducts(MapOp map) {
    Builder builder(&getContext());
    Block &body = map.getBody().front();
    RowTerms terms(map);
    for (Operation &op : body.without_terminator()) {
      if (terms.isLinearProduct(op)) {
        op.setAttr(anchorAttrName, builder.getI64IntegerAttr(findLastColumn(map)));
        ++numAnchored;
      }
      (void)terms.add(op);
    }
    Operation *sum = body.getTerminator()->getOperand(0).getDefiningOp();
    if (map->getNumResults() != 1 || !isa_and_nonnull<arith::AddFOp, arith::SubFOp>(sum) || sum->getBlock() != &body ||
        terms.find(sum->getResult(0)) || !sum->getResult(0).getType().isF32() ||
        !takesShift(map.getResult(0), map->getBlock()))
      return;
    std::optional<RowTerm> term = terms.find(sum->getOperand(1));
    if (!term || term->isUniform() || term->magnitude)
      return;
    sum->setAttr(rowShiftAttrName, builder.getUnitAttr());
    ++numShifted;
  }
};
} // namespace
