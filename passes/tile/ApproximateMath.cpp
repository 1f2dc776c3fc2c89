//===- ApproximateMath.cpp - Whether approximations will do -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "passes/tile/Passes.h"

namespace attnc::tile {
#define GEN_PASS_DEF_TILEAPPROXIMATEMATH
#include "passes/tile/Passes.h.inc"
} // namespace attnc::tile

using namespace mlir;
using namespace attnc;
using namespace attnc::tile;

namespace {
struct ApproximateMath : attnc::tile::impl::TileApproximateMathBase<ApproximateMath> {
  void runOnOperation() override {
    if (!getOperation().getPipelineAttr())
      return;
    bool isNarrow = false;
    auto look = [&](Value operand) { isNarrow |= getTileType(operand).getElementTypeBitWidth() == 16; };
    getOperation().walk([&](StartOp start) { look(start.getB()); });
    getOperation().walk([&](MmaOp product) { look(product.getB()); });
    if (isNarrow)
      getOperation()->setAttr(approximateMathAttrName, UnitAttr::get(&getContext()));
  }
};
} // namespace
