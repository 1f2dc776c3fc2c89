//===- SoftmaxEnd.cpp - Where an online softmax ends ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "passes/tile/SoftmaxEnd.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::tile;

SoftmaxEndOp tile::findEnd(Value sums) {
  for (OpOperand &use : sums.getUses()) {
    Operation *user = use.getOwner();
    if (auto end = dyn_cast<SoftmaxEndOp>(user))
      return end;
    Value next;
    if (isa<scf::YieldOp>(user) && isa<scf::IfOp, scf::ForOp>(user->getParentOp()))
      next = user->getParentOp()->getResult(use.getOperandNumber());
    else if (isa<WarpReduceOp>(user))
      next = user->getResult(0);
    if (SoftmaxEndOp end = next ? findEnd(next) : SoftmaxEndOp())
      return end;
  }
  return {};
}
