//===- VectorKinds.h - Row vectors and column vectors -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A vector has an element for each row of a tile, or for each column. Its type does not say which: the operations that
// make it or read it do, and so do those of the vectors that it shares its elements with by elementwise arithmetic or
// across the edges of loops and branches. Loads and constants come from no other vector, and may be read by rows here
// and by columns there: `separateVectors` gives each kind its own.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_DIALECT_TILE_VECTORKINDS_H
#define ATTNC_DIALECT_TILE_VECTORKINDS_H

#include "dialect/tile/TileOps.h"

namespace attnc::tile {

/// Whether a vector has one element a column, not a row; rows are what no operation tells. Of what is both, as before
/// `separateVectors`, the answer is any.
bool isColumnVector(mlir::Value value);

/// Gives what takes a vector by columns that comes of no other one, where others take it by rows, one of its own,
/// anywhere in `program`.
void separateVectors(ProgramOp program);

/// Whether every vector of `program` is of one kind, or comes of no other one; else an error at an operation that has
/// it by columns.
mlir::LogicalResult verifyVectorKinds(ProgramOp program);

} // namespace attnc::tile

#endif // ATTNC_DIALECT_TILE_VECTORKINDS_H
