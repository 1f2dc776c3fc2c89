//===- Compilation.h - Kernels that are on their way ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_CAPI_COMPILATION_H
#define ATTNC_RUNTIME_CAPI_COMPILATION_H

#include "runtime/capi/Fault.h"
#include "runtime/capi/LoadedKernel.h"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <sys/types.h>
#include <thread>
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
  /// What there is to do for it.
  using Work = std::function<Outcome()>;

  /// One that somebody is to run.
  explicit Compilation(Work work);

  /// One that has ended.
  explicit Compilation(Outcome outcome);

  /// Whether it has ended.
  bool isDone() const { return done; }

  /// Whether it was under way in another process, of which this one was forked: it ends there, and never here.
  bool isLost() const;

  /// Does the work in this thread, and then calls back, unless a thread has begun it; whether it did.
  bool run();

  /// Waits for the end. A thread that compiles does the work itself where nobody has begun it: all others may wait for
  /// this very thread. What can never end is a fault.
  const Outcome &wait();

  /// Calls `callback` at the end, or now where it has ended.
  void onDone(std::function<void()> callback);

private:
  const pid_t process;            ///< which it ends in
  std::atomic<bool> done = false; ///< whether `result` is there
  std::optional<Outcome> result;  ///< never changes once it is there

  std::mutex mutex; ///< of all below, and of the change of those above
  std::condition_variable ended;
  Work work;              ///< null once a thread has begun it
  std::thread::id worker; ///< the thread that does it
  std::vector<std::function<void()>> callbacks;
};

} // namespace attnc::capi

#endif // ATTNC_RUNTIME_CAPI_COMPILATION_H
