//===- CacheTestSupport.h - What tests of the cache share ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

#ifndef ATTNC_TEST_UNIT_CACHE_CACHETESTSUPPORT_H
#define ATTNC_TEST_UNIT_CACHE_CACHETESTSUPPORT_H

#include "runtime/cache/KernelCache.h"

#include <functional>
#include <gtest/gtest.h>
#include <mutex>
#include <sys/types.h>

namespace attnc::test {

/// A directory of a test's own, gone with it.
class TemporaryDirectory {
public:
  /// Makes it in `parent`, or where temporary files go.
  explicit TemporaryDirectory(const std::string &parent = "");
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory &) = delete;
  TemporaryDirectory &operator=(const TemporaryDirectory &) = delete;

  const std::string &path() const { return root; }
  std::string operator/(const std::string &name) const { return root + '/' + name; }

private:
  std::string root;
};

/// The remarks of a cache.
class Remarks {
public:
  /// What `CacheOptions::remark` takes.
  std::function<void(const std::string &)> sink();
  std::vector<std::string> all() const;
  /// How many hold `text`.
  int count(const std::string &text) const;

private:
  mutable std::mutex mutex;
  std::vector<std::string> lines;
};

/// An image that is told from others by `number`, with `size` bytes of code.
image::KernelImage makeImage(int number, size_t size = 100);

/// A key that is told from others by `number`.
cache::Digest makeKey(int number);

/// Starts a process that does `work` and ends; it begins with one thread.
pid_t start(const std::function<void()> &work);

/// Waits for a process; whether it ended by itself and well.
bool finish(pid_t process);

/// The bytes of a file; empty where there is none.
std::string readFile(const std::string &path);
void writeFile(const std::string &path, const std::string &content);

} // namespace attnc::test

#endif // ATTNC_TEST_UNIT_CACHE_CACHETESTSUPPORT_H
