//===- WholeFile.cpp - Files that are written as a whole --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/WholeFile.h"
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

using namespace attnc;
using image::Error;
using image::Span;
using image::Status;

Error runtime::systemError(int number) { return Error{std::strerror(number)}; }

Status runtime::writeAll(int descriptor, Span<const uint8_t> content) {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && content.size() > limit.rlim_cur)
    return systemError(EFBIG);
  while (!content.empty()) {
    ssize_t size = ::write(descriptor, content.data(), content.size());
    if (size < 0 && errno == EINTR)
      continue;
    if (size <= 0)
      return systemError(size < 0 ? errno : ENOSPC);
    content = content.slice(static_cast<size_t>(size), content.size() - static_cast<size_t>(size));
  }
  return {};
}

Status runtime::replaceFile(const std::string &path, Span<const uint8_t> content) {
  static std::atomic<unsigned> counter{0};
  const std::string beside = path + '.' + std::to_string(::getpid()) + '-' + std::to_string(counter++) + ".tmp";
  // One of that name was left by a process that had our number.
  ::unlink(beside.c_str());
  const int descriptor = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (descriptor < 0)
    return systemError(errno);
  Status status = writeAll(descriptor, content);
  ::close(descriptor);
  if (status && ::rename(beside.c_str(), path.c_str()) != 0)
    status = systemError(errno);
  if (!status)
    ::unlink(beside.c_str());
  return status;
}
