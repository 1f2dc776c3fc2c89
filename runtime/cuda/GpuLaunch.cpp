//===- GpuLaunch.cpp - A kernel image loaded on a GPU ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/cuda/GpuLaunch.h"

#include <algorithm>

using attnc::runtime::ArgValue;
using attnc::runtime::BoundArguments;
using attnc::runtime::Error;
using attnc::runtime::KernelEntry;
using attnc::runtime::KernelImage;
using attnc::runtime::Result;
using attnc::runtime::Span;
using attnc::runtime::Status;

namespace attnc::cuda {
namespace {

constexpr int64_t counterBytes = 4, zeroBytes = 256;
constexpr int64_t countersSize = GpuLaunch::numCounters * counterBytes;

/// The most blocks of a grid in its first dimension.
constexpr int64_t maxGrid = std::numeric_limits<int32_t>::max();

/// From this version on drivers capture early starts in graphs.
constexpr int earlyStartVersion = 12030;

} // namespace

GpuLaunch::GpuLaunch(DeviceRef device, const KernelImage &image)
    : gpu(std::move(device)), kernel(image), offsets(runtime::slotOffsets(image)) {}

Result<std::unique_ptr<GpuLaunch>> GpuLaunch::load(DeviceRef device, const KernelImage &image) {
  if (Status status = runtime::verify(image); !status)
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
  if (numMaps > maxTensorMaps)
    return Error{prefix + "expected at most " + std::to_string(maxTensorMaps) + " tensor maps, got " +
                 std::to_string(numMaps)};
  if (numMaps > 0 && (!gpu->driver()->tensorMapEncodeTiled || gpu->facts().major < 9))
    return Error{prefix +
                 "it copies tensors by maps, which needs a GPU of sm_90 or later and a driver for CUDA 12.0 "
                 "or later; here is " +
                 gpu->facts().toString()};

  auto code = Module::load(gpu, kernel.bytes, kernel.name);
  if (!code)
    return code.takeError();
  module = std::move(*code);
  kernel.bytes = {};
  for (const KernelEntry &entry : kernel.entries) {
    Result<Function> function = module->prepare(entry.symbol, entry.threads, entry.sharedBytes);
    if (!function)
      return function.takeError();
    loaded.push_back(*function);
  }
  if (!needsShared)
    return {};
  Result<DeviceBuffer> buffer = DeviceBuffer::allocate(gpu, countersSize + zeroBytes);
  if (!buffer)
    return buffer.takeError();
  shared = std::move(*buffer);
  return shared.clear();
}

Status GpuLaunch::addMaps(size_t index, const BoundArguments &arguments, std::vector<TensorMap> &to) {
  for (const runtime::TensorMapSpec &spec : kernel.entries[index].tensorMaps) {
    Result<TensorMapKey> key = makeTensorMapKey(kernel.args[spec.arg], spec, arguments.slots.data() + offsets[spec.arg],
                                                shared.address() + countersSize);
    if (!key)
      return key.takeError();
    TensorMap map;
    DriverResult result = maps.get(gpu->driver(), *key, map);
    if (result == driverInvalidContext) {
      ContextScope scope(*gpu);
      result = maps.get(gpu->driver(), *key, map);
    }
    if (result != driverSuccess)
      return gpu->driver().error(result, "cuTensorMapEncodeTiled",
                                 "map argument '" + kernel.args[spec.arg].name + "' of kernel '" + kernel.name + "'");
    to.push_back(map);
  }
  return {};
}

Result<PreparedLaunch> GpuLaunch::prepare(const BoundArguments &arguments) {
  PreparedLaunch prepared;
  prepared.slots = arguments.slots;
  for (size_t i = 0; i < kernel.entries.size(); ++i) {
    const KernelEntry &entry = kernel.entries[i];
    const int64_t tiles = entry.countTiles(arguments.symbolSizes);
    if (tiles < 0)
      return Error{"kernel '" + kernel.name + "': no number of tiles for entry '" + entry.symbol +
                   "': " + entry.grid.toString(kernel.symbols)};
    if (tiles > maxGrid && !entry.persistent)
      return Error{"kernel '" + kernel.name + "': expected at most " + std::to_string(maxGrid) + " tiles for entry '" +
                   entry.symbol + "', got " + std::to_string(tiles)};
    if (tiles == 0)
      continue;
    PreparedLaunch::Entry launched = {i, tiles, prepared.maps.size(), 0, 0};
    if (entry.workspace) {
      launched.workspaceRows = entry.workspace->rows.evaluate(arguments.symbolSizes);
      launched.workspaceColumns = entry.workspace->columns.evaluate(arguments.symbolSizes);
    }
    prepared.entries.push_back(launched);
    if (Status status = addMaps(i, arguments, prepared.maps); !status)
      return status.takeError();
  }
  prepared.workspaceBytes = runtime::countWorkspaceBytes(kernel, arguments.symbolSizes);
  if (prepared.workspaceBytes < 0)
    return Error{"kernel '" + kernel.name + "': no size of the workspace"};
  return prepared;
}

DriverResult GpuLaunch::launchEntry(const PreparedLaunch &prepared, const PreparedLaunch::Entry &launched, bool follows,
                                    StreamHandle stream, DeviceAddress workspace) {
  const KernelEntry &entry = kernel.entries[launched.index];
  int64_t grid = launched.tiles;
  if (entry.persistent)
    grid = std::min(grid, int64_t{gpu->facts().multiprocessors} * entry.blocksPerMultiprocessor);

  // The driver copies what these point to before it returns, and writes nothing there.
  void *parameters[maxTensorMaps + 4];
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
  int64_t passed[] = {static_cast<int64_t>(workspace), launched.workspaceRows, launched.workspaceColumns};
  if (entry.workspace)
    parameters[count++] = passed;
  const auto &driver = gpu->driver();
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
  const auto call = [&] {
    FunctionHandle function = loaded[launched.index].handle;
    // The newer of both takes less time.
    return driver->launchKernelEx ? driver->launchKernelEx(&config, function, parameters, nullptr)
                                  : driver->launchKernel(function, config.gridX, 1, 1, config.blockX, 1, 1,
                                                         config.sharedBytes, stream, parameters, nullptr);
  };
  const DriverResult result = call();
  if (result != driverInvalidContext)
    return result;
  ContextScope scope(*gpu);
  return call();
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

Status GpuLaunch::launch(const PreparedLaunch &prepared, StreamHandle stream, DeviceAddress workspace) {
  if (workspace != 0 || prepared.workspaceBytes == 0)
    return launchEntries(prepared, stream, workspace);

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
  Status status = launchEntries(prepared, stream, workspace);
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
