//===- Agent.cpp - What one warpgroup does ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/sim/Agent.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::sim;

Agent::Agent(ThreadBlock &block, const Code &code, tile::RoleOp role, int64_t part, int64_t parts)
    : block(block), code(code), role(role), takesTiles(role && role.takesTiles()), part(part), parts(parts),
      number(static_cast<int64_t>(block.agents.size())), consumer(static_cast<int64_t>(block.consumers.size())),
      party(block.addParty()), productParty(block.addParty()), drainParty(block.addParty()),
      clearParty(block.addParty()) {
  clock.set(party, 1);
  setUp();
}

std::string Agent::name() const {
  auto op = cast_if_present<tile::RoleOp>(role);
  std::string text = !op                                        ? "warp " + std::to_string(part)
                     : op.getKind() == tile::RoleKind::Consumer ? "consumer " + std::to_string(consumer)
                     : op.getKind() == tile::RoleKind::Reducer  ? "reducer"
                     : op.getWarp()                             ? "producer " + std::to_string(*op.getWarp())
                                                                : "producer";
  text += " of block " + std::to_string(block.number);
  return tile ? text + " in tile " + std::to_string(*tile) : text;
}

int Agent::writer() const {
  return static_cast<int>(tile.value_or(0) * static_cast<int64_t>(block.agents.size()) + number);
}

InFlightDiagnostic Agent::fail(Operation *op) { return block.device.fail(op, name()); }

/// Rows that the agent holds of the value `number`.
int64_t Agent::rowsOf(int number) const {
  auto type = cast<VectorType>(code.typeOf(number));
  return code.isColumns(number) ? 1 : type.getDimSize(0) / parts;
}

std::shared_ptr<const Array> Agent::makeConstant(int number, Attribute value) const {
  auto type = cast<VectorType>(code.typeOf(number));
  auto elements = cast<DenseElementsAttr>(value);
  auto array = std::make_shared<Array>(rowsOf(number), type.getRank() == 2 ? type.getDimSize(1) : 1);
  if (elements.isSplat()) {
    std::fill(array->data.begin(), array->data.end(), toNumber(elements.getSplatValue<Attribute>()));
    return array;
  }
  int64_t first = code.isColumns(number) ? 0 : part * static_cast<int64_t>(array->data.size());
  for (auto [n, element] : llvm::enumerate(array->data))
    element = toNumber(elements.getValues<Attribute>()[first + n]);
  return array;
}

void Agent::setUp() {
  Device &device = block.device;
  values.resize(code.numValues());
  for (auto [number, attribute] : code.getConstants()) {
    if (isa<VectorType>(code.typeOf(number)))
      values[number].array = makeConstant(number, attribute);
    else
      values[number].number = toNumber(attribute);
  }
  for (auto [number, value] : code.getOutside()) {
    if (auto it = block.rings.find(value); it != block.rings.end()) {
      values[number].ring = &it->second;
      continue;
    }
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || argument.getOwner()->getParentOp() != device.program.getOperation())
      continue;
    if (argument == device.program.getTile()) {
      values[number].number.i = block.number;
      continue;
    }
    const attn::ReferenceValue &given = device.arguments[argument.getArgNumber()];
    if (const auto *real = std::get_if<double>(&given))
      values[number].number.f = *real;
    else if (const auto *integer = std::get_if<int64_t>(&given))
      values[number].number.i = *integer;
  }
  if (!role)
    tile = block.number;
}

Clock Agent::publish() {
  Clock copy = clock;
  clock.set(party, clock.at(party) + 1);
  return copy;
}

Held &Agent::held(Value value) { return values[code.lookUp(value)]; }

Agent::Numbers Agent::numbersOf(ValueRange operands) {
  Numbers numbers;
  for (Value value : operands)
    numbers.push_back(held(value).number.i);
  return numbers;
}

Agent::Progress Agent::waitFor(std::string what) {
  wait = std::move(what);
  return Progress::Waits;
}

/// Registers of products in flight are not touched.
bool Agent::checkRegisters(const Instruction &instruction) {
  if (!block.device.rules || products.empty())
    return true;
  for (const std::shared_ptr<Product> &product : products) {
    for (int operand : instruction.operands) {
      if (operand != product->acc)
        continue;
      fail(instruction.op) << "accumulator touched in flight";
      return false;
    }
    for (auto [n, result] : llvm::enumerate(instruction.results)) {
      // What becomes itself is not moved.
      if (instruction.action == Action::Move && instruction.operands[n] == result)
        continue;
      if (result != product->acc && result != product->left && result != product->successor)
        continue;
      InFlightDiagnostic diagnostic = fail(instruction.op);
      diagnostic << "registers of a product in flight written";
      diagnostic.attachNote(product->op->getLoc()) << "the product that reads them";
      return false;
    }
  }
  return true;
}

/// The end of a role: stores get to where they go, and nothing is left over.
bool Agent::finish() {
  if (!finishStores())
    return false;
  if (!block.device.rules)
    return true;
  if (!products.empty()) {
    fail(products.front()->op) << "product never awaited";
    return false;
  }
  for (auto &entry : block.rings)
    if (countGets(entry.second) != countReleases(entry.second)) {
      fail(entry.second.op) << "buffer never released: got " << countGets(entry.second) << " times and released "
                            << countReleases(entry.second) << " times";
      return false;
    }
  return true;
}

Agent::Progress Agent::advance() {
  wait.clear();
  while (true) {
    const Instruction &instruction = code.instructions[pc];
    if (!checkRegisters(instruction))
      return Progress::Failed;
    auto operand = [&](int number) -> Held & { return values[instruction.operands[number]]; };
    int next = pc + 1;
    switch (instruction.action) {
    case Action::End:
      if (!finish())
        return Progress::Failed;
      done = true;
      return Progress::Done;
    case Action::Move: {
      SmallVector<Held, 8> moved;
      for (int number : instruction.operands)
        moved.push_back(values[number]);
      for (auto [number, value] : llvm::zip_equal(instruction.results, moved))
        values[number] = std::move(value);
      break;
    }
    case Action::Advance:
      values[instruction.results[0]].number.i = operand(0).number.i + operand(1).number.i;
      break;
    case Action::Nothing:
      break;
    case Action::Jump:
      next = instruction.target;
      break;
    case Action::Branch:
      if (!operand(0).number.i)
        next = instruction.target;
      break;
    case Action::LoopTest:
      if (operand(0).number.i >= operand(1).number.i)
        next = instruction.target;
      break;
    case Action::FirstTile:
      fresh = true;
      break;
    default:
      if (instruction.action < Action::Move) {
        if (!compute(instruction))
          return Progress::Failed;
        break;
      }
      Progress progress = synchronize(instruction);
      // What takes a tile goes on by itself.
      if (progress == Progress::Moved && instruction.action != Action::NextTile)
        pc = next;
      return progress;
    }
    pc = next;
  }
}
