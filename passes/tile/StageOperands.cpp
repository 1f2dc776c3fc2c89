//===- StageOperands.cpp - Operands a step ahead, by all threads *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Dao, "FlashAttention-2" (2023); software prefetch over rings as in CUTLASS's multistage products.
//===----------------------------------------------------------------------===//

#include "dialect/tile/TileQueries.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/tile/Passes.h"
#include "passes/tile/SharedOperands.h"

namespace attnc::tile {
#define GEN_PASS_DEF_TILESTAGEOPERANDS
#include "passes/tile/Passes.h.inc"
} // namespace attnc::tile

using namespace mlir;
using namespace attnc::tile;

namespace {

/// Stages the operands of one program.
class OperandStager {
public:
  explicit OperandStager(ProgramOp program) : program(program), builder(program.getContext()), loc(program.getLoc()) {}

  void run();
  unsigned numAhead = 0;

private:
  bool sliceIndices(LoadOp load, Value induction, SetVector<Operation *> &slice, bool arguments = false) const;
  bool isOnlyLoadIn(LoadOp load, Block *block) const;
  scf::ForOp findLoop(LoadOp load) const;
  void putInPlace(LoadOp load);
  void gatherLoads(ArrayRef<std::pair<LoadOp, scf::ForOp>> ahead);
  LoadOp findEarlier(LoadOp load) const;
  Operation *findNextPut(LoadOp load, scf::ForOp loop) const;
  void putAhead(LoadOp load, scf::ForOp loop);
  void put(LoadOp load, IRMapping &mapping, Value some);
  void putStep(LoadOp load, scf::ForOp loop, Value key);
  static Operation *findLastUse(Operation *op);
  void replaceByGet(LoadOp load);

  int64_t stagesOf(LoadOp load) const { return cast<RingType>(rings.lookup(load).getType()).getStages(); }

  ProgramOp program;
  OpBuilder builder;
  Location loc;
  SmallVector<LoadOp> loads;
  llvm::DenseMap<Operation *, Value> rings;              ///< of the loads
  llvm::DenseMap<Operation *, Operation *> gatheredPuts; ///< of loops: what follows the puts of the next step
};

} // namespace

/// Whether `op` reads a workspace, which nothing writes while a program runs. A place past the last of a list can be
/// read: see `tile.block_mask`.
static bool readsWorkspace(ProgramOp program, Operation *op) {
  auto load = dyn_cast<memref::LoadOp>(op);
  return load && program.isWorkspaceView(load.getMemRef());
}

/// Collects what computes the operands of `load` in its block; false where that is more than pure operations on
/// `induction`, or on all `arguments` of the block, the workspace and values from outside the block.
bool OperandStager::sliceIndices(LoadOp load, Value induction, SetVector<Operation *> &slice, bool arguments) const {
  Block *block = load->getBlock();
  BackwardSliceOptions options;
  options.filter = [&](Operation *op) { return op->getBlock() == block; };
  if (failed(getBackwardSlice(load.getOperation(), &slice, options)))
    return false;
  auto isKnown = [&](Operation *op) {
    return llvm::all_of(op->getOperands(), [&](Value value) {
      auto argument = dyn_cast<BlockArgument>(value);
      return !argument || argument.getOwner() != block || arguments || argument == induction ||
             isa<ProgramOp>(block->getParentOp());
    });
  };
  return isKnown(load) && llvm::all_of(slice, [&](Operation *op) {
           return (isMemoryEffectFree(op) || readsWorkspace(program, op)) && op->getNumRegions() == 0 && isKnown(op);
         });
}

/// Whether no other load in `block` fills the ring of `load`.
bool OperandStager::isOnlyLoadIn(LoadOp load, Block *block) const {
  return llvm::none_of(loads, [&](LoadOp other) {
    return other != load && rings.lookup(other) == rings.lookup(load) &&
           block->findAncestorOpInBlock(*other.getOperation());
  });
}

/// The loop in which `load` can run a step ahead, or null.
scf::ForOp OperandStager::findLoop(LoadOp load) const {
  auto loop = dyn_cast<scf::ForOp>(load->getParentOp());
  SetVector<Operation *> slice;
  if (!loop || !sliceIndices(load, loop.getInductionVar(), slice) || !isOnlyLoadIn(load, loop.getBody()))
    return {};
  return loop;
}

/// Puts the tile of `load`, where `some` holds or is null; what computes its indices is cloned.
void OperandStager::put(LoadOp load, IRMapping &mapping, Value some) {
  SetVector<Operation *> slice;
  auto loop = dyn_cast<scf::ForOp>(load->getParentOp());
  if (sliceIndices(load, loop ? loop.getInductionVar() : Value(), slice, /*arguments=*/true))
    for (Operation *op : slice)
      builder.clone(*op, mapping);
  auto mapped = [&](ValueRange values) {
    return llvm::map_to_vector(values, [&](Value value) { return mapping.lookupOrDefault(value); });
  };
  SmallVector<Value> indices = mapped(load.getIndices()), limits = mapped(load.getLimits());
  // Past a limit nothing is read, but the copy counts. A step past the last may begin before the first row of all.
  if (some)
    limits[0] = arith::SelectOp::create(builder, loc, some, limits[0], indices[load.getAxes()[0]]);
  PutOp::create(builder, loc, rings.lookup(load), load.getView(), indices, limits, load.getAxes(), load.getGroup(),
                load.getPages());
}

/// At the start of the block, so that copies overlap with what comes before the product; else right before the load.
void OperandStager::putInPlace(LoadOp load) {
  SetVector<Operation *> slice;
  bool early =
      sliceIndices(load, {}, slice) && !isa<ProgramOp>(load->getParentOp()) && isOnlyLoadIn(load, load->getBlock());
  Block *block = load->getBlock();
  builder.setInsertionPoint(load);
  if (early) {
    // Behind the puts of the loads that come first.
    Operation *first = &block->front();
    for (Operation &op : llvm::make_range(block->begin(), load->getIterator()))
      if (isa<PutOp>(op))
        first = op.getNextNode();
    builder.setInsertionPoint(first);
  }
  IRMapping mapping;
  put(load, mapping, {});
}

/// The tile of the step that starts at `key`, if the loop has one.
void OperandStager::putStep(LoadOp load, scf::ForOp loop, Value key) {
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), key);
  put(load, mapping, arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, key, loop.getUpperBound()));
}

/// The last operation in the block of `op` that uses its tile, or holds what does.
Operation *OperandStager::findLastUse(Operation *op) {
  Operation *last = op;
  for (Operation *user : op->getUsers())
    if (Operation *at = op->getBlock()->findAncestorOpInBlock(*user); last->isBeforeInBlock(at))
      last = at;
  return last;
}

/// In front of what the tile of the next step is put. With one stage, the buffer is free after the last product that
/// reads it; the wait for the next tile, or for what warps share, then is the barrier that the copy needs. With
/// several, one is free.
Operation *OperandStager::findNextPut(LoadOp load, scf::ForOp loop) const {
  if (Operation *place = gatheredPuts.lookup(loop))
    return place;
  if (stagesOf(load) > 1)
    return load->getNextNode();
  Operation *free = findLastUse(load)->getNextNode();
  auto isGot = [&](Operation *op) { return rings.contains(op) || isa<GetOp>(op); };
  while (!isGot(free) && !free->hasTrait<OpTrait::IsTerminator>())
    free = free->getNextNode();
  while (isGot(free))
    free = free->getNextNode();
  return free;
}

void OperandStager::putAhead(LoadOp load, scf::ForOp loop) {
  auto isShared = [&](Operation *op) { return op && rings.contains(op); };
  // Before the first tile is waited for, also that of queries.
  Operation *at = loop;
  while (isShared(at->getPrevNode()))
    at = at->getPrevNode();
  builder.setInsertionPoint(at);
  putStep(load, loop, loop.getLowerBound());

  builder.setInsertionPoint(findNextPut(load, loop));
  putStep(load, loop, arith::AddIOp::create(builder, loc, loop.getInductionVar(), loop.getStep()));

  builder.setInsertionPointAfter(loop);
  Value ring = rings.lookup(load);
  GetOp::create(builder, loc, SharedTileType::get(builder.getContext(), load.getType()), ring);
  ReleaseOp::create(builder, loc, ring);
  ++numAhead;
}

/// Where warps share tiles alone, moves what a loop loads ahead to the first of it: one barrier serves it all, and
/// tiles that were shared in the step before. What is put for the next step follows, or, with one buffer each, the last
/// product that reads them: products of shared tiles come after it, and hide the copies that one barrier more lets
/// start.
void OperandStager::gatherLoads(ArrayRef<std::pair<LoadOp, scf::ForOp>> ahead) {
  if (!sharesTiles(program) || joinsRows(program))
    return;
  llvm::SmallDenseMap<Operation *, SmallVector<LoadOp, 2>> ofLoops;
  for (auto [load, loop] : ahead)
    ofLoops[loop].push_back(load);
  for (auto &[loop, ofLoop] : ofLoops) {
    llvm::sort(ofLoop, [](LoadOp a, LoadOp b) { return a->isBeforeInBlock(b); });
    Operation *last = ofLoop.front();
    for (LoadOp load : ArrayRef(ofLoop).drop_front()) {
      SetVector<Operation *> slice;
      sliceIndices(load, cast<scf::ForOp>(loop).getInductionVar(), slice);
      for (Operation *op : slice)
        if (last->isBeforeInBlock(op))
          op->moveBefore(last);
      load->moveAfter(last);
      last = load;
    }
    for (LoadOp load : ofLoop)
      if (Operation *use = findLastUse(load); stagesOf(load) == 1 && last->isBeforeInBlock(use))
        last = use;
    gatheredPuts[loop] = last->getNextNode();
  }
}

void OperandStager::replaceByGet(LoadOp load) {
  builder.setInsertionPoint(load);
  Value ring = rings.lookup(load);
  auto get = GetOp::create(builder, loc, SharedTileType::get(builder.getContext(), load.getType()), ring);
  if (program.getPipelineAttr().getRowsInRegisters())
    readLeft(load, get);
  load->replaceAllUsesWith(get);
  builder.setInsertionPointAfter(findLastUse(get));
  ReleaseOp::create(builder, loc, ring);
  load.erase();
}

/// A load that the same step waits for earlier, if the copy of `load` is to start right after that wait; else null.
/// Where warps join rows, a step has two barriers anyway, and with one buffer, a copy at the end of the step before
/// would need another.
LoadOp OperandStager::findEarlier(LoadOp load) const {
  SetVector<Operation *> slice;
  if (stagesOf(load) > 1 || !joinsRows(program) || !isOnlyLoadIn(load, load->getBlock()) ||
      !sliceIndices(load, {}, slice, /*arguments=*/true))
    return {};
  for (LoadOp other : loads)
    if (other->getBlock() == load->getBlock() && other->isBeforeInBlock(load) && findLoop(other))
      return other;
  return {};
}

void OperandStager::run() {
  splitSharedLoads(program);
  loads = findSharedLoads(program);
  sinkLoads(loads);
  builder.setInsertionPointToStart(&program.getBody().front());
  rings = createRings(builder, loads, program.getPipelineAttr());
  // All threads compute all rows of a warp.
  for (auto live : llvm::make_early_inc_range(program.getBody().getOps<LiveRowsOp>()))
    live.erase();
  SmallVector<std::pair<LoadOp, scf::ForOp>> ahead;
  for (LoadOp load : loads)
    if (LoadOp earlier = findEarlier(load)) {
      builder.setInsertionPointAfter(earlier);
      IRMapping mapping;
      put(load, mapping, {});
    } else if (scf::ForOp loop = findLoop(load)) {
      ahead.push_back({load, loop});
    } else {
      putInPlace(load);
    }
  gatherLoads(ahead);
  for (auto [load, loop] : ahead)
    putAhead(load, loop);
  for (LoadOp load : loads)
    replaceByGet(load);
  // With a second buffer a tile is shared while others still read the one before.
  for (GetOp get : giveRingsToShared(program, /*stages=*/2)) {
    builder.setInsertionPointAfter(findLastUse(get));
    ReleaseOp::create(builder, loc, get.getRing());
  }
}

namespace {
struct StageOperands : attnc::tile::impl::TileStageOperandsBase<StageOperands> {
  void runOnOperation() override {
    auto pipeline = getOperation().getPipelineAttr();
    if (!pipeline || pipeline.getStaging() != attnc::attn::Staging::CpAsync)
      return;
    OperandStager stager(getOperation());
    stager.run();
    numAhead += stager.numAhead;
  }
};
} // namespace
