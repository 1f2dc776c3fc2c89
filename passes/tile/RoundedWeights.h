//===- RoundedWeights.h - Row sums of what products see ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Products take weights of 16 bits, and row sums those of f32. Where one key has nearly all of a row's weight, what
// that weight was rounded by is the row's error, unless the divisor counts it as well. docs/rationale/online-softmax.md
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_TILE_ROUNDEDWEIGHTS_H
#define ATTNC_PASSES_TILE_ROUNDEDWEIGHTS_H

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace attnc::tile {

/// The reciprocal that row sums end in, 1 / `sums`, through totals over lanes, branches and sums with corrections; null
/// where nothing is divided by them.
mlir::arith::DivFOp findReciprocal(mlir::Value sums);

/// Adds to the divisor of `reciprocal` what the `greatest` weight of each row changes by when it is rounded to
/// `narrow`, in rows of whose weight that is half or more. Of several such numbers for one reciprocal the greatest
/// counts.
void countRounded(mlir::arith::DivFOp reciprocal, mlir::Value greatest, mlir::Type narrow);

} // namespace attnc::tile

#endif // ATTNC_PASSES_TILE_ROUNDEDWEIGHTS_H
