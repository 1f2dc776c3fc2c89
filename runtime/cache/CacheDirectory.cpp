//===- CacheDirectory.cpp - The files of a cache ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

#include "runtime/cache/CacheDirectory.h"
#include "runtime/WholeFile.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>

using namespace attnc;
using namespace attnc::cache;
using image::Error;
using image::Result;
using image::Span;
using image::Status;
using runtime::systemError;

/// The largest file that is read.
static constexpr int64_t longestFile = int64_t{1} << 28;

/// How the names of files begin and end that are being written.
static constexpr std::string_view temporaryPrefix = ".attnc-", temporarySuffix = ".tmp", lockSuffix = ".lock";

static constexpr int64_t second = 1'000'000'000;

static timespec toTime(int64_t stamp) { return {stamp / second, stamp % second}; }

static int64_t toStamp(const timespec &time) { return int64_t{time.tv_sec} * second + time.tv_nsec; }

static bool endsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

/// Sets the time of the file at `path`, or of an open one.
static void setTime(const std::string &path, int64_t stamp) {
  const timespec times[2] = {{0, UTIME_OMIT}, toTime(stamp)};
  ::utimensat(AT_FDCWD, path.c_str(), times, 0);
}

static void setTime(int descriptor, int64_t stamp) {
  const timespec times[2] = {{0, UTIME_OMIT}, toTime(stamp)};
  ::futimens(descriptor, times);
}

Status CacheDirectory::create() const {
  for (size_t end = directory.find('/', 1);; end = directory.find('/', end + 1)) {
    const std::string part = directory.substr(0, end);
    // What runs what is in it is the user's: nobody else is to write there.
    if (::mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) {
      const int number = errno;
      struct stat info = {};
      // The system may refuse to make what is there already.
      if (::stat(part.c_str(), &info) != 0 || !S_ISDIR(info.st_mode))
        return systemError(number);
    }
    if (end == std::string::npos)
      break;
  }
  struct stat info = {};
  if (::stat(directory.c_str(), &info) != 0)
    return systemError(errno);
  return S_ISDIR(info.st_mode) ? Status() : Status(systemError(ENOTDIR));
}

Status CacheDirectory::checkWritable() const {
  // Where it is not there, it is made in the first one above that is.
  std::string path = directory;
  for (;;) {
    struct stat info = {};
    if (::stat(path.c_str(), &info) == 0) {
      if (!S_ISDIR(info.st_mode))
        return systemError(ENOTDIR);
      return ::access(path.c_str(), W_OK | X_OK) == 0 ? Status() : Status(systemError(errno));
    }
    if (errno != ENOENT || path == "." || path == "/")
      return systemError(errno);
    const size_t end = path.find_last_of('/');
    path = end == std::string::npos ? "." : end == 0 ? "/" : path.substr(0, end);
  }
}

Result<Bytes> CacheDirectory::read(const FileName &name) const {
  // Without blocking, as a pipe may lie there.
  int descriptor = ::open(pathOf(name).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (descriptor < 0)
    return systemError(errno);
  struct stat info = {};
  Status status;
  if (::fstat(descriptor, &info) != 0)
    status = systemError(errno);
  else if (!S_ISREG(info.st_mode) || info.st_size > longestFile)
    status = Error{S_ISREG(info.st_mode) ? "too large" : "not a regular file"};
  Bytes content(status ? static_cast<size_t>(info.st_size) : 0);
  size_t known = 0;
  while (status && known < content.size()) {
    ssize_t size = ::read(descriptor, content.data() + known, content.size() - known);
    if (size < 0 && errno == EINTR)
      continue;
    if (size < 0)
      status = systemError(errno);
    if (size <= 0)
      break;
    known += static_cast<size_t>(size);
  }
  ::close(descriptor);
  if (!status)
    return status.takeError();
  content.resize(known); // shorter where somebody cuts the file meanwhile
  return content;
}

Status CacheDirectory::write(const FileName &name, Span<const uint8_t> content) const {
  Status status = writeOnce(name, content);
  // `shrink` of another process may take a file for one that nobody writes, before it is locked.
  if (status || ::access(directory.c_str(), F_OK) != 0)
    return status;
  return writeOnce(name, content);
}

Status CacheDirectory::writeOnce(const FileName &name, Span<const uint8_t> content) const {
  static std::atomic<unsigned> counter{0};
  const std::string path = directory + '/' + std::string(temporaryPrefix) + std::to_string(::getpid()) + '-' +
                           std::to_string(counter++) + std::string(temporarySuffix);
  // One of that name was left by a process that had our number.
  CacheLock::removeIfFree(path);
  int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (descriptor < 0)
    return systemError(errno);
  // Says that the writer lives: `shrink` removes files that nobody has locked.
  (void)::flock(descriptor, LOCK_EX | LOCK_NB);
  Status status = runtime::writeAll(descriptor, content);
  if (status) {
    setTime(descriptor, nextStamp());
    if (::rename(path.c_str(), pathOf(name).c_str()) != 0)
      status = systemError(errno);
  }
  if (!status)
    ::unlink(path.c_str());
  ::close(descriptor);
  return status;
}

int64_t CacheDirectory::nextStamp() const {
  timespec now = {};
  ::clock_gettime(CLOCK_REALTIME, &now);
  int64_t stamp = toStamp(now);
  // The last one that was given is the time of this file.
  const std::string path = directory + "/clock";
  struct stat info = {};
  if (::stat(path.c_str(), &info) == 0) {
    stamp = std::max(stamp, toStamp(info.st_mtim) + 1);
  } else {
    int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (descriptor >= 0)
      ::close(descriptor);
  }
  setTime(path, stamp);
  return stamp;
}

void CacheDirectory::touch(const FileName &name) const { setTime(pathOf(name), nextStamp()); }

void CacheDirectory::remove(const FileName &name) const { ::unlink(pathOf(name).c_str()); }

/// Calls `visit` with the name of each file in `directory`.
static Status forEachName(const std::string &directory, image::FunctionRef<void(std::string_view)> visit) {
  DIR *open = ::opendir(directory.c_str());
  if (!open)
    return systemError(errno);
  while (const dirent *entry = ::readdir(open))
    visit(entry->d_name);
  ::closedir(open);
  return {};
}

Result<std::vector<StoredFile>> CacheDirectory::list() const {
  std::vector<StoredFile> files;
  Status status = forEachName(directory, [&](std::string_view text) {
    std::optional<FileName> name = parseName(text);
    struct stat info = {};
    if (name && ::lstat(pathOf(*name).c_str(), &info) == 0 && S_ISREG(info.st_mode))
      files.push_back({*name, info.st_size, toStamp(info.st_mtim)});
  });
  if (!status)
    return status.takeError();
  std::sort(files.begin(), files.end(), [](const StoredFile &a, const StoredFile &b) {
    return std::tie(a.lastUse, a.name.key) < std::tie(b.lastUse, b.name.key);
  });
  return files;
}

void CacheDirectory::shrink(int64_t bytes) const {
  std::vector<std::string> leftovers;
  (void)forEachName(directory, [&](std::string_view name) {
    const bool isTemporary = name.substr(0, temporaryPrefix.size()) == temporaryPrefix;
    if (isTemporary ? endsWith(name, temporarySuffix)
                    : endsWith(name, lockSuffix) && parseName(name.substr(0, name.size() - lockSuffix.size())))
      leftovers.push_back(directory + '/' + std::string(name));
  });
  for (const std::string &path : leftovers)
    CacheLock::removeIfFree(path);
  Result<std::vector<StoredFile>> files = list();
  if (!files)
    return;
  int64_t total = 0;
  for (const StoredFile &file : *files)
    total += file.bytes;
  for (size_t i = 0; i < files->size() && total > bytes; ++i) {
    remove((*files)[i].name);
    total -= (*files)[i].bytes;
  }
}
