//===- WidenLoads.cpp - Loads whose columns nobody asks for -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/tile/TensorBox.h"
#include "dialect/tile/TileQueries.h"
#include "passes/tile/Passes.h"

namespace attnc::tile {
#define GEN_PASS_DEF_TILEWIDENLOADS
#include "passes/tile/Passes.h.inc"
} // namespace attnc::tile

using namespace mlir;
using namespace attnc::tile;

/// Whether `load` may bring 16 bytes for each lane of a row at a time: 16-bit elements, in rows of whole such runs.
static bool mayBeWide(LoadOp load) {
  constexpr int64_t wideBits = 128, elementBits = 16;
  VectorType type = load.getResult().getType();
  return isTile(type) && !load.getBlocked() && !load.getPages() && !load->hasAttr(predicatedAttrName) &&
         type.getElementTypeBitWidth() == elementBits &&
         type.getDimSize(1) % (lanesOfRow * wideBits / elementBits) == 0;
}

/// Whether `map` is the same for all columns, and what it gives only goes into row sums.
static bool goesIntoSums(MapOp map) {
  Value column = map.getBody().front().getArguments().back();
  return map.getCols().empty() && column.use_empty() && llvm::all_of(map->getUsers(), [](Operation *user) {
           auto reduce = dyn_cast<ReduceOp>(user);
           return reduce && reduce.getKind() == ReduceKind::Add;
         });
}

/// The loads of all tiles that `map` reads, or nothing where one of them must have its own columns.
static SmallVector<LoadOp> findWideLoads(MapOp map) {
  SmallVector<LoadOp> loads;
  for (Value tile : map.getTiles()) {
    auto load = tile.getDefiningOp<LoadOp>();
    if (!load || !mayBeWide(load) || llvm::any_of(load->getUsers(), [&](Operation *user) { return user != map; }))
      return {};
    loads.push_back(load);
  }
  return loads;
}

namespace {
struct WidenLoads : attnc::tile::impl::TileWidenLoadsBase<WidenLoads> {
  void runOnOperation() override {
    ProgramOp program = getOperation();
    // Warps that have the same rows have some of the columns each.
    if (!program.getPipelineAttr() || countPartsOfRows(program) > 1)
      return;
    program.walk([&](MapOp map) {
      if (!goesIntoSums(map))
        return;
      for (LoadOp load : findWideLoads(map)) {
        load->setAttr(adjacentAttrName, UnitAttr::get(&getContext()));
        ++numWidened;
      }
    });
  }
};
} // namespace
