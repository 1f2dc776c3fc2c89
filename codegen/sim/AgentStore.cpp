//===- AgentStore.cpp - Stores through buffers and in order -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Tests plant faults with attributes: with `no_limit`, a store takes no notice of limits; with `no_wait`, it does not
// wait until its buffer has been read, or for its turn; with `no_pass`, it does not let the next tile add.
//===----------------------------------------------------------------------===//

#include "codegen/sim/Agent.h"
#include "dialect/tile/TensorBox.h"
#include "dialect/tile/TileQueries.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::sim;

/// Whether a copy engine would store rows of this agent that are past the limit of `op`.
bool Agent::isCut(tile::StoreOp op) {
  if (op.getBlocked() || tile::reachesViewEnds(op) || op->hasAttr("no_limit"))
    return false;
  int64_t rows = held(op.getValue()).array->rows;
  int64_t end = (part + 1) * rows / op.getRowGroup().size;
  return numbersOf(op.getIndices())[op.getAxes()[0]] + end > numbersOf(op.getLimits())[0];
}

Agent::Progress Agent::stage(tile::StoreOp op) {
  if (isCut(op))
    return storeTile(op) ? Progress::Moved : Progress::Failed;
  std::optional<OrderedAdd> ordered;
  if (op.getOrder()) {
    if (waits(op) && !finishStores())
      return Progress::Failed;
    if (Progress progress = awaitTurn(op, ordered); progress != Progress::Moved)
      return progress;
  }
  StoreBuffer &buffer = block.buffers.find(op.getBuffer())->second[part];
  const Array &array = *held(op.getValue()).array;
  int64_t columns = op.getBuffer().getType().getTile().getDimSize(1);
  for (int64_t first = 0; first < array.columns; first += columns) {
    if (waits(op) && !finishDrains())
      return Progress::Failed;
    if (!block.access(buffer.region, /*writes=*/true, {party, clock.at(party), Access::Stage, op}, clock, name()))
      return Progress::Failed;
    int64_t width = std::min(columns, array.columns - first);
    for (int64_t row = 0; row < array.rows; ++row)
      std::copy_n(array.row(row) + first, width, buffer.data.begin() + row * columns);
    Drain drain{op, &buffer, {}, first, width, ordered};
    llvm::append_range(drain.indices, numbersOf(op.getIndices()));
    // Sums are added whole or not at all.
    if (op.getAccumulate() && drain.indices[0] >= numbersOf(op.getLimits())[0])
      continue;
    if (op.getDeferred())
      deferred.push_back(std::move(drain));
    else if (!startDrain(std::move(drain)))
      return Progress::Failed;
  }
  if (ordered && !op->hasAttr("no_pass"))
    unfinished = ordered;
  return Progress::Moved;
}

/// All that buffers hold gets to where it goes.
bool Agent::finishDrains() {
  while (hasDrains())
    if (!runDrain())
      return false;
  clock.join(drainClock);
  return true;
}

/// The same, and the next tile in the order may add.
bool Agent::finishStores() {
  if (!finishDrains())
    return false;
  if (unfinished)
    leavePlace(*unfinished);
  unfinished.reset();
  return true;
}

/// Lets the copy engine read a buffer from now on.
bool Agent::startDrain(Drain drain) {
  uint32_t time = block.nextTime(drainParty);
  if (!block.access(drain.buffer->region, /*writes=*/false, {drainParty, time, Access::Drain, drain.op}, clock, name()))
    return false;
  drains.push_back(std::move(drain));
  drainClock.join(publish());
  drainClock.set(drainParty, time);
  return true;
}

/// Tells that those rows are there, and starts deferred stores.
Agent::Progress Agent::post(tile::PostOp op) {
  for (Drain &drain : deferred)
    if (!startDrain(std::move(drain)))
      return Progress::Failed;
  deferred.clear();
  Ring &ring = *held(op.getRing()).ring;
  int64_t round = puts[&ring]++;
  RingStage &stage = ring.stageOf(round);
  stage.parts[part].round = round;
  stage.full.join(publish());
  return Progress::Moved;
}

/// Adds the rows of a buffer to sums in memory.
bool Agent::addDrained(const Drain &drain) {
  int64_t columns = drain.columns, rows = static_cast<int64_t>(drain.buffer->data.size()) / columns;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column) {
      Numbers at{drain.indices[0] + part * rows + row, drain.indices[1] + column};
      moveToBlocked(at, columns, tile::StoreOp(drain.op).getInterleaved());
      mlir::Value view = resolve(tile::StoreOp(drain.op).getView(), at);
      Number number = drain.buffer->data[row * columns + column];
      if (!(drain.ordered ? block.device.addInOrder(name(), *drain.ordered, view, at, number)
                          : block.device.add(drain.op, name(), view, at, number)))
        return false;
    }
  return true;
}

/// The copy engine stops where the tensor does.
bool Agent::runDrain() {
  Drain drain = std::move(drains.front());
  drains.pop_front();
  if (drain.op.getBlocked())
    return addDrained(drain);
  ArrayRef<int64_t> axes = drain.op.getAxes();
  int64_t stride = drain.op.getBuffer().getType().getTile().getDimSize(1);
  auto rows = static_cast<int64_t>(drain.buffer->data.size()) / stride;
  std::string who = name();
  ArrayRef<int64_t> sizes = block.device.getView(drain.op.getView()).shape;
  tile::TensorBox box(drain.op);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < drain.columns; ++column) {
      SmallVector<int64_t> at = drain.indices;
      box.move(at, part * rows + row);
      at[axes[1]] += drain.firstColumn + column;
      if (at[axes[0]] < sizes[axes[0]] && at[axes[1]] < sizes[axes[1]] &&
          !block.device.store(drain.op, who, writer(), drain.op.getView(), at,
                              drain.buffer->data[row * stride + column]))
        return false;
    }
  return true;
}

/// Waits until the tile before in the order has added, and finds the place of this one; none where it adds nothing.
Agent::Progress Agent::awaitTurn(tile::StoreOp op, std::optional<OrderedAdd> &add) {
  if (numbersOf(op.getIndices())[0] >= numbersOf(op.getLimits())[0])
    return Progress::Moved;
  Numbers at = numbersOf(op.getSemaphore());
  // A semaphore for each of those that add by themselves.
  at.back() += part;
  mlir::Value semaphores = resolve(op.getSemaphores(), at);
  const attn::HostArray &array = block.device.getView(semaphores);
  Number last;
  if (!readElement(array, at, last)) {
    fail(op) << "has a semaphore outside of the tensor";
    return Progress::Failed;
  }
  OrderedAdd found{
      semaphores, array.offset(at), held(op.getOrder()).number.i, held(op.getAfter()).number.i, tile.value_or(0), op};
  if (waits(op) && last.i < found.after)
    return waitFor("place " + std::to_string(found.after) + " in an order, which is at " + std::to_string(last.i));
  add = found;
  return Progress::Moved;
}

/// Says that this place in the order has added.
void Agent::leavePlace(const OrderedAdd &add) {
  const attn::HostArray &semaphores = block.device.getView(add.semaphores);
  attn::storeElement(*attn::getElementKind(semaphores.elementType), semaphores.data, add.semaphore,
                     static_cast<double>(add.place));
}

/// Adds the agent's rows after the tile before, and leaves its place.
Agent::Progress Agent::addInOrder(tile::StoreOp op) {
  std::optional<OrderedAdd> add;
  if (Progress progress = awaitTurn(op, add); progress != Progress::Moved || !add)
    return progress;
  const Array &array = *held(op.getValue()).array;
  Numbers first = numbersOf(op.getIndices());
  for (int64_t row = 0; row < array.rows; ++row)
    for (int64_t column = 0; column < array.columns; ++column) {
      Numbers at{first[0] + part * array.rows + row, first[1] + column};
      moveToBlocked(at, array.columns, op.getInterleaved());
      mlir::Value view = resolve(op.getView(), at);
      if (!block.device.addInOrder(name(), *add, view, at, array.row(row)[column]))
        return Progress::Failed;
    }
  if (!op->hasAttr("no_pass"))
    leavePlace(*add);
  return Progress::Moved;
}
