//===- LaunchCache.h - Launches that callers repeat -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Callers launch on the same buffers again and again. What depends on their values alone is then done once: arguments
// are checked and bound, grids computed, tensors mapped.
//
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_CAPI_LAUNCHCACHE_H
#define ATTNC_RUNTIME_CAPI_LAUNCHCACHE_H

#include "attnc/attnc.h"
#include "runtime/cuda/GpuLaunch.h"

#include <array>
#include <mutex>

namespace attnc::capi {

/// The greatest rank of a tensor. What callers say of one with more is not read.
constexpr int32_t maxRank = 16;

/// The values of a launch as words that are equal where the values are.
class LaunchKey {
public:
  /// Reads the values of `options`. Values that are not well formed have no key, and neither do very many.
  explicit LaunchKey(const attnc_launch_options &options);

  /// Whether there is a key.
  explicit operator bool() const { return size > 0; }
  image::Span<const int64_t> words() const { return {storage.data(), size}; }
  /// A number that differs for tensors at different addresses, mostly.
  uint64_t hash() const { return mixed >> 32; }

private:
  /// Appends a value at `to`, and gives the place after; null where it has no words, or does not fit.
  int64_t *add(const attnc_value &value, int64_t *to);

  static constexpr size_t mostWords = 256;
  std::array<int64_t, mostWords> storage;
  size_t size = 0;
  uint64_t mixed = 0;
};

/// The launches that were prepared last. Threads may use it at the same time.
class LaunchCache {
public:
  using Prepared = std::shared_ptr<const cuda::PreparedLaunch>;

  /// The launch of `key`; null where it is not here.
  Prepared find(const LaunchKey &key);
  /// Keeps a launch, in place of another.
  void keep(const LaunchKey &key, Prepared prepared);

private:
  struct Entry {
    std::vector<int64_t> words;
    Prepared prepared;
  };
  static constexpr size_t numEntries = 64;

  Entry &entryOf(const LaunchKey &key) { return entries[key.hash() % numEntries]; }

  std::mutex mutex;
  std::array<Entry, numEntries> entries;
};

} // namespace attnc::capi

#endif // ATTNC_RUNTIME_CAPI_LAUNCHCACHE_H
