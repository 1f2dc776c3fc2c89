//===- PlainAttention.h - The peer: attention on OpenBLAS -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// What one writes with a BLAS: the whole score matrix of a head by sgemm, the mask, a softmax of its rows, and a second
// sgemm. Heads go to cores, one single-threaded OpenBLAS each; where there are fewer heads than cores, the rows of a
// head do. Either is as fast as OpenBLAS's own threads or faster, and leaves no spinning threads behind.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_TEST_BENCH_PLAINATTENTION_H
#define ATTNC_TEST_BENCH_PLAINATTENTION_H

#include "runtime/ThreadPool.h"
#include "test/bench/Workload.h"
#include <memory>

namespace attnc::bench {

/// Plain attention for one workload.
class PlainAttention {
public:
  /// Takes one S x S buffer for each head that is computed at a time.
  static image::Result<PlainAttention> make(const Workload &workload);

  /// Computes `operands.out`.
  void run(const Operands &operands) const;

  /// OpenBLAS's version and kernels.
  static std::string version();

private:
  explicit PlainAttention(const Workload &workload) : workload(workload) {}

  /// Computes rows [begin, end) of head `head` with the score matrix at `scores`.
  void runRows(const Operands &operands, int64_t head, int64_t begin, int64_t end, float *scores) const;

  Workload workload;
  runtime::Tensor scores; ///< [buffers, S, S]
};

} // namespace attnc::bench

#endif // ATTNC_TEST_BENCH_PLAINATTENTION_H
