//===- QuerySums.cpp - Gradients of queries as sums in memory ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "passes/attn/QuerySums.h"
#include "dialect/attn/CapturedGradients.h"

using namespace mlir;
using namespace attnc::attn;

bool attnc::attn::mayAddUpQueries(BackwardOp op, bool listsSteps) {
  // What rows of queries add up for captured tensors is the business of a program whose tiles are of queries.
  bool hasRowSums =
      !getCapturedGradients(op, {CapturedForm::Tiles, CapturedForm::QuerySums, CapturedForm::Sums}).empty();
  // Keys that do not exist are masked, and where each step is looked at, data may say that nothing is. Their scores may
  // be no numbers then, or their gradients beyond f16; else they are finite, and times keys of 0.
  bool isNarrow = cast<RankedTensorType>(op.getQuery().getType()).getElementType().isF16();
  bool leavesOutMasks = !op.getBlocks().empty() && !listsSteps && (isNarrow || !op.getScore().empty());
  return !KernelOpInterface(op).isPacked() && !hasRowSums && !leavesOutMasks && !isDeterministic(op);
}
