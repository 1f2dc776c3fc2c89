//===- PackableHeads.h - Heads that a tile holds together -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_ATTN_PACKABLEHEADS_H
#define ATTNC_PASSES_ATTN_PACKABLEHEADS_H

#include "dialect/attn/AttnInterfaces.h"

namespace attnc::attn {

/// Query heads of a group that a tile may hold together: as many as powers of two up to `most` allow, or one where what
/// becomes of logits, or which keys are visited, differs from head to head.
int64_t countPackableHeads(KernelOpInterface kernel, int64_t most);

} // namespace attnc::attn

#endif // ATTNC_PASSES_ATTN_PACKABLEHEADS_H
