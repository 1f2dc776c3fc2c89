//===- AttnAttrs.h - Attributes of the attn dialect -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_DIALECT_ATTN_ATTNATTRS_H
#define ATTNC_DIALECT_ATTN_ATTNATTRS_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include <limits>

#include "dialect/attn/AttnEnums.h.inc"

namespace attnc::attn {

/// Name of the module attribute that carries the target, which has `TargetInterface`.
inline constexpr llvm::StringLiteral targetAttrName = "attn.target";

/// Marks an argument of a spec's function, a tensor that a score reads, whose gradient is wanted (a unit).
inline constexpr llvm::StringLiteral requiresGradAttrName = "attn.requires_grad";

/// Marks a spec's function whose gradients are to have the same bits in every run (a unit): no sum is added up in
/// memory in whatever order blocks come by.
inline constexpr llvm::StringLiteral deterministicAttrName = "attn.deterministic";

/// Marks a spec's function whose products of f32 may round what they multiply to the eleven bits of TF32 (a unit).
inline constexpr llvm::StringLiteral tf32AttrName = "attn.tf32";

/// Marks a function in a score region whose error may be one of 1, not of its result: 2^-22, or 2^-20 where that does
/// not reach the score too often. An f64: how many times it does.
inline constexpr llvm::StringLiteral errorOfOneAttrName = "attn.error_of_one";

/// `most_queries` of a schedule for any number of queries.
inline constexpr int64_t unlimitedQueries = std::numeric_limits<int64_t>::max();

/// Whether tiles of `program` are of keys, or of sinks, and steps of queries.
bool tilesKeys(Program program);

} // namespace attnc::attn

#define GET_ATTRDEF_CLASSES
#include "dialect/attn/AttnAttrs.h.inc"

#endif // ATTNC_DIALECT_ATTN_ATTNATTRS_H
