//===- Compilation.h - Kernels that are on their way ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_CAPI_COMPILATION_H
#define ATTNC_RUNTIME_CAPI_COMPILATION_H

#include "runtime/capi/Fault.h"
#include "runtime/capi/LoadedKernel.h"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

namespace attnc::capi {

/// How a compilation ended: with a kernel, or a fault.
struct Outcome {
  std::shared_ptr<LoadedKernel> kernel;
  int32_t origin = ATTNC_FROM_COMPILER; ///< an attnc_origin
  std::optional<Fault> fault;
};

/// A kernel that is being compiled, or has been. Threads may use it at the same time.
class Compilation {
public:
  /// One that is under way.
  Compilation() = default;

  /// One that has ended.
  explicit Compilation(Outcome outcome) : result(std::move(outcome)) {}

  bool isDone() const;

  /// Waits for the end.
  const Outcome &wait() const;

  /// Calls `callback` at the end, or now where it has ended.
  void onDone(std::function<void()> callback);

  /// Ends it; once.
  void finish(Outcome outcome);

private:
  mutable std::mutex mutex; ///< of all below
  mutable std::condition_variable ended;
  std::optional<Outcome> result; ///< never changes once it is there
  std::vector<std::function<void()>> callbacks;
};

} // namespace attnc::capi

#endif // ATTNC_RUNTIME_CAPI_COMPILATION_H
