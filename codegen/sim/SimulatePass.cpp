//===- SimulatePass.cpp - tile-simulate -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/image/RandomNumbers.h"
#include "codegen/sim/Passes.h"
#include "codegen/sim/Simulator.h"
#include <cmath>

namespace attnc::sim {
#define GEN_PASS_DEF_TILESIMULATE
#include "codegen/sim/Passes.h.inc"
} // namespace attnc::sim

using namespace mlir;
using namespace attnc;
using namespace attnc::sim;

namespace {

/// Arguments of a program that the pass owns.
struct Inputs {
  std::vector<std::vector<char>> storage;
  std::vector<attn::ReferenceValue> values;
};

struct TileSimulate : attnc::sim::impl::TileSimulateBase<TileSimulate> {
  using TileSimulateBase::TileSimulateBase;

  void runOnOperation() override {
    for (auto program : getOperation().getOps<tile::ProgramOp>())
      if (failed(simulate(program)))
        return signalPassFailure();
  }

private:
  LogicalResult simulate(tile::ProgramOp program);
  FailureOr<Inputs> makeInputs(tile::ProgramOp program);
  LogicalResult addTensor(tile::ProgramOp program, unsigned number, MemRefType type, Inputs &inputs);
};

} // namespace

/// Bytes of one element in memory.
static int64_t byteSize(Type type) {
  return type.isIndex() ? 8 : std::max<int64_t>(1, type.getIntOrFloatBitWidth() / 8);
}

/// A dense tensor of random floats, or of integers that count up.
LogicalResult TileSimulate::addTensor(tile::ProgramOp program, unsigned number, MemRefType type, Inputs &inputs) {
  SmallVector<StringRef> open;
  auto [text, by] = StringRef(args[number]).split('*');
  int64_t distance = 1;
  if (!by.empty() && by.getAsInteger(10, distance))
    return program.emitError() << "expected a number after '*' in 'args', got '" << args[number] << "'";
  if (text != "-")
    text.split(open, 'x');
  if (open.size() != static_cast<size_t>(type.getNumDynamicDims()))
    return program.emitError() << "expected " << type.getNumDynamicDims() << " sizes for argument " << number
                               << " in 'args', got '" << text << "'";
  SmallVector<int64_t> shape;
  int64_t elements = 1;
  size_t next = 0;
  for (int64_t size : type.getShape()) {
    if (ShapedType::isDynamic(size) && (open[next++].getAsInteger(10, size) || size < 0))
      return program.emitError() << "expected sizes in 'args', got '" << text << "'";
    shape.push_back(size);
    elements *= size;
  }
  Type element = type.getElementType();
  std::optional<attn::ElementKind> kind = attn::getElementKind(element);
  if (!kind)
    return program.emitError() << "has an argument of " << type << ", which is not simulated";
  inputs.storage.emplace_back(elements * byteSize(element));
  void *data = inputs.storage.back().data();
  for (int64_t n = 0; n < elements; ++n)
    attn::storeElement(*kind, data, n,
                       isa<FloatType>(element) ? image::normalAt(seed, number, static_cast<uint64_t>(n))
                                               : static_cast<double>(n * distance));
  inputs.values.emplace_back(attn::HostArray::dense(element, data, shape));
  return success();
}

FailureOr<Inputs> TileSimulate::makeInputs(tile::ProgramOp program) {
  ArrayRef<Type> types = program.getArgumentTypes().drop_back();
  if (args.size() != types.size())
    return program.emitError() << "expected " << types.size() << " entries in 'args', got " << args.size();
  Inputs inputs;
  for (auto [number, type] : llvm::enumerate(types)) {
    if (auto tensor = dyn_cast<MemRefType>(type)) {
      if (failed(addTensor(program, static_cast<unsigned>(number), tensor, inputs)))
        return failure();
      continue;
    }
    double value = 0;
    if (StringRef(args[number]).getAsDouble(value))
      return program.emitError() << "expected a number for argument " << number << " in 'args', got '" << args[number]
                                 << "'";
    if (isa<FloatType>(type))
      inputs.values.emplace_back(value);
    else
      inputs.values.emplace_back(static_cast<int64_t>(value));
  }
  return inputs;
}

/// Whether all elements in `inputs` are numbers, as those that the pass draws are.
static bool areNumbers(const Inputs &inputs) {
  for (const attn::ReferenceValue &value : inputs.values) {
    const auto *tensor = std::get_if<attn::HostArray>(&value);
    if (!tensor)
      continue;
    attn::ElementKind kind = *attn::getElementKind(tensor->elementType);
    for (int64_t n = 0, count = ShapedType::getNumElements(tensor->shape); n < count; ++n)
      if (std::isnan(attn::loadElement(kind, tensor->data, n)))
        return false;
  }
  return true;
}

LogicalResult TileSimulate::simulate(tile::ProgramOp program) {
  FailureOr<Simulator> simulator = Simulator::create(program);
  if (failed(simulator))
    return failure();
  FailureOr<Inputs> inputs = makeInputs(program);
  if (failed(inputs))
    return failure();
  Machine machine{multiprocessors, rules};
  std::optional<std::vector<std::vector<char>>> expected;
  const std::vector<std::vector<char>> before = inputs->storage;
  for (const Interleaving &interleaving : makeInterleavings(simulator->numAgents(), random, seed)) {
    for (auto [storage, old] : llvm::zip_equal(inputs->storage, before))
      std::copy(old.begin(), old.end(), storage.begin());
    if (failed(simulator->run(inputs->values, interleaving, machine)))
      return failure();
    if (!expected)
      expected = inputs->storage;
    if (*expected != inputs->storage)
      return program.emitError() << "results depend on the interleaving (" << interleaving.toString() << ")";
  }
  if (!areNumbers(*inputs))
    return program.emitError("gives results that are no numbers");
  return success();
}
