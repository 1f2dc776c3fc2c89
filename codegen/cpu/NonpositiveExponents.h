//===- NonpositiveExponents.h - Exponentials that cannot overflow -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_CPU_NONPOSITIVEEXPONENTS_H
#define ATTNC_CODEGEN_CPU_NONPOSITIVEEXPONENTS_H

#include "dialect/tile/TileOps.h"

namespace attnc::cpu {

/// On a math.exp whose argument is known not to be positive: it needs no upper limit.
constexpr llvm::StringLiteral nonpositiveAttrName = "attn.nonpositive";

/// Marks the exponentials of logits less their row's maximum.
void markNonpositiveExponents(tile::ProgramOp program);

} // namespace attnc::cpu

#endif // ATTNC_CODEGEN_CPU_NONPOSITIVEEXPONENTS_H
