//===- ThreadPool.cpp - Persistent worker threads --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// One call at a time is posted for the workers; whoever wakes in time joins it.
// A worker that wakes late finds no call and sleeps on, so a short call never
// waits for a slow wake-up.
//
//===----------------------------------------------------------------------===//

#include "runtime/ThreadPool.h"
#include "runtime/Memory.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <pthread.h>
#include <sched.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

using attnc::image::Error;
using attnc::image::Status;

namespace attnc::runtime {
namespace {

/// Whether this thread is inside a task, of any pool.
thread_local bool insideTask = false;

/// Memory of one worker.
class Scratch {
public:
  /// Grows to `bytes`, dropping the content. Where there is not so much memory it
  /// stays as it is, and the result is false.
  bool reserve(int64_t bytes) {
    if (bytes <= size)
      return true;
    std::shared_ptr<void> larger = allocateMemory(bytes);
    if (!larger)
      return false;
    memory = std::move(larger);
    size = bytes;
    return true;
  }

  void *data() const { return memory.get(); }
  int64_t bytes() const { return size; }

private:
  std::shared_ptr<void> memory;
  int64_t size = 0;
};

/// The error of a call whose scratch memory is not to be had.
Error outOfMemory(int64_t bytes, size_t workers) {
  return Error{"out of memory: scratch of " + std::to_string(bytes) + " bytes for each of " + std::to_string(workers) +
               " workers"};
}

/// One call: its tasks and the counter that hands them out.
struct Call {
  int64_t tasks;
  ThreadPool::Task body;
  std::atomic<int64_t> next{0};

  /// Runs tasks until none is left.
  void work(unsigned worker) {
    insideTask = true;
    for (int64_t task; (task = next.fetch_add(1, std::memory_order_relaxed)) < tasks;)
      body(task, worker);
    insideTask = false;
  }
};

/// Runs all tasks on this thread, which is inside a task already.
void runInline(int64_t tasks, ThreadPool::Task body) {
  for (int64_t task = 0; task < tasks; ++task)
    body(task, 0);
}

} // namespace

struct ThreadPool::State {
  /// What a thread is started with.
  struct Start {
    State *state;
    unsigned worker;
  };

  /// Held by the thread whose call runs.
  std::mutex turn;

  /// Guards the members below, up to `scratch`.
  std::mutex mutex;
  std::condition_variable wake; ///< a call is posted, or the pool ends
  std::condition_variable done; ///< the last worker has left the call
  Call *call = nullptr;
  uint64_t number = 0; ///< of the call, so that a worker joins it once
  unsigned joined = 0; ///< workers inside the call, the caller aside
  bool ending = false;

  /// One for each worker; changed by the thread that has its turn.
  std::vector<Scratch> scratch;
  std::atomic<int64_t> peakScratch{0};

  std::vector<Start> starts; ///< at fixed addresses once threads run
  std::vector<pthread_t> threads;

  /// The life of one worker.
  void serve(unsigned worker);

  /// Runs a call; this thread has its turn.
  void run(int64_t tasks, Task body);

  /// Gives every worker `bytes` of scratch; this thread has its turn.
  bool reserve(int64_t bytes);
};

void ThreadPool::State::serve(unsigned worker) {
  uint64_t last = 0;
  std::unique_lock<std::mutex> lock(mutex);
  while (true) {
    wake.wait(lock, [&] { return ending || (call && number != last); });
    if (ending)
      return;
    last = number;
    Call &current = *call;
    ++joined;
    lock.unlock();
    current.work(worker);
    lock.lock();
    if (--joined == 0)
      done.notify_one();
  }
}

void ThreadPool::State::run(int64_t tasks, Task body) {
  Call current{tasks, body};
  const int64_t helpers = std::min<int64_t>(tasks - 1, threads.size());
  if (helpers > 0) {
    {
      std::lock_guard<std::mutex> lock(mutex);
      call = &current;
      ++number;
    }
    for (int64_t i = 0; i < helpers; ++i)
      wake.notify_one();
  }
  current.work(0);
  if (helpers > 0) {
    std::unique_lock<std::mutex> lock(mutex);
    call = nullptr; // nobody joins from here on
    done.wait(lock, [&] { return joined == 0; });
  }
}

bool ThreadPool::State::reserve(int64_t bytes) {
  bool enough = true;
  int64_t total = 0;
  for (Scratch &memory : scratch) {
    enough = enough && memory.reserve(bytes);
    total += memory.bytes();
  }
  peakScratch = std::max<int64_t>(peakScratch, total);
  return enough;
}

ThreadPool::ThreadPool(unsigned numWorkers) : state(std::make_unique<State>()) {
  if (numWorkers == 0)
    numWorkers = numAvailableCores();
  for (unsigned worker = 1; worker < numWorkers; ++worker)
    state->starts.push_back({state.get(), worker});
  // Not std::thread, which cannot report a refusal without an exception.
  for (State::Start &start : state->starts) {
    pthread_t thread;
    const auto body = [](void *argument) -> void * {
      auto *start = static_cast<State::Start *>(argument);
      start->state->serve(start->worker);
      return nullptr;
    };
    if (pthread_create(&thread, nullptr, body, &start) != 0)
      break;
    state->threads.push_back(thread);
  }
  state->scratch.resize(state->threads.size() + 1);
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard<std::mutex> lock(state->mutex);
    state->ending = true;
  }
  state->wake.notify_all();
  for (pthread_t thread : state->threads)
    pthread_join(thread, nullptr);
}

ThreadPool &ThreadPool::shared() {
  struct OfProcess {
    const pid_t process = getpid();
    ThreadPool pool;
  };
  // Never destroyed: other static objects may still launch kernels at exit. No mutex guards it, since a fork might copy
  // one that is held.
  static std::atomic<OfProcess *> kept{nullptr};
  OfProcess *found = kept.load(std::memory_order_acquire);
  if (found && found->process == getpid())
    return found->pool;
  // The first call, or the first of a child that was forked: the parent's threads are not here, and its locks may be
  // held by them for good.
  auto made = std::make_unique<OfProcess>();
  if (kept.compare_exchange_strong(found, made.get(), std::memory_order_acq_rel))
    return made.release()->pool;
  return found->pool;
}

unsigned ThreadPool::numAvailableCores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  // Fails on machines of more cores than the set has room for.
  if (sched_getaffinity(0, sizeof(cores), &cores) == 0)
    return std::max(1, CPU_COUNT(&cores));
  return std::max(1u, std::thread::hardware_concurrency());
}

unsigned ThreadPool::numWorkers() const { return static_cast<unsigned>(state->threads.size()) + 1; }

void ThreadPool::parallelFor(int64_t tasks, Task body) {
  if (tasks <= 0)
    return;
  if (insideTask)
    return runInline(tasks, body);
  std::lock_guard<std::mutex> turn(state->turn);
  state->run(tasks, body);
}

Status ThreadPool::parallelFor(int64_t tasks, int64_t scratchBytes, ScratchTask body) {
  if (tasks <= 0)
    return {};
  if (insideTask) {
    // The worker's memory belongs to the task that this call is made from.
    Scratch memory;
    if (!memory.reserve(scratchBytes))
      return outOfMemory(scratchBytes, 1);
    runInline(tasks, [&](int64_t task, unsigned worker) { body(task, worker, memory.data()); });
    return {};
  }
  std::lock_guard<std::mutex> turn(state->turn);
  if (!state->reserve(scratchBytes))
    return outOfMemory(scratchBytes, numWorkers());
  state->run(tasks, [&](int64_t task, unsigned worker) { body(task, worker, state->scratch[worker].data()); });
  return {};
}

int64_t ThreadPool::peakScratchBytes() const { return state->peakScratch; }

} // namespace attnc::runtime
