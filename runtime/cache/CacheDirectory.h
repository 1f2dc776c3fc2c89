//===- CacheDirectory.h - The files of a cache -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A directory that several processes read and write at the same time. Files are
// written under another name and renamed: what is there under a name is whole, or
// was damaged later. When a file was last used is its time of modification, which
// the cache sets itself: it is read from no clock that may be set back alone, but
// is later than each that was given before.
//
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_CACHE_CACHEDIRECTORY_H
#define ATTNC_RUNTIME_CACHE_CACHEDIRECTORY_H

#include "codegen/image/Error.h"
#include "runtime/cache/CacheFile.h"
#include "runtime/cache/CacheLock.h"

namespace attnc::cache {

/// One file.
struct StoredFile {
  FileName name;
  int64_t bytes = 0;
  int64_t lastUse = 0; ///< nanoseconds since 1970, as the cache counts them
};

/// The files of a cache. Threads may use it at the same time.
class CacheDirectory {
public:
  /// The directory at `path`, which need not be there.
  explicit CacheDirectory(std::string path) : directory(std::move(path)) {}

  const std::string &path() const { return directory; }

  /// Where the file called `name` is, or would be.
  std::string pathOf(const FileName &name) const { return directory + '/' + nameOf(name.kind, name.key); }

  /// Makes the directory, and those that it lies in, where they are not there.
  image::Status create() const;

  /// What keeps files from being put there, without making anything; `create` may find more.
  image::Status checkWritable() const;

  /// The content of a file, or why there is none.
  image::Result<Bytes> read(const FileName &name) const;

  /// Puts a file in the place of what was there. Fails with what was there left as
  /// it was.
  image::Status write(const FileName &name, image::Span<const uint8_t> content) const;

  /// Marks a file as used now. Where that is refused, it is not.
  void touch(const FileName &name) const;

  void remove(const FileName &name) const;

  /// All files, the least recently used first. Others in the directory are left out.
  image::Result<std::vector<StoredFile>> list() const;

  /// Removes files, the least recently used first, until all have at most `bytes`, and what processes left that were
  /// ended while they wrote.
  void shrink(int64_t bytes) const;

  /// The lock of those who make the file called `name`.
  std::optional<CacheLock> lock(const FileName &name, std::chrono::milliseconds patience,
                                image::FunctionRef<void()> onWait) const {
    return CacheLock::take(pathOf(name) + ".lock", patience, onWait);
  }

private:
  /// Tries once to put a file in place.
  image::Status writeOnce(const FileName &name, image::Span<const uint8_t> content) const;

  /// A time later than each that was given before, and this one where the clock says so.
  int64_t nextStamp() const;

  std::string directory;
};

} // namespace attnc::cache

#endif // ATTNC_RUNTIME_CACHE_CACHEDIRECTORY_H
