//===- RowTerms.h - What elements of a row share ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Positions of keys and queries are the same for a whole row but for a constant an element, so most of what the region
// of a map or mask makes of them is, too: a thread computes it once a row. Passes ask here what that is before they
// change an element's arithmetic, and code generation follows the same answers.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_DIALECT_TILE_ROWTERMS_H
#define ATTNC_DIALECT_TILE_ROWTERMS_H

#include "dialect/tile/TileOps.h"
#include <optional>

namespace attnc::tile {

/// A number along a row: first + step * column, with a common factor or as a magnitude.
struct RowTerm {
  int64_t step = 0;         ///< 0 for what all columns have
  bool magnitude = false;   ///< it is the magnitude of such a number
  bool distributed = false; ///< a product that has been distributed over the columns (`tile.anchor`)

  bool isUniform() const { return step == 0; }
};

/// How what an operation computes follows from the numbers of a row that it reads.
enum class RowRule : uint8_t {
  Uniform,   ///< computed once, of numbers that all columns have
  Sum,       ///< a sum or difference of positions
  Same,      ///< another type of the same number
  Magnitude, ///< the magnitude of a number linear in the column
  ToFloat,   ///< a float of it: exact for distances below 2^24, and off by another unit in the last place past that
  Product    ///< a number linear in the column times one that all have, distributed
};

/// What is the same for a row, or linear in the column, in the region of a `tile.map` or `tile.mask`.
class RowTerms {
public:
  /// Knows the arguments of the region of `op`; its operations are to be added in their order.
  explicit RowTerms(mlir::Operation *op);

  /// Adds what `op`, an operation of the region, computes; nothing where that is an element's own.
  std::optional<RowRule> add(mlir::Operation &op);

  /// What is known of `value`: all of what comes from outside of the region is the same for the row.
  std::optional<RowTerm> find(mlir::Value value) const;

  /// Whether `op`, not yet added, is a product of f32 that may be distributed: of a number linear in the column, which
  /// is no magnitude, and of one that all columns have.
  bool isLinearProduct(mlir::Operation &op) const;

private:
  std::optional<std::pair<RowRule, RowTerm>> classify(mlir::Operation &op) const;

  mlir::Block *body;
  llvm::DenseMap<mlir::Value, RowTerm> terms;
};

} // namespace attnc::tile

#endif // ATTNC_DIALECT_TILE_ROWTERMS_H
