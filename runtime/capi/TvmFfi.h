//===- TvmFfi.h - Calls as TVM FFI makes them -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// What this library reads of TVM FFI's binary interface (version 0.1): values, the place of a tensor in its object, and
// two functions, which are looked up in the process so that nothing is linked to TVM FFI.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_CAPI_TVMFFI_H
#define ATTNC_RUNTIME_CAPI_TVMFFI_H

#include "attnc/attnc.h"
#include "codegen/image/KernelImage.h"

#include <atomic>

namespace attnc::capi {

/// A value, as TVM FFI lays out a TVMFFIAny.
struct TvmFfiAny {
  int32_t type; ///< a TvmFfiType
  uint32_t padding;
  union {
    int64_t integer;
    double real;
    const void *pointer;
  };
};
static_assert(sizeof(TvmFfiAny) == 16);

/// The kinds of values that arguments may be, or are by mistake. All from 64 on are objects, on the heap and counted.
enum TvmFfiType : int32_t {
  None = 0,
  Integer = 1,
  Boolean = 2,
  Real = 3,
  TensorPointer = 7,
  RawString = 8,
  SmallString = 11,
  String = 65,
  TensorObject = 70
};

/// What a process has of TVM FFI. Threads may use it at the same time.
class TvmFfiHost {
public:
  /// Makes `message` the error of this thread's call. Where there is no TVM FFI in the process, nobody is told.
  void raise(const char *kind, const std::string &message);

  /// The stream that work on GPU `device` is to be given to; the default stream where there is no TVM FFI.
  void *findStream(int device);

private:
  std::atomic<void *> raiseFunction{nullptr}, streamFunction{nullptr};
};

/// `args` as values of a launch of `image`, in `values`. An error names the argument.
image::Status readTvmFfi(const image::KernelImage &image, image::Span<const TvmFfiAny> args,
                         std::vector<attnc_value> &values);

/// The GPU of the first tensor among `args` that lies on one; -1 where none does.
int findTvmFfiDevice(image::Span<const TvmFfiAny> args);

} // namespace attnc::capi

#endif // ATTNC_RUNTIME_CAPI_TVMFFI_H
