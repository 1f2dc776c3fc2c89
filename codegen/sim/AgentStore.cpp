//===- AgentStore.cpp - Stores through buffers and in order -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Tests plant faults with attributes: with `no_limit`, a store takes no notice of limits; with `no_wait`, it does not
// wait until its buffer has been read, or for its semaphore; with `no_pass`, it does not release the next.
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
  StoreBuffer &buffer = block.buffers.find(op.getBuffer())->second[part];
  const Array &array = *held(op.getValue()).array;
  int64_t columns = op.getBuffer().getType().getTile().getDimSize(1);
  for (int64_t first = 0; first < array.columns; first += columns) {
    if (waits(op)) {
      while (hasDrains())
        if (!runDrain())
          return Progress::Failed;
      clock.join(drainClock);
    }
    if (!block.access(buffer.region, /*writes=*/true, {party, clock.at(party), Access::Stage, op}, clock, name()))
      return Progress::Failed;
    int64_t width = std::min(columns, array.columns - first);
    for (int64_t row = 0; row < array.rows; ++row)
      std::copy_n(array.row(row) + first, width, buffer.data.begin() + row * columns);
    Drain drain{op, &buffer, {}, first, width};
    llvm::append_range(drain.indices, numbersOf(op.getIndices()));
    // Sums are added whole or not at all.
    if (op.getAccumulate() && drain.indices[0] >= numbersOf(op.getLimits())[0])
      continue;
    if (op.getDeferred())
      deferred.push_back(std::move(drain));
    else if (!startDrain(std::move(drain)))
      return Progress::Failed;
  }
  return Progress::Moved;
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

/// Adds the rows of a buffer to sums in memory.
bool Agent::addDrained(const Drain &drain) {
  int64_t columns = drain.columns, rows = static_cast<int64_t>(drain.buffer->data.size()) / columns;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column) {
      Numbers at{drain.indices[0] + part * rows + row, drain.indices[1] + column};
      moveToBlocked(at, columns, tile::StoreOp(drain.op).getInterleaved());
      mlir::Value view = resolve(tile::StoreOp(drain.op).getView(), at);
      if (!block.device.add(drain.op, name(), view, at, drain.buffer->data[row * columns + column]))
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

/// Adds the agent's rows when all parts of the tiles before in the order have been added, and counts as a part itself.
Agent::Progress Agent::addInOrder(tile::StoreOp op) {
  Device &device = block.device;
  mlir::Value semaphores = op.getSemaphores();
  Numbers counter = numbersOf(op.getSemaphore()), first = numbersOf(op.getIndices());
  OrderedAdd add{resolve(semaphores, counter), 0, held(op.getOrder()).number.i, tile.value_or(0), op};
  const attn::HostArray &counters = device.getView(add.counters);
  Number added;
  if (!readElement(counters, counter, added)) {
    fail(op) << "counts outside of the tensor";
    return Progress::Failed;
  }
  add.counter = counters.offset(counter);
  int64_t ofTile = role ? static_cast<int64_t>(block.consumers.size()) : parts;
  if (waits(op) && added.i < add.number * ofTile)
    return waitFor("a semaphore at " + std::to_string(add.number) + ", which is at " +
                   std::to_string(added.i / ofTile));
  const Array &array = *held(op.getValue()).array;
  int64_t rows = first[0] < numbersOf(op.getLimits())[0] ? array.rows : 0;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < array.columns; ++column) {
      Numbers at{first[0] + part * rows + row, first[1] + column};
      moveToBlocked(at, array.columns, op.getInterleaved());
      mlir::Value view = resolve(op.getView(), at);
      if (!device.addInOrder(name(), add, view, at, array.row(row)[column]))
        return Progress::Failed;
    }
  if (!op->hasAttr("no_pass"))
    attn::storeElement(*attn::getElementKind(counters.elementType), counters.data, add.counter,
                       static_cast<double>(added.i + 1));
  return Progress::Moved;
}
