//===- RowScaling.h - Maps that scale the rows of a tile --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_TILE_ROWSCALING_H
#define ATTNC_PASSES_TILE_ROWSCALING_H

#include "dialect/tile/TileOps.h"

namespace attnc::tile {

/// Whether `map` multiplies each element of its one tile by the number that its one row vector has for the row, and
/// does nothing else: of a tile of zeros it makes zeros, and by a row vector of ones nothing.
bool isRowScaling(MapOp map);

} // namespace attnc::tile

#endif // ATTNC_PASSES_TILE_ROWSCALING_H
