//===- DeferRowSums.cpp - Sums over lanes after the loop --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "passes/tile/Passes.h"

namespace attnc::tile {
#define GEN_PASS_DEF_TILEDEFERROWSUMS
#include "passes/tile/Passes.h.inc"
} // namespace attnc::tile

using namespace mlir;
using namespace attnc::tile;

/// The operand that `value` is a sum over, one element a row and the elements of a tile; null where it is none.
static OpOperand *findSumOperand(Value value) {
  auto reduce = value.getDefiningOp<ReduceOp>();
  if (reduce && reduce.getKind() == ReduceKind::Add)
    return &reduce.getAccMutable();
  auto softmax = value.getDefiningOp<SoftmaxOp>();
  return softmax && value == softmax.getNewSum() ? &softmax.getSumMutable() : nullptr;
}

/// Whether `use` reads a step's own row sum, which begins with 0.
static bool isSumAlone(OpOperand &use) {
  auto reduce = use.get().getDefiningOp<ReduceOp>();
  return reduce && reduce.getKind() == ReduceKind::Add && matchPattern(reduce.getAcc(), m_AnyZeroFloat());
}

/// Whether `use` reads `state`, sums over it, or adds a step's own sum to it, on every way through branches; collects
/// the uses on the way.
static bool isSumOver(OpOperand &use, Value state, SmallVectorImpl<OpOperand *> &path) {
  path.push_back(&use);
  Value value = use.get();
  if (value == state)
    return true;
  if (OpOperand *before = findSumOperand(value))
    return isSumOver(*before, state, path);
  if (auto addition = value.getDefiningOp<arith::AddFOp>()) {
    OpOperand &left = addition.getLhsMutable(), &right = addition.getRhsMutable();
    OpOperand &summand = isSumAlone(left) ? left : right;
    path.push_back(&summand);
    return isSumAlone(summand) && isSumOver(&summand == &left ? right : left, state, path);
  }
  auto branch = value.getDefiningOp<scf::IfOp>();
  if (!branch)
    return false;
  unsigned number = cast<OpResult>(value).getResultNumber();
  return isSumOver(branch.thenYield()->getOpOperand(number), state, path) &&
         isSumOver(branch.elseYield()->getOpOperand(number), state, path);
}

/// What else reads a value that a use of `path` does, if anything.
static Operation *findOtherReader(ArrayRef<OpOperand *> path) {
  for (OpOperand *use : path)
    for (OpOperand &other : use->get().getUses())
      if (!llvm::is_contained(path, &other))
        return other.getOwner();
  return nullptr;
}

/// Tells of row sums that `loop` carries as `number`, where a step does something else to them than `isSumOver` finds.
static void tellOther(scf::ForOp loop, unsigned number) {
  Value state = loop.getRegionIterArg(number);
  SetVector<Value> made;
  made.insert(loop.getYieldedValues()[number]);
  bool isSum = false;
  Operation *other = nullptr;
  for (size_t i = 0; i < made.size(); ++i) {
    Value value = made[i];
    Operation *op = value.getDefiningOp();
    if (!op || !loop->isProperAncestor(op))
      continue;
    if (OpOperand *before = findSumOperand(value)) {
      isSum = true;
      made.insert(before->get());
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      unsigned result = cast<OpResult>(value).getResultNumber();
      made.insert(branch.thenYield().getOperand(result));
      made.insert(branch.elseYield().getOperand(result));
    } else if (auto softmax = dyn_cast<SoftmaxOp>(op)) {
      made.insert(softmax.getMax());
    } else {
      if (!other)
        other = op;
      for (Value operand : op->getOperands())
        if (operand.getType() == state.getType())
          made.insert(operand);
    }
  }
  if (isSum && other && made.contains(state))
    other->emitRemark("row sums are added over lanes in each step: '")
        << other->getName() << "' is no sum over rows, nor does it add one";
}

static void defer(scf::ForOp loop) {
  for (OpOperand &yielded : loop.getBody()->getTerminator()->getOpOperands()) {
    unsigned number = yielded.getOperandNumber();
    SmallVector<OpOperand *> path;
    if (!isSumOver(yielded, loop.getRegionIterArg(number), path)) {
      tellOther(loop, number);
      continue;
    }
    SmallVector<Operation *> sums;
    for (OpOperand *use : path)
      if (Operation *op = use->get().getDefiningOp(); isa_and_present<ReduceOp, SoftmaxOp>(op))
        sums.push_back(op);
    if (sums.empty())
      continue;
    if (Operation *reader = findOtherReader(path)) {
      reader->emitRemark("row sums are added over lanes in each step, which reads them here");
      continue;
    }
    for (Operation *op : sums) {
      if (auto sum = dyn_cast<ReduceOp>(op))
        sum.setPartial(true);
      else
        cast<SoftmaxOp>(op).setPartial(true);
    }
    OpBuilder builder(loop);
    OpOperand &init = loop.getInitArgsMutable()[number];
    init.set(LanePartialOp::create(builder, loop.getLoc(), init.get()));
    builder.setInsertionPointAfter(loop);
    Value result = loop.getResult(number);
    auto total = WarpReduceOp::create(builder, loop.getLoc(), result);
    result.replaceAllUsesExcept(total, total);
  }
}

namespace {
struct DeferRowSums : attnc::tile::impl::TileDeferRowSumsBase<DeferRowSums> {
  void runOnOperation() override {
    if (getOperation().getPipelineAttr())
      getOperation()->walk([](scf::ForOp loop) { defer(loop); });
  }
};
} // namespace
