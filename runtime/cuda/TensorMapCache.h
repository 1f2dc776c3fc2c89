//===- TensorMapCache.h - Tensors as the copy unit sees them ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A CUtensorMap holds a tensor's address, sizes and strides, so that it is made
// at launch; the driver takes about a microsecond for one. Callers launch on
// the same buffers again and again: the last ones are kept.
//
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_CUDA_TENSORMAPCACHE_H
#define ATTNC_RUNTIME_CUDA_TENSORMAPCACHE_H

#include "codegen/image/KernelImage.h"
#include "runtime/cuda/Driver.h"

#include <array>
#include <mutex>

namespace attnc::cuda {

/// All that a CUtensorMap depends on. Dimensions are innermost first, as the
/// driver takes them; numbers beyond the rank are 0.
struct TensorMapKey {
  static constexpr int maxRank = image::maxTensorMapRank;

  DeviceAddress address = 0;
  uint64_t sizes[maxRank] = {};
  /// In bytes, of the dimensions beyond the first, whose stride is one element.
  uint64_t strides[maxRank - 1] = {};
  uint32_t box[maxRank] = {};
  uint32_t rank = 0;
  TensorMapType type = TensorMapType::Float32;
  TensorMapSwizzle swizzle = TensorMapSwizzle::None;

  bool operator==(const TensorMapKey &other) const;
};

/// The key of `map` for the tensor whose slots of the argument block begin at
/// `slots`: its address, sizes and strides. A dimension of size 1 gets a stride
/// that the driver takes, since the tensor's own means nothing. A tensor without
/// elements reads as zeros: it is mapped as a single one at `zeros`, which is 16
/// bytes of them. What the copy unit cannot do is an error that names `arg`, the
/// argument.
image::Result<TensorMapKey> makeTensorMapKey(const image::ArgSpec &arg, const image::TensorMapSpec &map,
                                             const int64_t *slots, DeviceAddress zeros);

/// Encodes `key`; boxes are read whole cache lines of 256 bytes at a time from
/// device memory, and what lies outside of the tensor reads as zeros.
DriverResult encodeTensorMap(const Driver &driver, const TensorMapKey &key, TensorMap &map);

/// The maps that were encoded last. Threads may use it at the same time. It has
/// one size and never allocates.
class TensorMapCache {
public:
  /// Sets `map` to the map of `key`, which `driver` encodes unless it is here.
  DriverResult get(const Driver &driver, const TensorMapKey &key, TensorMap &map);

private:
  /// A key can lie in any entry of the one set that its hash names.
  static constexpr size_t numSets = 32, ways = 4;

  struct Entry {
    TensorMapKey key;
    TensorMap map;
  };
  struct Set {
    std::array<Entry, ways> entries;
    /// How many entries hold something, and which is the next to give way.
    size_t used = 0, next = 0;
  };

  std::mutex mutex;
  std::array<Set, numSets> sets;
};

} // namespace attnc::cuda

#endif // ATTNC_RUNTIME_CUDA_TENSORMAPCACHE_H
