//===- CacheLock.cpp - One process at a time -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

#include "runtime/cache/CacheLock.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace attnc;
using namespace attnc::cache;
using Clock = std::chrono::steady_clock;

/// How often a lock that is held is tried again.
static constexpr std::chrono::milliseconds interval{5};

/// Whether the open file `descriptor` still is the one at `path`: who held it last may have removed it.
static bool isAt(int descriptor, const std::string &path) {
  struct stat open = {}, there = {};
  return ::fstat(descriptor, &open) == 0 && ::lstat(path.c_str(), &there) == 0 && open.st_dev == there.st_dev &&
         open.st_ino == there.st_ino;
}

/// Locks `descriptor` if nobody else has it.
static bool tryLock(int descriptor) {
  int result = 0;
  do
    result = ::flock(descriptor, LOCK_EX | LOCK_NB);
  while (result != 0 && errno == EINTR);
  return result == 0;
}

std::optional<CacheLock> CacheLock::take(const std::string &path, std::chrono::milliseconds patience,
                                         image::FunctionRef<void()> onWait) {
  const Clock::time_point deadline = Clock::now() + patience;
  bool told = false;
  for (;;) {
    int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (descriptor < 0)
      return std::nullopt;
    bool locked = tryLock(descriptor);
    while (!locked && errno == EWOULDBLOCK && Clock::now() < deadline) {
      if (!std::exchange(told, true))
        onWait();
      std::this_thread::sleep_for(interval);
      locked = tryLock(descriptor);
    }
    if (locked && isAt(descriptor, path))
      return CacheLock(path, descriptor);
    ::close(descriptor);
    if (!locked)
      return std::nullopt;
  }
}

void CacheLock::removeIfFree(const std::string &path) {
  int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (descriptor < 0)
    return;
  if (tryLock(descriptor) && isAt(descriptor, path))
    ::unlink(path.c_str());
  ::close(descriptor);
}

CacheLock::~CacheLock() {
  if (descriptor < 0)
    return;
  // Before it is free: who takes it next sees that it is gone, and makes a new one.
  ::unlink(path.c_str());
  // Not by closing alone: a child that was forked meanwhile has the file open as well.
  ::flock(descriptor, LOCK_UN);
  ::close(descriptor);
}
