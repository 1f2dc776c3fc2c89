//===- TileToCpu.cpp - Tile programs on SIMD lanes --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/cpu/CpuCodegen.h"
#include "codegen/cpu/EntryAbi.h"
#include "codegen/cpu/PanelEmitter.h"
#include "codegen/cpu/Passes.h"
#include "codegen/cpu/Staging.h"
#include "dialect/attn/AttnAttrs.h"
#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace attnc::cpu {
#define GEN_PASS_DEF_TILETOCPU
#include "codegen/cpu/Passes.h.inc"
} // namespace attnc::cpu

using namespace mlir;
using namespace attnc;
using namespace attnc::cpu;

namespace {

/// Writes the function of one program.
class ProgramEmitter {
public:
  ProgramEmitter(tile::ProgramOp program, attn::CpuTargetAttr target, OpBuilder &builder);

  /// Writes the body at the builder's insertion point, which is in the function's entry block.
  void emit(ValueRange arguments);

  int64_t getScratchBytes() const { return context.scratchBytes; }

private:
  using Targets = llvm::DenseMap<Value, Value>;

  void emitBlock(Block &block, Targets targets);
  void flush(SmallVectorImpl<Operation *> &run, const Targets &targets);
  void forPanels(llvm::function_ref<void(Value)> body);
  void copyInto(Value value, Value target);
  void emitFor(scf::ForOp loop);
  void emitIf(scf::IfOp branch, const Targets &targets);
  void emitUniform(Operation &op);
  Value newState(Value value);

  tile::ProgramOp program;
  EmitContext context;
  ProgramValues values;
  Value livePanels; ///< panels that hold queries
};

} // namespace

int64_t attnc::cpu::columnsTogether(attn::CpuTargetAttr target) { return target.getVectorRegisters() >= 32 ? 8 : 4; }

ProgramEmitter::ProgramEmitter(tile::ProgramOp program, attn::CpuTargetAttr target, OpBuilder &builder)
    : program(program), context{builder, program.getLoc(),        target.getVectorBits() / 32, 0,
                                0,       columnsTogether(target), target.getBf16Tiles(),       {}} {
  int64_t panel = program.getPanel();
  context.vectors = panel / context.lanes;
  context.panels = program.getRows() / panel;
}

/// Whether control flow carries values with an element for each row.
static bool carriesRows(Operation &op) {
  return isa<scf::ForOp, scf::IfOp>(op) && llvm::any_of(op.getResults(), PanelEmitter::isRowValue);
}

/// Whether control flow holds work on rows.
static bool holdsRows(Operation &op) {
  return carriesRows(op) || (isa<scf::ForOp, scf::IfOp>(op) &&
                             op.walk([](Operation *inner) {
                                 return PanelEmitter::isRowOp(*inner) ? WalkResult::interrupt() : WalkResult::advance();
                               }).wasInterrupted());
}

Value ProgramEmitter::newState(Value value) {
  auto type = cast<VectorType>(value.getType());
  SmallVector<int64_t> shape{context.panels};
  if (type.getRank() == 2)
    shape.push_back(type.getDimSize(1));
  shape.push_back(context.panelRows());
  return context.allocate(shape, storageType(type.getElementType()));
}

void ProgramEmitter::forPanels(function_ref<void(Value)> body) {
  forRange(context, context.index(0), livePanels, 1, body);
}

void ProgramEmitter::copyInto(Value value, Value target) {
  if (values.states.lookup(value) == target)
    return;
  forPanels([&](Value panel) { PanelEmitter(context, values, {}, Targets()).copy(panel, value, target); });
}

/// Writes a run of row operations for every panel. A result may go straight to where it ends only if what is kept there
/// until then is not read afterwards.
void ProgramEmitter::flush(SmallVectorImpl<Operation *> &run, const Targets &targets) {
  if (run.empty())
    return;
  Targets safe;
  for (auto [value, target] : targets) {
    Operation *writer = value.getDefiningOp();
    if (!writer || !llvm::is_contained(run, writer))
      continue;
    bool readLater = llvm::any_of(values.states, [&, target = target](auto &state) {
      bool isVector = cast<VectorType>(state.first.getType()).getRank() == 1;
      return state.second == target && llvm::any_of(state.first.getUsers(), [&](Operation *user) {
               // A run loads row vectors before it stores any.
               if (isVector && llvm::is_contained(run, user))
                 return false;
               Operation *here = writer->getBlock()->findAncestorOpInBlock(*user);
               return here && !here->hasTrait<OpTrait::IsTerminator>() && writer->isBeforeInBlock(here);
             });
    });
    if (!readLater)
      safe[value] = target;
  }
  forPanels([&](Value panel) { PanelEmitter(context, values, run, safe).emit(panel); });
  for (auto [value, target] : safe)
    values.states[value] = target;
  run.clear();
}

void ProgramEmitter::emitBlock(Block &block, Targets targets) {
  SmallVector<Operation *> run;
  for (Operation &op : block.without_terminator()) {
    if (auto live = dyn_cast<tile::LiveRowsOp>(op)) {
      Value count = values.scalar(live.getCount());
      livePanels = arith::CeilDivUIOp::create(context.builder, context.loc, count, context.index(context.panelRows()));
    } else if (holdsRows(op)) {
      flush(run, targets);
      if (auto loop = dyn_cast<scf::ForOp>(op))
        emitFor(loop);
      else
        emitIf(cast<scf::IfOp>(op), targets);
    } else if (PanelEmitter::isRowOp(op)) {
      if (!op.hasTrait<OpTrait::ConstantLike>())
        run.push_back(&op);
    } else {
      emitUniform(op);
    }
  }
  flush(run, targets);
  for (auto [value, target] : targets)
    copyInto(value, target);
}

void ProgramEmitter::emitUniform(Operation &op) {
  if (auto load = dyn_cast<tile::LoadOp>(op))
    return isStaged(load) ? stageTile(context, values, load) : stageColumns(context, values, load);
  if (auto minMax = dyn_cast<tile::MinMaxOp>(op))
    return emitMinMax(context, values, minMax);
  context.builder.clone(op, values.scalars);
}

void ProgramEmitter::emitFor(scf::ForOp loop) {
  // Row values live in memory from turn to turn; scalars stay values.
  SmallVector<Value> init;
  for (auto [initial, argument, result] :
       llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs(), loop.getResults())) {
    if (!PanelEmitter::isRowValue(argument)) {
      init.push_back(values.scalar(initial));
      continue;
    }
    Value state = values.states.lookup(initial);
    if (!state || !initial.hasOneUse()) {
      state = newState(argument);
      copyInto(initial, state);
    }
    values.states[argument] = values.states[result] = state;
  }
  OpBuilder &b = context.builder;
  auto emitted = scf::ForOp::create(b, context.loc, values.scalar(loop.getLowerBound()),
                                    values.scalar(loop.getUpperBound()), values.scalar(loop.getStep()), init);
  values.scalars.map(loop.getInductionVar(), emitted.getInductionVar());
  Targets targets;
  unsigned number = 0;
  for (auto [argument, result, yielded] :
       llvm::zip_equal(loop.getRegionIterArgs(), loop.getResults(), loop.getYieldedValues())) {
    if (PanelEmitter::isRowValue(argument)) {
      targets[yielded] = values.states[argument];
    } else {
      values.scalars.map(argument, emitted.getRegionIterArgs()[number]);
      values.scalars.map(result, emitted.getResult(number++));
    }
  }
  OpBuilder::InsertionGuard guard(b);
  if (init.empty())
    b.setInsertionPoint(emitted.getBody()->getTerminator());
  else
    b.setInsertionPointToEnd(emitted.getBody());
  emitBlock(*loop.getBody(), targets);
  if (init.empty())
    return;
  SmallVector<Value> next;
  for (Value yielded : loop.getYieldedValues())
    if (!PanelEmitter::isRowValue(yielded))
      next.push_back(values.scalar(yielded));
  scf::YieldOp::create(b, context.loc, next);
}

void ProgramEmitter::emitIf(scf::IfOp branch, const Targets &outer) {
  for (Value result : branch.getResults()) {
    Value target = outer.lookup(result);
    values.states[result] = target ? target : newState(result);
  }
  OpBuilder &b = context.builder;
  auto emitted = scf::IfOp::create(b, context.loc, TypeRange(), values.scalar(branch.getCondition()),
                                   /*withElseRegion=*/!branch.getElseRegion().empty());
  for (auto [from, to] : llvm::zip(branch->getRegions(), emitted->getRegions())) {
    if (from.empty())
      continue;
    Targets targets;
    for (auto [yielded, result] : llvm::zip(from.front().getTerminator()->getOperands(), branch.getResults()))
      targets[yielded] = values.states[result];
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(to.front().getTerminator());
    emitBlock(from.front(), targets);
  }
}

void ProgramEmitter::emit(ValueRange arguments) {
  Block &body = program.getBody().front();
  for (auto [from, to] : llvm::zip_equal(body.getArguments().drop_back(), arguments.drop_back(2)))
    values.scalars.map(from, to);
  values.scalars.map(body.getArguments().back(), arguments.drop_back().back());
  context.scratch = arguments.back();
  emitBlock(body, Targets());
}

namespace {
struct TileToCpuPass : attnc::cpu::impl::TileToCpuBase<TileToCpuPass> {
  void runOnOperation() override {
    auto target = getOperation()->getAttrOfType<attn::CpuTargetAttr>("attn.target");
    if (!target) {
      getOperation().emitError("expected the module to carry attn.target = #attn.cpu<...>");
      return signalPassFailure();
    }
    for (auto program : llvm::make_early_inc_range(getOperation().getOps<tile::ProgramOp>())) {
      OpBuilder builder(program);
      LLVM::LLVMFuncOp function = createEntry(builder, program);
      SmallVector<Value> arguments = buildArguments(builder, program, function);
      ProgramEmitter emitter(program, target, builder);
      emitter.emit(arguments);
      LLVM::ReturnOp::create(builder, program.getLoc(), ValueRange());
      function->setAttr(scratchBytesAttrName, builder.getI64IntegerAttr(emitter.getScratchBytes()));
      program.erase();
    }
  }
};
} // namespace
