//===- Philox.h - The random numbers of dropout ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Philox4x32-7: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011), section 3.3.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_DIALECT_TILE_PHILOX_H
#define ATTNC_DIALECT_TILE_PHILOX_H

#include "mlir/IR/Builders.h"
#include <array>

namespace attnc::tile {

/// Queries of a block that elements share calls in: two that are this many apart, and so keys.
constexpr int64_t philoxDistance = 8;
/// Queries, and keys, of a block.
constexpr int64_t philoxBlock = 2 * philoxDistance;

/// The two halves of a seed of i64, as i32.
std::array<mlir::Value, 2> buildPhiloxKey(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value seed);

/// What the call for query `i` counts by, and that for key `j`; all are i32.
mlir::Value buildPhiloxQuery(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value i);
mlir::Value buildPhiloxKeyPair(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value j);

/// The 128 bits of a call as four i32: words 2 r and 2 r + 1 are of the query 8 r on, for the two neighbouring keys and
/// those eight on. Of a word the even key has the low half. The counter is (batch entry, head, query, key), as above.
std::array<mlir::Value, 4> buildPhilox(mlir::OpBuilder &builder, mlir::Location loc,
                                       const std::array<mlir::Value, 2> &key,
                                       const std::array<mlir::Value, 4> &counter);

/// The number of one element, as i32, from coordinates of type index.
mlir::Value buildPhiloxNumber(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value seed, mlir::Value b,
                              mlir::Value h, mlir::Value i, mlir::Value j);

/// The number of element (`i`, `j`) of batch entry `b` and head `h`.
uint32_t findPhiloxNumber(uint64_t seed, uint32_t b, uint32_t h, uint32_t i, uint32_t j);

/// Whether an element is kept whose `number` is this, an i16 that is unsigned: it is no less than `threshold`, an i32.
mlir::Value buildIsKept(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value number, mlir::Value threshold);

/// `element`, or 0 where it is not kept.
mlir::Value buildKept(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value element, mlir::Value number,
                      mlir::Value threshold);

} // namespace attnc::tile

#endif // ATTNC_DIALECT_TILE_PHILOX_H
