//===- Compilation.cpp - Kernels that are on their way ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/capi/Compilation.h"

using namespace attnc::capi;

bool Compilation::isDone() const {
  std::lock_guard<std::mutex> lock(mutex);
  return result.has_value();
}

const Outcome &Compilation::wait() const {
  std::unique_lock<std::mutex> lock(mutex);
  ended.wait(lock, [&] { return result.has_value(); });
  return *result;
}

void Compilation::onDone(std::function<void()> callback) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (!result) {
      callbacks.push_back(std::move(callback));
      return;
    }
  }
  callback();
}

void Compilation::finish(Outcome outcome) {
  std::vector<std::function<void()>> toCall;
  {
    std::lock_guard<std::mutex> lock(mutex);
    result = std::move(outcome);
    toCall.swap(callbacks);
  }
  ended.notify_all();
  for (const std::function<void()> &callback : toCall)
    callback();
}
