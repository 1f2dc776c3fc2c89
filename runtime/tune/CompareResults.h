//===- CompareResults.h - Whether two kernels agree -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_TUNE_COMPARERESULTS_H
#define ATTNC_RUNTIME_TUNE_COMPARERESULTS_H

#include "codegen/image/Span.h"
#include "dialect/attn/KernelFunction.h"
#include "runtime/Tensor.h"

namespace attnc::tune {

/// Why `got` are not the results that `want` are, those of `kernel` with another schedule: empty where they are.
///
/// Each may be off by the rule of docs/spec.md: some units in the last place of a tensor's greatest element. Two that
/// are right differ by no more than twice that, and are infinite in the same places; a row that is not written, or a
/// tile that is skipped, lies far beyond.
std::string compareResults(const attn::KernelFunction &kernel, image::Span<const runtime::Tensor> got,
                           image::Span<const runtime::Tensor> want);

} // namespace attnc::tune

#endif // ATTNC_RUNTIME_TUNE_COMPARERESULTS_H
