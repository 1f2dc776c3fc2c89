//===- QuerySums.h - Gradients of queries as sums in memory -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_ATTN_QUERYSUMS_H
#define ATTNC_PASSES_ATTN_QUERYSUMS_H

#include "dialect/attn/AttnOps.h"

namespace attnc::attn {

/// Whether one program, `dqdkdv`, may compute the gradients of queries, keys and values on any target: each of its
/// tiles of keys adds a part of those of queries to sums in memory. `listsSteps`: where data decides about steps, a
/// block mask lists them.
bool mayAddUpQueries(BackwardOp op, bool listsSteps);

} // namespace attnc::attn

#endif // ATTNC_PASSES_ATTN_QUERYSUMS_H
