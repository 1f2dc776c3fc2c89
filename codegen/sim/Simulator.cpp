//===- Simulator.cpp - Scheduled tile programs on the CPU -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/sim/Simulator.h"
#include "codegen/sim/Agent.h"
#include "dialect/tile/TensorBox.h"
#include "mlir/IR/AffineMap.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::sim;

FailureOr<Simulator> Simulator::create(tile::ProgramOp program) {
  Simulator simulator(program);
  Block &body = program.getBody().front();
  for (auto op : body.getOps<tile::RoleOp>())
    simulator.roles.push_back({op, {}});
  if (simulator.roles.empty())
    simulator.roles.push_back({tile::RoleOp(), {}});
  for (Role &role : simulator.roles)
    if (failed(role.code.compile(role.op ? role.op.getBody().front() : body, simulator.countParts(role))))
      return failure();
  return simulator;
}

int64_t Simulator::countParts(const Role &role) const {
  tile::RoleOp op = role.op;
  if (op)
    return op.getWarpgroups();
  tile::ProgramOp whole = program;
  attn::PipelineAttr pipeline = whole.getPipelineAttr();
  return pipeline ? tile::warpsOfWarpgroup * pipeline.getConsumers() : 1;
}

int64_t Simulator::numAgents() const {
  int64_t agents = 0;
  for (const Role &role : roles)
    agents += countParts(role);
  return agents;
}

int64_t Simulator::countTiles(ArrayRef<attn::ReferenceValue> arguments) const {
  tile::ProgramOp op = program;
  Builder builder(op.getContext());
  SmallVector<Attribute> sizes, results;
  ArrayRef<int64_t> pairs = op.getGridSizes();
  for (size_t n = 0; n + 1 < pairs.size(); n += 2)
    sizes.push_back(builder.getIndexAttr(std::get<attn::HostArray>(arguments[pairs[n]]).shape[pairs[n + 1]]));
  if (failed(op.getGrid().constantFold(sizes, results)))
    return 0;
  return cast<IntegerAttr>(results.front()).getInt();
}

std::unique_ptr<ThreadBlock> Simulator::makeBlock(Device &device, int64_t number) const {
  int64_t rowParts = 1;
  for (const Role &role : roles)
    rowParts = std::max(rowParts, countParts(role));
  tile::RoleOp first = roles.front().op;
  bool hasRoles = static_cast<bool>(first);
  auto block = std::make_unique<ThreadBlock>(device, number, hasRoles ? 1 : rowParts, rowParts);
  for (const Role &role : roles) {
    tile::RoleOp op = role.op;
    int64_t parts = countParts(role);
    for (int64_t part = 0; part < parts; ++part) {
      block->agents.push_back(std::make_unique<Agent>(*block, role.code, op, part, parts));
      Agent *agent = block->agents.back().get();
      if (op && op.getKind() == tile::RoleKind::Consumer)
        block->consumers.push_back(agent);
    }
  }
  block->findReaders();
  // The first consumer starts products first.
  block->pingPong.front().arrivals = 1;
  return block;
}

namespace {

/// Chooses what happens next, until all is done.
class Scheduler {
public:
  Scheduler(Device &device, const Interleaving &interleaving, ArrayRef<std::unique_ptr<ThreadBlock>> blocks)
      : device(device), interleaving(interleaving), blocks(blocks), dice(interleaving.seed) {}

  /// Runs to the end, or to the first fault.
  LogicalResult run();

private:
  /// Something on its way: a copy of a block, the next product or store of an agent.
  struct Arrival {
    ThreadBlock *block = nullptr;
    size_t copy = 0;
    Agent *products = nullptr, *drains = nullptr;
  };

  bool moveAgent();
  std::vector<Arrival> findArrivals(Timing upTo) const;
  bool arrive(const Arrival &arrival);
  void reportDeadlock();
  bool allDone() const;

  Device &device;
  const Interleaving &interleaving;
  ArrayRef<std::unique_ptr<ThreadBlock>> blocks;
  Dice dice;
};

} // namespace

bool Scheduler::allDone() const {
  return llvm::all_of(blocks, [](const std::unique_ptr<ThreadBlock> &block) {
    return llvm::all_of(block->agents, [](const std::unique_ptr<Agent> &agent) { return agent->isDone(); });
  });
}

/// What may get there now: what is early, what is early or random, or all.
std::vector<Scheduler::Arrival> Scheduler::findArrivals(Timing upTo) const {
  auto counts = [&](Timing timing) {
    return timing == Timing::Early || (timing == Timing::Random && upTo != Timing::Early) || upTo == Timing::Late;
  };
  std::vector<Arrival> arrivals;
  for (const std::unique_ptr<ThreadBlock> &block : blocks) {
    if (counts(interleaving.copies))
      for (size_t copy = 0; copy < block->copies.size(); ++copy)
        arrivals.push_back({block.get(), copy});
    for (const std::unique_ptr<Agent> &agent : block->agents) {
      if (counts(interleaving.products) && agent->hasProducts())
        arrivals.push_back({nullptr, 0, agent.get(), nullptr});
      if (counts(interleaving.stores) && agent->hasDrains())
        arrivals.push_back({nullptr, 0, nullptr, agent.get()});
    }
  }
  return arrivals;
}

bool Scheduler::arrive(const Arrival &arrival) {
  if (arrival.block)
    arrival.block->land(arrival.copy);
  else if (arrival.products)
    return arrival.products->runProduct();
  else
    return arrival.drains->runDrain();
  return true;
}

/// Moves one agent; false where none can, or on a fault.
bool Scheduler::moveAgent() {
  std::vector<Agent *> order, last;
  for (const std::unique_ptr<ThreadBlock> &block : blocks)
    for (auto [number, agent] : llvm::enumerate(block->agents)) {
      if (agent->isDone())
        continue;
      bool chosen = interleaving.pace != Pace::Random && static_cast<int64_t>(number) == interleaving.agent;
      bool late = interleaving.pace == Pace::Slowest ? chosen : interleaving.pace == Pace::Fastest && !chosen;
      (late ? last : order).push_back(agent.get());
    }
  for (std::vector<Agent *> *group : {&order, &last})
    while (!group->empty()) {
      size_t pick = dice.roll(group->size());
      Agent::Progress progress = (*group)[pick]->advance();
      if (progress == Agent::Progress::Failed)
        return false;
      if (progress != Agent::Progress::Waits)
        return true;
      group->erase(group->begin() + static_cast<int64_t>(pick));
    }
  return false;
}

void Scheduler::reportDeadlock() {
  std::string text;
  for (const std::unique_ptr<ThreadBlock> &block : blocks)
    for (const std::unique_ptr<Agent> &agent : block->agents)
      if (!agent->isDone())
        text += (text.empty() ? "" : ", ") + agent->name() + " waits for " + agent->getWait();
  InFlightDiagnostic diagnostic = device.fail(device.program, "");
  diagnostic << "deadlock: " << text << " (" << device.interleaving << ")";
  for (const std::unique_ptr<Agent> &agent : blocks.front()->agents)
    if (!agent->isDone())
      diagnostic.attachNote(agent->getPlace()->getLoc()) << agent->name() << " waits here";
}

LogicalResult Scheduler::run() {
  while (!allDone()) {
    std::vector<Arrival> arrivals = findArrivals(Timing::Early);
    if (arrivals.empty()) {
      arrivals = findArrivals(Timing::Random);
      constexpr uint64_t chances = 3;
      if (!arrivals.empty() && dice.roll(chances) != 0)
        arrivals.clear();
    }
    if (arrivals.empty()) {
      if (moveAgent())
        continue;
      if (device.failed)
        return failure();
      arrivals = findArrivals(Timing::Late);
    }
    if (arrivals.empty()) {
      reportDeadlock();
      return failure();
    }
    if (!arrive(arrivals[dice.roll(arrivals.size())]))
      return failure();
  }
  for (const std::unique_ptr<ThreadBlock> &block : blocks)
    if (!block->checkEnd())
      return failure();
  return success();
}

LogicalResult Simulator::run(ArrayRef<attn::ReferenceValue> arguments, const Interleaving &interleaving,
                             const Machine &machine) const {
  Device device(program, arguments);
  device.tiles = countTiles(arguments);
  device.rules = machine.rules;
  device.interleaving = interleaving.toString();
  // A program without roles has a block for each tile; they share nothing, and go one after the other.
  tile::RoleOp first = roles.front().op;
  bool stays = static_cast<bool>(first);
  device.blocks = stays ? machine.multiprocessors : device.tiles;
  std::vector<std::unique_ptr<ThreadBlock>> blocks;
  for (int64_t number = 0; number < device.blocks; ++number) {
    blocks.push_back(makeBlock(device, number));
    if (stays)
      continue;
    if (failed(Scheduler(device, interleaving, blocks).run()))
      return failure();
    blocks.clear();
  }
  return blocks.empty() ? success() : Scheduler(device, interleaving, blocks).run();
}
