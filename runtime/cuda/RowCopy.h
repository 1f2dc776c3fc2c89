//===- RowCopy.h - Tensors that the copy unit cannot take ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The copy unit wants addresses and strides of whole 16 bytes, and no stride of 0
// or below. A launch gives it other tensors in memory of its own
// (docs/rationale/strides.md).
//
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_CUDA_ROWCOPY_H
#define ATTNC_RUNTIME_CUDA_ROWCOPY_H

#include "codegen/image/KernelImage.h"
#include "runtime/cuda/Module.h"
#include "runtime/cuda/RowCopyParameters.h"

#include <mutex>

namespace attnc::cuda {

/// A tensor with elements, and the memory that stands for it. Its slots are those
/// of the argument block (runtime/Arguments.h).
class RowCopy {
public:
  /// What the kernel that copies takes, by value.
  using Parameters = RowCopyParameters;

  /// Whether rows of `arg`, whose slots begin at `slots`, can be copied: they have
  /// unit stride and whole units.
  static bool serves(const image::ArgSpec &arg, const int64_t *slots);

  /// Takes the tensor of `slots`, and writes there what the copy unit is given: the
  /// strides of its own memory, and `offset`, where that begins in the workspace,
  /// as the address. `number` is that of the argument.
  RowCopy(const image::ArgSpec &arg, size_t number, int64_t *slots, int64_t offset);

  /// The argument's number in the image.
  size_t argument() const { return number; }
  /// Where its memory begins in the workspace, and how large that is.
  int64_t offset() const { return begin; }
  int64_t sizeBytes() const { return bytes; }

  /// What copies the tensor to its memory in `workspace`, or back.
  Parameters toMemory(DeviceAddress workspace) const;
  Parameters toTensor(DeviceAddress workspace) const;

private:
  size_t number;
  int64_t begin, bytes = 0;
  Parameters rows; ///< from the tensor to offset 0
};

/// The kernel that copies rows, loaded when it is first needed. Threads may use it
/// at the same time.
class RowCopier {
public:
  /// Loads the kernel on `device`, unless that was done.
  image::Status load(const DeviceRef &device);

  /// Gives `stream` a copy. `load` has returned.
  DriverResult launch(const Device &device, const RowCopy::Parameters &rows, StreamHandle stream) const;

private:
  std::mutex mutex;
  std::unique_ptr<Module> module;
  Function function;
};

} // namespace attnc::cuda

#endif // ATTNC_RUNTIME_CUDA_ROWCOPY_H
