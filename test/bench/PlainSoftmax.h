//===- PlainSoftmax.h - A softmax of one row, vectorised --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_TEST_BENCH_PLAINSOFTMAX_H
#define ATTNC_TEST_BENCH_PLAINSOFTMAX_H

#include <cstdint>

namespace attnc::bench {

/// Turns `size` logits into probabilities in place; -inf gives 0. At least one logit is finite. Relative error of the
/// exponential below 2e-7.
void softmaxRow(float *row, int64_t size);

} // namespace attnc::bench

#endif // ATTNC_TEST_BENCH_PLAINSOFTMAX_H
