//===- FuseExponent.cpp - (x - m) * c as one operation ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "passes/tile/Passes.h"
#include "passes/tile/SoftmaxEnd.h"

namespace attnc::tile {
#define GEN_PASS_DEF_TILEFUSEEXPONENT
#include "passes/tile/Passes.h.inc"
} // namespace attnc::tile

using namespace mlir;
using namespace attnc::tile;

/// How the exponents of `softmax` are computed in a program that is rescaled on overflow, or in another. Weights that
/// nothing reads are rounded for nobody: sums of a walk that only takes sums go with exact exponents.
static Exponent chooseExponent(SoftmaxOp softmax, bool onOverflow) {
  Type element = cast<VectorType>(softmax.getWeights().getType()).getElementType();
  if (softmax.getWeights().use_empty() || softmax.getScale().isExactlyValue(1))
    return Exponent::Exact;
  return element.isBF16() ? Exponent::Fused : element.isF16() && onOverflow ? Exponent::Split : Exponent::Exact;
}

/// Whether a product takes the weights of `softmax` as they are rounded, and those of maxima would not be if exponents
/// were exact. Under dropout the product may not take that of the maximum, and relative to a fixed number any weight is
/// rounded.
static bool isRoundedForProduct(SoftmaxOp softmax) {
  return !softmax.getNumbers() && !softmax.getFixed() &&
         llvm::any_of(softmax.getWeights().getUsers(), [&](Operation *user) {
           auto product = dyn_cast<MmaOp>(user);
           return product && product.getA() == softmax.getWeights();
         });
}

namespace {
struct FuseExponent : attnc::tile::impl::TileFuseExponentBase<FuseExponent> {
  void runOnOperation() override {
    if (!getOperation().getPipelineAttr())
      return;
    bool onOverflow = getOperation().getPipelineAttr().getRescaling() == attnc::attn::Rescaling::OnOverflow;
    getOperation()->walk([&](SoftmaxOp softmax) {
      Exponent exponent = chooseExponent(softmax, onOverflow);
      softmax.setExponent(exponent);
      if (exponent == Exponent::Exact || !isRoundedForProduct(softmax))
        return;
      if (SoftmaxEndOp end = findEnd(softmax.getNewSum())) {
        end.setExponent(exponent);
        end.setRounded(cast<VectorType>(softmax.getWeights().getType()).getElementType());
      }
    });
  }
};
} // namespace
