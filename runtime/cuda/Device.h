//===- Device.h - A GPU and its primary context ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// What is known of one GPU, and the context that everything on it lives in. It
// is the primary context, which the CUDA runtime and frameworks above it use as
// well, so that their addresses and streams are ours.
//
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_CUDA_DEVICE_H
#define ATTNC_RUNTIME_CUDA_DEVICE_H

#include "runtime/cuda/Driver.h"

#include <memory>
#include <string>

namespace attnc::cuda {

/// Facts about a GPU.
struct DeviceFacts {
  std::string name;                   ///< "NVIDIA H200"
  int major = 0, minor = 0;           ///< the compute capability
  int multiprocessors = 0;            ///< how many there are
  int64_t sharedBytes = 0;            ///< the most shared memory that a block can ask for
  int registersPerMultiprocessor = 0; ///< of 32 bits
  int64_t l2Bytes = 0;                ///< the cache that all multiprocessors share
  int64_t memoryBytes = 0;            ///< device memory
  int clockKHz = 0;                   ///< the multiprocessors' highest clock
  int driverVersion = 0;              ///< the CUDA version of the driver, 1000 * major + 10 * minor

  /// The compute capability in the form of assemblers: "sm_90".
  std::string architecture() const { return "sm_" + std::to_string(major * 10 + minor); }

  /// One line for people.
  std::string toString() const;
};

/// A GPU, with a hold on its primary context. Whatever was made on it holds it.
class Device {
public:
  /// What the GPU number `ordinal` of those that `driver` shows is. Much cheaper
  /// than to open it: no context is made.
  static image::Result<DeviceFacts> describe(const Driver &driver, int ordinal = 0);

  /// What the first GPU of this machine is, or why there is none.
  static image::Result<DeviceFacts> describeFirst();

  /// The GPU number `ordinal` of those that `driver` shows.
  static image::Result<std::shared_ptr<const Device>> open(const Driver &driver, int ordinal = 0);

  /// The first GPU of this machine, or why there is none.
  static image::Result<std::shared_ptr<const Device>> openFirst();

  ~Device();
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  const DeviceFacts &facts() const { return known; }
  const Driver &driver() const { return cudaDriver; }
  ContextHandle context() const { return primary; }

  /// Waits until all work on the default stream is done. An error is the first
  /// of what ran, `attempt` says what that was.
  image::Status synchronize(std::string_view attempt) const;

private:
  Device(const Driver &driver, DeviceHandle handle, DeviceFacts facts)
      : cudaDriver(driver), handle(handle), known(std::move(facts)) {}

  const Driver &cudaDriver;
  DeviceHandle handle;
  ContextHandle primary = nullptr;
  DeviceFacts known;
};

using DeviceRef = std::shared_ptr<const Device>;

/// Makes a device's context the current one of this thread for as long as it
/// lives, as most functions of the driver want it.
class ContextScope {
public:
  explicit ContextScope(const Device &device);
  ~ContextScope();
  ContextScope(const ContextScope &) = delete;
  ContextScope &operator=(const ContextScope &) = delete;

private:
  const Driver &driver;
  /// Whether there is something to undo. A failure is not told: the next call
  /// fails for the same reason, and says what it was for.
  bool pushed;
};

/// Lets this thread load and unload code, and allocate and free memory, while
/// streams are captured into graphs. None of that is part of a graph, but
/// without this the driver refuses it, and ends the capture with an error: even
/// where a garbage collector frees a kernel while its caller captures others.
class RelaxedCaptureScope {
public:
  explicit RelaxedCaptureScope(const Driver &driver);
  ~RelaxedCaptureScope();
  RelaxedCaptureScope(const RelaxedCaptureScope &) = delete;
  RelaxedCaptureScope &operator=(const RelaxedCaptureScope &) = delete;

private:
  const Driver &driver;
  /// What the thread's mode was.
  CaptureMode before = CaptureMode::Relaxed;
  /// Whether there is something to undo.
  bool exchanged;
};

} // namespace attnc::cuda

#endif // ATTNC_RUNTIME_CUDA_DEVICE_H
