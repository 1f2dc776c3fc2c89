//===- BoundLaunch.cpp - Blocks of a multiprocessor -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/tile/TensorBox.h"
#include "dialect/tile/TileQueries.h"
#include "passes/tile/Passes.h"

namespace attnc::tile {
#define GEN_PASS_DEF_TILEBOUNDLAUNCH
#include "passes/tile/Passes.h.inc"
} // namespace attnc::tile

using namespace mlir;
using namespace attnc;
using namespace attnc::tile;

/// Whether a multiprocessor is to have one block of `program` at a time, and a thread all the registers that this
/// leaves it.
static bool takesWholeMultiprocessor(ProgramOp program) {
  // With a block a multiprocessor, and only then, registers move between warpgroups.
  if (hasRoles(program))
    return true;
  // Of f32, the assembler would spill some registers so that one more block fits, and of products by the largest
  // blocks, half of all that they have.
  bool isLargest = program.getPipelineAttr().getConsumers() * warpgroupThreads == mostThreads;
  return program
      .walk([&](MmaOp product) {
        bool wants = isLargest || getTileType(product.getB()).getElementType().isF32();
        return wants ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {
struct BoundLaunch : attnc::tile::impl::TileBoundLaunchBase<BoundLaunch> {
  void runOnOperation() override {
    if (getOperation().getPipelineAttr() && takesWholeMultiprocessor(getOperation()))
      getOperation()->setAttr(minBlocksAttrName, Builder(&getContext()).getI64IntegerAttr(1));
  }
};
} // namespace
