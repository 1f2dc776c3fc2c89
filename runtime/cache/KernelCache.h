//===- KernelCache.h - Kernels that are compiled once ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Kernel images in memory, then on disk. A cache never fails: where the disk
// refuses, kernels are compiled, and one remark says why.
//
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_CACHE_KERNELCACHE_H
#define ATTNC_RUNTIME_CACHE_KERNELCACHE_H

#include "runtime/cache/CacheDirectory.h"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>

namespace attnc::cache {

/// How much a cache keeps, and where.
struct CacheOptions {
  /// Where files are; empty for none.
  std::string directory;
  /// The most bytes of all files.
  int64_t maxBytes = int64_t{1} << 30;
  /// The most bytes of images in memory.
  int64_t maxMemoryBytes = int64_t{1} << 26;
  /// How long another process may take to compile a kernel before this one does it as well.
  std::chrono::milliseconds patience{120'000};
  /// What to do with a line for people: starts lower-case, ends without a period. May be called by several threads.
  std::function<void(const std::string &)> remark;
  /// Why files are not used, where somebody should know. It becomes the first remark.
  std::string complaint;
};

/// Where an image came from.
enum class Origin { Memory, Disk, Compiler };

/// An image, and where it came from.
struct CachedImage {
  std::shared_ptr<const image::KernelImage> image;
  Origin origin = Origin::Compiler;
};

/// A cache of kernel images. Threads may use it at the same time.
class KernelCache {
public:
  explicit KernelCache(CacheOptions options);

  /// The image of `key`, if it is here. What is damaged is removed.
  std::optional<CachedImage> find(const Digest &key);

  /// The image of `key`. Where it is not here, `make` makes it, in one thread of one process at a time: the others wait
  /// and take what comes of it. An error is that of `make`, which is then asked again by each that waited.
  image::Result<CachedImage> getOrMake(const Digest &key, image::FunctionRef<image::Result<image::KernelImage>()> make);

  /// Keeps an image, in place of what `key` had.
  void put(const Digest &key, const image::KernelImage &image);

  /// The key of the kernel that `build` of the compiler made for a request.
  std::optional<Digest> findAlias(const Digest &request, const Digest &build);

  /// The keys that all builds have for a request, the newest first.
  std::vector<Digest> findAliases(const Digest &request);

  /// Remembers that `key` is that of a request.
  void addAlias(const Digest &request, const AliasTarget &target);

  /// The files; null where there are none.
  const CacheDirectory *files() const { return disk ? &*disk : nullptr; }

private:
  struct Kept {
    Digest key;
    std::shared_ptr<const image::KernelImage> image;
  };

  std::optional<CachedImage> findInMemory(const Digest &key);
  std::optional<CachedImage> findOnDisk(const Digest &key);

  /// Keeps an image in memory.
  void remember(const Digest &key, std::shared_ptr<const image::KernelImage> image);

  void forget(std::list<Kept>::iterator kept);

  /// What one thread does of `getOrMake` while others wait.
  image::Result<CachedImage> makeAlone(const Digest &key, image::FunctionRef<image::Result<image::KernelImage>()> make);

  /// Writes a file, and tells once where that fails.
  void write(const FileName &name, image::Span<const uint8_t> content);

  /// Whether the directory is there; makes it at the first call.
  bool isReady();

  void tell(const std::string &text) const;
  void tellOnce(const std::string &text);

  CacheOptions options;
  std::optional<CacheDirectory> disk;
  std::once_flag created;
  std::atomic<bool> told = false;
  bool usable = false; ///< set once, by `isReady`

  std::mutex mutex; ///< of all below
  std::condition_variable landed;
  std::set<Digest> flights; ///< keys that a thread is making
  std::list<Kept> memory;   ///< the most recently used first
  std::map<Digest, std::list<Kept>::iterator> index;
  int64_t memoryBytes = 0;
};

} // namespace attnc::cache

#endif // ATTNC_RUNTIME_CACHE_KERNELCACHE_H
