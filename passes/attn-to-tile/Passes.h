//===- Passes.h - From the attn dialect to tiles ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_ATTN_TO_TILE_PASSES_H
#define ATTNC_PASSES_ATTN_TO_TILE_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace attnc::attn {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/attn-to-tile/Passes.h.inc"

} // namespace attnc::attn

#endif // ATTNC_PASSES_ATTN_TO_TILE_PASSES_H
