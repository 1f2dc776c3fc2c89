//===- ReverseLoops.cpp - From the last keys to the first -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/tile/LoopStages.h"
#include "passes/tile/Passes.h"

namespace attnc::tile {
#define GEN_PASS_DEF_TILEREVERSELOOPS
#include "passes/tile/Passes.h.inc"
} // namespace attnc::tile

using namespace mlir;
using namespace attnc::tile;

/// Has `loop` count how far it has come from its last step, under a condition that it has one.
static void reverse(scf::ForOp loop) {
  guardLoop(loop);
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  Value low = loop.getLowerBound(), high = loop.getUpperBound(), size = loop.getStep();
  Value distance = arith::SubIOp::create(builder, loc, high, low);
  Value steps = arith::CeilDivUIOp::create(builder, loc, distance, size);
  Value length = arith::MulIOp::create(builder, loc, steps, size);
  Value end = arith::AddIOp::create(builder, loc, low, length);
  Value last = arith::SubIOp::create(builder, loc, end, size);
  loop.setLowerBound(arith::ConstantIndexOp::create(builder, loc, 0));
  loop.setUpperBound(length);
  builder.setInsertionPointToStart(loop.getBody());
  auto place = arith::SubIOp::create(builder, loc, last, loop.getInductionVar());
  loop.getInductionVar().replaceAllUsesExcept(place, place);
}

namespace {
struct ReverseLoops : attnc::tile::impl::TileReverseLoopsBase<ReverseLoops> {
  void runOnOperation() override {
    for (scf::ForOp loop : findOverlappedLoops(getOperation()))
      if (getOverlap(loop) == Overlap::WeightsAhead) {
        reverse(loop);
        ++numReversed;
      }
  }
};
} // namespace
