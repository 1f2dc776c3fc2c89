//===- Verify.h - Results against the reference -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_JIT_VERIFY_H
#define ATTNC_RUNTIME_JIT_VERIFY_H

#include "runtime/Arguments.h"
#include "runtime/jit/Judge.h"
#include "runtime/jit/Shapes.h"

namespace attnc::jit {

/// Judges `outputs`, one for each result of `kernel`, against the exact reference and the baseline on `inputs`. `rows`
/// are the query rows to judge, as stored within each sequence; empty for all.
image::Result<std::vector<Judgement>> judgeAgainstReference(const attn::KernelFunction &kernel,
                                                            image::Span<const runtime::ArgValue> inputs,
                                                            image::Span<const runtime::Tensor> outputs,
                                                            const std::vector<int64_t> &rows = {});

/// About `count` of `total` query rows: first, last, both sides of tile edges (multiples of 16 to 128), then random
/// ones. Empty, which stands for all, where `count` is no fewer than `total`.
std::vector<int64_t> sampleRows(int64_t total, int64_t count, uint64_t seed);

} // namespace attnc::jit

#endif // ATTNC_RUNTIME_JIT_VERIFY_H
