//===- Limits.h - How large sizes and positions may be ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// What launches are checked for and what code generation may count on (docs/spec.md, "Limits").
//===----------------------------------------------------------------------===//

#ifndef ATTNC_DIALECT_ATTN_LIMITS_H
#define ATTNC_DIALECT_ATTN_LIMITS_H

#include <cstdint>

namespace attnc::attn {

/// The greatest size of a dimension: of rows, batches and captured tensors alike.
inline constexpr int64_t maxSize = int64_t(1) << 29;

/// Where queries stand: row + shift of the alignment + q_offset, for every row that there is. Keys stand at their rows,
/// from 0 to below `maxSize`, so that all positions and their differences fit 32 bits.
inline constexpr int64_t minPosition = -(int64_t(1) << 30), maxPosition = (int64_t(1) << 31) - 1;

static_assert(maxPosition - 0 < int64_t(1) << 31 && minPosition - (maxSize - 1) >= -(int64_t(1) << 31),
              "a query's position less a key's fits 32 bits");

/// No query is further from a key, so that a side of a window with as many positions reaches every one.
inline constexpr int64_t maxDistance = maxPosition;
static_assert(maxDistance >= maxSize - 1 - minPosition, "the last key is as near to the first query");

/// What a literal q_offset may be: whatever the sizes are, queries stand between the limits.
inline constexpr int64_t minQueryOffset = minPosition + maxSize, maxQueryOffset = maxPosition - maxSize;

/// The greatest number of rows of a workspace, so that their numbers fit 32 bits.
inline constexpr int64_t maxWorkspaceRows = (int64_t(1) << 31) - 1;

} // namespace attnc::attn

#endif // ATTNC_DIALECT_ATTN_LIMITS_H
