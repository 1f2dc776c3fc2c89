//===- Workers.cpp - Threads that compile -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/capi/Workers.h"

#include <chrono>
#include <thread>

using namespace attnc::capi;

/// The stack of a thread: twice the default of programs, which the compiler is tested with.
static constexpr size_t stackBytes = size_t{1} << 24;

/// Starts a thread; whether there is one.
static bool startThread(void *(*work)(void *), void *argument) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0)
    return false;
  pthread_t thread = {};
  const bool started = pthread_attr_setstacksize(&attributes, stackBytes) == 0 &&
                       pthread_create(&thread, &attributes, work, argument) == 0;
  pthread_attr_destroy(&attributes);
  return started;
}

/// Whether this thread does jobs.
static thread_local bool doesJobs = false;

bool Workers::isWorker() { return doesJobs; }

void *Workers::work(void *self) {
  doesJobs = true;
  auto &workers = *static_cast<Workers *>(self);
  std::unique_lock<std::mutex> lock(workers.mutex);
  while (!workers.jobs.empty()) {
    std::function<void()> job = std::move(workers.jobs.front());
    workers.jobs.pop_front();
    lock.unlock();
    job();
    // What it holds goes before the thread looks for more.
    job = nullptr;
    lock.lock();
  }
  --workers.running;
  // Who joins it waits for its end: the library may be unloaded after that.
  workers.finished.push_back(pthread_self());
  lock.unlock();
  --workers.alive;
  return nullptr;
}

void Workers::add(std::function<void()> job) {
  std::vector<pthread_t> toJoin;
  std::function<void()> refused;
  {
    std::lock_guard<std::mutex> lock(mutex);
    toJoin.swap(finished);
    jobs.push_back(std::move(job));
    if (running < most) {
      ++alive;
      if (startThread(work, this))
        ++running;
      else
        --alive;
    }
    if (running == 0) {
      refused = std::move(jobs.back());
      jobs.pop_back();
    }
  }
  for (pthread_t thread : toJoin)
    pthread_join(thread, nullptr);
  if (refused)
    refused();
}

Workers::~Workers() {
  for (;;) {
    std::vector<pthread_t> toJoin;
    {
      std::lock_guard<std::mutex> lock(mutex);
      toJoin.swap(finished);
      if (toJoin.empty() && running == 0)
        return;
    }
    for (pthread_t thread : toJoin)
      pthread_join(thread, nullptr);
    if (toJoin.empty())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}
