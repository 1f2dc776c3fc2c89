//===- VectorKinds.h - Tiles, row vectors and column vectors ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// What the registers of a program hold has an element for each row and column of a tile, for each row, or for each
// column. Its type says which: a column vector is what one row of a tile is, and tiles have two rows or more.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_DIALECT_TILE_VECTORKINDS_H
#define ATTNC_DIALECT_TILE_VECTORKINDS_H

#include "mlir/IR/BuiltinTypes.h"

namespace attnc::tile {

/// Whether `type` is that of tiles.
inline bool isTile(mlir::Type type) {
  auto vector = llvm::dyn_cast<mlir::VectorType>(type);
  return vector && vector.getRank() == 2 && vector.getDimSize(0) > 1;
}

/// Whether `type` is that of vectors with an element for each row.
inline bool isRowVector(mlir::Type type) {
  auto vector = llvm::dyn_cast<mlir::VectorType>(type);
  return vector && vector.getRank() == 1;
}

/// Whether `type` is that of vectors with an element for each column.
inline bool isColumnVector(mlir::Type type) {
  auto vector = llvm::dyn_cast<mlir::VectorType>(type);
  return vector && vector.getRank() == 2 && vector.getDimSize(0) == 1;
}

/// The type of a vector with an element for each of `columns` columns.
inline mlir::VectorType getColumnVectorType(int64_t columns, mlir::Type element) {
  return mlir::VectorType::get({1, columns}, element);
}

} // namespace attnc::tile

#endif // ATTNC_DIALECT_TILE_VECTORKINDS_H
