//===- ProgramRules.h - Rules of what programs hold -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_DIALECT_TILE_PROGRAMRULES_H
#define ATTNC_DIALECT_TILE_PROGRAMRULES_H

#include "dialect/tile/TileOps.h"

namespace attnc::tile {

/// Whether `operand` of `op` is a tile in shared memory; else an error.
mlir::LogicalResult verifyShared(mlir::Operation &op, mlir::Value operand);

/// Whether `op` has what it needs once shared memory is planned: tiles that are read from there, a ring, a buffer; else
/// an error. What products need is for each machine to say.
mlir::LogicalResult verifyStaged(mlir::Operation &op);

} // namespace attnc::tile

#endif // ATTNC_DIALECT_TILE_PROGRAMRULES_H
