//===- ShareReciprocals.cpp - One reciprocal for several tanh ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/attn/AttnAttrs.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "passes/tile/Passes.h"

namespace attnc::tile {
#define GEN_PASS_DEF_TILESHARERECIPROCALS
#include "passes/tile/Passes.h.inc"
} // namespace attnc::tile

using namespace mlir;
using namespace attnc;
using namespace attnc::tile;

/// Elements that share a reciprocal. Two leave 2.5 operations an element to the unit of functions, four 2.25. Eight
/// leave 2.13, but their product takes more than the range of f32 (docs/rationale/hopper-variants.md).
static constexpr int64_t sharingElements = 4;

/// How many times an error of a shared tanh may reach an LSE: it is up to 2^-20, of which 64 are 0.6 of what an LSE may
/// be off by (docs/spec.md).
static constexpr double greatestReach = 64;

static bool makesNaNOfRow(Value value);

/// Whether NaN in the element that `use` reads is NaN in what comes of it, whatever other elements are.
static bool handsNaNOn(OpOperand &use) {
  Operation *user = use.getOwner();
  if (isa<YieldOp>(user)) {
    auto map = dyn_cast<MapOp>(user->getParentOp());
    return map && makesNaNOfRow(map.getResult(use.getOperandNumber()));
  }
  // The weights are in the row's sum, which divides all of the row.
  if (isa<math::Exp2Op>(user) && user->hasAttr(weightAttrName))
    return true;
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::NegFOp, math::FmaOp>(user) &&
         makesNaNOfRow(user->getResult(0));
}

/// Whether NaN in an element of `value` makes all results of its row NaN: nothing chooses between it and something
/// else, as a mask does. Maxima prefer numbers, but their weights are computed all the same.
static bool makesNaNOfRow(Value value) {
  return !value.use_empty() && llvm::all_of(value.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (auto reduce = dyn_cast<ReduceOp>(user))
      return reduce.getKind() == ReduceKind::Max;
    if (auto map = dyn_cast<MapOp>(user)) {
      unsigned number = use.getOperandNumber();
      if (number >= map.getTiles().size())
        return false;
      Value element = map.getBody().getArgument(number);
      return !element.use_empty() && llvm::all_of(element.getUses(), handsNaNOn);
    }
    return handsNaNOn(use);
  });
}

namespace {
struct ShareReciprocals : attnc::tile::impl::TileShareReciprocalsBase<ShareReciprocals> {
  void runOnOperation() override {
    if (!getOperation().getPipelineAttr())
      return;
    getOperation()->walk([&](math::TanhOp tanh) {
      auto reach = tanh->getAttrOfType<FloatAttr>(attn::errorOfOneAttrName);
      if (!reach || reach.getValueAsDouble() > greatestReach || !isa<MapOp>(tanh->getParentOp()) ||
          !llvm::all_of(tanh->getUses(), handsNaNOn))
        return;
      tanh->setAttr(sharedReciprocalAttrName, IntegerAttr::get(IntegerType::get(&getContext(), 64), sharingElements));
      ++numShared;
    });
  }
};
} // namespace
