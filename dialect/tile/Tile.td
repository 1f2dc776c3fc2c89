//===- Tile.td - The tile dialect, whole -------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_DIALECT_TILE
#define ATTNC_DIALECT_TILE

include "dialect/tile/TileAsyncOps.td"
include "dialect/tile/TileAttrs.td"
include "dialect/tile/TileSoftmaxOps.td"

#endif // ATTNC_DIALECT_TILE
