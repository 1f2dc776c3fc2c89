//===- Workload.h - What the benchmarks compute -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_TEST_BENCH_WORKLOAD_H
#define ATTNC_TEST_BENCH_WORKLOAD_H

#include "runtime/Tensor.h"
#include <string>
#include <utility>
#include <vector>

namespace attnc::bench {

/// Which keys a query sees.
enum class Mask { Full, Causal, Window };

/// The width of `Mask::Window`: a query sees itself and the keys before it, so many in all.
inline constexpr int64_t windowWidth = 1024;

/// One self-attention problem in f32: batch 1, as many key heads as query heads.
struct Workload {
  Mask mask;
  int64_t sequence; ///< queries, and keys
  int64_t headDim;
  int64_t heads;

  /// "forward/causal/d128/s4096".
  std::string name() const;

  /// "full", "causal" or "window 1024".
  std::string maskName() const;

  /// The first key that query `i` sees, and one past the last.
  std::pair<int64_t, int64_t> keysOf(int64_t i) const;

  /// Floating-point operations of both products on the logits that are kept; the rest is not counted.
  double keptFlops() const;

  /// The spec of the problem.
  std::string spec() const;
};

/// All that are measured.
std::vector<Workload> allWorkloads();

/// Queries, keys, values and an output, each [1, S, H, D].
struct Operands {
  runtime::Tensor query, key, value, out;

  /// Normal inputs for `workload`, the same on every call; the output is poisoned.
  static image::Result<Operands> make(const Workload &workload);
};

/// The greatest distance of two outputs; infinite where an element of either is not a number.
double greatestDifference(const runtime::Tensor &left, const runtime::Tensor &right);

} // namespace attnc::bench

#endif // ATTNC_TEST_BENCH_WORKLOAD_H
