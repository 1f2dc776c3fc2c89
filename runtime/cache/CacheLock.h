//===- CacheLock.h - One process at a time ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_CACHE_CACHELOCK_H
#define ATTNC_RUNTIME_CACHE_CACHELOCK_H

#include "codegen/image/Span.h"

#include <chrono>
#include <optional>
#include <string>

namespace attnc::cache {

/// The right to do something that one holder at a time has, of all processes and
/// threads: a file that is locked by flock, which the system takes back from a
/// process that ends, however it ends. The file is gone once nobody wants it.
class CacheLock {
public:
  /// Waits for the lock that the file at `path` stands for, at most `patience`, and
  /// calls `onWait` once where it must wait at all. Nothing where it is not to be
  /// had in that time, or at all: a process that was forked while its parent held
  /// the lock holds it on.
  static std::optional<CacheLock> take(const std::string &path, std::chrono::milliseconds patience,
                                       image::FunctionRef<void()> onWait);

  /// Removes the file at `path` if nobody holds it: one that a dead process left.
  static void removeIfFree(const std::string &path);

  ~CacheLock();
  CacheLock(CacheLock &&other) noexcept
      : path(std::move(other.path)), descriptor(std::exchange(other.descriptor, -1)) {}
  CacheLock &operator=(CacheLock &&) = delete;

private:
  CacheLock(std::string path, int descriptor) : path(std::move(path)), descriptor(descriptor) {}

  std::string path;
  int descriptor;
};

} // namespace attnc::cache

#endif // ATTNC_RUNTIME_CACHE_CACHELOCK_H
