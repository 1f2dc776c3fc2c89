//===- TensorMapCache.cpp - Tensors as the copy unit sees them -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Bounds are those of cuTensorMapEncodeTiled in the CUDA Driver API Reference
// Manual, which answers all of them with one error: they are checked here to say
// which argument is at fault.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/TensorMapCache.h"
#include "runtime/ArgumentContent.h"

#include <algorithm>
#include <iterator>

using attnc::image::ArgSpec;
using attnc::image::DType;
using attnc::image::Result;
using attnc::image::TensorMapSpec;
using attnc::runtime::argumentError;

namespace attnc::cuda {
namespace {

constexpr int64_t unitBytes = image::tensorMapUnitBytes;
constexpr int64_t maxSize = image::maxTensorMapSize, maxStride = image::tensorMapStrideEnd;

TensorMapType toMapType(DType dtype) {
  switch (dtype) {
  case DType::F32:
    return TensorMapType::Float32;
  case DType::F16:
    return TensorMapType::Float16;
  case DType::BF16:
    return TensorMapType::BFloat16;
  case DType::F64:
    return TensorMapType::Float64;
  case DType::I32:
    return TensorMapType::Int32;
  case DType::I64:
    return TensorMapType::Int64;
  case DType::I1:
  case DType::I8:
    break;
  }
  return TensorMapType::UInt8; // one byte is moved like another
}

TensorMapSwizzle toMapSwizzle(int bytes) {
  return bytes == 128  ? TensorMapSwizzle::Bytes128
         : bytes == 64 ? TensorMapSwizzle::Bytes64
         : bytes == 32 ? TensorMapSwizzle::Bytes32
                       : TensorMapSwizzle::None;
}

/// Which set a key belongs to. Launches differ in the address first of all, and
/// in sizes; addresses are multiples of 256 mostly.
size_t hashKey(const TensorMapKey &key) {
  constexpr uint64_t odd = 0x9E3779B97F4A7C15; // 2^64 over the golden ratio
  uint64_t hash = (key.address >> 4) * odd;
  for (uint32_t d = 0; d < key.rank; ++d)
    hash = (hash ^ key.sizes[d] ^ (uint64_t{key.box[d]} << 32)) * odd;
  return hash >> 32;
}

} // namespace

bool TensorMapKey::operator==(const TensorMapKey &other) const {
  return address == other.address && rank == other.rank && type == other.type && swizzle == other.swizzle &&
         std::equal(std::begin(sizes), std::end(sizes), other.sizes) &&
         std::equal(std::begin(strides), std::end(strides), other.strides) &&
         std::equal(std::begin(box), std::end(box), other.box);
}

Result<TensorMapKey> makeTensorMapKey(const ArgSpec &arg, const TensorMapSpec &map, const int64_t *slots,
                                      DeviceAddress zeros) {
  const auto rank = static_cast<int>(arg.dims.size());
  const int64_t elementBytes = byteSize(arg.dtype);
  const int64_t *sizes = slots + 1, *strides = sizes + rank; // outermost first
  TensorMapKey key;
  key.rank = static_cast<uint32_t>(rank);
  key.type = toMapType(arg.dtype);
  key.swizzle = toMapSwizzle(map.swizzleBytes);
  for (int i = 0; i < rank; ++i)
    key.box[i] = static_cast<uint32_t>(map.box[map.dimensionAt(rank - 1 - i)]);

  if (std::find(sizes, sizes + rank, 0) != sizes + rank) {
    key.address = zeros;
    std::fill_n(key.sizes, rank, 1);
    std::fill_n(key.strides, rank - 1, static_cast<uint64_t>(unitBytes));
    return key;
  }

  key.address = static_cast<DeviceAddress>(slots[0]);
  if (key.address % unitBytes != 0)
    return argumentError(arg, "data aligned to " + std::to_string(unitBytes) + " bytes",
                         "an address " + std::to_string(key.address % unitBytes) + " bytes past");
  // The bytes that the dimensions so far span: the stride of one that takes no step.
  int64_t extent = unitBytes;
  for (int i = 0; i < rank; ++i) {
    const auto d = static_cast<int>(map.dimensionAt(rank - 1 - i));
    const std::string_view dimension = "dimension ";
    if (sizes[d] > maxSize)
      return argumentError(arg,
                           std::string(dimension) + std::to_string(d) + " to be at most " + std::to_string(maxSize),
                           std::to_string(sizes[d]));
    key.sizes[i] = static_cast<uint64_t>(sizes[d]);
    if (i == 0) {
      if (sizes[d] > 1 && strides[d] != 1)
        return argumentError(arg, "stride 1 in the last dimension", std::to_string(strides[d]));
      extent = (sizes[d] * elementBytes + unitBytes - 1) / unitBytes * unitBytes;
      continue;
    }
    const int64_t bytes = sizes[d] > 1 ? strides[d] * elementBytes : std::min(extent, maxStride - unitBytes);
    if (bytes <= 0 || bytes % unitBytes != 0 || bytes >= maxStride)
      return argumentError(arg,
                           "a stride that is a positive multiple of " + std::to_string(unitBytes) + " bytes in " +
                               std::string(dimension) + std::to_string(d),
                           std::to_string(bytes) + " bytes");
    key.strides[i - 1] = static_cast<uint64_t>(bytes);
    extent = std::max(extent, bytes);
  }
  return key;
}

DriverResult encodeTensorMap(const Driver &driver, const TensorMapKey &key, TensorMap &map) {
  const uint32_t elementStrides[TensorMapKey::maxRank] = {1, 1, 1, 1, 1};
  return driver->tensorMapEncodeTiled(&map, key.type, key.rank, reinterpret_cast<void *>(key.address), key.sizes,
                                      key.strides, key.box, elementStrides, TensorMapInterleave::None, key.swizzle,
                                      TensorMapPromotion::L2Bytes256, TensorMapFill::Zeros);
}

DriverResult TensorMapCache::get(const Driver &driver, const TensorMapKey &key, TensorMap &map) {
  std::lock_guard<std::mutex> lock(mutex);
  Set &set = sets[hashKey(key) % numSets];
  for (size_t i = 0; i < set.used; ++i)
    if (set.entries[i].key == key) {
      map = set.entries[i].map;
      return driverSuccess;
    }
  Entry &entry = set.entries[set.next];
  const DriverResult result = encodeTensorMap(driver, key, map);
  if (result != driverSuccess)
    return result;
  entry = {key, map};
  set.next = (set.next + 1) % ways;
  set.used = std::min(set.used + 1, ways);
  return driverSuccess;
}

} // namespace attnc::cuda
