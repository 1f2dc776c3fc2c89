//===- LogitOperations.cpp - What a step does first -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "passes/tile/LogitOperations.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/IR/Matchers.h"
#include "passes/tile/LoopStages.h"

using namespace mlir;
using namespace attnc::tile;

bool attnc::tile::startsFromZero(MmaOp product) { return matchPattern(product.getAcc(), m_AnyZeroFloat()); }

bool attnc::tile::startsStep(MmaOp product) {
  return startsFromZero(product) && !product.getA().getDefiningOp<TakeOp>();
}

/// Adds `op`, with what a step of `loop` makes it from.
static void addSlice(Operation *op, scf::ForOp loop, llvm::SetVector<Operation *> &slice) {
  BackwardSliceOptions options;
  options.inclusive = true;
  options.filter = [&](Operation *op) { return op->getBlock() == loop.getBody(); };
  (void)getBackwardSlice(op, &slice, options);
}

llvm::SetVector<Operation *> attnc::tile::findLogitOperations(scf::ForOp loop) {
  llvm::SetVector<Operation *> first;
  for (Operation &op : *loop.getBody()) {
    auto product = dyn_cast<MmaOp>(op);
    auto load = dyn_cast<LoadOp>(op);
    if ((product && startsStep(product)) || (load && !isTile(load.getType())))
      addSlice(&op, loop, first);
  }
  return first;
}

llvm::SetVector<Operation *> attnc::tile::findProductOperations(scf::ForOp loop) {
  llvm::SetVector<Operation *> first;
  for (auto product : loop.getBody()->getOps<MmaOp>())
    if (stageOf(product) == 0)
      addSlice(product, loop, first);
  return first;
}

llvm::SetVector<Operation *> attnc::tile::findScoreOperations(scf::ForOp loop) {
  llvm::SetVector<Operation *> first;
  for (auto product : loop.getBody()->getOps<MmaOp>())
    if (startsStep(product)) {
      addSlice(product, loop, first);
      break;
    }
  return first;
}
