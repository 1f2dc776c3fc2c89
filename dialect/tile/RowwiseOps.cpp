//===- RowwiseOps.cpp - Operations on elements and rows ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/tile/RowwiseOps.h"
#include "dialect/tile/TileOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attnc;

/// Whether an operation computes a vector from vectors of its kind or scalars.
static bool isVectorOp(Operation &op) {
  if (op.getNumResults() != 1 || op.getNumRegions() != 0)
    return false;
  Type type = op.getResult(0).getType();
  return (tile::isRowVector(type) || tile::isColumnVector(type)) &&
         (isa<arith::ArithDialect, math::MathDialect>(op.getDialect()) ||
          isa<vector::BroadcastOp, vector::StepOp, tile::LanePartialOp, tile::WarpReduceOp>(op));
}

bool tile::isRowwise(Operation &op) { return isa<MapOp, MaskOp, ReduceOp, SchedBarrierOp>(op) || isVectorOp(op); }

void tile::forEachRowwiseRun(Block &block, llvm::function_ref<void(ArrayRef<Operation *>)> visit) {
  SmallVector<Operation *> run;
  auto end = [&] {
    if (!run.empty())
      visit(run);
    run.clear();
  };
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::IsTerminator>() || matchPattern(&op, m_Constant()))
      continue;
    if (isRowwise(op))
      run.push_back(&op);
    else if (isa<TileDialect, scf::SCFDialect>(op.getDialect()))
      end();
  }
  end();
}
