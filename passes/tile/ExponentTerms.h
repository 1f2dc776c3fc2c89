//===- ExponentTerms.h - Exponents in one operation -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// (x - m) c - h, an exponent of the online softmax, as x c + b with b = -m c - h rounded once a row. All weights of the
// row are then 2^r times what they would be, with r = m c + b + h, which their sum takes away.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_TILE_EXPONENTTERMS_H
#define ATTNC_PASSES_TILE_EXPONENTTERMS_H

#include "dialect/tile/TileOps.h"

namespace attnc::tile {

/// A number that scores are taken relative to in each row, and the row's maximum, for which 0 stands in it where that
/// is -inf.
struct Reference {
  mlir::Value number, maximum;
};

/// What exponents of a row are made of: x * factor + offset.
struct RowTerms {
  mlir::Value factors, offsets;
};

/// The offsets -m c - h of rows whose reference is `number`, for factors c.
mlir::Value buildOffsets(mlir::OpBuilder &builder, const ExponentUnit &unit, mlir::Value number, mlir::Value factors);

/// Whether m c of a row is so large that a rounded offset does not serve `exponent`, which is not exact: 2^31 or 2^24
/// and more. Rows without a maximum are among them.
mlir::Value buildIsLarge(mlir::OpBuilder &builder, const ExponentUnit &unit, Exponent exponent, Reference reference);

/// The terms of rows. Where m c is 2^31 or more, a rounded offset could be off by more than a power holds. But
/// different logits then are so far apart that of two of a row one has no weight, whatever the base of the powers: a
/// power of two serves as factor, with which products are exact. It is no greater than what takes logits to natural
/// units, in which they are finite. Apart by 2^-24 |m| and more, weights differ by 44 octaves and more.
RowTerms buildTerms(mlir::OpBuilder &builder, const ExponentUnit &unit, Reference reference);

/// What the weights of a row's maximum have as exponent where rounded offsets are used: r - h. f16 has no room for a
/// large r: where m c is 2^24 or more, rows go without such offsets, which leaves -h.
mlir::Value buildRest(mlir::OpBuilder &builder, const ExponentUnit &unit, Reference reference);

} // namespace attnc::tile

#endif // ATTNC_PASSES_TILE_EXPONENTTERMS_H
