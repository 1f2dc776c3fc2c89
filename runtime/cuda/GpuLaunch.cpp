//===- GpuLaunch.cpp - A kernel image loaded on a GPU ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/cuda/GpuLaunch.h"

#include <algorithm>

using attnc::image::Error;
using attnc::image::KernelEntry;
using attnc::image::KernelImage;
using attnc::image::Result;
using attnc::image::Span;
using attnc::image::Status;
using attnc::runtime::ArgValue;
using attnc::runtime::BoundArguments;

namespace attnc::cuda {
namespace {

constexpr int64_t counterBytes = 4, zeroBytes = 256;
constexpr int64_t countersSize = GpuLaunch::numCounters * counterBytes;

/// The most blocks of a grid in its first dimension; blocks that stay count their tiles in 32 bits as well.
constexpr int64_t maxGrid = std::numeric_limits<int32_t>::max();

/// The next place in a workspace where a copy of a tensor can begin: whole lines of the cache.
int64_t alignOffset(int64_t bytes) {
  constexpr int64_t alignment = 256;
  return (bytes + alignment - 1) / alignment * alignment;
}

/// The assembler within the driver of CUDA 13.0 (580.159) loses instructions of kernels that spill registers: rows were
/// taken for others in two of ten thousand random ones. Of one that spills 72 bytes it makes code that is right at
/// level 1, which takes 3 % more time (17 times as much at level 0); of one that spills 5 KiB at level 0 alone. ptxas
/// is right of the same PTX at all levels, and assembles whatever is compiled where it is (of more that it is wrong of,
/// see codegen/nvptx/Assembler.h).
constexpr int mostSpilled = 1024;

/// The most bytes that a thread of one of `functions` spills.
int findSpilled(const std::vector<Function> &functions) {
  int most = 0;
  for (const Function &function : functions)
    most = std::max(most, function.localBytes);
  return most;
}

/// From this version on drivers capture early starts in graphs.
constexpr int earlyStartVersion = 12030;

} // namespace

GpuLaunch::GpuLaunch(DeviceRef device, const KernelImage &image)
    : gpu(std::move(device)), kernel(image), offsets(runtime::slotOffsets(image)) {}

Result<std::unique_ptr<GpuLaunch>> GpuLaunch::load(DeviceRef device, const KernelImage &image) {
  if (Status status = image::verify(image); !status)
    return status.takeError();
  std::unique_ptr<GpuLaunch> launch(new GpuLaunch(std::move(device), image));
  if (Status status = launch->load(); !status)
    return status.takeError();
  return launch;
}

Status GpuLaunch::load() {
  const std::string prefix = "kernel '" + kernel.name + "' cannot be loaded: ";
  size_t numMaps = 0;
  bool needsShared = false;
  for (const KernelEntry &entry : kernel.entries) {
    if (entry.threads == 0)
      return Error{prefix + "entry '" + entry.symbol + "' is not for a GPU"};
    numMaps += entry.tensorMaps.size();
    needsShared |= entry.takesCounter || !entry.tensorMaps.empty();
  }
  if (numMaps > 0 && (!gpu->driver()->tensorMapEncodeTiled || gpu->facts().major < 9))
    return Error{prefix +
                 "it copies tensors by maps, which needs a GPU of sm_90 or later and a driver for CUDA 12.0 "
                 "or later; here is " +
                 gpu->facts().toString()};

  Status status = loadCode(Module::mostOptimized);
  if (isPtx(kernel.bytes)) {
    if (status && findSpilled(loaded) > 0)
      status = loadCode(1);
    if (status && findSpilled(loaded) > mostSpilled)
      status = loadCode(0);
  }
  if (!status)
    return status;
  kernel.bytes = {};
  if (!needsShared)
    return {};
  Result<DeviceBuffer> buffer = DeviceBuffer::allocate(gpu, countersSize + zeroBytes);
  if (!buffer)
    return buffer.takeError();
  shared = std::move(*buffer);
  return shared.clear();
}

Status GpuLaunch::loadCode(int level) {
  auto code = Module::load(gpu, kernel.bytes, kernel.name, level);
  if (!code)
    return code.takeError();
  module = std::move(*code);
  loaded.clear();
  for (const KernelEntry &entry : kernel.entries) {
    Result<Function> function = module->prepare(entry.symbol, entry.threads, entry.sharedBytes);
    if (!function)
      return function.takeError();
    loaded.push_back(*function);
  }
  return {};
}

Result<TensorMapKey> GpuLaunch::makeKey(const image::TensorMapSpec &spec, Span<const int64_t> slots) const {
  return makeTensorMapKey(kernel.args[spec.arg], spec, slots.data() + offsets[spec.arg],
                          shared.address() + countersSize);
}

Result<TensorMap> GpuLaunch::makeMap(const image::TensorMapSpec &spec, const TensorMapKey &key) {
  TensorMap map;
  DriverResult result = maps.get(gpu->driver(), key, map);
  if (result == driverInvalidContext) {
    ContextScope scope(*gpu);
    result = maps.get(gpu->driver(), key, map);
  }
  if (result != driverSuccess)
    return gpu->driver().error(result, "cuTensorMapEncodeTiled",
                               "map argument '" + kernel.args[spec.arg].name + "' of kernel '" + kernel.name + "'");
  return map;
}

Status GpuLaunch::addMaps(size_t index, PreparedLaunch &prepared) {
  for (const image::TensorMapSpec &spec : kernel.entries[index].tensorMaps) {
    const image::ArgSpec &arg = kernel.args[spec.arg];
    int64_t *slots = prepared.slots.data() + offsets[spec.arg];
    bool isCopied = std::any_of(prepared.copies.begin(), prepared.copies.end(),
                                [&](const RowCopy &copy) { return copy.argument() == static_cast<size_t>(spec.arg); });
    Result<TensorMapKey> key = makeKey(spec, prepared.slots);
    if (!key && !isCopied && RowCopy::serves(arg, slots)) {
      prepared.copies.emplace_back(arg, spec.arg, slots, alignOffset(prepared.workspaceBytes));
      prepared.workspaceBytes = prepared.copies.back().offset() + prepared.copies.back().sizeBytes();
      isCopied = true;
      key = makeKey(spec, prepared.slots);
    }
    if (!key)
      return key.takeError();
    // Where the memory of a copy will be, only a launch knows.
    if (isCopied) {
      prepared.maps.emplace_back();
      continue;
    }
    Result<TensorMap> map = makeMap(spec, *key);
    if (!map)
      return map.takeError();
    prepared.maps.push_back(*map);
  }
  return {};
}

Result<PreparedLaunch> GpuLaunch::prepare(const BoundArguments &arguments) {
  PreparedLaunch prepared;
  prepared.slots = arguments.slots;
  const image::WorkspacePlaces places = image::placeWorkspaces(kernel, arguments.symbolSizes);
  prepared.workspaceBytes = places.bytes;
  if (prepared.workspaceBytes < 0)
    return Error{"kernel '" + kernel.name + "': no size of the workspace"};
  for (size_t i = 0; i < kernel.entries.size(); ++i) {
    const KernelEntry &entry = kernel.entries[i];
    const int64_t tiles = entry.countTiles(arguments.symbolSizes);
    if (tiles < 0)
      return Error{"kernel '" + kernel.name + "': no number of tiles for entry '" + entry.symbol +
                   "': " + entry.grid.toString(kernel.symbols)};
    if (tiles > maxGrid)
      return Error{"kernel '" + kernel.name + "': expected at most " + std::to_string(maxGrid) + " tiles for entry '" +
                   entry.symbol + "', got " + std::to_string(tiles)};
    if (tiles == 0 || (entry.boxes && !runtime::holds(*entry.boxes, kernel, offsets, arguments.slots)))
      continue;
    prepared.entries.push_back({i, tiles, prepared.maps.size(), prepared.workspaces.size()});
    for (const image::WorkspaceRule &rule : entry.workspaces) {
      const int64_t rows = rule.rows.evaluate(arguments.symbolSizes);
      if (rows > image::maxWorkspaceRows)
        return Error{"kernel '" + kernel.name + "': expected at most " + std::to_string(image::maxWorkspaceRows) +
                     " rows of workspace '" + kernel.workspaces[rule.workspace] + "', got " + std::to_string(rows)};
      prepared.workspaces.push_back(
          {places.offsets[rule.workspace], rows, rule.columns.evaluate(arguments.symbolSizes)});
    }
    if (Status status = addMaps(i, prepared); !status)
      return status.takeError();
  }
  if (!prepared.copies.empty())
    if (Status status = copier.load(gpu); !status)
      return status.takeError();
  return prepared;
}

DriverResult GpuLaunch::launchEntry(const PreparedLaunch &prepared, const PreparedLaunch::Entry &launched, bool follows,
                                    StreamHandle stream, DeviceAddress workspace) {
  const KernelEntry &entry = kernel.entries[launched.index];
  int64_t grid = launched.tiles;
  if (entry.persistent)
    grid = std::min(grid, int64_t{gpu->facts().multiprocessors} * entry.blocksPerMultiprocessor);

  // The driver copies what these point to before it returns, and writes nothing there.
  void *parameters[image::maxEntryTensorMaps + 4];
  size_t count = 0;
  parameters[count++] = const_cast<int64_t *>(prepared.slots.data());
  for (size_t i = 0; i < entry.tensorMaps.size(); ++i)
    parameters[count++] = const_cast<TensorMap *>(&prepared.maps[launched.firstMap + i]);
  parameters[count++] = const_cast<int64_t *>(&launched.tiles);
  DeviceAddress counter = 0;
  if (entry.takesCounter) {
    counter = shared.address() + nextCounter.fetch_add(1, std::memory_order_relaxed) % numCounters * counterBytes;
    parameters[count++] = &counter;
  }
  PreparedLaunch::Workspace passed[image::maxEntryWorkspaces];
  for (size_t i = 0; i < entry.workspaces.size(); ++i) {
    passed[i] = prepared.workspaces[launched.firstWorkspace + i];
    passed[i].offset += static_cast<int64_t>(workspace);
  }
  if (!entry.workspaces.empty())
    parameters[count++] = passed;
  LaunchAttribute early;
  early.id = LaunchAttribute::programmaticStreamSerialization;
  early.value[0] = 1;
  // What it may overtake is the function before it in this launch, never what a caller had the stream do before.
  const bool starts = follows && entry.early && gpu->facts().driverVersion >= earlyStartVersion;
  const LaunchConfig config = {static_cast<unsigned>(grid),
                               1,
                               1,
                               static_cast<unsigned>(entry.threads),
                               1,
                               1,
                               static_cast<unsigned>(entry.sharedBytes),
                               stream,
                               &early,
                               starts ? 1u : 0u};
  return launchFunction(*gpu, loaded[launched.index], config, parameters);
}

Status GpuLaunch::launchEntries(const PreparedLaunch &prepared, StreamHandle stream, DeviceAddress workspace) {
  for (const PreparedLaunch::Entry &launched : prepared.entries) {
    const bool follows = &launched != prepared.entries.data();
    const DriverResult result = launchEntry(prepared, launched, follows, stream, workspace);
    if (result == driverSuccess)
      continue;
    const KernelEntry &entry = kernel.entries[launched.index];
    return gpu->driver().error(result, gpu->driver()->launchKernelEx ? "cuLaunchKernelEx" : "cuLaunchKernel",
                               "launch entry '" + entry.symbol + "' of kernel '" + kernel.name + "' with " +
                                   std::to_string(launched.tiles) + " tiles, blocks of " +
                                   std::to_string(entry.threads) + " threads and " + std::to_string(entry.sharedBytes) +
                                   " bytes of shared memory");
  }
  return {};
}

Status GpuLaunch::launchOnCopies(const PreparedLaunch &prepared, StreamHandle stream, DeviceAddress workspace) {
  // Copies of the tensors stand for them.
  PreparedLaunch onCopies = prepared;
  for (const RowCopy &copy : prepared.copies)
    onCopies.slots[offsets[copy.argument()]] += static_cast<int64_t>(workspace);
  for (const PreparedLaunch::Entry &launched : prepared.entries) {
    size_t place = launched.firstMap;
    for (const image::TensorMapSpec &spec : kernel.entries[launched.index].tensorMaps) {
      Result<TensorMapKey> key = makeKey(spec, onCopies.slots);
      if (!key)
        return key.takeError();
      Result<TensorMap> map = makeMap(spec, *key);
      if (!map)
        return map.takeError();
      onCopies.maps[place++] = *map;
    }
  }
  const auto copyAll = [&](image::ArgRole role) -> Status {
    for (const RowCopy &copy : prepared.copies) {
      const image::ArgSpec &arg = kernel.args[copy.argument()];
      if (arg.role != role)
        continue;
      const bool isInput = role == image::ArgRole::Input;
      const DriverResult result =
          copier.launch(*gpu, isInput ? copy.toMemory(workspace) : copy.toTensor(workspace), stream);
      if (result != driverSuccess)
        return gpu->driver().error(result, gpu->driver()->launchKernelEx ? "cuLaunchKernelEx" : "cuLaunchKernel",
                                   "copy argument '" + arg.name + "' of kernel '" + kernel.name + "'");
    }
    return {};
  };
  Status status = copyAll(image::ArgRole::Input);
  if (status)
    status = launchEntries(onCopies, stream, workspace);
  if (status)
    status = copyAll(image::ArgRole::Output);
  return status;
}

Status GpuLaunch::launchIn(const PreparedLaunch &prepared, StreamHandle stream, DeviceAddress workspace) {
  return prepared.copies.empty() ? launchEntries(prepared, stream, workspace)
                                 : launchOnCopies(prepared, stream, workspace);
}

/// Bytes whose multiples a workspace begins at: copies of whole pieces read and write it.
static constexpr DeviceAddress workspaceAlignment = 16;

Status GpuLaunch::launch(const PreparedLaunch &prepared, StreamHandle stream, DeviceAddress workspace) {
  if (workspace % workspaceAlignment != 0)
    return Error{"kernel '" + kernel.name + "': expected a workspace at a multiple of " +
                 std::to_string(workspaceAlignment) + " bytes, got one " +
                 std::to_string(workspace % workspaceAlignment) + " bytes past one"};
  if (workspace != 0 || prepared.workspaceBytes == 0)
    return launchIn(prepared, stream, workspace);

  // Texts are made where they are needed: a launch that goes well has none.
  auto attempt = [&] {
    return "allocate a workspace of " + std::to_string(prepared.workspaceBytes) + " bytes for kernel '" + kernel.name +
           "' in the order of the stream";
  };
  const Driver &driver = gpu->driver();
  if (!driver->memAllocAsync || !driver->memFreeAsync)
    return Error{"cannot " + attempt() + ": the NVIDIA driver is too old; pass a workspace"};
  ContextScope scope(*gpu);
  const auto bytes = static_cast<size_t>(prepared.workspaceBytes);
  if (DriverResult result = driver->memAllocAsync(&workspace, bytes, stream); result != driverSuccess)
    return driver.error(result, "cuMemAllocAsync", attempt());
  Status status = launchIn(prepared, stream, workspace);
  DriverResult freed = driver->memFreeAsync(workspace, stream);
  if (!status || freed == driverSuccess)
    return status;
  return driver.error(freed, "cuMemFreeAsync", "free the workspace of kernel '" + kernel.name + "'");
}

Status GpuLaunch::launch(const BoundArguments &arguments, StreamHandle stream, DeviceAddress workspace) {
  Result<PreparedLaunch> prepared = prepare(arguments);
  if (!prepared)
    return prepared.takeError();
  return launch(*prepared, stream, workspace);
}

Status GpuLaunch::launch(Span<const ArgValue> values, StreamHandle stream, DeviceAddress workspace) {
  Result<BoundArguments> arguments = runtime::bindArguments(kernel, values, runtime::MemorySpace::Device);
  if (!arguments)
    return arguments.takeError();
  return launch(*arguments, stream, workspace);
}

} // namespace attnc::cuda
