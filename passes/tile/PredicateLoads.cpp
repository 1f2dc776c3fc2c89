//===- PredicateLoads.cpp - Loads without branches --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/tile/TileQueries.h"
#include "passes/tile/Passes.h"

namespace attnc::tile {
#define GEN_PASS_DEF_TILEPREDICATELOADS
#include "passes/tile/Passes.h.inc"
} // namespace attnc::tile

using namespace mlir;
using namespace attnc;
using namespace attnc::tile;

/// Whether a thread reads more than one element of a row for `load`, at places that limits may cut: a vector along rows
/// is one element a row, and blocks of a workspace are whole.
static bool mayBranch(LoadOp load) {
  auto type = cast<VectorType>(load.getResult().getType());
  return (isTile(type) || isColumnVector(type)) && !load.getBlocked();
}

namespace {
struct PredicateLoads : attnc::tile::impl::TilePredicateLoadsBase<PredicateLoads> {
  void runOnOperation() override {
    if (!getOperation().getPipelineAttr() || !sharesTiles(getOperation()))
      return;
    getOperation().walk([&](LoadOp load) {
      if (!mayBranch(load))
        return;
      load->setAttr(predicatedAttrName, UnitAttr::get(&getContext()));
      ++numPredicated;
    });
  }
};
} // namespace
