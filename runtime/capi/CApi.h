//===- CApi.h - Between C and the runtime -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_CAPI_CAPI_H
#define ATTNC_RUNTIME_CAPI_CAPI_H

#include "attnc/attnc.h"
#include "runtime/capi/Fault.h"
#include "runtime/capi/LoadedKernel.h"

#include <algorithm>
#include <cstring>

/// What handles of C stand for.
struct attnc_kernel {
  std::shared_ptr<attnc::capi::LoadedKernel> loaded;
  int32_t origin; ///< an attnc_origin
};

struct attnc_error {
  attnc::capi::Fault fault;
};

namespace attnc::capi {

/// The error of C for `fault`, which the caller destroys.
attnc_error *fail(Fault fault);
inline attnc_error *fail(image::Error error) { return fail(Fault(std::move(error))); }

/// Loads `image`, a serialized kernel image, on `device`; a handle of C, which the caller destroys.
image::Result<attnc_kernel *> loadKernel(cuda::DeviceRef device, image::Span<const uint8_t> image);

/// The GPU of the thread's current context; 0 where it has none.
int currentOrdinal(const cuda::Driver &driver);

/// The number of the GPU that `device` means, as attnc_load_options has it. The driver is opened.
image::Result<int> findOrdinal(int device);

/// Loads `image` on the GPU whose number is `ordinal`.
image::Result<std::shared_ptr<LoadedKernel>> loadOnGpu(int ordinal, const image::KernelImage &image);

/// Reads the caller's structure at `from`, which may be shorter or longer than ours: what it does not have is zero. The
/// structures of all versions are whole words long: other sizes would cut a field.
template <typename Struct>
image::Result<Struct> readStruct(const Struct *from, const char *name) {
  if (!from)
    return image::Error{std::string("expected an ") + name + ", got null"};
  static_assert(sizeof(Struct) % sizeof(size_t) == 0 && alignof(Struct) == alignof(size_t));
  if (from->struct_size < sizeof(size_t) || from->struct_size % sizeof(size_t) != 0)
    return image::Error{std::string("expected struct_size of ") + name + " to be its size, got " +
                        std::to_string(from->struct_size)};
  Struct to;
  std::memset(&to, 0, sizeof(to));
  std::memcpy(&to, from, std::min(from->struct_size, sizeof(to)));
  return to;
}

/// The same where null stands for all zeros.
template <typename Struct>
image::Result<Struct> readOptionalStruct(const Struct *from, const char *name) {
  if (from)
    return readStruct(from, name);
  Struct zeros;
  std::memset(&zeros, 0, sizeof(zeros));
  return zeros;
}

/// Writes as much of `from` to the caller's structure at `to` as it has.
template <typename Struct>
attnc_error *writeStruct(Struct *to, Struct from, const char *name) {
  if (image::Result<Struct> theirs = readStruct(to, name); !theirs)
    return fail(theirs.takeError());
  from.struct_size = to->struct_size;
  std::memcpy(to, &from, std::min(from.struct_size, sizeof(from)));
  return nullptr;
}

} // namespace attnc::capi

#endif // ATTNC_RUNTIME_CAPI_CAPI_H
