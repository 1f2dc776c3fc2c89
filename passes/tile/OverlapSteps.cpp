//===- OverlapSteps.cpp - Products under elements of other steps *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Software pipelining of two stages, by MLIR's pipeliner for scf: what `tile-assign-stages` has left for the next step
// runs there. Of forward: Shah, Bikshandi, Zhang, Thakkar, Ramani and Dao, "FlashAttention-3" (2024), section 3.2: the
// product with the values of one tile of keys runs while the logits of the next become weights.
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "passes/tile/LogitOperations.h"
#include "passes/tile/LoopStages.h"
#include "passes/tile/Passes.h"

namespace attnc::tile {
#define GEN_PASS_DEF_TILEOVERLAPSTEPS
#include "passes/tile/Passes.h.inc"
} // namespace attnc::tile

using namespace mlir;
using namespace attnc::tile;

/// Tiles that both stages read are loaded in both: `tile.kept` and `tile.held` say that they are the same.
static void splitLoads(scf::ForOp loop, int64_t &pairs) {
  for (auto load : llvm::make_early_inc_range(loop.getBody()->getOps<LoadOp>())) {
    SmallVector<OpOperand *> late;
    for (OpOperand &use : load->getUses())
      if (stageOf(use.getOwner()) > 0)
        late.push_back(&use);
    if (stageOf(load) > 0 || late.empty() || late.size() == llvm::range_size(load->getUses()) ||
        !isTile(load.getType()))
      continue;
    OpBuilder builder(load->getContext());
    builder.setInsertionPointAfter(load);
    auto again = cast<LoadOp>(builder.clone(*load));
    auto number = builder.getI64IntegerAttr(pairs++);
    load->setAttr(keptAttrName, number);
    again->setAttr(heldAttrName, number);
    again->setAttr(stageAttrName, builder.getI64IntegerAttr(1));
    for (OpOperand *use : late)
      use->set(again);
  }
}

/// The operations of a step in the order of the new loop: what has been left of the step before, then the step. Where
/// that is its sums alone, they start after the logits, which then are there first. What was left and comes after all
/// of its products, as what leaves for memory does, comes last: products of the step run meanwhile.
static void getSchedule(scf::ForOp loop, std::vector<std::pair<Operation *, unsigned>> &schedule) {
  llvm::SetVector<Operation *> logits =
      getOverlap(loop) == Overlap::WeightsAhead ? findProductOperations(loop) : findLogitOperations(loop);
  Operation *lastProduct = nullptr;
  bool sumsAlone = false;
  for (Operation &op : loop.getBody()->without_terminator()) {
    sumsAlone |= stageOf(&op) == 0 && !logits.contains(&op);
    if (stageOf(&op) == 1 && isa<MmaOp>(op))
      lastProduct = &op;
  }
  auto append = [&](auto isWanted) {
    for (Operation &op : loop.getBody()->without_terminator())
      if (isWanted(&op))
        schedule.emplace_back(&op, stageOf(&op));
  };
  auto isAfterLastProduct = [&](Operation *op) { return lastProduct && lastProduct->isBeforeInBlock(op); };
  if (sumsAlone)
    append([&](Operation *op) { return stageOf(op) == 0 && logits.contains(op); });
  append([&](Operation *op) { return stageOf(op) == 1 && !isAfterLastProduct(op); });
  append([&](Operation *op) { return stageOf(op) == 0 && !(sumsAlone && logits.contains(op)); });
  append([&](Operation *op) { return stageOf(op) == 1 && isAfterLastProduct(op); });
}

/// Where a step of `loop` gets `value` from: the operation that computes it, of this step or of the one before. Nothing
/// where it comes from elsewhere.
static std::pair<Operation *, bool> findSource(Value value, scf::ForOp loop) {
  auto argument = dyn_cast<BlockArgument>(value);
  bool isCarried = argument && argument.getOwner() == loop.getBody() && argument != loop.getInductionVar();
  if (isCarried)
    value = loop.getTiedLoopYieldedValue(argument)->get();
  Operation *op = value.getDefiningOp();
  return {op && op->getBlock() == loop.getBody() ? op : nullptr, isCarried};
}

/// Whether the steps of `loop` can be overlapped as they are scheduled: nothing is to run before what it reads. Tells
/// why not.
static bool mayOverlap(scf::ForOp loop) {
  constexpr llvm::StringLiteral isLeft = "the loop's steps are not overlapped: ";
  for (Value yielded : loop.getYieldedValues())
    if (!findSource(yielded, loop).first || isa<BlockArgument>(yielded)) {
      loop.emitRemark(isLeft) << "it carries on what its step does not compute";
      return false;
    }
  std::vector<std::pair<Operation *, unsigned>> schedule;
  getSchedule(loop, schedule);
  // When operations run, counted from the start of their step.
  llvm::DenseMap<Operation *, size_t> times;
  for (auto [place, entry] : llvm::enumerate(schedule))
    times[entry.first] = place + entry.second * schedule.size();
  for (auto [reader, stage] : schedule) {
    Operation *late = nullptr;
    reader->walk([&, op = reader](Operation *nested) {
      for (Value operand : nested->getOperands())
        if (auto [source, isCarried] = findSource(operand, loop);
            source && times[op] + (isCarried ? schedule.size() : 0) < times[source])
          late = source;
    });
    if (late) {
      reader->emitRemark(isLeft)
          .append("this would run before what it reads")
          .attachNote(late->getLoc())
          .append("which is left for the next step");
      return false;
    }
  }
  return true;
}

/// Folds what the pipeliner has written into `block` to choose between results of a step and those before it: the step
/// is there. `ofSteps` are the operations of steps, which may choose as well.
static void foldChoices(Block &block, const llvm::DenseSet<Operation *> &ofSteps) {
  for (auto choice : llvm::make_early_inc_range(block.getOps<arith::SelectOp>()))
    if (isa<VectorType>(choice.getType()) && !ofSteps.contains(choice)) {
      choice.replaceAllUsesWith(choice.getTrueValue());
      choice.erase();
    }
}

/// Whether nothing that `loop` leaves for the next step asks where its step is: what it asks for was computed there.
static bool placesAreOfSteps(scf::ForOp loop) {
  return llvm::none_of(loop.getInductionVar().getUsers(),
                       [&](Operation *user) { return stageOf(loop.getBody()->findAncestorOpInBlock(*user)) > 0; });
}

/// Has `loop`, which was pipelined and went to `end` by `step`, count the places of its own steps: they are one step
/// ahead of what it counts.
static void countOwnSteps(scf::ForOp loop, Value end, Value step) {
  for (Operation *user : llvm::make_early_inc_range(loop.getInductionVar().getUsers())) {
    user->getResult(0).replaceAllUsesWith(loop.getInductionVar());
    user->erase();
  }
  OpBuilder builder(loop);
  Value low = loop.getLowerBound();
  loop.setLowerBound(
      matchPattern(low, m_Zero()) ? step : arith::AddIOp::create(builder, loop.getLoc(), low, step).getResult());
  loop.setUpperBound(end);
}

/// Tells of what the late product of `loop`, of forward, adds to where that is no sum scaled by row factors: the first
/// step does it to zeros too.
static void tellOfOtherMaps(scf::ForOp loop) {
  for (auto product : loop.getBody()->getOps<MmaOp>())
    if (auto map = product.getAcc().getDefiningOp<MapOp>(); map && stageOf(product) == 1 && !map.getScalesRows())
      map.emitRemark(
          "the first step computes this as well, though nothing has been added up: it is no scaling of rows");
}

/// Whether `op` scales the rows of zeros, as it does where nothing has been added up.
static bool scalesNothing(Operation *op) {
  auto map = dyn_cast<MapOp>(op);
  return map && map.getScalesRows() && matchPattern(map.getTiles()[0], m_AnyZeroFloat());
}

/// What `loop` starts with of tiles that its steps load ahead.
static SmallVector<LoadOp> findFirstLoads(scf::ForOp loop) {
  SmallVector<LoadOp> loads;
  for (Value value : loop.getInitArgs())
    if (auto load = value.getDefiningOp<LoadOp>(); load && load->getBlock() == loop->getBlock())
      loads.push_back(load);
  return loads;
}

/// Moves `load` to the first operation of its block that reads it, so that the first step's own tile takes no registers
/// while its product runs.
static void moveToUse(LoadOp load) {
  Operation *first = nullptr;
  for (Operation *user : load->getUsers())
    if (user->getBlock() == load->getBlock() && (!first || user->isBeforeInBlock(first)))
      first = user;
  if (first)
    load->moveBefore(first);
}

/// Overlaps the steps of `loop`.
static LogicalResult overlap(scf::ForOp loop) {
  guardLoop(loop);
  Block *block = loop->getBlock();
  Value end = loop.getUpperBound(), step = loop.getStep();
  bool computesWeights = getOverlap(loop) == Overlap::WeightsAhead, shifts = computesWeights && placesAreOfSteps(loop);
  SmallVector<LoadOp> firstLoads = findFirstLoads(loop);
  if (computesWeights)
    tellOfOtherMaps(loop);
  SmallVector<Operation *> idle;
  llvm::DenseSet<Operation *> ofSteps;
  scf::PipeliningOption options;
  options.getScheduleFn = getSchedule;
  options.supportDynamicLoops = true;
  options.predicateFn = [](RewriterBase &, Operation *op, Value) { return op; };
  options.annotateFn = [&](Operation *op, scf::PipeliningOption::PipelinerPart part, unsigned) {
    ofSteps.insert(op);
    if (part == scf::PipeliningOption::PipelinerPart::Prologue && scalesNothing(op))
      idle.push_back(op);
  };
  IRRewriter rewriter(loop);
  FailureOr<scf::ForOp> pipelined = scf::pipelineForLoop(rewriter, loop, options);
  if (failed(pipelined))
    return failure();
  for (Operation *op : idle) {
    op->getResult(0).replaceAllUsesWith(cast<MapOp>(op).getTiles()[0]);
    op->erase();
  }
  if (shifts)
    countOwnSteps(*pipelined, end, step);
  llvm::for_each(firstLoads, moveToUse);
  foldChoices(*block, ofSteps);
  return success();
}

namespace {
struct OverlapSteps : attnc::tile::impl::TileOverlapStepsBase<OverlapSteps> {
  void runOnOperation() override {
    int64_t pairs = 0;
    for (scf::ForOp loop : findOverlappedLoops(getOperation())) {
      shareConstants(loop);
      if (!mayOverlap(loop))
        continue;
      splitLoads(loop, pairs);
      if (failed(overlap(loop))) {
        getOperation().emitError("a loop's steps could not be overlapped");
        return signalPassFailure();
      }
      ++numOverlapped;
    }
    getOperation()->walk([](Operation *op) {
      op->removeAttr(overlapAttrName);
      op->removeAttr(stageAttrName);
      op->removeAttr(guardedAttrName);
    });
  }
};
} // namespace
