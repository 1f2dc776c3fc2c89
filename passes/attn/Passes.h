//===- Passes.h - Passes on the attn dialect --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_ATTN_PASSES_H
#define ATTNC_PASSES_ATTN_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace attnc::attn {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/attn/Passes.h.inc"

} // namespace attnc::attn

#endif // ATTNC_PASSES_ATTN_PASSES_H
