//===- LoweredKernel.h - A kernel with its bounds and schedule --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_EXPLAIN_LOWEREDKERNEL_H
#define ATTNC_RUNTIME_EXPLAIN_LOWEREDKERNEL_H

#include "runtime/jit/Session.h"

namespace attnc::explain {

/// A kernel after the passes that decide what.
struct LoweredKernel {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  attn::KernelFunction kernel; ///< in `module`

  /// Runs the passes on a copy of `kernel`, for `machine`. A fault is `reported()`.
  static image::Result<LoweredKernel> get(jit::Session &session, const attn::KernelFunction &kernel,
                                          mlir::Attribute machine);
};

} // namespace attnc::explain

#endif // ATTNC_RUNTIME_EXPLAIN_LOWEREDKERNEL_H
