//===- SimKernel.cpp - The simulator of tile programs as a target -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/jit/SimKernel.h"
#include "codegen/describe/DescribeImage.h"
#include "codegen/image/DType.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Pipelines.h"
#include "runtime/jit/Compile.h"
#include "llvm/ADT/bit.h"
#include <cstring>

using namespace mlir;
using namespace attnc;
using namespace attnc::jit;
using image::ArgRole;
using image::Result;
using image::Span;
using image::Status;
using runtime::ArgValue;
using runtime::Tensor;

/// Interleavings in which anything goes, in addition to the extremes.
static constexpr int64_t randomRuns = 2;

Result<std::unique_ptr<SimKernel>> SimKernel::create(Session &session, const attn::KernelFunction &kernel,
                                                     Attribute target) {
  auto module = lowerToAttn(session, kernel, target);
  if (!module)
    return module.takeError();
  PassManager pm(&session.context());
  buildTilePipeline(pm);
  if (failed(pm.run(**module)))
    return reported();
  FailureOr<image::KernelImage> image = describe::describeImage(kernel, **module);
  if (failed(image))
    return reported();
  image->target = "sim:" + cast<attn::GpuTargetAttr>(target).getArch().str();
  std::vector<sim::Simulator> programs;
  for (auto program : (**module).getOps<tile::ProgramOp>()) {
    FailureOr<sim::Simulator> simulator = sim::Simulator::create(program);
    if (failed(simulator))
      return reported();
    programs.push_back(std::move(*simulator));
  }
  return std::unique_ptr<SimKernel>(new SimKernel(std::move(*image), std::move(*module), std::move(programs)));
}

/// The scalar whose bits are in a slot of the argument block.
static attn::ReferenceValue decodeScalar(image::DType dtype, int64_t bits) {
  if (dtype == image::DType::I1)
    return int64_t(bits ? -1 : 0);
  if (!image::isFloat(dtype))
    return bits;
  return image::loadScalar(dtype, &bits);
}

/// The argument block, as generated code reads it (runtime/Arguments.h), and the workspaces of `entry`.
static std::vector<attn::ReferenceValue>
decodeArguments(const image::KernelImage &image, const runtime::BoundArguments &arguments, tile::ProgramOp program,
                const image::KernelEntry &entry, const image::WorkspacePlaces &places, std::vector<int32_t> &memory) {
  std::vector<attn::ReferenceValue> values;
  std::vector<int64_t> offsets = runtime::slotOffsets(image);
  for (auto [number, type] : llvm::enumerate(program.getCallerTypes())) {
    const int64_t *slots = arguments.slots.data() + offsets[number];
    auto view = dyn_cast<MemRefType>(type);
    if (!view) {
      values.push_back(decodeScalar(image.args[number].dtype, slots[0]));
      continue;
    }
    attn::HostArray array;
    array.elementType = view.getElementType();
    std::memcpy(static_cast<void *>(&array.data), slots, sizeof(array.data));
    int64_t rank = view.getRank();
    array.shape.assign(slots + 1, slots + 1 + rank);
    array.strides.assign(slots + 1 + rank, slots + 1 + 2 * rank);
    values.emplace_back(std::move(array));
  }
  for (auto [rule, view] : llvm::zip_equal(entry.workspaces, program.getWorkspaceViews()))
    values.emplace_back(attn::HostArray::dense(
        cast<MemRefType>(view.getType()).getElementType(),
        memory.data() + places.offsets[rule.workspace] / static_cast<int64_t>(sizeof(int32_t)),
        {rule.rows.evaluate(arguments.symbolSizes), rule.columns.evaluate(arguments.symbolSizes)}));
  return values;
}

/// A number that differs where inputs do: each of them meets interleavings of its own.
static uint64_t makeSeed(const image::KernelImage &image, Span<const ArgValue> values) {
  uint64_t seed = 0;
  for (size_t n = 0; n < values.size(); ++n) {
    const auto *tensor = std::get_if<Tensor>(&values[n]);
    if (image.args[n].role != ArgRole::Input || !tensor || tensor->numElements() == 0)
      continue;
    seed = seed * 31 + llvm::bit_cast<uint64_t>(tensor->loadLinear(tensor->numElements() / 2)) % 1000003;
  }
  return seed % 1000003;
}

Status SimKernel::run(Span<const ArgValue> values) {
  auto arguments = runtime::bindArguments(image(), values);
  if (!arguments)
    return arguments.takeError();
  std::vector<Tensor> outputs;
  for (size_t n = 0; n < values.size(); ++n)
    if (image().args[n].role == ArgRole::Output)
      outputs.push_back(std::get<Tensor>(values[n]));
  // No place that a list could name.
  constexpr int32_t poison = std::numeric_limits<int32_t>::min();
  const image::WorkspacePlaces places = image::placeWorkspaces(image(), arguments->symbolSizes);
  if (places.bytes < 0)
    return image::Error{"no size of the workspace"};
  std::vector<int32_t> workspace(static_cast<size_t>(places.bytes) / sizeof(poison));
  std::vector<Tensor> expected;
  const std::vector<int64_t> offsets = runtime::slotOffsets(image());
  int64_t agents = 0;
  for (const sim::Simulator &program : programs)
    agents = std::max(agents, program.numAgents());
  for (const sim::Interleaving &interleaving : sim::makeInterleavings(agents, randomRuns, makeSeed(image(), values))) {
    for (const Tensor &output : outputs)
      output.poison();
    std::fill(workspace.begin(), workspace.end(), poison);
    for (auto [op, program, entry] : llvm::zip_equal(module->getOps<tile::ProgramOp>(), programs, image().entries))
      if (entry.countTiles(arguments->symbolSizes) != 0 &&
          (!entry.boxes || runtime::holds(*entry.boxes, image(), offsets, arguments->slots)) &&
          failed(program.run(decodeArguments(image(), *arguments, op, entry, places, workspace), interleaving)))
        return reported();
    for (size_t n = 0; n < outputs.size(); ++n) {
      Result<Tensor> dense = outputs[n].contiguous();
      if (!dense)
        return dense.takeError();
      if (expected.size() == n) {
        Result<Tensor> copy = Tensor::allocate(dense->dtype(), dense->shape());
        if (!copy)
          return copy.takeError();
        std::memcpy(copy->data(), dense->data(), static_cast<size_t>(dense->numBytes()));
        expected.push_back(std::move(*copy));
      }
      auto bytes = static_cast<size_t>(dense->numBytes());
      if (bytes && std::memcmp(expected[n].data(), dense->data(), bytes) != 0)
        return image::Error{"results depend on the interleaving (" + interleaving.toString() + ")"};
    }
  }
  return {};
}

/// Compiles to tile programs, for a GPU that need not be here.
static Result<std::unique_ptr<Executable>> loadSim(const Target &self, Session &session,
                                                   const attn::KernelFunction &kernel, ImageSource) {
  Result<Attribute> machine = findMachine(&session.context(), self.name);
  if (!machine)
    return machine.takeError();
  Result<std::unique_ptr<SimKernel>> loaded = SimKernel::create(session, kernel, *machine);
  if (!loaded)
    return loaded.takeError();
  return std::unique_ptr<Executable>(std::move(*loaded));
}

llvm::ArrayRef<Target> jit::getSimTargets() {
  static constexpr Target targets[] = {
      {"sim:sm_90a", "the steps of the kernel for Hopper under adverse timing: very slow, finds races", explainNothing,
       loadSim, Compiles::Program, "nvptx"},
      {"sim:sm_80", "the same for the kernel from Ampere on", explainNothing, loadSim, Compiles::Program, "nvptx"},
  };
  return targets;
}
