//===- Module.h - Code loaded on a GPU -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_CUDA_MODULE_H
#define ATTNC_RUNTIME_CUDA_MODULE_H

#include "codegen/image/Span.h"
#include "runtime/cuda/Device.h"

namespace attnc::cuda {

/// A function that is ready to launch, and what it takes.
struct Function {
  FunctionHandle handle = nullptr;
  int registers = 0;         ///< of a thread
  int localBytes = 0;        ///< of a thread: spilled registers and arrays
  int staticSharedBytes = 0; ///< of a block
  int maxThreads = 0;        ///< the largest block
};

/// Whether `code` is text, which the driver assembles when it is loaded.
bool isPtx(image::Span<const uint8_t> code);

/// Code of a GPU. Unloaded with the module.
class Module {
public:
  /// The level at which the driver optimizes by itself.
  static constexpr int mostOptimized = 4;

  /// Loads `code`: a cubin or a fat binary, or PTX, which the driver compiles
  /// at a level of optimization from 0 to 4. An error about PTX tells what the
  /// driver's assembler said. `name` is for messages.
  static image::Result<std::unique_ptr<Module>> load(DeviceRef device, image::Span<const uint8_t> code,
                                                     const std::string &name, int level = mostOptimized);

  ~Module();
  Module(const Module &) = delete;
  Module &operator=(const Module &) = delete;

  /// Function `symbol`, ready for blocks of `threads` threads and `sharedBytes`
  /// of dynamic shared memory: all of its code is on the GPU, so that a launch
  /// loads nothing.
  image::Result<Function> prepare(const std::string &symbol, int threads, int64_t sharedBytes) const;

private:
  Module(DeviceRef device, std::string name) : device(std::move(device)), name(std::move(name)) {}

  DeviceRef device;
  std::string name;
  ModuleHandle handle = nullptr;
};

/// Launches `function` as `config` says. Where the thread has no context, that of
/// `device` is made the current one for the call.
DriverResult launchFunction(const Device &device, const Function &function, const LaunchConfig &config,
                            void **parameters);

} // namespace attnc::cuda

#endif // ATTNC_RUNTIME_CUDA_MODULE_H
