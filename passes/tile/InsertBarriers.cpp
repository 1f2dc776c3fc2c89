//===- InsertBarriers.cpp - Waits and barriers without roles ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A data-flow analysis over structured control flow. Copies complete in the order of the puts, so that a wait names how
// many later puts may still be under way: the fewest on any path. A buffer is filled again when a barrier stands
// between its release and the put, on every path.
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/tile/Passes.h"

namespace attnc::tile {
#define GEN_PASS_DEF_TILEINSERTBARRIERS
#include "passes/tile/Passes.h.inc"
} // namespace attnc::tile

using namespace mlir;
using namespace attnc::tile;

namespace {

/// A tile that was put and not yet got, or that threads have written.
struct Copy {
  bool isWritten = false; ///< by threads themselves: a barrier is enough
  int64_t later = 0;      ///< puts since, at least
  bool isDone = false;    ///< a wait and a barrier have passed since it was
  bool operator==(const Copy &other) const {
    return isWritten == other.isWritten && later == other.later && isDone == other.isDone;
  }
};

/// What is known of a ring at one place in the program.
struct RingState {
  SmallVector<Copy> copies; ///< oldest first
  int64_t held = 0;         ///< got, not released
  int64_t dirty = 0;        ///< released by this thread, but no barrier since, at most
  bool operator==(const RingState &other) const {
    return copies == other.copies && held == other.held && dirty == other.dirty;
  }
};

using State = SmallVector<RingState>;

/// Follows the rings of one program.
class RingFlow {
public:
  explicit RingFlow(ProgramOp program) : program(program) {}

  /// Inserts barriers; fails where puts, gets and releases do not match.
  LogicalResult run();
  unsigned numSyncs = 0;

private:
  LogicalResult follow(Block &block, State &state, bool inserts);
  LogicalResult follow(scf::ForOp loop, State &state, bool inserts);
  LogicalResult follow(scf::IfOp branch, State &state, bool inserts);
  LogicalResult follow(PutOp put, State &state, bool inserts);
  template <typename Op>
  LogicalResult followWritten(Op op, State &state, bool inserts);
  template <typename Op>
  LogicalResult fill(Op op, Copy copy, State &state, bool inserts);
  LogicalResult follow(GetOp get, State &state, bool inserts);
  LogicalResult join(Operation *at, State &state, const State &other);
  void synchronize(Operation *before, std::optional<int64_t> copies, State &state, bool inserts);

  ProgramOp program;
  llvm::DenseMap<Value, unsigned> numbers; ///< of the rings
};

} // namespace

/// What holds on both ways.
LogicalResult RingFlow::join(Operation *at, State &state, const State &other) {
  for (auto [mine, theirs] : llvm::zip_equal(state, other)) {
    if (mine.copies.size() != theirs.copies.size() || mine.held != theirs.held)
      return at->emitOpError("expected as many tiles in each ring on every way here");
    mine.dirty = std::max(mine.dirty, theirs.dirty);
    for (auto [copy, otherCopy] : llvm::zip_equal(mine.copies, theirs.copies)) {
      copy.later = std::min(copy.later, otherCopy.later);
      copy.isDone &= otherCopy.isDone;
    }
  }
  return success();
}

void RingFlow::synchronize(Operation *before, std::optional<int64_t> copies, State &state, bool inserts) {
  for (RingState &ring : state) {
    ring.dirty = 0;
    for (Copy &copy : ring.copies)
      copy.isDone |= copy.isWritten || (copies && copy.later >= *copies);
  }
  if (!inserts)
    return;
  OpBuilder builder(before);
  SyncOp::create(builder, before->getLoc(), copies ? builder.getI64IntegerAttr(*copies) : IntegerAttr());
  ++numSyncs;
}

/// Enters that `op` fills the next buffer of its ring by `copy`.
template <typename Op>
LogicalResult RingFlow::fill(Op op, Copy copy, State &state, bool inserts) {
  RingState &ring = state[numbers.lookup(op.getRing())];
  int64_t used = ring.copies.size() + ring.held, stages = op.getRing().getType().getStages();
  if (used >= stages)
    return op.emitOpError() << "finds no free buffer in " << op.getRing().getType();
  if (used + ring.dirty >= stages)
    synchronize(op, std::nullopt, state, inserts);
  ring.copies.push_back(copy);
  return success();
}

LogicalResult RingFlow::follow(PutOp put, State &state, bool inserts) {
  for (RingState &each : state)
    for (Copy &copy : each.copies)
      ++copy.later;
  return fill(put, Copy(), state, inserts);
}

/// What all threads write: parts of a tile, or what they have computed.
template <typename Op>
LogicalResult RingFlow::followWritten(Op op, State &state, bool inserts) {
  Copy written;
  written.isWritten = true;
  return fill(op, written, state, inserts);
}

LogicalResult RingFlow::follow(GetOp get, State &state, bool inserts) {
  RingState &ring = state[numbers.lookup(get.getRing())];
  if (ring.copies.empty())
    return get.emitOpError("finds nothing in its ring");
  if (!ring.copies.front().isDone) {
    // One barrier serves what is got together.
    std::optional<int64_t> later;
    llvm::SmallDenseSet<Value> seen;
    for (Operation *op = get; auto next = dyn_cast_or_null<GetOp>(op); op = op->getNextNode()) {
      const RingState &other = state[numbers.lookup(next.getRing())];
      if (!seen.insert(next.getRing()).second || other.copies.empty())
        break;
      if (const Copy &first = other.copies.front(); !first.isDone && !first.isWritten)
        later = std::min(later.value_or(first.later), first.later);
    }
    synchronize(get, later, state, inserts);
  }
  ring.copies.erase(ring.copies.begin());
  ++ring.held;
  return success();
}

/// The body starts in a state that holds before the first step and after each.
LogicalResult RingFlow::follow(scf::ForOp loop, State &state, bool inserts) {
  for (;;) {
    State end = state, before = state;
    if (failed(follow(*loop.getBody(), end, /*inserts=*/false)) || failed(join(loop, state, end)))
      return failure();
    if (state == before)
      break;
  }
  State end = state;
  return inserts ? follow(*loop.getBody(), end, /*inserts=*/true) : success();
}

LogicalResult RingFlow::follow(scf::IfOp branch, State &state, bool inserts) {
  State otherwise = state;
  if (failed(follow(branch.getThenRegion().front(), state, inserts)))
    return failure();
  if (!branch.getElseRegion().empty() && failed(follow(branch.getElseRegion().front(), otherwise, inserts)))
    return failure();
  return join(branch, state, otherwise);
}

LogicalResult RingFlow::follow(Block &block, State &state, bool inserts) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    LogicalResult result = success();
    if (auto put = dyn_cast<PutOp>(op)) {
      result = follow(put, state, inserts);
    } else if (auto split = dyn_cast<SplitOp>(op)) {
      result = followWritten(split, state, inserts);
    } else if (auto share = dyn_cast<ShareOp>(op)) {
      result = followWritten(share, state, inserts);
    } else if (auto get = dyn_cast<GetOp>(op)) {
      result = follow(get, state, inserts);
    } else if (auto release = dyn_cast<ReleaseOp>(op)) {
      RingState &ring = state[numbers.lookup(release.getRing())];
      --ring.held;
      ++ring.dirty;
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      result = follow(loop, state, inserts);
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      result = follow(branch, state, inserts);
    }
    if (failed(result))
      return failure();
  }
  return success();
}

LogicalResult RingFlow::run() {
  for (auto ring : program.getBody().getOps<RingOp>())
    numbers.try_emplace(ring.getRing(), numbers.size());
  State state(numbers.size());
  return follow(program.getBody().front(), state, /*inserts=*/true);
}

namespace {
struct InsertBarriers : attnc::tile::impl::TileInsertBarriersBase<InsertBarriers> {
  void runOnOperation() override {
    auto pipeline = getOperation().getPipelineAttr();
    if (!pipeline || pipeline.getStaging() != attnc::attn::Staging::CpAsync)
      return;
    RingFlow flow(getOperation());
    if (failed(flow.run()))
      signalPassFailure();
    numSyncs += flow.numSyncs;
  }
};
} // namespace
