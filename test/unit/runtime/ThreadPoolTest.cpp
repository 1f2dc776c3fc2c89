//===- ThreadPoolTest.cpp - Tests of the thread pool -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#include "runtime/ThreadPool.h"
#include "Sanitizers.h"

#include <cstring>
#include <gtest/gtest.h>
#include <set>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace attnc::image;
using namespace attnc::runtime;
using attnc::test::isThreadSanitized;

namespace {

TEST(ThreadPool, RunsEveryTaskOnce) {
  for (unsigned workers : {1u, 2u, 3u, 8u}) {
    ThreadPool pool(workers);
    EXPECT_EQ(pool.numWorkers(), workers);
    for (int64_t tasks : {-1, 0, 1, 2, 7, 1000}) {
      // Plain integers: the sanitizer shows whether the caller may read them.
      std::vector<int> runs(tasks < 0 ? 0 : tasks);
      pool.parallelFor(tasks, [&](int64_t task, unsigned worker) {
        EXPECT_LT(worker, workers);
        ++runs[task];
      });
      for (int count : runs)
        EXPECT_EQ(count, 1);
    }
  }
}

TEST(ThreadPool, WorkersAreExclusive) {
  ThreadPool pool(4);
  std::vector<int64_t> perWorker(4); // unsynchronized: one thread at a time
  for (int round = 0; round < 200; ++round)
    pool.parallelFor(100, [&](int64_t, unsigned worker) { ++perWorker[worker]; });
  int64_t total = 0;
  for (int64_t count : perWorker)
    total += count;
  EXPECT_EQ(total, 200 * 100);
}

TEST(ThreadPool, HandsTasksOutInOrder) {
  ThreadPool alone(1);
  std::vector<int64_t> order;
  alone.parallelFor(10, [&](int64_t task, unsigned) { order.push_back(task); });
  for (int64_t i = 0; i < 10; ++i)
    EXPECT_EQ(order[i], i);
  // With more workers each still sees rising tasks.
  ThreadPool pool(4);
  std::vector<int64_t> last(4, -1);
  pool.parallelFor(10000, [&](int64_t task, unsigned worker) {
    EXPECT_GT(task, last[worker]);
    last[worker] = task;
  });
}

TEST(ThreadPool, UsesItsThreads) {
  // Two tasks that wait for each other: they end only if they run at once.
  ThreadPool pool(2);
  std::atomic<int> arrived{0};
  pool.parallelFor(2, [&](int64_t, unsigned) {
    ++arrived;
    while (arrived < 2)
      std::this_thread::yield();
  });
  EXPECT_EQ(arrived, 2);
}

TEST(ThreadPool, NestedCallsRunOnTheirThread) {
  ThreadPool pool(3), other(2);
  std::atomic<int> inner{0};
  pool.parallelFor(20, [&](int64_t, unsigned) {
    const auto thread = std::this_thread::get_id();
    for (ThreadPool *nested : {&pool, &other})
      nested->parallelFor(5, [&](int64_t, unsigned worker) {
        EXPECT_EQ(std::this_thread::get_id(), thread);
        EXPECT_EQ(worker, 0u);
        ++inner;
      });
  });
  EXPECT_EQ(inner, 20 * 10);
  // Afterwards the caller is outside of any task again and gets help: these two
  // tasks end only if they run at once.
  std::atomic<int> arrived{0};
  other.parallelFor(2, [&](int64_t, unsigned) {
    ++arrived;
    while (arrived < 2)
      std::this_thread::yield();
  });
}

TEST(ThreadPool, ServesSeveralCallers) {
  ThreadPool pool(3);
  std::vector<std::thread> callers;
  callers.reserve(4);
  std::vector<int64_t> sums(4);
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&, caller] {
      for (int round = 0; round < 100; ++round) {
        int64_t perWorker[3] = {};
        pool.parallelFor(50, [&](int64_t task, unsigned worker) { perWorker[worker] += task; });
        sums[caller] += perWorker[0] + perWorker[1] + perWorker[2];
      }
    });
  for (std::thread &caller : callers)
    caller.join();
  for (int64_t sum : sums)
    EXPECT_EQ(sum, 100 * 49 * 50 / 2);
}

TEST(ThreadPool, StartsAndEndsQuickly) {
  for (int i = 0; i < 100; ++i) {
    ThreadPool pool(4);
    std::atomic<int> runs{0};
    pool.parallelFor(i % 5, [&](int64_t, unsigned) { ++runs; });
    EXPECT_EQ(runs, i % 5);
  }
}

TEST(ThreadPool, ScratchIsAlignedExclusiveAndKept) {
  ThreadPool pool(3);
  EXPECT_EQ(pool.peakScratchBytes(), 0);
  // Three tasks that wait for each other have three workers.
  const auto run = [&](int64_t bytes) {
    std::atomic<int> arrived{0};
    std::vector<void *> memory(3);
    EXPECT_TRUE(pool.parallelFor(3, bytes, [&](int64_t, unsigned worker, void *scratch) {
      EXPECT_EQ(reinterpret_cast<uintptr_t>(scratch) % 64, 0u);
      std::memset(scratch, 1, bytes);
      memory[worker] = scratch;
      ++arrived;
      while (arrived < 3)
        std::this_thread::yield();
    }));
    EXPECT_EQ(std::set<void *>(memory.begin(), memory.end()).size(), 3u);
    return memory;
  };
  run(100);
  EXPECT_EQ(pool.peakScratchBytes(), 3 * 100);
  const auto grown = run(5000);
  EXPECT_EQ(pool.peakScratchBytes(), 3 * 5000);
  EXPECT_EQ(run(10), grown) << "kept from call to call";
  EXPECT_TRUE(pool.parallelFor(1000, 5000, [](int64_t, unsigned, void *) {}));
  EXPECT_EQ(pool.peakScratchBytes(), 3 * 5000) << "O(threads), not O(tasks)";
}

TEST(ThreadPool, NestedScratchIsApart) {
  ThreadPool pool(2);
  EXPECT_TRUE(pool.parallelFor(8, 256, [&](int64_t, unsigned, void *outer) {
    std::memset(outer, 1, 256);
    EXPECT_TRUE(pool.parallelFor(2, 256, [&](int64_t, unsigned, void *inner) { std::memset(inner, 2, 256); }));
    for (int i = 0; i < 256; ++i)
      EXPECT_EQ(static_cast<char *>(outer)[i], 1);
  }));
}

TEST(ThreadPool, ScratchMayBeRefused) {
  ThreadPool pool(2);
  const auto never = [](int64_t, unsigned, void *) { ADD_FAILURE() << "ran without memory"; };
  for (int64_t bytes : {INT64_MAX, INT64_MAX / 4}) {
    Status status = pool.parallelFor(2, bytes, never);
    EXPECT_EQ(status.message(), "out of memory: scratch of " + std::to_string(bytes) + " bytes for each of 2 workers");
  }
}

TEST(ThreadPool, SharedPoolFitsTheProcess) {
  EXPECT_GE(ThreadPool::numAvailableCores(), 1u);
  EXPECT_EQ(&ThreadPool::shared(), &ThreadPool::shared());
  EXPECT_EQ(ThreadPool::shared().numWorkers(), ThreadPool::numAvailableCores());
}

TEST(ThreadPool, ForkedChildrenHaveAPoolOfTheirOwn) {
  if (isThreadSanitized)
    GTEST_SKIP() << "ThreadSanitizer ends children that start threads";
  // A pool's threads stay with the parent: of its pool a child would have the locks that they held, and nobody to help.
  const auto run = [] {
    std::atomic<int> count{0};
    ThreadPool::shared().parallelFor(8, [&](int64_t, unsigned) { ++count; });
    return count == 8;
  };
  ThreadPool *pool = &ThreadPool::shared();
  EXPECT_TRUE(run());
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(60);
    bool all = &ThreadPool::shared() != pool;
    for (int round = 0; round < 100; ++round)
      all &= run();
    _exit(all ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(&ThreadPool::shared(), pool);
}

} // namespace
