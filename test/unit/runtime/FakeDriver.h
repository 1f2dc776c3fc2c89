//===- FakeDriver.h - A CUDA driver without a GPU --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A table of driver functions that records what it is asked. Device memory is
// host memory, and a launch calls a function of the test's on the parameters,
// at once.
//
//===----------------------------------------------------------------------===//

#ifndef ATTNC_TEST_UNIT_RUNTIME_FAKEDRIVER_H
#define ATTNC_TEST_UNIT_RUNTIME_FAKEDRIVER_H

#include "runtime/cuda/Device.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace attnc::test {

/// What cuTensorMapEncodeTiled was given, in the driver's order of dimensions.
struct EncodedMap {
  cuda::TensorMapType type;
  void *address;
  std::vector<uint64_t> sizes, strides;
  std::vector<uint32_t> box;
  cuda::TensorMapSwizzle swizzle;
  cuda::TensorMapPromotion promotion;
};

/// What cuLaunchKernel was given, or cuLaunchKernelEx.
struct FakeLaunch {
  std::string function;
  unsigned grid, block, sharedBytes;
  cuda::StreamHandle stream;
  bool early = false; ///< whether it may start before the one before it has ended
};

/// One machine with one GPU, an H200 unless a test says otherwise. There is one
/// at a time, since functions of the driver know no object.
class FakeDriver {
public:
  FakeDriver();
  ~FakeDriver();

  /// The driver of this machine.
  const cuda::Driver &driver() const { return table; }

  /// Its GPU.
  cuda::DeviceRef device() const;

  /// The functions called since the last `clear`, but for those that only turn
  /// errors into words.
  std::vector<std::string> calls;
  std::vector<EncodedMap> encoded;
  std::vector<FakeLaunch> launches;
  /// Called for each launch with the parameters.
  std::function<void(void **parameters)> onLaunch;

  /// The result of each function of this name from now on: {"cuMemAlloc_v2", 2}.
  std::map<std::string, cuda::DriverResult> failures;
  int numDevices = 1, major = 9, minor = 0;
  /// The CUDA version of the driver.
  int version = 13000;
  /// The registers of every function, and the largest block that leaves.
  int registers = 168, maxThreads = 384, staticSharedBytes = 0;
  /// What every function spills.
  int spilledBytes = 0;
  /// The levels of optimization that the linker was asked for.
  std::vector<int> levels;
  /// What the assembler says when PTX cannot be loaded.
  std::string log;
  /// Where a link that is there writes that.
  char *linkLog = nullptr;
  /// The text of the module that was loaded last, or the first four bytes of a
  /// cubin.
  std::string code;
  /// The attribute that was set last.
  int dynamicSharedBytes = -1;
  /// How often the context was pushed and not popped, and blocks of memory that
  /// are not freed.
  int depth = 0, retained = 0;
  /// The mode of this thread, and the functions that a capture would not have
  /// let it call, had there been one.
  cuda::CaptureMode captureMode = cuda::CaptureMode::Global;
  std::vector<std::string> unsafeCalls;
  std::map<cuda::DeviceAddress, std::vector<char>> memory;

  /// Memory of the device: "allocated" and full of 0xCD.
  cuda::DeviceAddress allocate(size_t bytes);

  /// Becomes a driver before 11.8; for devices that are opened from now on.
  void withoutLaunchEx();

  /// Forgets calls, maps and launches.
  void clear();

  /// The one that there is.
  static FakeDriver *current;

private:
  cuda::Driver table;
};

} // namespace attnc::test

#endif // ATTNC_TEST_UNIT_RUNTIME_FAKEDRIVER_H
