//===- GpuLaunch.h - A kernel image loaded on a GPU ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Runs the functions of a kernel, in order, on a stream. What can be done once
// is done when the image is loaded, and what depends on arguments alone when they
// are first seen; a launch makes one call of the driver for each function. It
// waits for nothing and reads nothing back, so that a CUDA graph can capture it.
//
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_CUDA_GPULAUNCH_H
#define ATTNC_RUNTIME_CUDA_GPULAUNCH_H

#include "runtime/Arguments.h"
#include "runtime/cuda/DeviceBuffer.h"
#include "runtime/cuda/Module.h"
#include "runtime/cuda/RowCopy.h"
#include "runtime/cuda/TensorMapCache.h"

#include <atomic>

namespace attnc::cuda {

/// All that a launch's arguments decide. What is left to do is one call of the
/// driver for each function.
struct PreparedLaunch {
  /// A function that has tiles.
  struct Entry {
    size_t index; ///< of the image's entries
    int64_t tiles;
    size_t firstMap;       ///< of its tensor maps
    size_t firstWorkspace; ///< of its workspaces
  };
  /// A workspace of a function, as it is passed but for where all begin.
  struct Workspace {
    int64_t offset, rows, columns;
  };

  std::vector<int64_t> slots;  ///< the argument block
  std::vector<TensorMap> maps; ///< those of copied tensors are made at launch
  std::vector<Entry> entries;
  std::vector<Workspace> workspaces;
  std::vector<RowCopy> copies; ///< of tensors that the copy unit cannot take; the block's slots are theirs
  int64_t workspaceBytes = 0;  ///< of the entries, followed by the copies
};

/// A kernel image that is ready to launch on a GPU. Threads may launch it at the
/// same time.
class GpuLaunch {
public:
  /// How many launches can be under way before two share a counter. A captured
  /// launch keeps its counter for all replays of the graph: a replay must not
  /// overlap with itself, nor with the launch of the same kernel on another
  /// stream that is a multiple of this many later.
  static constexpr uint32_t numCounters = 1024;

  /// Loads `image`, whose bytes are a cubin or PTX, on `device`.
  static image::Result<std::unique_ptr<GpuLaunch>> load(DeviceRef device, const image::KernelImage &image);

  /// Does what depends on `arguments` alone, which `bindArguments` made for
  /// `MemorySpace::Device` and for the same image: once for many launches. Fails
  /// when a grid or a workspace cannot be computed, or a tensor can neither be mapped
  /// nor copied to where it can. The first time that one is copied, the kernel that
  /// does it is loaded.
  image::Result<PreparedLaunch> prepare(const runtime::BoundArguments &arguments);

  /// Gives `stream` the kernel's work. Null is the default stream. The context of
  /// the device should be the current one of the thread; where it is not it is
  /// made so for the call. The tensors must live until the work is done.
  ///
  /// `workspace` has `workspaceBytes` bytes, aligned to 16, that no other work uses
  /// meanwhile; one that is not aligned is refused. Where it is 0 and some are needed, they come from the memory pool
  /// of the device in the order of the stream, and go back there.
  image::Status launch(const PreparedLaunch &prepared, StreamHandle stream, DeviceAddress workspace = 0);

  /// Prepares and launches. Fails with nothing launched.
  image::Status launch(const runtime::BoundArguments &arguments, StreamHandle stream, DeviceAddress workspace = 0);

  /// Checks `values`, prepares and launches.
  image::Status launch(image::Span<const runtime::ArgValue> values, StreamHandle stream, DeviceAddress workspace = 0);

  /// The functions, in the order of the image's entries, with what they take.
  image::Span<const Function> functions() const { return loaded; }

  /// The device memory, besides code, that the kernel holds from its load on.
  int64_t residentBytes() const { return shared.size(); }

  const Device &device() const { return *gpu; }
  const image::KernelImage &image() const { return kernel; }

private:
  GpuLaunch(DeviceRef device, const image::KernelImage &image);

  /// Loads the code and the memory that launches share.
  image::Status load();
  /// Loads the functions of all entries, at a level of `Module::load`.
  image::Status loadCode(int level);

  /// What the tensor map of `spec` says for the argument block `slots`, and the map itself.
  image::Result<TensorMapKey> makeKey(const image::TensorMapSpec &spec, image::Span<const int64_t> slots) const;
  image::Result<TensorMap> makeMap(const image::TensorMapSpec &spec, const TensorMapKey &key);

  /// Appends the tensor maps of entry `index`, and copies of the tensors that the copy unit cannot take.
  image::Status addMaps(size_t index, PreparedLaunch &prepared);

  /// Launches all, in a workspace that is large enough.
  image::Status launchIn(const PreparedLaunch &prepared, StreamHandle stream, DeviceAddress workspace);

  /// The same where tensors are copied before the kernel runs, and results after it.
  image::Status launchOnCopies(const PreparedLaunch &prepared, StreamHandle stream, DeviceAddress workspace);

  /// Launches all entries that have tiles.
  image::Status launchEntries(const PreparedLaunch &prepared, StreamHandle stream, DeviceAddress workspace);

  /// Launches one of them; `follows` another of the same launch.
  DriverResult launchEntry(const PreparedLaunch &prepared, const PreparedLaunch::Entry &entry, bool follows,
                           StreamHandle stream, DeviceAddress workspace);

  DeviceRef gpu;
  image::KernelImage kernel;    ///< without its bytes, which are on the GPU
  std::vector<int64_t> offsets; ///< of each argument in the argument block
  std::unique_ptr<Module> module;
  std::vector<Function> loaded;
  /// `numCounters` counters, and zeros to map tensors without elements to.
  DeviceBuffer shared;
  std::atomic<uint32_t> nextCounter = 0;
  TensorMapCache maps;
  RowCopier copier;
};

} // namespace attnc::cuda

#endif // ATTNC_RUNTIME_CUDA_GPULAUNCH_H
