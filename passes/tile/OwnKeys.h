//===- OwnKeys.h - Bounds of keys for a part of the rows --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_TILE_OWNKEYS_H
#define ATTNC_PASSES_TILE_OWNKEYS_H

#include "dialect/tile/TileOps.h"

namespace attnc::tile {

/// The part of a tile's rows that `bound` was computed for, or null where it is for all of them.
PartOp findPart(mlir::Value bound);

/// What `bound` is for all rows of the tile: computed again where `builder` stands, if it is for a part of them.
mlir::Value createBoundOfTile(mlir::OpBuilder &builder, mlir::Value bound);

} // namespace attnc::tile

#endif // ATTNC_PASSES_TILE_OWNKEYS_H
