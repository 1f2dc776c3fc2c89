//===- TilePlace.h - Where a tile stands ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Finds the place of a tile in the problem: its batch entry or sequence, its head and its first row.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_ATTN_TO_TILE_TILEPLACE_H
#define ATTNC_PASSES_ATTN_TO_TILE_TILEPLACE_H

#include "passes/attn-to-tile/TileContext.h"

namespace attnc::attn {

/// Finds where the tile stands.
class TilePlace : public TileContext {
public:
  using TileContext::TileContext;

  /// Finds the tile's place in the problem, and where tiles go over parts of their columns, its part.
  void buildGeometry();
  /// In a program whose tiles are of keys: what follows is for this query head.
  void setHead(mlir::Value head) { geometry.head = head; }
  /// In such programs, and those of captured tensors: what follows is for the queries and keys of this batch entry, or
  /// where it is null for those of all packed sequences.
  void setBatch(mlir::Value batch);
  /// In a program of a table: the first of the buckets that the tile sums, and how many it sums at most. Their sums are
  /// in registers on a GPU; on a CPU, products are what they cost.
  mlir::Value getFirstBucket() const { return firstBucket; }
  int64_t countBucketsOfTile() const { return std::min<int64_t>(getPipeline() ? 8 : 16, captured->countBuckets()); }
  /// Whether gradients of queries are added up in a workspace: one program computes all three gradients. And whether
  /// tiles of keys add to them in an order, so that they have the same bits in every run: from the last tile of a head
  /// to the first, places 1, 2 and so on.
  bool hasQuerySums();
  bool ordersQuerySums();

protected:
  /// Columns of the output, or 0 where it is not wanted.
  int64_t countOutputColumns();
  /// Tiles of the output's columns in a program that combines parts.
  int64_t countColumnTiles();
  /// The number of tiles without their parts, at least 1: it divides.
  mlir::Value countTiles();
  /// Whether the mask, as far as a block mask sees it, differs from head to head.
  bool blockMaskKnowsHeads();
  /// Tiles that sum what a tile of queries reads of a table.
  int64_t countBucketTiles() const;

  mlir::Value firstBucket; ///< of a program of a table
  mlir::Value listRow;     ///< of this tile among the lists of steps
  mlir::Value part;        ///< of the tile's columns, where they are split
  mlir::Value firstColumn; ///< of the output, in a program that combines parts
  mlir::Value firstKey;    ///< of a tile that heads or batch entries share

private:
  /// Says which head, or which heads that share tiles, the tile is for; or which key head where it is of keys.
  void placeHead(mlir::Value number);
  /// Finds head, batch and first row of a tile, and its row of the lists of steps, whose number a tile of a block mask
  /// has itself.
  void placeTile(mlir::Value tile);
  /// Heads are worked on in sections whose keys and values fit in a cache together; within a section, the last rows of
  /// all its heads come first. Returns the tile's number from the end of its head, and the number of that head over the
  /// batch.
  std::pair<mlir::Value, mlir::Value> buildSections(mlir::Value tile, mlir::Value tilesOfHead, mlir::Value keyRows);
  /// Slots of a head of packed sequences, at least one (see `setGrid`).
  mlir::Value countSlots();
  /// Finds the sequence that tile `slot` of a head falls in. Sequence b has the slots from floor(offset(b) / rows) + b
  /// on: as many as it has tiles, or one more. That is a closed form which grows with b, so that b can be searched for,
  /// where numbers of tiles would have to be summed. Slots that are left over hold no rows. The last come first: under
  /// a causal mask the last rows of a sequence take longest.
  void buildPackedGeometry(mlir::Value tile);
};

} // namespace attnc::attn

#endif // ATTNC_PASSES_ATTN_TO_TILE_TILEPLACE_H
