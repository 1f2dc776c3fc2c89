//===- Random.h - Random tensors --------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_RANDOM_H
#define ATTNC_RUNTIME_RANDOM_H

#include "codegen/image/RandomNumbers.h"
#include "runtime/Tensor.h"

namespace attnc::runtime {

/// Fills `tensor` with uniform numbers from `low` to `high`; the element that
/// is n-th in row-major order of the indices gets number n of `stream`.
void fillUniform(const Tensor &tensor, uint64_t seed, uint64_t stream, double low = 0, double high = 1);

/// Fills `tensor` with normal numbers, in the same way.
void fillNormal(const Tensor &tensor, uint64_t seed, uint64_t stream, double mean = 0, double deviation = 1);

} // namespace attnc::runtime

#endif // ATTNC_RUNTIME_RANDOM_H
