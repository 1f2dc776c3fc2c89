//===- FuseProducts.cpp - Products and sums that round once -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/nvrtc/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace attnc::nvrtc {
#define GEN_PASS_DEF_NVRTCFUSEPRODUCTS
#include "codegen/nvrtc/Passes.h.inc"
} // namespace attnc::nvrtc

using namespace mlir;
using namespace attnc;

template <typename Op>
static bool mayFuse(Op op) {
  return op && bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::contract);
}

/// The product that `value` is and that may be fused with what reads it, or null.
static arith::MulFOp findProduct(Value value) {
  auto product = value.getDefiningOp<arith::MulFOp>();
  return mayFuse(product) ? product : arith::MulFOp();
}

/// `sum` as one operation with a product that it reads, or null.
static Value fuse(OpBuilder &b, Operation *sum) {
  bool subtracts = isa<arith::SubFOp>(sum);
  Location loc = sum->getLoc();
  auto negate = [&](Value x) -> Value { return arith::NegFOp::create(b, loc, x); };
  Value left = sum->getOperand(0), right = sum->getOperand(1);
  if (auto product = findProduct(left))
    return math::FmaOp::create(b, loc, product.getLhs(), product.getRhs(), subtracts ? negate(right) : right);
  if (auto product = findProduct(right))
    return math::FmaOp::create(b, loc, subtracts ? negate(product.getLhs()) : product.getLhs(), product.getRhs(), left);
  return {};
}

namespace {
struct NvrtcFuseProducts : nvrtc::impl::NvrtcFuseProductsBase<NvrtcFuseProducts> {
  void runOnOperation() override {
    SmallVector<Operation *> sums;
    getOperation()->walk([&](Operation *op) {
      if (mayFuse(dyn_cast<arith::AddFOp>(op)) || mayFuse(dyn_cast<arith::SubFOp>(op)))
        sums.push_back(op);
    });
    for (Operation *sum : sums) {
      OpBuilder b(sum);
      Value fused = fuse(b, sum);
      if (!fused)
        continue;
      sum->replaceAllUsesWith(ValueRange(fused));
      sum->erase();
    }
  }
};
} // namespace
