//===- DifferentiateScore.cpp - The derivative of a score region - C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/attn/AttnOps.h"
#include "mlir/IR/IRMapping.h"
#include "passes/attn/Passes.h"
#include "passes/attn/ScoreDerivative.h"

namespace attnc::attn {
#define GEN_PASS_DEF_ATTNDIFFERENTIATESCORE
#include "passes/attn/Passes.h.inc"
} // namespace attnc::attn

using namespace mlir;
using namespace attnc::attn;

/// Fills `derivative`: (ds, s, b, h, i, j) to the gradient of the logit s, where the score has the gradient ds.
static void differentiate(BackwardOp op) {
  Region &score = op.getScore(), &region = op.getDerivative();
  if (score.empty() || !region.empty())
    return;
  OpBuilder builder(op.getContext());
  Block &source = score.front();
  Block *block = builder.createBlock(&region);
  Value incoming = block->addArgument(builder.getF32Type(), op.getLoc());
  IRMapping mapping;
  for (BlockArgument argument : source.getArguments())
    mapping.map(argument, block->addArgument(argument.getType(), argument.getLoc()));
  for (Operation &inner : source.without_terminator())
    builder.clone(inner, mapping);
  Value yielded = mapping.lookupOrDefault(source.getTerminator()->getOperand(0));
  ScoreDerivative derivative(block, mapping.lookup(source.getArgument(0)));
  SmallVector<Value> results = derivative.run(yielded, incoming);
  // A score that adds to the logit has its gradient: nothing is left to compute.
  if (results.front() == incoming) {
    region.dropAllReferences();
    region.getBlocks().clear();
    return;
  }
  builder.setInsertionPointToEnd(block);
  YieldOp::create(builder, op.getLoc(), results);
}

namespace {
struct DifferentiateScore : attnc::attn::impl::AttnDifferentiateScoreBase<DifferentiateScore> {
  void runOnOperation() override {
    getOperation()->walk([](BackwardOp op) { differentiate(op); });
  }
};
} // namespace
