//===- Dlpack.h - The tensors of DLPack -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// What this library reads of DLPack's binary interface (version 1.1): the layout of a DLTensor, and the devices and
// types that kernels have. Callers bring their own dlpack.h.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_CAPI_DLPACK_H
#define ATTNC_RUNTIME_CAPI_DLPACK_H

#include <cstdint>

// NOLINTBEGIN(readability-identifier-naming): the names are DLPack's.

/// As the standard lays it out.
struct DLTensor {
  void *data;
  int32_t device_type;
  int32_t device_id;
  int32_t ndim;
  uint8_t type_code;
  uint8_t type_bits;
  uint16_t type_lanes;
  int64_t *shape;
  int64_t *strides; ///< in elements; null for a row-major tensor
  uint64_t byte_offset;
};

// NOLINTEND(readability-identifier-naming)

static_assert(sizeof(DLTensor) == 48, "DLPack has no padding but after lanes");

namespace attnc::capi::dlpack {

/// Devices.
inline constexpr int32_t cpu = 1, cuda = 2, cudaHost = 3, cudaManaged = 13;

/// Kinds of elements.
inline constexpr uint8_t signedInteger = 0, floating = 2, bfloat = 4, boolean = 6;

} // namespace attnc::capi::dlpack

#endif // ATTNC_RUNTIME_CAPI_DLPACK_H
