//===- SoftmaxEnd.h - Where an online softmax ends --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_TILE_SOFTMAXEND_H
#define ATTNC_PASSES_TILE_SOFTMAXEND_H

#include "dialect/tile/TileOps.h"

namespace attnc::tile {

/// The end of the softmax whose row sums go through `sums`: out of branches and loops, and through totals over lanes.
/// Null where they end in none.
SoftmaxEndOp findEnd(mlir::Value sums);

} // namespace attnc::tile

#endif // ATTNC_PASSES_TILE_SOFTMAXEND_H
