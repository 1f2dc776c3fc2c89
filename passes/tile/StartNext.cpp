//===- StartNext.cpp - Kernels that start before one ends -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/tile/TileQueries.h"
#include "passes/tile/Passes.h"

namespace attnc::tile {
#define GEN_PASS_DEF_TILESTARTNEXT
#include "passes/tile/Passes.h.inc"
} // namespace attnc::tile

using namespace mlir;
using namespace attnc::tile;

namespace {
struct StartNext : attnc::tile::impl::TileStartNextBase<StartNext> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<ProgramOp>()) {
      auto next = dyn_cast_or_null<ProgramOp>(program->getNextNode());
      // One that is of other launches starts nothing: a launch knows which of its kernels may be early. Where a program
      // lists steps, saying so took longer than it gained (docs/rationale/hopper-variants.md).
      if (next && startsEarly(next) && !listsSteps(program))
        program->setAttr(startsNextAttrName, UnitAttr::get(&getContext()));
    }
  }
};
} // namespace
