//===- ExpandPhilox.cpp - Random numbers element by element -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/tile/Philox.h"
#include "dialect/tile/TileOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/tile/Passes.h"

namespace attnc::tile {
#define GEN_PASS_DEF_TILEEXPANDPHILOX
#include "passes/tile/Passes.h.inc"
} // namespace attnc::tile

using namespace mlir;
using namespace attnc::tile;

/// Lets the region of `map` compute the number of its element, in place of tile operand `operand`.
static void expandInto(MapOp map, unsigned operand) {
  auto philox = map.getTiles()[operand].getDefiningOp<PhiloxOp>();
  Block &body = map.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  Location loc = philox.getLoc();
  // Maps may count from elsewhere.
  auto from = [&](Value coordinate, Value ofMap, Value start) -> Value {
    if (ofMap == start)
      return coordinate;
    return arith::AddIOp::create(builder, loc, arith::SubIOp::create(builder, loc, coordinate, ofMap), start);
  };
  bool turned = philox.getTransposed();
  Value row = from(body.getArguments().end()[-2], map.getI(), turned ? philox.getJ() : philox.getI());
  Value column = from(body.getArguments().back(), map.getJ(), turned ? philox.getI() : philox.getJ());
  Value number = buildPhiloxNumber(builder, loc, philox.getSeed(), philox.getB(), philox.getH(), turned ? column : row,
                                   turned ? row : column);
  body.getArgument(operand).replaceAllUsesWith(
      arith::TruncIOp::create(builder, loc, builder.getI16Type(), number).getResult());
  body.eraseArgument(operand);
  map.getTilesMutable().erase(operand);
}

namespace {
struct ExpandPhilox : attnc::tile::impl::TileExpandPhiloxBase<ExpandPhilox> {
  void runOnOperation() override {
    if (getOperation().getPipelineAttr())
      return;
    getOperation()->walk([](PhiloxOp philox) {
      for (Operation *user : llvm::make_early_inc_range(philox->getUsers()))
        expandInto(cast<MapOp>(user), llvm::find(user->getOperands(), philox.getResult()).getIndex());
      philox.erase();
    });
  }
};
} // namespace
