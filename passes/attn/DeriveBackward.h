//===- DeriveBackward.h - From a forward function to its backward - C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_ATTN_DERIVEBACKWARD_H
#define ATTNC_PASSES_ATTN_DERIVEBACKWARD_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace attnc::attn {

/// Writes the backward of `forward`, a kernel function, after it (see `attn-derive-backward`). A kernel that has none
/// is an error at its place.
mlir::FailureOr<mlir::func::FuncOp> deriveBackward(mlir::func::FuncOp forward);

} // namespace attnc::attn

#endif // ATTNC_PASSES_ATTN_DERIVEBACKWARD_H
