//===- AttncKernel.h - A workload compiled by attnc -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_TEST_BENCH_ATTNCKERNEL_H
#define ATTNC_TEST_BENCH_ATTNCKERNEL_H

#include "runtime/jit/LoadedKernel.h"
#include "test/bench/Workload.h"

namespace attnc::bench {

/// The kernel that attnc makes for a workload, loaded.
class AttncKernel {
public:
  /// Compiles the spec of `workload` for this CPU. A fault of the spec is an error without a message, reported to
  /// stderr.
  static image::Result<AttncKernel> make(const Workload &workload);

  /// Computes `operands.out`.
  image::Status run(const Operands &operands) const;

  /// Seconds from spec to loaded kernel.
  double compileSeconds = 0;

private:
  std::unique_ptr<jit::LoadedKernel> kernel;
};

} // namespace attnc::bench

#endif // ATTNC_TEST_BENCH_ATTNCKERNEL_H
