//===- Code.cpp - The body of a role as a list of steps ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/sim/Code.h"
#include "dialect/tile/ProgramRules.h"
#include "dialect/tile/TileQueries.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::sim;

/// Whether `value` is there before the agent starts.
bool Code::isOutside(Value value) const {
  if (auto argument = dyn_cast<BlockArgument>(value))
    if (isa<tile::ProgramOp>(argument.getOwner()->getParentOp()))
      return true;
  return !region->isAncestor(value.getParentRegion()) ||
         isa_and_nonnull<tile::RingOp, tile::BufferOp>(value.getDefiningOp());
}

int Code::numberOf(Value value) {
  auto [it, inserted] = numbers.try_emplace(value, static_cast<int>(types.size()));
  if (!inserted)
    return it->second;
  int number = it->second;
  types.push_back(value.getType());
  Attribute constant;
  if (matchPattern(value, m_Constant(&constant))) {
    constants.emplace_back(number, constant);
    constantNumbers.insert(number);
  } else if (isOutside(value)) {
    outside.emplace_back(number, value);
  }
  return number;
}

Instruction &Code::append(Action action, Operation *op, ValueRange operands, ValueRange results) {
  Instruction instruction{action, op};
  for (Value value : operands)
    instruction.operands.push_back(numberOf(value));
  for (Value value : results)
    instruction.results.push_back(numberOf(value));
  instructions.push_back(std::move(instruction));
  return instructions.back();
}

LogicalResult Code::compileFor(scf::ForOp loop) {
  append(Action::Move, loop, loop.getInitArgs(), loop.getRegionIterArgs());
  append(Action::Move, loop, loop.getLowerBound(), loop.getInductionVar());
  int test = here();
  append(Action::LoopTest, loop, {loop.getInductionVar(), loop.getUpperBound()});
  if (failed(compileBlock(*loop.getBody())))
    return failure();
  append(Action::Move, loop.getBody()->getTerminator(), loop.getYieldedValues(), loop.getRegionIterArgs());
  append(Action::Advance, loop, {loop.getInductionVar(), loop.getStep()}, loop.getInductionVar());
  append(Action::Jump, loop).target = test;
  instructions[test].target = here();
  append(Action::Move, loop, loop.getRegionIterArgs(), loop.getResults());
  return success();
}

LogicalResult Code::compileIf(scf::IfOp branch) {
  int test = here();
  append(Action::Branch, branch, branch.getCondition());
  if (failed(compileBlock(*branch.thenBlock())))
    return failure();
  append(Action::Move, branch.thenBlock()->getTerminator(), branch.thenYield().getOperands(), branch.getResults());
  int jump = here();
  append(Action::Jump, branch);
  instructions[test].target = here();
  if (Block *otherwise = branch.elseBlock()) {
    if (failed(compileBlock(*otherwise)))
      return failure();
    append(Action::Move, otherwise->getTerminator(), branch.elseYield().getOperands(), branch.getResults());
  }
  instructions[jump].target = here();
  return success();
}

LogicalResult Code::compileEach(tile::PersistentOp each) {
  append(Action::FirstTile, each);
  int test = here();
  append(Action::NextTile, each, each->getOperands(), each.getTile());
  if (failed(compileBlock(each.getBody().front())))
    return failure();
  append(Action::Jump, each).target = test;
  instructions[test].target = here();
  return success();
}

/// A loop that notes every step, and lists them after the last.
LogicalResult Code::compileBlockMask(tile::BlockMaskOp blockMask) {
  append(Action::Move, blockMask, blockMask.getLow(), blockMask.getStart());
  int test = here();
  append(Action::LoopTest, blockMask, {blockMask.getStart(), blockMask.getHigh()});
  Block &body = blockMask.getBody().front();
  if (failed(compileBlock(body)))
    return failure();
  append(Action::NoteStep, blockMask, body.getTerminator()->getOperands());
  append(Action::Advance, blockMask, {blockMask.getStart(), blockMask.getStep()}, blockMask.getStart());
  append(Action::Jump, blockMask).target = test;
  instructions[test].target = here();
  append(Action::ListSteps, blockMask, blockMask->getOperands());
  return success();
}

template <typename Op>
LogicalResult Code::compileElementwise(Op op) {
  ElementProgram program;
  if (failed(program.compile(op.getBody(), [&](Value value) { return numberOf(value); })))
    return failure();
  append(Action::Map, op, op->getOperands(), op->getResults()).payload = static_cast<int>(regions.size());
  regions.push_back(std::move(program));
  return success();
}

/// Whether `op` has the operands that it needs, where `parts` agents have rows of its tiles; else an error.
static LogicalResult verifyOperands(Operation &op, int64_t parts) {
  if (failed(tile::verifyStaged(op)))
    return failure();
  auto product = dyn_cast<tile::MmaOp>(op);
  if (product && product.getLeftTransposed() && failed(tile::verifyShared(op, product.getA())))
    return failure();
  auto start = dyn_cast<tile::StartOp>(op);
  // In registers an agent has its own rows alone.
  if ((product || start) && parts > 1)
    return tile::verifyShared(op, product ? product.getB() : start.getB());
  return success();
}

LogicalResult Code::compileOp(Operation &op) {
  if (matchPattern(&op, m_Constant())) {
    numberOf(op.getResult(0));
    return success();
  }
  if (failed(verifyOperands(op, parts)))
    return failure();
  for (Type type : op.getResultTypes())
    if (auto vector = dyn_cast<VectorType>(type))
      if (vector.getRank() > 2 || (tile::isTile(vector) && vector.getDimSize(0) % parts != 0))
        return op.emitOpError() << "has a result that is not dealt to " << parts << " warpgroups by rows";
  auto simple = [&](Action action) {
    append(action, &op, op.getOperands(), op.getResults());
    return success();
  };
  return llvm::TypeSwitch<Operation *, LogicalResult>(&op)
      .Case([&](scf::ForOp loop) { return compileFor(loop); })
      .Case([&](scf::IfOp branch) { return compileIf(branch); })
      .Case([&](tile::PersistentOp each) { return compileEach(each); })
      .Case([&](tile::BlockMaskOp blockMask) { return compileBlockMask(blockMask); })
      .Case([&](tile::MapOp map) { return compileElementwise(map); })
      .Case([&](tile::MaskOp mask) { return compileElementwise(mask); })
      .Case([&](tile::PhiloxOp) { return simple(Action::Philox); })
      .Case([&](tile::ReduceOp) { return simple(Action::Reduce); })
      .Case([&](tile::MmaOp) { return simple(Action::Product); })
      .Case([&](tile::LoadOp) { return simple(Action::LoadTile); })
      .Case([&](tile::RowOp) { return simple(Action::Row); })
      .Case([&](tile::ReadOp) { return simple(Action::Read); })
      .Case([&](tile::StoreOp store) {
        return simple(store.getBuffer() || store.getOrder() ? Action::Stage : Action::StoreTile);
      })
      .Case([&](tile::ScatterOp) { return simple(Action::Scatter); })
      .Case([&](tile::MinMaxOp) { return simple(Action::MinMax); })
      .Case([&](tile::PutOp) { return simple(Action::Put); })
      .Case([&](tile::GetOp) { return simple(Action::Get); })
      .Case([&](tile::HeldOp) { return simple(Action::Hold); })
      .Case([&](tile::ReleaseOp) { return simple(Action::Release); })
      .Case([&](tile::ShareOp) { return simple(Action::Share); })
      .Case([&](tile::SplitOp) { return simple(Action::Split); })
      .Case([&](tile::PostOp) { return simple(Action::Post); })
      .Case([&](tile::StartOp start) {
        Value successor = isa<VectorType>(start.getA().getType()) ? tile::nextOf(start.getA()) : Value();
        int number = successor ? numberOf(successor) : -1;
        append(Action::Start, &op, op.getOperands(), op.getResults()).successor = number;
        return success();
      })
      .Case([&](tile::AnyOp) { return simple(Action::Any); })
      .Case([&](tile::AwaitOp) { return simple(Action::Await); })
      .Case([&](tile::PingPongOp) { return simple(Action::PingPong); })
      .Case([&](tile::LanePartialOp) { return simple(Action::LanePartial); })
      .Case([&](tile::WarpReduceOp) { return simple(Action::WarpReduce); })
      .Case([&](tile::BlockReduceOp) { return simple(Action::BlockReduce); })
      .Case([&](tile::PartOp) { return simple(Action::Part); })
      .Case<tile::SchedBarrierOp, tile::SkipOp, tile::LiveRowsOp, memref::ReinterpretCastOp>(
          [&](auto) { return simple(Action::Nothing); })
      .Case([&](memref::DimOp) { return simple(Action::Dim); })
      .Case([&](memref::LoadOp) { return simple(Action::ReadView); })
      .Case([&](vector::StepOp) { return simple(Action::Step); })
      .Default([&](Operation *) -> LogicalResult {
        if (op.getName().getStringRef() == "tile.sync")
          return simple(Action::Sync);
        ElementOp element;
        if (!element.compile(&op))
          return op.emitOpError("has no meaning in the simulator");
        append(Action::Element, &op, op.getOperands(), op.getResults()).payload = static_cast<int>(elements.size());
        elements.push_back(element);
        return success();
      });
}

LogicalResult Code::compileBlock(Block &block) {
  for (Operation &op : block)
    if (!op.hasTrait<OpTrait::IsTerminator>() && !isa<tile::RingOp, tile::BufferOp, tile::RoleOp>(op))
      if (failed(compileOp(op)))
        return failure();
  return success();
}

LogicalResult Code::compile(Block &body, int64_t dealt) {
  region = body.getParent();
  parts = dealt;
  if (failed(compileBlock(body)))
    return failure();
  append(Action::End, body.getParentOp());
  for (auto [number, value] : outside)
    if (Operation *op = value.getDefiningOp(); op && !isa<tile::RingOp, tile::BufferOp>(op))
      return op->emitOpError("stands outside of the roles, where the simulator does not look");
  return success();
}
