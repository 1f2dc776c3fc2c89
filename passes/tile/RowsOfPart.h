//===- RowsOfPart.h - Numbers of a part of the rows, and of all -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_TILE_ROWSOFPART_H
#define ATTNC_PASSES_TILE_ROWSOFPART_H

#include "dialect/tile/TileOps.h"

namespace attnc::tile {

/// Has the results of `part` stand for all rows of the tile in `mapping`.
void mapToAllRows(mlir::OpBuilder &builder, PartOp part, mlir::IRMapping &mapping);

/// Whether `value` may differ between the parts of a tile's rows.
bool isOfPart(mlir::Value value);

/// What `bound` is for all rows of the tile: computed again where `builder` stands if it is for a part of them, else
/// `bound` itself.
mlir::Value createBoundOfTile(mlir::OpBuilder &builder, mlir::Value bound);

} // namespace attnc::tile

#endif // ATTNC_PASSES_TILE_ROWSOFPART_H
