//===- LogitOperations.cpp - What a step does first -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "passes/tile/LogitOperations.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attnc::tile;

bool attnc::tile::startsFromZero(MmaOp product) { return matchPattern(product.getAcc(), m_AnyZeroFloat()); }

llvm::SetVector<Operation *> attnc::tile::findLogitOperations(scf::ForOp loop) {
  llvm::SetVector<Operation *> first;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.filter = [&](Operation *op) { return op->getBlock() == loop.getBody(); };
  for (Operation &op : *loop.getBody()) {
    auto product = dyn_cast<MmaOp>(op);
    auto load = dyn_cast<LoadOp>(op);
    if ((product && startsFromZero(product)) || (load && cast<VectorType>(load.getType()).getRank() == 1))
      (void)getBackwardSlice(&op, &first, options);
  }
  return first;
}
