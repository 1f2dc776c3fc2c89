//===- AgentSync.cpp - Steps that other agents see --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Tests plant faults with attributes: an operation with `no_wait` goes on without what it waits for; and a put that
// clears rows leaves something out with `no_landing`, `no_clear`, `no_fence` and `no_arrival`.
//===----------------------------------------------------------------------===//

#include "codegen/sim/Agent.h"
#include "dialect/tile/TensorBox.h"
#include "dialect/tile/TileQueries.h"
#include "llvm/ADT/TypeSwitch.h"
#include <limits>

using namespace mlir;
using namespace attnc;
using namespace attnc::sim;

Agent::Progress Agent::synchronize(const Instruction &instruction) {
  if (instruction.action == Action::Sync)
    return sync(instruction.op);
  return llvm::TypeSwitch<Operation *, Progress>(instruction.op)
      .Case([&](tile::PersistentOp) { return nextTile(instruction); })
      .Case([&](tile::PutOp op) { return put(op); })
      .Case([&](tile::GetOp op) { return get(instruction, op); })
      .Case([&](tile::HeldOp op) { return hold(instruction, op); })
      .Case([&](tile::ReleaseOp op) { return release(op); })
      .Case([&](tile::ShareOp op) { return share(op); })
      .Case([&](tile::SplitOp op) { return split(op); })
      .Case([&](tile::PostOp op) { return post(op); })
      .Case([&](tile::StartOp op) { return start(instruction, op); })
      .Case([&](tile::AwaitOp op) { return await(instruction, op); })
      .Case([&](tile::PingPongOp op) { return pingPong(op); })
      .Case([&](tile::StoreOp op) { return op.getBuffer() ? stage(op) : addInOrder(op); });
}

//===----------------------------------------------------------------------===//
// Rings
//===----------------------------------------------------------------------===//

/// Whether all who get it have given back the next buffer of `ring`, or never had it.
bool Agent::isFree(const Ring &ring) const {
  // Of a program with roles, nobody gives back what nobody gets; without roles, barriers say that all have read it.
  if (role && ring.readers.empty())
    return countPuts(ring) < static_cast<int64_t>(ring.stages.size());
  return llvm::all_of(ring.readers, [&](Agent *reader) {
    return reader->countReleases(ring) > countPuts(ring) - static_cast<int64_t>(ring.stages.size());
  });
}

/// Fetches and posts, receives, or counts up, as `tile.persistent` says.
Agent::Progress Agent::nextTile(const Instruction &instruction) {
  // Others may wait for what the tile before adds.
  if (unfinished && !finishStores())
    return Progress::Failed;
  Device &device = block.device;
  Ring *ring = instruction.operands.empty() ? nullptr : values[instruction.operands[0]].ring;
  int64_t next = 0;
  if (ring && !takesTiles) {
    RingStage &stage = ring->stageOf(countGets(*ring));
    if (stage.round() < countGets(*ring))
      return waitFor("the number of a tile in " + ring->name());
    clock.join(stage.full);
    if (!block.access(stage.parts[0].region, /*writes=*/false,
                      {party, clock.at(party), Access::Receive, instruction.op}, clock, name()))
      return Progress::Failed;
    next = stage.number;
    ++gets[ring];
    ++releases[ring];
    stage.empty.join(publish());
  } else {
    if (!candidate) {
      if (fresh)
        candidate = block.number;
      else if (ring)
        candidate = device.counter++ + device.blocks;
      else
        candidate = *tile + device.blocks;
      fresh = false;
    }
    if (ring) {
      if (!isFree(*ring))
        return waitFor("an empty place for the number of a tile in " + ring->name());
      RingStage &stage = ring->stageOf(countPuts(*ring));
      clock.join(stage.empty);
      if (!block.access(stage.parts[0].region, /*writes=*/true, {party, clock.at(party), Access::Post, instruction.op},
                        clock, name()))
        return Progress::Failed;
      stage.number = *candidate;
      stage.parts[0].round = puts[ring]++;
      stage.full = publish();
    }
    next = *candidate;
    candidate.reset();
  }
  if (next >= device.tiles) {
    pc = instruction.target;
    return Progress::Moved;
  }
  tile = next;
  values[instruction.results[0]].number.i = next;
  ++pc;
  return Progress::Moved;
}

/// Whether a copy engine brings rows past the limit of `op`.
bool Agent::endsInside(tile::PutOp op) {
  int64_t axis = op.getAxes()[0], first = numbersOf(op.getIndices())[axis], limit = numbersOf(op.getLimits())[0];
  auto type = cast<VectorType>(op.getRing().getType().getElement());
  return tile::mayClearRows(op) && first + type.getDimSize(0) / op.getRowGroup().size > limit;
}

/// Clears the rows of the buffer filled last that are past the limit, once they are there, and passes it on.
Agent::Progress Agent::clear(tile::PutOp op) {
  Ring &ring = *held(op.getRing()).ring;
  RingStage &stage = ring.stageOf(*landing);
  StagePart &rows = stage.parts[0];
  if (!op->hasAttr("no_landing")) {
    if (rows.landed < *landing)
      return waitFor("its own copy into " + ring.name());
    clock.join(stage.landed);
  }
  uint32_t time = block.nextTime(clearParty);
  if (!op->hasAttr("no_clear")) {
    if (!block.access(rows.region, /*writes=*/true, {clearParty, time, Access::Clear, op}, clock, name()))
      return Progress::Failed;
    auto data = std::make_shared<SharedTile>(*rows.data);
    int64_t columns = cast<VectorType>(ring.op.getRing().getType().getElement()).getDimSize(1);
    int64_t left = numbersOf(op.getLimits())[0] - numbersOf(op.getIndices())[op.getAxes()[0]];
    std::fill(data->begin() + std::max<int64_t>(left, 0) * op.getRowGroup().size * columns, data->end(), 0.0F);
    rows.data = std::move(data);
  }
  // Without a fence, products need not see what threads have stored.
  if (!op->hasAttr("no_fence"))
    clock.set(clearParty, time);
  Clock before = publish();
  if (!op->hasAttr("no_arrival")) {
    rows.round = *landing;
    stage.full.join(before);
  }
  landing.reset();
  return Progress::Moved;
}

/// Waits until all have given back the next buffer of `ring`, which `op` writes; false while somebody has not. Without
/// roles, barriers say when that is.
bool Agent::acquire(Ring &ring, Operation *op) {
  if (!role || !waits(op))
    return true;
  if (!isFree(ring))
    return false;
  clock.join(ring.stageOf(countPuts(ring)).empty);
  return true;
}

/// Starts the copy of a tile, or, without roles, of the warp's part of one.
Agent::Progress Agent::put(tile::PutOp op) {
  if (landing)
    return clear(op);
  Ring &ring = *held(op.getRing()).ring;
  if (!acquire(ring, op))
    return waitFor("an empty buffer of " + ring.name());
  int64_t round = countPuts(ring), place = role ? 0 : part;
  RingStage &stage = ring.stageOf(round);
  if (place >= static_cast<int64_t>(stage.parts.size())) {
    // Other warps bring all rows of a small tile; waits count this copy as well.
    ++puts[&ring];
    ownCopies.push_back(publish());
    return Progress::Moved;
  }
  StagePart &rows = stage.parts[place];
  uint32_t time = block.nextTime(rows.copyParty);
  if (!block.access(rows.region, /*writes=*/true, {rows.copyParty, time, Access::Copy, op}, clock, name()))
    return Progress::Failed;
  std::shared_ptr<SharedTile> data = copyRows(op, place, static_cast<int64_t>(stage.parts.size()));
  if (!data)
    return Progress::Failed;
  rows.data = nullptr;
  rows.round = -1;
  rows.filler = op;
  ++puts[&ring];
  Clock before = publish();
  before.set(rows.copyParty, time);
  if (!role)
    ownCopies.push_back(before);
  bool isHeld = role && endsInside(op);
  block.copies.push_back({this, &ring, round, place, ownCopies.size() - 1, std::move(data), std::move(before), isHeld});
  if (!isHeld)
    return Progress::Moved;
  landing = round;
  return clear(op);
}

/// What the copy of part `place` of `parts` of a tile brings; null on an error. What the copy engine does not find in
/// the tensor is 0; it knows nothing of limits inside. Threads do. What lies past one may be anything, whatever it is
/// in this run: NaN.
std::shared_ptr<SharedTile> Agent::copyRows(tile::PutOp op, int64_t place, int64_t parts) {
  auto type = cast<VectorType>(op.getRing().getType().getElement());
  int64_t copied = type.getDimSize(0) / parts, columns = type.getDimSize(1);
  auto data = std::make_shared<SharedTile>(copied * columns, 0.0F);
  const attn::HostArray &view = block.device.getView(op.getView());
  Numbers first = numbersOf(op.getIndices()), limits = numbersOf(op.getLimits());
  ArrayRef<int64_t> axes = op.getAxes();
  MemRefType viewType = op.getView().getType();
  // An H200 calls a copy that begins within a unit an illegal instruction.
  if (role && first.back() * (viewType.getElementTypeBitWidth() / 8) % tile::copyUnitBytes != 0) {
    fail(op) << "copies from within a unit of " << tile::copyUnitBytes
             << " bytes: the tensor's last dimension from element " << first.back() << " on";
    return nullptr;
  }
  TypedValue<MemRefType> pages = op.getPages();
  int64_t tableRows = pages ? block.device.getView(pages).shape[1] * view.shape[1] : 0;
  std::optional<tile::TensorBox> box;
  if (role)
    box.emplace(op);
  tile::RowGroup group = op.getRowGroup();
  for (int64_t row = 0; row < copied; ++row) {
    Numbers at = first;
    if (box)
      box->move(at, row);
    else
      group.move(at, axes[0], place * copied + row);
    bool isRowBelow = at[axes[0]] < limits[0];
    int64_t below = isRowBelow ? std::clamp<int64_t>(limits[1] - first[axes[1]], 0, columns) : 0;
    // What the table has no entry for, the copy engine finds in no page.
    if (pages && role && at[1] >= tableRows)
      at[0] = -1;
    else if (pages && (role || below > 0) && !moveToPage(pages, viewType, at)) {
      fail(op) << "reads outside of the page table";
      return nullptr;
    }
    ElementLine line(view, at, axes[1]);
    for (int64_t column = 0, count = role ? columns : below; column < count; ++column) {
      Number element;
      if (line.read(first[axes[1]] + column, element)) {
        (*data)[row * columns + column] =
            column < below ? static_cast<float>(element.f) : std::numeric_limits<float>::quiet_NaN();
      } else if (!role) {
        fail(op) << "reads outside of the tensor";
        return nullptr;
      }
    }
  }
  return data;
}

Agent::Progress Agent::get(const Instruction &instruction, tile::GetOp op) {
  Ring &ring = *held(op.getRing()).ring;
  int64_t round = countGets(ring);
  RingStage &stage = ring.stageOf(round);
  if (role && waits(op)) {
    if (stage.round() < round)
      return waitFor("a full buffer of " + ring.name());
    clock.join(stage.full);
  }
  ++gets[&ring];
  if (op.getKept())
    kept[&ring].insert(round);
  Held &shared = values[instruction.results[0]];
  shared.ring = &ring;
  shared.round = round;
  return Progress::Moved;
}

Agent::Progress Agent::hold(const Instruction &instruction, tile::HeldOp op) {
  Ring &ring = *held(op.getRing()).ring;
  int64_t round = countReleases(ring);
  if (round >= countGets(ring)) {
    fail(op) << "held without get (" << ring.name() << ")";
    return Progress::Failed;
  }
  // What the tile.get in front of it waits for is counted from what is kept.
  if (!kept[&ring].erase(round) && block.device.rules) {
    fail(op) << "held, and not kept (" << ring.name() << ")";
    return Progress::Failed;
  }
  Held &shared = values[instruction.results[0]];
  shared.ring = &ring;
  shared.round = round;
  return Progress::Moved;
}

Agent::Progress Agent::release(tile::ReleaseOp op) {
  Ring &ring = *held(op.getRing()).ring;
  int64_t round = countReleases(ring);
  if (round >= countGets(ring)) {
    fail(op) << "release without get (" << ring.name() << ")";
    return Progress::Failed;
  }
  // What is held then would be the next step's buffer.
  if (block.device.rules && kept[&ring].contains(round)) {
    fail(op) << "kept buffer released before it was held (" << ring.name() << ")";
    return Progress::Failed;
  }
  if (block.device.rules)
    for (const std::shared_ptr<Product> &product : products)
      for (const Held *operand : {&product->a, &product->b})
        if (operand->ring == &ring && operand->round == round) {
          InFlightDiagnostic diagnostic = fail(op);
          diagnostic << "buffer released while a product reads it (" << ring.name() << ")";
          diagnostic.attachNote(product->op->getLoc()) << "the product that reads it";
          return Progress::Failed;
        }
  ++releases[&ring];
  if (role)
    ring.stageOf(round).empty.join(publish());
  return Progress::Moved;
}

/// Writes the agent's rows of a tile to the next buffer of a ring, once all have given that back. Without roles,
/// barriers say when others may read it.
Agent::Progress Agent::share(tile::ShareOp op) {
  Ring &ring = *held(op.getRing()).ring;
  if (!acquire(ring, op))
    return waitFor("an empty buffer of " + ring.name());
  int64_t round = countPuts(ring);
  StagePart &rows = ring.stageOf(round).parts[part];
  if (!block.access(rows.region, /*writes=*/true, {party, clock.at(party), Access::Share, op}, clock, name()))
    return Progress::Failed;
  auto data = std::make_shared<SharedTile>();
  for (const Number &number : held(op.getValue()).array->data)
    data->push_back(static_cast<float>(number.f));
  rows.data = std::move(data);
  rows.filler = op;
  if (!role) {
    rows.round = round;
    ++puts[&ring];
  }
  return Progress::Moved;
}

/// Writes the warp's rows of a tile to the next buffer of a ring of parts, which are all that numbers here know of.
/// Which rows it reads for that is not said.
Agent::Progress Agent::split(tile::SplitOp op) {
  const Held &shared = held(op.getShared());
  Ring &ring = *held(op.getRing()).ring;
  int64_t round = puts[&ring]++;
  RingStage &stage = ring.stageOf(round);
  std::vector<float> all;
  if (!readSharedTile(shared, op, {party, clock.at(party), Access::Read, op}, clock) ||
      !appendSharedTile(shared, op, all))
    return Progress::Failed;
  if (part >= static_cast<int64_t>(stage.parts.size()))
    return Progress::Moved;
  StagePart &rows = stage.parts[part];
  if (!block.access(rows.region, /*writes=*/true, {party, clock.at(party), Access::Share, op}, clock, name()))
    return Progress::Failed;
  auto own = static_cast<int64_t>(all.size() / stage.parts.size());
  rows.data = std::make_shared<SharedTile>(all.begin() + part * own, all.begin() + (part + 1) * own);
  rows.filler = op;
  rows.round = round;
  return Progress::Moved;
}

/// Enters that `op` reads `shared`.
bool Agent::readSharedTile(const Held &shared, Operation *op, const SharedMemory::Stamp &stamp, const Clock &before) {
  if (block.device.rules && countReleases(*shared.ring) > shared.round) {
    fail(op) << "read of a buffer that was released (" << shared.ring->name() << ")";
    return false;
  }
  for (StagePart &rows : shared.ring->stageOf(shared.round).parts) {
    if (!rows.filler) {
      fail(op) << "read of a buffer that has not arrived (" << shared.ring->name() << ", which nothing was put in)";
      return false;
    }
    if (!block.access(rows.region, /*writes=*/false, stamp, before, name()))
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

Agent::Progress Agent::start(const Instruction &instruction, tile::StartOp op) {
  auto product = std::make_shared<Product>();
  product->op = op;
  product->a = values[instruction.operands[0]];
  product->b = values[instruction.operands[1]];
  product->sum = values[instruction.operands[2]].array;
  product->columns = op.getResult().getType().getTile().getDimSize(1);
  product->transposed = op.getTransposed();
  product->leftTransposed = op.getLeftTransposed();
  if (!product->a.ring)
    product->left = instruction.operands[0];
  if (!code.isConstant(instruction.operands[2]))
    product->acc = instruction.operands[2];
  product->successor = instruction.successor;
  // Products of one warpgroup go one after the other.
  Clock before = clock;
  before.join(productClock);
  uint32_t time = block.nextTime(productParty);
  for (const Held *operand : {&product->a, &product->b})
    if (operand->ring && !readSharedTile(*operand, op, {productParty, time, Access::Product, op}, before))
      return Progress::Failed;
  publish();
  before.set(productParty, time);
  productClock = before;
  product->clock = before;
  products.push_back(product);
  values[instruction.results[0]].product = product;
  return Progress::Moved;
}

bool Agent::runProduct() { return multiply(*products[nextProduct++]); }

Agent::Progress Agent::await(const Instruction &instruction, tile::AwaitOp op) {
  std::shared_ptr<Product> product = values[instruction.operands[0]].product;
  Held &result = values[instruction.results[0]];
  if (!waits(op)) {
    // The registers as they are now; whoever looks at them touches the accumulator.
    product->acc = instruction.results[0];
    auto poison = std::make_shared<Array>(product->sum->rows, product->columns);
    for (Number &number : poison->data)
      number.f = std::numeric_limits<double>::quiet_NaN();
    result.array = product->done ? product->result : poison;
    return Progress::Moved;
  }
  auto it = llvm::find(products, product);
  if (it != products.end()) {
    size_t count = it - products.begin() + 1;
    while (nextProduct < count)
      if (!runProduct())
        return Progress::Failed;
    products.erase(products.begin(), products.begin() + static_cast<int64_t>(count));
    nextProduct -= count;
  }
  clock.join(product->clock);
  result.array = product->result;
  return Progress::Moved;
}

/// A ping-pong barrier is one of two warpgroups: one arrives, and the next waits.
Agent::Progress Agent::pingPong(tile::PingPongOp op) {
  if (op.getKind() == tile::PingPongKind::Wait) {
    ThreadBlock::PingPongBarrier &own = block.pingPong[part];
    if (waits(op)) {
      if (own.arrivals == 0)
        return waitFor("its ping-pong barrier");
      --own.arrivals;
      clock.join(own.clock);
    }
    return Progress::Moved;
  }
  ThreadBlock::PingPongBarrier &next = block.pingPong[(part + 1) % parts];
  // The barrier counts threads, not whose they are.
  if (next.arrivals > 0) {
    InFlightDiagnostic diagnostic = fail(op);
    diagnostic << "arrives twice at a ping-pong barrier before it was waited for";
    diagnostic.attachNote((next.lastArrival ? next.lastArrival : role)->getLoc())
        << (next.lastArrival ? "arrived here before" : "the first arrival is before the role starts");
    return Progress::Failed;
  }
  ++next.arrivals;
  next.lastArrival = op;
  next.clock.join(publish());
  return Progress::Moved;
}

/// Waits for all but the last copies of the warp's own, and for all warps; or in a role for all its warpgroups.
Agent::Progress Agent::sync(Operation *op) {
  if (!waits(op))
    return Progress::Moved;
  ThreadBlock::Barrier &barrier = block.barrier;
  if (!meeting) {
    auto copies = op->getAttrOfType<IntegerAttr>("copies");
    size_t open = copies ? copies.getInt() : ownCopies.size();
    for (; seenCopies + open < ownCopies.size(); ++seenCopies) {
      auto late = llvm::find_if(block.copies,
                                [&](const Copy &copy) { return copy.owner == this && copy.sequence == seenCopies; });
      if (late != block.copies.end())
        block.land(late - block.copies.begin());
      clock.join(ownCopies[seenCopies]);
    }
    barrier.clock.join(publish());
    meeting = barrier.meetings + 1;
    if (++barrier.arrived == block.agents.size()) {
      barrier.arrived = 0;
      ++barrier.meetings;
    }
  }
  if (barrier.meetings < *meeting)
    return waitFor("all warps at a barrier");
  clock.join(barrier.clock);
  meeting.reset();
  return Progress::Moved;
}
