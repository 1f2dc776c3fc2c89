//===- Passes.h - Tile programs to NVVM -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_NVPTX_PASSES_H
#define ATTNC_CODEGEN_NVPTX_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace attnc::nvptx {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "codegen/nvptx/Passes.h.inc"

/// Name of the unit attribute of a function in which functions of numbers may be as inexact as 16-bit results allow.
inline constexpr llvm::StringLiteral approximateMathAttrName = "attnc.approximate_math";

/// Attribute of LLVM's function for a kernel whose warpgroups have roles.
inline constexpr llvm::StringLiteral rolesAttrName = "attnc-roles";

/// Marks an exponential that multiply-add units are to compute, to 1e-4, for where others keep the unit of functions
/// busy.
inline constexpr llvm::StringLiteral multiplyAddAttrName = "attnc.multiply_add";

} // namespace attnc::nvptx

#endif // ATTNC_CODEGEN_NVPTX_PASSES_H
