//===- Work.h - Operations and bytes that a kernel needs --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_EXPLAIN_WORK_H
#define ATTNC_RUNTIME_EXPLAIN_WORK_H

#include "runtime/explain/MaskMap.h"
#include "runtime/jit/Shapes.h"

namespace attnc::explain {

/// What a kernel must do at least, whatever its schedule.
struct Work {
  double flops = 0;        ///< of the two products, on kept pairs only: 2 (D + Dv) each
  double exponentials = 0; ///< on kept pairs: that of the softmax, and such functions of the score region
  double bytes = 0;        ///< every argument read and every result written once

  /// FLOPs for each byte.
  double intensity() const { return bytes > 0 ? flops / bytes : 0; }
};

/// The work of `kernel` at `shapes`; `masks` is what each of its operations keeps.
Work countWork(const attn::KernelFunction &kernel, const jit::Shapes &shapes, llvm::ArrayRef<MaskWork> masks);

/// A number with a prefix for its size: "1.37 T", "42.0 M".
std::string printScaled(double value);

} // namespace attnc::explain

#endif // ATTNC_RUNTIME_EXPLAIN_WORK_H
