//===- Compilation.cpp - Kernels that are on their way ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/capi/Compilation.h"
#include "runtime/capi/Workers.h"

#include <unistd.h>

using namespace attnc::capi;

Compilation::Compilation(Work work) : process(::getpid()), work(std::move(work)) {}

Compilation::Compilation(Outcome outcome) : process(::getpid()), done(true), result(std::move(outcome)) {}

bool Compilation::isLost() const { return !done && process != ::getpid(); }

bool Compilation::run() {
  Work toDo;
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (!work)
      return false;
    toDo.swap(work);
    worker = std::this_thread::get_id();
  }
  Outcome outcome = toDo();
  std::vector<std::function<void()>> toCall;
  {
    std::lock_guard<std::mutex> lock(mutex);
    result = std::move(outcome);
    done = true;
    toCall.swap(callbacks);
  }
  ended.notify_all();
  for (const std::function<void()> &callback : toCall)
    callback();
  return true;
}

const Outcome &Compilation::wait() {
  if (done)
    return *result;
  if (isLost()) {
    static const Outcome lost{nullptr, ATTNC_FROM_COMPILER,
                              Fault({"the kernel was being compiled when this process was forked, and is ready in the "
                                     "parent alone"})};
    return lost;
  }
  if (Workers::isWorker())
    run();
  std::unique_lock<std::mutex> lock(mutex);
  if (!done && !work && worker == std::this_thread::get_id()) {
    static const Outcome inside{nullptr, ATTNC_FROM_COMPILER,
                                Fault({"the kernel is being compiled by this very thread, which called back on the "
                                       "way: expected another to wait for it"})};
    return inside;
  }
  ended.wait(lock, [&] { return done.load(); });
  return *result;
}

void Compilation::onDone(std::function<void()> callback) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (!done) {
      callbacks.push_back(std::move(callback));
      return;
    }
  }
  callback();
}
