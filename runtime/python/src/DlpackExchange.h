//===- DlpackExchange.h - Tensors of Python, as DLPack has them -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The structures of DLPack 1.3 (dlpack.h) that are read here, and the table of
// functions that a type of tensors offers as `__dlpack_c_exchange_api__`: by it
// a tensor is described in some ten nanoseconds, where `__dlpack__` takes
// hundreds.
//
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_PYTHON_DLPACKEXCHANGE_H
#define ATTNC_RUNTIME_PYTHON_DLPACKEXCHANGE_H

#include <cstdint>

/// A tensor: where it lies, of what type and of which sizes.
struct DLTensor {
  void *data;
  int32_t device_type, device_id;
  int32_t ndim;
  uint8_t type_code, type_bits;
  uint16_t type_lanes;
  int64_t *shape;
  int64_t *strides; ///< in elements; null for a row-major tensor
  uint64_t byte_offset;
};

namespace attnc::python::dlpack {

/// Of DLDeviceType.
inline constexpr int32_t cpu = 1, cuda = 2;

/// Of DLDataTypeCode.
inline constexpr uint8_t signedInteger = 0, unsignedInteger = 1, floating = 2, bfloat = 4, boolean = 6;

/// DLPackVersion.
struct Version {
  uint32_t major, minor;
};

/// DLManagedTensorVersioned up to its tensor.
struct VersionedTensor {
  Version version;
  void *managerContext;
  void (*deleter)(VersionedTensor *);
  uint64_t flags;
  DLTensor tensor;

  static constexpr uint64_t readOnly = 1;
};

/// DLPackExchangeAPI. Functions return 0, or -1 with a Python error, which
/// `allocate` leaves to the function that it is handed.
struct ExchangeApi {
  Version version;
  ExchangeApi *previous;
  int (*allocate)(const DLTensor *prototype, VersionedTensor **tensor, void *context,
                  void (*fail)(void *context, const char *kind, const char *message)); ///< may be null
  void *fromObject;
  int (*toObject)(VersionedTensor *tensor, void **object); ///< takes the tensor; may be null
  int (*describe)(void *object, DLTensor *tensor);         ///< may be null
  int (*getCurrentStream)(int32_t deviceType, int32_t deviceId, void **stream);
};

} // namespace attnc::python::dlpack

#endif // ATTNC_RUNTIME_PYTHON_DLPACKEXCHANGE_H
