//===- ReferenceKernel.h - The reference as a target ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_JIT_REFERENCEKERNEL_H
#define ATTNC_RUNTIME_JIT_REFERENCEKERNEL_H

#include "dialect/reference/Reference.h"
#include "runtime/jit/Executable.h"
#include "runtime/jit/Session.h"
#include "runtime/jit/Target.h"
#include <memory>

namespace attnc::jit {

/// Runs the fp64 reference on the threads of the process: same arguments, same checks, results rounded to their dtype.
/// Ends before the session that its kernel lives in.
class ReferenceKernel : public Executable {
public:
  /// Runs `kernel`, as it is written. An argument that cannot be passed is `reported()`.
  static image::Result<std::unique_ptr<ReferenceKernel>> create(attn::KernelFunction kernel);

  image::Status run(image::Span<const runtime::ArgValue> values) override;

private:
  ReferenceKernel(image::KernelImage image, attn::KernelFunction kernel)
      : Executable(std::move(image)), kernel(std::move(kernel)) {}

  attn::KernelFunction kernel;
};

/// `inputs` as the reference takes them; they must outlive the result.
std::vector<attn::ReferenceValue> toReferenceValues(const attn::KernelFunction &kernel,
                                                    image::Span<const runtime::ArgValue> inputs);

/// Runs the reference on `inputs`, into `outputs` of any floating-point dtype. Unlike `ReferenceKernel::run` it takes
/// the inputs as they are. Results outside of `rows` stay untouched, unless `rows` is empty.
image::Status runReference(const attn::KernelFunction &kernel, image::Span<const runtime::ArgValue> inputs,
                           image::Span<const runtime::Tensor> outputs, attn::Precision precision,
                           const std::vector<int64_t> &rows = {});

/// Writes the arguments of `kernel` that are results of forward which its gradients take, from the others.
image::Status computeSavedResults(const attn::KernelFunction &kernel, image::Span<const runtime::ArgValue> inputs);

/// The target that carries specs out as they are written.
llvm::ArrayRef<Target> getReferenceTargets();

} // namespace attnc::jit

#endif // ATTNC_RUNTIME_JIT_REFERENCEKERNEL_H
