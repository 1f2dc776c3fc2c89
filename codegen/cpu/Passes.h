//===- Passes.h - Tile programs to LLVM on a CPU ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_CPU_PASSES_H
#define ATTNC_CODEGEN_CPU_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace attnc::cpu {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "codegen/cpu/Passes.h.inc"

/// Name of the function attribute that holds the bytes of scratch memory it needs.
inline constexpr llvm::StringLiteral scratchBytesAttrName = "attn.scratch_bytes";

} // namespace attnc::cpu

#endif // ATTNC_CODEGEN_CPU_PASSES_H
