//===- Workers.h - Threads that compile -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_CAPI_WORKERS_H
#define ATTNC_RUNTIME_CAPI_WORKERS_H

#include <atomic>
#include <deque>
#include <functional>
#include <mutex>
#include <pthread.h>
#include <vector>

namespace attnc::capi {

/// Does jobs in the background, in the order in which they come, on threads with the stack that a compiler wants,
/// whatever that of the caller is. A thread ends when there is nothing left to do.
class Workers {
public:
  /// At most `most` threads.
  explicit Workers(unsigned most) : most(most) {}

  /// Waits for all jobs.
  ~Workers();

  Workers(const Workers &) = delete;
  Workers &operator=(const Workers &) = delete;

  /// Does `job` some time; right now, in this thread, where the system gives no thread.
  void add(std::function<void()> job);

  /// Whether the thread that calls is one that does jobs, of whichever workers.
  static bool isWorker();

  /// Whether no thread is here, and none is on its way out.
  bool isIdle() const { return alive == 0; }

  /// Forgets threads that ended before this process was forked, of workers that were idle then: the child has nobody to
  /// join.
  void forgetThreads() { finished.clear(); }

private:
  static void *work(void *self);

  const unsigned most;
  std::atomic<unsigned> alive = 0; ///< threads that use this object
  std::mutex mutex;                ///< of all below
  std::deque<std::function<void()>> jobs;
  std::vector<pthread_t> finished; ///< threads that are to be joined
  unsigned running = 0;            ///< threads that take jobs
};

} // namespace attnc::capi

#endif // ATTNC_RUNTIME_CAPI_WORKERS_H
