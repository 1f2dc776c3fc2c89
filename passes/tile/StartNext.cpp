//===- StartNext.cpp - Kernels that start before one ends -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/tile/TileOps.h"
#include "passes/tile/Passes.h"

namespace attnc::tile {
#define GEN_PASS_DEF_TILESTARTNEXT
#include "passes/tile/Passes.h.inc"
} // namespace attnc::tile

using namespace mlir;
using namespace attnc::tile;

/// Whether `program` lists the steps of a block mask. Saying that the next kernel may start took longer than it gained
/// there (docs/rationale/hopper-variants.md).
static bool listsSteps(ProgramOp program) {
  return program.walk([](BlockMaskOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

namespace {
struct StartNext : attnc::tile::impl::TileStartNextBase<StartNext> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<ProgramOp>()) {
      auto next = dyn_cast_or_null<ProgramOp>(program->getNextNode());
      // One that is of other launches starts nothing: a launch knows which of its kernels may be early.
      if (next && next.getPipelineAttr() && next.getPipelineAttr().getEarly() && !listsSteps(program))
        program->setAttr(startsNextAttrName, UnitAttr::get(&getContext()));
    }
  }
};
} // namespace
