//===- ThreadPool.h - Persistent worker threads ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Runs the tiles of a kernel over the cores. Tasks are handed out one at a time
// from an atomic counter, in order, because tiles of one kernel differ widely
// in cost (a causal mask) and their order is the schedule's choice.
//
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_THREADPOOL_H
#define ATTNC_RUNTIME_THREADPOOL_H

#include "codegen/image/Error.h"
#include "codegen/image/Span.h"

#include <atomic>
#include <cstdint>
#include <memory>

namespace attnc::runtime {

/// A fixed set of threads that run the tasks of one call at a time.
///
/// Calls from several threads wait for each other. A call from inside a task,
/// of this pool or another, runs on the calling thread alone, so that pools
/// never wait for each other.
class ThreadPool {
public:
  /// One task of a call. No two tasks of one call run at the same time with the
  /// same `worker`, which is below `numWorkers()`.
  using Task = image::FunctionRef<void(int64_t task, unsigned worker)>;

  /// One task that has memory of its worker's own, aligned to 64 bytes, whose
  /// content is left from earlier tasks.
  using ScratchTask = image::FunctionRef<void(int64_t task, unsigned worker, void *scratch)>;

  /// A pool of `numWorkers` workers, of which the calling thread is one: it
  /// starts one thread fewer. 0 means one for each core that this process may
  /// use. Where the system refuses a thread the pool has fewer workers.
  explicit ThreadPool(unsigned numWorkers = 0);

  /// Ends the threads; no call may be running.
  ~ThreadPool();

  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  /// The pool of the process, started at first use and never ended. A child that
  /// is forked starts one of its own.
  static ThreadPool &shared();

  /// The number of cores that this process may run on, at least 1.
  static unsigned numAvailableCores();

  /// The number of workers, at least 1, the calling thread included.
  unsigned numWorkers() const;

  /// Runs `body` for every task from 0 to `tasks` - 1 and returns when all are
  /// done; what they wrote is visible to the caller.
  void parallelFor(int64_t tasks, Task body);

  /// The same with `scratchBytes` of memory for each worker, kept by the pool
  /// from call to call and grown as needed. Fails, with no task run, where
  /// there is not so much memory.
  image::Status parallelFor(int64_t tasks, int64_t scratchBytes, ScratchTask body);

  /// The most scratch memory that all workers together have held at once, in
  /// bytes. Safe to read at any time.
  int64_t peakScratchBytes() const;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace attnc::runtime

#endif // ATTNC_RUNTIME_THREADPOOL_H
