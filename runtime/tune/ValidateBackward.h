//===- ValidateBackward.h - Gradients from what was saved -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_TUNE_VALIDATEBACKWARD_H
#define ATTNC_RUNTIME_TUNE_VALIDATEBACKWARD_H

#include "runtime/tune/Tuner.h"

namespace attnc::tune {

/// Whether `forward` returns the LSE, which gradients are computed from; an error says that it has to.
image::Status checkSavesLse(const attn::KernelFunction &forward);

/// Why gradients computed from `got`, what forward of `subject` gave with other schedules, are not those from `want`,
/// what it gave with the target's own: empty where they are. `inputs` are those of forward. An error where the spec has
/// no gradients. It returns the LSE.
image::Result<std::string> compareGradients(const TuneSubject &subject, image::Span<const runtime::ArgValue> inputs,
                                            image::Span<const runtime::Tensor> got,
                                            image::Span<const runtime::Tensor> want, uint64_t seed);

} // namespace attnc::tune

#endif // ATTNC_RUNTIME_TUNE_VALIDATEBACKWARD_H
