//===- Executable.h - A kernel that is ready to run -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_JIT_EXECUTABLE_H
#define ATTNC_RUNTIME_JIT_EXECUTABLE_H

#include "codegen/image/KernelImage.h"
#include "runtime/Arguments.h"

#include <memory>

namespace attnc::jit {

/// Arguments that lie where the kernel works on them, to run it again and again. Ends before the kernel.
class Measurement {
public:
  virtual ~Measurement() = default;

  /// Runs the kernel `runs` times, one right after the other; the seconds of each.
  virtual image::Result<std::vector<double>> time(int runs) = 0;
};

/// A kernel that is ready to run on host tensors, whatever carries it out.
class Executable {
public:
  /// A kernel whose arguments are those of `image`.
  explicit Executable(image::KernelImage image) : kernelImage(std::move(image)) {}
  virtual ~Executable() = default;

  /// What it was made from; the arguments in the order in which `run` takes them.
  const image::KernelImage &image() const { return kernelImage; }

  /// Runs on `values`, one for each argument: the inputs, then the results. What does not fit is an error, and then
  /// nothing is written (S18).
  virtual image::Status run(image::Span<const runtime::ArgValue> values) = 0;

  /// Makes `values`, as in `run`, ready to measure the kernel on. What the results hold afterwards is unspecified. The
  /// seconds are those of the host's clock, unless a kernel knows better.
  virtual image::Result<std::unique_ptr<Measurement>> measure(image::Span<const runtime::ArgValue> values);

private:
  image::KernelImage kernelImage;
};

} // namespace attnc::jit

#endif // ATTNC_RUNTIME_JIT_EXECUTABLE_H
