//===- MaskMap.h - What a mask keeps, tile by tile --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_EXPLAIN_MASKMAP_H
#define ATTNC_RUNTIME_EXPLAIN_MASKMAP_H

#include "codegen/image/Error.h"
#include "dialect/attn/KernelFunction.h"
#include "runtime/Arguments.h"

namespace attnc::explain {

/// What the compiler knows of the pairs of one tile.
enum class TileClass : uint8_t {
  Empty,   ///< none is kept: the tile is not visited
  Partial, ///< the mask is evaluated
  Full,    ///< all are kept: no mask
};

/// The tiles of one sequence and head.
struct MaskMap {
  int64_t queryTile = 0, keyTile = 0; ///< rows and keys of one tile
  int64_t queries = 0, keys = 0;      ///< that exist
  int64_t rows = 0, columns = 0;      ///< tiles
  std::vector<TileClass> tiles;       ///< row-major

  /// The tile of `row` and `column`.
  TileClass at(int64_t row, int64_t column) const { return tiles[static_cast<size_t>(row * columns + column)]; }
  /// How many tiles are of class `kind`.
  int64_t count(TileClass kind) const;
};

/// What all sequences and heads of a kernel keep.
struct MaskWork {
  MaskMap map;            ///< of the sequence with the most pairs, head 0
  int64_t mapBatch = 0;   ///< that sequence
  double keptPairs = 0;   ///< pairs of query and key, over all sequences and query heads
  double allPairs = 0;    ///< that there would be without a mask
  bool estimated = false; ///< whether `keptPairs` comes from a sample
};

/// Looks at each operation of `lowered`, a kernel after `attn-infer-bounds`, on `inputs`. Tile classes are those of the
/// regions `bounds` and `blocks`; kept pairs are counted by the mask itself where a tile is partial.
image::Result<std::vector<MaskWork>> measureMasks(const attn::KernelFunction &lowered,
                                                  image::Span<const runtime::ArgValue> inputs);

} // namespace attnc::explain

#endif // ATTNC_RUNTIME_EXPLAIN_MASKMAP_H
