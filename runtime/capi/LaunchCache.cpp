//===- LaunchCache.cpp - Launches that callers repeat -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/capi/LaunchCache.h"

#include <algorithm>
#include <cstring>

using namespace attnc;
using namespace attnc::capi;

int64_t *LaunchKey::add(const attnc_value &value, int64_t *to) {
  const int64_t room = storage.data() + mostWords - to;
  if (value.kind != ATTNC_TENSOR) {
    if (room < 2)
      return nullptr;
    *to++ = value.kind;
    std::memcpy(to, &value.as, sizeof(*to));
    return to + 1;
  }
  const attnc_tensor &tensor = value.as.tensor;
  bool readable = tensor.rank == 0 || (tensor.rank > 0 && tensor.rank <= maxRank && tensor.sizes);
  if (!readable || room < 3 + 2 * static_cast<int64_t>(tensor.rank))
    return nullptr;
  constexpr uint64_t odd = 0x9E3779B97F4A7C15; // 2^64 over the golden ratio
  mixed = (mixed ^ tensor.address) * odd;
  *to++ = value.kind;
  // Says how many words follow, and what they are.
  constexpr int64_t high = int64_t{1} << 32;
  *to++ = tensor.dtype * high + tensor.rank * int64_t{2} + (tensor.strides ? 1 : 0);
  *to++ = static_cast<int64_t>(tensor.address);
  to = std::copy_n(tensor.sizes, tensor.rank, to);
  return tensor.strides ? std::copy_n(tensor.strides, tensor.rank, to) : to;
}

LaunchKey::LaunchKey(const attnc_launch_options &options) {
  if (!options.values || options.value_size < sizeof(attnc_value))
    return;
  int64_t *to = storage.data();
  for (size_t index = 0; to && index < options.num_values; ++index) {
    const auto *bytes = reinterpret_cast<const char *>(options.values) + index * options.value_size;
    to = add(*reinterpret_cast<const attnc_value *>(bytes), to);
  }
  if (to)
    size = static_cast<size_t>(to - storage.data());
}

LaunchCache::Prepared LaunchCache::find(const LaunchKey &key) {
  std::lock_guard<std::mutex> lock(mutex);
  const Entry &entry = entryOf(key);
  const image::Span<const int64_t> words = key.words();
  bool isSame = std::equal(words.begin(), words.end(), entry.words.begin(), entry.words.end());
  return isSame ? entry.prepared : nullptr;
}

void LaunchCache::keep(const LaunchKey &key, Prepared prepared) {
  // What gives way is freed after the lock.
  Entry entry{key.words().toVector(), std::move(prepared)};
  std::lock_guard<std::mutex> lock(mutex);
  std::swap(entryOf(key), entry);
}
