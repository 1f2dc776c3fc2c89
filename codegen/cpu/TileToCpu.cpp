//===- TileToCpu.cpp - Tile programs on SIMD lanes --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/cpu/CheckProgram.h"
#include "codegen/cpu/CpuCodegen.h"
#include "codegen/cpu/EntryAbi.h"
#include "codegen/cpu/PanelEmitter.h"
#include "codegen/cpu/Passes.h"
#include "codegen/cpu/SharedTiles.h"
#include "codegen/cpu/Staging.h"
#include "dialect/attn/AttnAttrs.h"
#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"

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

  /// Whether all of the program can be written; else an error.
  LogicalResult check() const { return checkProgram(context, program); }
  /// Writes the body at the builder's insertion point, which is in the function's entry block.
  void emit(ValueRange arguments);

  int64_t getScratchBytes() const { return context.scratchBytes; }

private:
  using Targets = llvm::DenseMap<Value, Value>;
  /// Where the row values that a block hands on end.
  struct Ends {
    ArrayRef<Value> places; ///< by the operands of its terminator; null for scalars
    Targets targets;        ///< of each value; of one that ends in several places the first
  };

  void emitBlock(Block &block, ArrayRef<Value> places);
  void flush(SmallVectorImpl<Operation *> &run, const Ends &ends);
  bool isReadLater(Operation *writer, Value target, ArrayRef<Operation *> run, const Ends &ends) const;
  void forPanels(int64_t rows, llvm::function_ref<void(Value)> body);
  void copyInto(Value value, Value target);
  void moveToEnds(ValueRange handed, const Ends &ends);
  void emitFor(scf::ForOp loop);
  void emitIf(scf::IfOp branch, const Ends &outer);
  void emitUniform(Operation &op);
  void emitAny(tile::AnyOp any);
  void addToRun(Operation &op, SmallVectorImpl<Operation *> &run, const Ends &ends);
  void copyOperands(Operation &op, SmallVectorImpl<Operation *> &run, const Ends &ends);
  Value changeSemaphore(tile::StoreOp store, Value number, bool assigns);
  void addInOrder(tile::StoreOp store, function_ref<void()> add);
  Value newState(Value value);

  tile::ProgramOp program;
  EmitContext context;
  ProgramValues values;
  Value livePanels; ///< panels that hold queries; null where the program does not say which do, and all may
  bool skipsRows;   ///< whether panels that hold none are left out
  llvm::DenseMap<Type, SharedTiles> shared; ///< by the type of tiles
};

} // namespace

int64_t attnc::cpu::columnsTogether(attn::CpuTargetAttr target) { return target.getVectorRegisters() >= 32 ? 8 : 4; }

ProgramEmitter::ProgramEmitter(tile::ProgramOp program, attn::CpuTargetAttr target, OpBuilder &builder)
    : program(program), context{builder, program.getLoc(),        target.getVectorBits() / 32, 0,
                                0,       columnsTogether(target), target.getBf16Tiles(),       target.getBf16Dots(),
                                {}} {
  int64_t panel = program.getPanel();
  context.ownVectors = panel / context.lanes;
  context.ownRows = static_cast<int64_t>(program.getRows());
  context.vectors = context.ownVectors;
  context.panels = context.ownRows / panel;
  skipsRows = !readsAcrossRows(program);
}

/// Whether control flow carries values with an element for each row.
static bool carriesRows(Operation &op) {
  return isa<scf::ForOp, scf::IfOp>(op) && llvm::any_of(op.getResults(), PanelEmitter::isRowValue);
}

/// Whether control flow holds work on rows, or other words of tile programs.
static bool holdsRows(Operation &op) {
  auto find = [](Operation *inner) {
    bool isOfTiles = isa_and_nonnull<tile::TileDialect>(inner->getDialect());
    return isOfTiles || PanelEmitter::isRowOp(*inner) ? WalkResult::interrupt() : WalkResult::advance();
  };
  return carriesRows(op) || (isa<scf::ForOp, scf::IfOp>(op) && op.walk(find).wasInterrupted());
}

/// Rows of a tile, or elements of a vector of rows.
static int64_t rowsOf(Value value) { return cast<VectorType>(value.getType()).getDimSize(0); }

/// Rows of what an operation on rows works on.
static int64_t rowsOf(Operation *op) {
  auto isRows = [](Value value) { return PanelEmitter::isRowValue(value); };
  auto result = llvm::find_if(op->getResults(), isRows);
  return rowsOf(result != op->result_end() ? *result : op->getOperand(0));
}

Value ProgramEmitter::newState(Value value) {
  auto type = cast<VectorType>(value.getType());
  context.setRows(rowsOf(value));
  SmallVector<int64_t> shape{context.panels};
  if (tile::isTile(type))
    shape.push_back(type.getDimSize(1));
  shape.push_back(context.panelRows());
  context.setRows(context.ownRows);
  return context.allocate(shape, storageType(type.getElementType()));
}

/// Writes the loop over the panels of tiles of `rows` rows.
void ProgramEmitter::forPanels(int64_t rows, function_ref<void(Value)> body) {
  context.setRows(rows);
  bool skips = livePanels && rows == context.ownRows;
  forRange(context, context.index(0), skips ? livePanels : context.index(context.panels), 1, body);
  context.setRows(context.ownRows);
}

void ProgramEmitter::copyInto(Value value, Value target) {
  if (values.states.lookup(value) == target)
    return;
  forPanels(rowsOf(value),
            [&](Value panel) { PanelEmitter(context, values, {}, Targets()).copy(panel, value, target); });
}

/// Brings what a block hands on to where it ends, all at once: what is overwritten may end elsewhere itself.
void ProgramEmitter::moveToEnds(ValueRange handed, const Ends &ends) {
  SmallVector<std::pair<Value, Value>> moves, aside;
  for (auto [value, end] : llvm::zip_equal(handed, ends.places))
    if (end && values.states.lookup(value) != end)
      moves.push_back({value, end});
  auto isRead = [&](Value place) {
    return llvm::any_of(moves, [&](auto &move) { return values.states.lookup(move.first) == place; });
  };
  while (!moves.empty()) {
    auto *free = llvm::find_if(moves, [&](auto &move) { return !isRead(move.second); });
    if (free != moves.end()) {
      copyInto(free->first, free->second);
      moves.erase(free);
      continue;
    }
    // Each waits for another: one of them is set aside.
    Value value = moves.front().first, spare = newState(value);
    copyInto(value, spare);
    aside.push_back({value, values.states[value]});
    values.states[value] = spare;
  }
  for (auto [value, place] : aside)
    values.states[value] = place;
}

/// Whether what is kept in `target` until `writer`, which may be of a run, writes it is read afterwards, be it to end
/// elsewhere.
bool ProgramEmitter::isReadLater(Operation *writer, Value target, ArrayRef<Operation *> run, const Ends &ends) const {
  return llvm::any_of(values.states, [&](auto &state) {
    bool isVector = tile::isRowVector(state.first.getType());
    return state.second == target && llvm::any_of(state.first.getUses(), [&](OpOperand &use) {
             Operation *user = use.getOwner();
             // A run loads row vectors before it stores any.
             if (isVector && llvm::is_contained(run, user))
               return false;
             Operation *here = writer->getBlock()->findAncestorOpInBlock(*user);
             if (!here || !writer->isBeforeInBlock(here))
               return false;
             return !here->hasTrait<OpTrait::IsTerminator>() || ends.places[use.getOperandNumber()] != target;
           });
  });
}

/// Writes a run of row operations for every panel. A result may go straight to where it ends only if what is kept there
/// until then is not read afterwards.
void ProgramEmitter::flush(SmallVectorImpl<Operation *> &run, const Ends &ends) {
  if (run.empty())
    return;
  Targets safe;
  for (auto [value, target] : ends.targets) {
    Operation *writer = value.getDefiningOp();
    if (writer && llvm::is_contained(run, writer) && !isReadLater(writer, target, run, ends))
      safe[value] = target;
  }
  forPanels(rowsOf(run.front()), [&](Value panel) { PanelEmitter(context, values, run, safe).emit(panel); });
  for (auto [value, target] : safe)
    values.states[value] = target;
  run.clear();
}

/// Whether an operation reads a tile that all panels have written.
static bool readsWholeTile(Operation *op) {
  auto isShared = [](Value operand) { return isa<tile::SharedTileType>(operand.getType()); };
  return llvm::any_of(op->getOperands(), isShared) || llvm::any_of(op->getOpOperands(), readsWhole);
}

/// Ends the run, and copies what `op` reads across rows of tiles that no operation has shared.
void ProgramEmitter::copyOperands(Operation &op, SmallVectorImpl<Operation *> &run, const Ends &ends) {
  for (OpOperand &use : op.getOpOperands()) {
    auto type = dyn_cast<VectorType>(use.get().getType());
    if (!type || !readsWhole(use))
      continue;
    flush(run, ends);
    Value &whole = values.whole[use.get()];
    if (!whole)
      whole = allocateWhole(context, type);
    forPanels(rowsOf(use.get()),
              [&](Value panel) { PanelEmitter(context, values, {}, Targets()).copyWhole(panel, use.get(), whole); });
  }
}

/// Adds an operation to the run, which ends before it where the rows are others, or where it writes to a place that is
/// still read.
void ProgramEmitter::addToRun(Operation &op, SmallVectorImpl<Operation *> &run, const Ends &ends) {
  copyOperands(op, run, ends);
  auto share = dyn_cast<tile::ShareOp>(op);
  if (!run.empty() && (rowsOf(run.front()) != rowsOf(&op) || (share && llvm::any_of(run, readsWholeTile))))
    flush(run, ends);
  if (share)
    values.shared[share] = shared.at(share.getValue().getType()).share(context);
  run.push_back(&op);
}

/// Writes a block; `places` says where the row values that it hands on end, and is null for scalars.
void ProgramEmitter::emitBlock(Block &block, ArrayRef<Value> places) {
  ValueRange handed = block.getTerminator()->getOperands();
  Ends ends;
  ends.places = places;
  for (auto [value, end] : llvm::zip_equal(handed, places))
    if (end)
      ends.targets.try_emplace(value, end);
  SmallVector<Operation *> run;
  for (Operation &op : block.without_terminator()) {
    if (auto live = dyn_cast<tile::LiveRowsOp>(op)) {
      Value count = values.scalar(live.getCount());
      if (skipsRows)
        livePanels =
            arith::CeilDivUIOp::create(context.builder, context.loc, count, context.index(context.panelRows()));
    } else if (auto take = dyn_cast<tile::TakeOp>(op)) {
      flush(run, ends);
      values.whole[take.getShared()] = shared.at(take.getShared().getType().getTile()).take(context);
    } else if (auto any = dyn_cast<tile::AnyOp>(op)) {
      flush(run, ends);
      emitAny(any);
    } else if (holdsRows(op)) {
      flush(run, ends);
      if (auto loop = dyn_cast<scf::ForOp>(op))
        emitFor(loop);
      else
        emitIf(cast<scf::IfOp>(op), ends);
    } else if (auto store = dyn_cast<tile::StoreOp>(op); store && store.getOrder()) {
      flush(run, ends);
      addInOrder(store, [&] {
        addToRun(op, run, ends);
        flush(run, ends);
      });
    } else if (PanelEmitter::isRowOp(op)) {
      if (!op.hasTrait<OpTrait::ConstantLike>())
        addToRun(op, run, ends);
    } else {
      copyOperands(op, run, ends);
      emitUniform(op);
    }
  }
  flush(run, ends);
  moveToEnds(handed, ends);
}

/// Adds to the semaphore or, with `assigns`, writes to it, and gives what it was. What one thread does before it,
/// others see that find its number.
Value ProgramEmitter::changeSemaphore(tile::StoreOp store, Value number, bool assigns) {
  SmallVector<Value> at = llvm::map_to_vector(store.getSemaphore(), [&](Value index) { return values.scalar(index); });
  Value word = arith::IndexCastOp::create(context.builder, context.loc, context.builder.getI32Type(), number);
  auto kind = assigns ? arith::AtomicRMWKind::assign : arith::AtomicRMWKind::addi;
  return memref::AtomicRMWOp::create(context.builder, context.loc, kind, word, values.scalar(store.getSemaphores()),
                                     at);
}

/// Adds after the tile before, and leaves its place. Threads take tiles in the order of the grid, so that another one
/// has each that is waited for.
void ProgramEmitter::addInOrder(tile::StoreOp store, function_ref<void()> add) {
  OpBuilder &b = context.builder;
  Value isBelow =
      arith::CmpIOp::create(b, context.loc, arith::CmpIPredicate::slt, values.scalar(store.getIndices().front()),
                            values.scalar(store.getLimits().front()));
  auto guard = scf::IfOp::create(b, context.loc, isBelow);
  OpBuilder::InsertionGuard insertion(b);
  b.setInsertionPointToStart(guard.thenBlock());
  auto loop = scf::WhileOp::create(b, context.loc, TypeRange(), ValueRange());
  {
    OpBuilder::InsertionGuard inLoop(b);
    b.createBlock(&loop.getBefore());
    Value last = changeSemaphore(store, context.index(0), /*assigns=*/false);
    Value after = arith::IndexCastOp::create(b, context.loc, b.getI32Type(), values.scalar(store.getAfter()));
    Value isEarly = arith::CmpIOp::create(b, context.loc, arith::CmpIPredicate::slt, last, after);
    scf::ConditionOp::create(b, context.loc, isEarly, ValueRange());
    b.createBlock(&loop.getAfter());
    scf::YieldOp::create(b, context.loc);
  }
  add();
  changeSemaphore(store, values.scalar(store.getOrder()), /*assigns=*/true);
}

void ProgramEmitter::emitUniform(Operation &op) {
  if (auto load = dyn_cast<tile::LoadOp>(op))
    return isStaged(load) ? stageTile(context, values, load) : stageColumns(context, values, load);
  if (auto minMax = dyn_cast<tile::MinMaxOp>(op))
    return emitMinMax(context, values, minMax);
  if (auto row = dyn_cast<tile::RowOp>(op))
    return copyRow(context, values, row);
  if (auto part = dyn_cast<tile::PartOp>(op)) {
    values.scalars.map(part.getFirst(), context.index(0));
    values.scalars.map(part.getEnd(), context.index(static_cast<int64_t>(part.getCount())));
    return;
  }
  if (op.getNumResults() == 0 || !isa<VectorType>(op.getResult(0).getType()))
    context.builder.clone(op, values.scalars);
  else if (!op.hasTrait<OpTrait::ConstantLike>())
    computeColumns(context, values, op);
}

/// Whether a condition holds in any row of a tile, all of which one thread works on.
void ProgramEmitter::emitAny(tile::AnyOp any) {
  OpBuilder &b = context.builder;
  Value found = context.allocate({1}, b.getI8Type()), place = context.index(0);
  memref::StoreOp::create(b, context.loc, context.constant(b.getI8Type(), 0), found, place);
  forPanels(rowsOf(any.getRows()), [&](Value panel) {
    Value here = PanelEmitter(context, values, {}, Targets()).any(panel, any.getRows());
    Value before = memref::LoadOp::create(b, context.loc, found, place);
    here = arith::ExtUIOp::create(b, context.loc, b.getI8Type(), here);
    memref::StoreOp::create(b, context.loc, arith::OrIOp::create(b, context.loc, before, here), found, place);
  });
  Value one = memref::LoadOp::create(b, context.loc, found, place);
  values.scalars.map(any.getResult(), arith::TruncIOp::create(b, context.loc, b.getI1Type(), one).getResult());
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
    // The loop may change what nobody reads again, not even a later turn of a loop around it.
    Value state = values.states.lookup(initial);
    if (!state || !initial.hasOneUse() || initial.getParentBlock() != loop->getBlock()) {
      state = newState(argument);
      copyInto(initial, state);
    }
    values.states[argument] = values.states[result] = state;
  }
  OpBuilder &b = context.builder;
  auto emitted = scf::ForOp::create(b, context.loc, values.scalar(loop.getLowerBound()),
                                    values.scalar(loop.getUpperBound()), values.scalar(loop.getStep()), init);
  values.scalars.map(loop.getInductionVar(), emitted.getInductionVar());
  SmallVector<Value> ends;
  unsigned number = 0;
  for (auto [argument, result] : llvm::zip_equal(loop.getRegionIterArgs(), loop.getResults())) {
    if (PanelEmitter::isRowValue(argument)) {
      ends.push_back(values.states[argument]);
    } else {
      ends.push_back(Value());
      values.scalars.map(argument, emitted.getRegionIterArgs()[number]);
      values.scalars.map(result, emitted.getResult(number++));
    }
  }
  OpBuilder::InsertionGuard guard(b);
  if (init.empty())
    b.setInsertionPoint(emitted.getBody()->getTerminator());
  else
    b.setInsertionPointToEnd(emitted.getBody());
  emitBlock(*loop.getBody(), ends);
  if (init.empty())
    return;
  SmallVector<Value> next;
  for (Value yielded : loop.getYieldedValues())
    if (!PanelEmitter::isRowValue(yielded))
      next.push_back(values.scalar(yielded));
  scf::YieldOp::create(b, context.loc, next);
}

void ProgramEmitter::emitIf(scf::IfOp branch, const Ends &outer) {
  // Row values go to memory; scalars stay values.
  SmallVector<Type> scalars;
  SmallVector<Value> ends;
  for (Value result : branch.getResults()) {
    if (!PanelEmitter::isRowValue(result)) {
      scalars.push_back(result.getType());
      ends.push_back(Value());
      continue;
    }
    Value target = outer.targets.lookup(result);
    ends.push_back(target && !isReadLater(branch, target, {}, outer) ? target : newState(result));
    values.states[result] = ends.back();
  }
  OpBuilder &b = context.builder;
  auto emitted = scf::IfOp::create(b, context.loc, scalars, values.scalar(branch.getCondition()),
                                   /*withElseRegion=*/!branch.getElseRegion().empty());
  for (auto [from, to] : llvm::zip(branch->getRegions(), emitted->getRegions())) {
    if (from.empty())
      continue;
    OpBuilder::InsertionGuard guard(b);
    if (scalars.empty())
      b.setInsertionPoint(to.front().getTerminator());
    else
      b.setInsertionPointToEnd(&to.front());
    emitBlock(from.front(), ends);
    if (scalars.empty())
      continue;
    SmallVector<Value> results;
    for (auto [value, end] : llvm::zip_equal(from.front().getTerminator()->getOperands(), ends))
      if (!end)
        results.push_back(values.scalar(value));
    scf::YieldOp::create(b, context.loc, results);
  }
  unsigned number = 0;
  for (auto [result, end] : llvm::zip_equal(branch.getResults(), ends))
    if (!end)
      values.scalars.map(result, emitted.getResult(number++));
}

void ProgramEmitter::emit(ValueRange arguments) {
  Block &body = program.getBody().front();
  for (auto [from, to] : llvm::zip_equal(body.getArguments().drop_back(), arguments.drop_back(2)))
    values.scalars.map(from, to);
  values.scalars.map(body.getArguments().back(), arguments.drop_back().back());
  context.scratch = arguments.back();
  for (auto [tile, places] : *countSharedTiles(program))
    shared.try_emplace(tile, context, cast<VectorType>(tile), places);
  emitBlock(body, {});
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
      separateStagedLoads(program);
      OpBuilder builder(program);
      ProgramEmitter emitter(program, target, builder);
      if (failed(emitter.check()))
        return signalPassFailure();
      LLVM::LLVMFuncOp function = createEntry(builder, program);
      emitter.emit(buildArguments(builder, program, function));
      LLVM::ReturnOp::create(builder, program.getLoc(), ValueRange());
      function->setAttr(scratchBytesAttrName, builder.getI64IntegerAttr(emitter.getScratchBytes()));
      program.erase();
    }
  }
};
} // namespace
