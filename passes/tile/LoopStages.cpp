//===- LoopStages.cpp - Loops whose steps overlap ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "passes/tile/LoopStages.h"

using namespace mlir;
using namespace attnc::tile;

unsigned attnc::tile::stageOf(Operation *op) {
  auto stage = op->getAttrOfType<IntegerAttr>(stageAttrName);
  return stage ? static_cast<unsigned>(stage.getInt()) : 0;
}

SmallVector<scf::ForOp> attnc::tile::findOverlappedLoops(ProgramOp program) {
  SmallVector<scf::ForOp> loops;
  program.walk([&](scf::ForOp loop) {
    if (llvm::any_of(*loop.getBody(), [](Operation &op) { return stageOf(&op) > 0; }))
      loops.push_back(loop);
  });
  return loops;
}

std::optional<Overlap> attnc::tile::getOverlap(scf::ForOp loop) {
  auto overlap = loop->getAttrOfType<OverlapAttr>(overlapAttrName);
  return overlap ? std::optional(overlap.getValue()) : std::nullopt;
}

std::optional<Descent> attnc::tile::findDescent(scf::ForOp loop) {
  for (Operation *user : loop.getInductionVar().getUsers()) {
    auto column = dyn_cast<arith::SubIOp>(user);
    auto last = column ? column.getLhs().getDefiningOp<arith::SubIOp>() : arith::SubIOp();
    auto end = last ? last.getLhs().getDefiningOp<arith::AddIOp>() : arith::AddIOp();
    if (end && column.getRhs() == loop.getInductionVar() && last.getRhs() == loop.getStep() &&
        end.getRhs() == loop.getUpperBound())
      return Descent{column, last, end, end.getLhs()};
  }
  return std::nullopt;
}

void attnc::tile::shareConstants(scf::ForOp loop) {
  for (Operation &op : llvm::make_early_inc_range(*loop.getBody()))
    if (op.hasTrait<OpTrait::ConstantLike>())
      op.moveBefore(loop);
}

void attnc::tile::guardLoop(scf::ForOp loop) {
  if (loop->hasAttr(guardedAttrName))
    return;
  shareConstants(loop);
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  Value any =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, loop.getLowerBound(), loop.getUpperBound());
  auto branch = scf::IfOp::create(builder, loc, loop.getResultTypes(), any, /*withElseRegion=*/true);
  builder.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(builder, loc, loop.getInitArgs());
  loop.replaceAllUsesWith(branch.getResults());
  loop->moveBefore(branch.thenBlock(), branch.thenBlock()->end());
  builder.setInsertionPointToEnd(branch.thenBlock());
  scf::YieldOp::create(builder, loc, loop.getResults());
  loop->setAttr(guardedAttrName, builder.getUnitAttr());
}
