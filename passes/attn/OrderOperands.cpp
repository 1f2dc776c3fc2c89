//===- OrderOperands.cpp - One order of operands in scores ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/attn/AttnOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/attn/Passes.h"

namespace attnc::attn {
#define GEN_PASS_DEF_ATTNORDEROPERANDS
#include "passes/attn/Passes.h.inc"
} // namespace attnc::attn

using namespace mlir;
using namespace attnc::attn;

/// Exchanges the operands of `op`, which has two.
static void exchange(Operation *op) {
  Value left = op->getOperand(0);
  op->setOperand(0, op->getOperand(1));
  op->setOperand(1, left);
}

/// Sums in `score` that begin with something else than the logit begin with it. Returns how many were turned round.
static unsigned orderSums(Region &score) {
  // The logit, and what is computed from it.
  llvm::SmallDenseSet<Value> ofLogit{score.getArgument(0)};
  unsigned ordered = 0;
  for (Operation &op : score.front().without_terminator()) {
    auto isOfLogit = [&](Value operand) { return ofLogit.contains(operand); };
    if (llvm::none_of(op.getOperands(), isOfLogit))
      continue;
    ofLogit.insert(op.result_begin(), op.result_end());
    if (isa<arith::AddFOp>(op) && !isOfLogit(op.getOperand(0))) {
      exchange(&op);
      ++ordered;
    }
  }
  return ordered;
}

/// Magnitudes of j - i in `score` become those of i - j. Returns how many did.
static unsigned orderDistances(Region &score) {
  Value i = *(score.args_end() - 2), j = score.getArguments().back();
  unsigned ordered = 0;
  for (auto magnitude : score.getOps<math::AbsIOp>()) {
    auto distance = magnitude.getOperand().getDefiningOp<arith::SubIOp>();
    if (!distance || !distance->hasOneUse() || distance.getLhs() != j || distance.getRhs() != i)
      continue;
    exchange(distance);
    ++ordered;
  }
  return ordered;
}

namespace {
struct OrderOperands : attnc::attn::impl::AttnOrderOperandsBase<OrderOperands> {
  void runOnOperation() override {
    getOperation()->walk([&](KernelOpInterface kernel) {
      if (Region &score = kernel.getScore(); !score.empty())
        numOrdered += orderSums(score) + orderDistances(score);
    });
  }
};
} // namespace
