//===- Block.cpp - What the agents of a thread block share ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/sim/Block.h"
#include "codegen/sim/Agent.h"
#include "dialect/tile/SharedLayout.h"
#include "dialect/tile/TileQueries.h"
#include <numeric>

using namespace mlir;
using namespace attnc;
using namespace attnc::sim;

//===----------------------------------------------------------------------===//
// Device
//===----------------------------------------------------------------------===//

InFlightDiagnostic Device::fail(Operation *op, const std::string &who) {
  failed = true;
  InFlightDiagnostic diagnostic = emitError(op->getLoc());
  diagnostic << "'" << op->getName().getStringRef() << "' ";
  if (!who.empty())
    diagnostic << "of " << who << " ";
  return diagnostic;
}

const attn::HostArray &Device::getView(Value value) const {
  return std::get<attn::HostArray>(arguments[cast<BlockArgument>(value).getArgNumber()]);
}

bool Device::checkInside(Operation *op, const std::string &who, Value view, ArrayRef<int64_t> indices) {
  for (auto [index, size] : llvm::zip_equal(indices, getView(view).shape))
    if (index < 0 || index >= size) {
      fail(op, who) << "writes outside of the tensor";
      return false;
    }
  return true;
}

/// The error of additions that may come in any order, where one has a place in it.
bool Device::failUnordered(Operation *op, const std::string &who, Operation *other) {
  InFlightDiagnostic diagnostic = fail(op, who);
  diagnostic << "unordered additions to the same element (" << interleaving << ")";
  diagnostic.attachNote(other->getLoc()) << "the other addition; nothing orders the two";
  return false;
}

bool Device::addInOrder(const std::string &who, const OrderedAdd &add, Value value, ArrayRef<int64_t> indices,
                        Number number) {
  if (!checkInside(add.op, who, value, indices))
    return false;
  const attn::HostArray &view = getView(value);
  int64_t offset = view.offset(indices);
  if (auto known = sums.find(value); known != sums.end() && known->second.contains(offset))
    return failUnordered(add.op, who, adders.lookup(value));
  auto [last, isNew] = ordered[value].try_emplace(offset, add);
  const OrderedAdd &before = last->second;
  bool isSame = before.place == add.place && before.tile == add.tile;
  bool sharesSemaphore = before.semaphores == add.semaphores && before.semaphore == add.semaphore;
  if (!isNew && !(sharesSemaphore && (isSame || before.place == add.after)))
    return failUnordered(add.op, who, before.op);
  last->second = add;
  Number sum;
  readElement(view, indices, sum);
  attn::storeElement(*attn::getElementKind(view.elementType), view.data, offset, static_cast<float>(sum.f + number.f));
  return true;
}

bool Device::add(Operation *op, const std::string &who, Value value, ArrayRef<int64_t> indices, Number number) {
  if (!checkInside(op, who, value, indices))
    return false;
  const attn::HostArray &view = getView(value);
  int64_t offset = view.offset(indices);
  if (auto known = ordered.find(value); known != ordered.end())
    if (auto add = known->second.find(offset); add != known->second.end())
      return failUnordered(op, who, add->second.op);
  adders[value] = op;
  auto [sum, isNew] = sums[value].try_emplace(offset, 0.0);
  if (Number before; isNew && readElement(view, indices, before))
    sum->second = before.f;
  sum->second += number.f;
  attn::storeElement(*attn::getElementKind(view.elementType), view.data, offset, sum->second);
  return true;
}

bool Device::store(Operation *op, const std::string &who, int writer, Value value, ArrayRef<int64_t> indices,
                   Number number) {
  if (!checkInside(op, who, value, indices))
    return false;
  const attn::HostArray &view = getView(value);
  int64_t linear = 0, count = 1;
  for (auto [index, size] : llvm::zip_equal(indices, view.shape)) {
    linear = linear * size + index;
    count *= size;
  }
  std::vector<int> &known = writers[value];
  known.resize(count, 0);
  if (known[linear] && known[linear] != writer + 1) {
    fail(op, who) << "stores an element that has been stored before";
    return false;
  }
  known[linear] = writer + 1;
  bool isFloat = isa<FloatType>(view.elementType);
  attn::storeElement(*attn::getElementKind(view.elementType), view.data, view.offset(indices),
                     isFloat ? number.f : static_cast<double>(number.i));
  return true;
}

//===----------------------------------------------------------------------===//
// Block
//===----------------------------------------------------------------------===//

std::string Ring::name() const {
  tile::RingOp ring = op;
  std::string text;
  llvm::raw_string_ostream(text) << "ring " << number << " (" << ring.getRing().getType() << ")";
  return text;
}

/// Into how many parts the warpgroups that store by way of `buffer` divide it, of a program whose rows are dealt in
/// `parts`.
static int64_t countStorers(tile::BufferOp buffer, int64_t parts) {
  for (Operation *user : buffer->getUsers())
    if (auto role = user->getParentOfType<tile::RoleOp>())
      return static_cast<int64_t>(role.getWarpgroups());
  return parts;
}

/// Into how many parts, which have as many rows, those who fill `ring` divide its tiles: copies, or those whose rows
/// are dealt in `parts`. Row vectors that warps share lie along the columns.
static int64_t countRingParts(tile::RingOp ring, VectorType tile, int64_t copyParts, int64_t parts) {
  if (!tile::isFilledByConsumers(ring))
    return std::gcd(copyParts, tile::SharedLayout(tile).rows);
  return std::gcd(parts, tile.getElementType().isF32() ? tile.getDimSize(1) : tile::SharedLayout(tile).rows);
}

ThreadBlock::ThreadBlock(Device &device, int64_t number, int64_t copyParts, int64_t parts)
    : device(device), number(number), pingPong(parts) {
  auto &body = device.program.getBody().front();
  int64_t ringNumber = 0;
  for (auto op : body.getOps<tile::RingOp>()) {
    tile::RingType type = op.getRing().getType();
    auto tile = dyn_cast<VectorType>(type.getElement());
    constexpr int64_t wordBytes = 8;
    int64_t bytes = tile ? tile::SharedLayout(tile).bytes() : wordBytes;
    int64_t count = tile ? countRingParts(op, tile, copyParts, parts) : 1;
    Ring ring{op, ringNumber++, std::vector<RingStage>(type.getStages())};
    for (auto [number, stage] : llvm::enumerate(ring.stages))
      for (int64_t part = 0; part < count; ++part) {
        auto place = static_cast<int64_t>(number * bytes + part * bytes / count);
        int64_t begin = op.getOffset() ? static_cast<int64_t>(*op.getOffset()) + place : -1;
        StagePart rows;
        rows.region = memory.addRegion(begin, bytes / count);
        rows.copyParty = addParty();
        stage.parts.push_back(std::move(rows));
      }
    rings.try_emplace(op.getRing(), std::move(ring));
  }
  for (auto op : body.getOps<tile::BufferOp>()) {
    VectorType tile = op.getShared().getType().getTile();
    int64_t storers = countStorers(op, parts);
    int64_t bytes = tile::SharedLayout(tile).bytes() / storers, elements = tile.getNumElements() / storers;
    for (int64_t part = 0; part < storers; ++part) {
      // A warpgroup's rows lie in every panel; where one panel ends and where the next begins does not matter here.
      int64_t begin = op.getOffset() ? static_cast<int64_t>(*op.getOffset()) + part * bytes : -1;
      buffers[op.getShared()].push_back({memory.addRegion(begin, bytes), std::vector<Number>(elements)});
    }
  }
  for (auto &entry : rings)
    for (RingStage &stage : entry.second.stages)
      for (StagePart &part : stage.parts) {
        partOfRegion.resize(std::max<size_t>(partOfRegion.size(), part.region + 1), nullptr);
        partOfRegion[part.region] = &part;
      }
}

ThreadBlock::~ThreadBlock() = default;

bool ThreadBlock::access(int region, bool writes, const SharedMemory::Stamp &stamp, const Clock &clock,
                         const std::string &who) {
  std::optional<SharedMemory::Stamp> race = memory.enter(region, writes, stamp, clock);
  if (writes)
    for (int other : memory.findOverlaps(region))
      if (other < static_cast<int>(partOfRegion.size()) && partOfRegion[other])
        partOfRegion[other]->data = nullptr;
  if (!race)
    return true;
  InFlightDiagnostic diagnostic = device.fail(stamp.op, who);
  const char *note = "this access is neither before nor after it";
  if (stamp.access == Access::Copy && race->access == Access::Read) {
    diagnostic << "buffer overwritten while a warpgroup reads it";
    note = "the operation that reads it; nothing orders the two";
  } else if (stamp.access == Access::Copy && race->access == Access::Product) {
    diagnostic << "buffer overwritten while a product reads it";
    note = "the product that reads it; nothing orders the two";
  } else if (stamp.access == Access::Share && race->access == Access::Product) {
    diagnostic << "shared tile overwritten while a product reads it";
    note = "the product that reads it; nothing orders the two";
  } else if (stamp.access == Access::Product && race->access == Access::Share) {
    diagnostic << "read of rows that another warpgroup may not have shared yet";
    note = "the operation that shares them; nothing orders the two";
  } else if ((stamp.access == Access::Product || stamp.access == Access::Read) && race->access == Access::Copy) {
    diagnostic << "read of a buffer that has not arrived";
    note = "the copy that fills it; nothing orders the two";
  } else if (stamp.access == Access::Copy && race->access == Access::Copy) {
    diagnostic << "buffer overwritten while another copy fills it";
    note = "the other copy; nothing orders the two";
  } else if (stamp.access == Access::Clear && race->access == Access::Copy) {
    diagnostic << "rows cleared while a copy fills them";
    note = "the copy that fills them; nothing orders the two";
  } else if (stamp.access == Access::Product && race->access == Access::Clear) {
    diagnostic << "read of rows that may not be cleared yet";
    note = "the put that clears them; nothing orders the two";
  } else if (stamp.access == Access::Stage && race->access == Access::Drain) {
    diagnostic << "buffer overwritten while a store reads it";
    note = "the store that reads it; nothing orders the two";
  } else {
    diagnostic << "unordered accesses to the same bytes of shared memory";
  }
  diagnostic << " (" << device.interleaving << ")";
  diagnostic.attachNote(race->op->getLoc()) << note;
  return false;
}

void ThreadBlock::land(size_t position) {
  Copy copy = std::move(copies[position]);
  copies.erase(copies.begin() + static_cast<int64_t>(position));
  RingStage &stage = copy.ring->stageOf(copy.round);
  StagePart &part = stage.parts[copy.part];
  part.data = std::move(copy.data);
  if (copy.held) {
    part.landed = copy.round;
    stage.landed.join(copy.clock);
    return;
  }
  part.round = copy.round;
  stage.full.join(copy.clock);
}

void ThreadBlock::findReaders() {
  for (auto &[value, ring] : rings) {
    llvm::SmallDenseSet<Operation *> roles;
    for (Operation *user : value.getUsers())
      if (auto each = dyn_cast<tile::PersistentOp>(user)) {
        auto role = each->getParentOfType<tile::RoleOp>();
        if (!role.takesTiles())
          roles.insert(role);
      } else if (isa<tile::GetOp>(user)) {
        roles.insert(user->getParentOfType<tile::RoleOp>());
      }
    for (const std::unique_ptr<Agent> &agent : agents)
      if (agent->getRole() && roles.contains(agent->getRole()))
        ring.readers.push_back(agent.get());
  }
}

bool ThreadBlock::checkEnd() {
  if (!device.rules)
    return true;
  for (const std::unique_ptr<Agent> &agent : agents)
    if (tile::StoreOp store = agent->findDeferredStore()) {
      device.fail(store, agent->name()) << "deferred, and no 'tile.post' followed";
      return false;
    }
  for (auto &entry : rings) {
    Ring &ring = entry.second;
    int64_t puts = 0;
    for (const std::unique_ptr<Agent> &agent : agents)
      puts = std::max(puts, agent->countPuts(ring));
    for (Agent *reader : ring.readers) {
      if (reader->countGets(ring) == puts)
        continue;
      device.fail(ring.op, reader->name()) << "buffer filled and never got: " << ring.name() << " was filled " << puts
                                           << " times and got " << reader->countGets(ring) << " times";
      return false;
    }
  }
  return true;
}
