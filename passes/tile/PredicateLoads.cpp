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
    ProgramOp program = getOperation();
    // Measured: of programs by warps, gradients whose warps have rows of their own, and forward, are faster by
    // branches.
    bool gainsByBranches = !hasRoles(program) && (countPartsOfRows(program) == 1 || joinsRows(program));
    if (!sharesTiles(program) || gainsByBranches)
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
