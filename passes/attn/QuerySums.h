//===- QuerySums.h - Gradients of queries as sums in memory -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_ATTN_QUERYSUMS_H
#define ATTNC_PASSES_ATTN_QUERYSUMS_H

#include "dialect/attn/AttnOps.h"

namespace attnc::attn {

/// Whether one program, `dqdkdv`, may compute the gradients of queries, keys and values on any target: each of its
/// tiles of keys adds a part of those of queries to sums in memory. `listsSteps`: where data decides about steps, a
/// block mask lists them. `keepsOrder`: tiles of keys can add in an order, as gradients with the same bits in every run
/// want it.
bool mayAddUpQueries(BackwardOp op, bool listsSteps, bool keepsOrder);

} // namespace attnc::attn

#endif // ATTNC_PASSES_ATTN_QUERYSUMS_H
