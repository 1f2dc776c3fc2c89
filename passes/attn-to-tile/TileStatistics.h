//===- TileStatistics.h - Statistics and sums between programs --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// What the programs of a backward hand each other in workspaces: LSE and delta of each query, sums of captured tensors,
// and gradients of queries that are added up.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_ATTN_TO_TILE_TILESTATISTICS_H
#define ATTNC_PASSES_ATTN_TO_TILE_TILESTATISTICS_H

#include "passes/attn-to-tile/TileMemory.h"

namespace attnc::attn {

/// Loads and stores what programs of a backward hand each other.
class TileStatistics : public TileMemory {
public:
  using TileMemory::TileMemory;

  /// What a backward hands from one program to the others: for each query its LSE, +inf for a row that keeps nothing,
  /// and delta (see `attn.backward`), and for each query or key of a head sums of gradients of captured tensors.
  struct Statistic {
    mlir::Value number; ///< of the row among those of its head
    Coordinate axis = Coordinate::Query;
    bool ofAllRows = false; ///< rows that hold no query have one as well
  };
  /// LSE and delta, which each query has.
  Statistic offsetStatistic() { return {index(0), Coordinate::Query, !kernel.isPacked()}; }
  Statistic deltaStatistic() { return {index(1), Coordinate::Query, !kernel.isPacked()}; }
  /// The sums of a captured tensor, or of bucket `bucket` of its computed index.
  Statistic sumStatistic(const CapturedGradient &of, mlir::Value bucket = {});
  /// The row of query `first` of the head at hand among those sums.
  mlir::Value rowOfQuerySums(mlir::Value first);
  /// A row past all sums.
  mlir::Value endOfQuerySums();
  /// Adds `tile`, what the tile's keys make of gradients of queries, to those sums from `row` on: unscaled, f32.
  /// Nothing is added at the end. Where tiles of keys add in an order, they have this place in it, and add after that
  /// one; else both are null.
  void addToQuerySums(mlir::Value tile, mlir::Value row, mlir::Value place, mlir::Value after);
  /// In a program whose tiles are of queries: clears the sums of the tile's rows and their semaphores, or loads them.
  void clearQuerySums();
  mlir::Value loadQuerySums();
  /// Stores a statistic of the tile's rows.
  void storeStatistic(Statistic statistic, mlir::Value rows);
  /// Loads one of the tile's rows, or of the columns from `first` on, 0 for those that hold no query or key.
  mlir::Value loadRowStatistic(Statistic statistic);
  mlir::Value loadColumnStatistic(Statistic statistic, mlir::Value first);
  /// Whether statistics of columns come through shared memory, as columns do; and the LSE and delta of the columns from
  /// `first` on as rows of one tile.
  bool sharesStatistics();
  mlir::Value loadColumnStatistics(mlir::Value first);

protected:
  /// Says how large the workspaces of gradients are, where tiles are of `rows` queries or keys: statistics of each head
  /// (see `statisticIndices`), and the sums of gradients of queries, whose heads have as many rows as statistics have
  /// columns.
  void setWorkspacesOfGradients(mlir::AffineExpr rows, llvm::SmallVectorImpl<int64_t> &sizes);

private:
  /// Statistics of a head: the LSE and delta of each query, and the sums of captured tensors.
  int64_t countStatistics();
  /// Where a statistic of row or column `first` of the head at hand is among all. Those of keys come after those of
  /// queries.
  llvm::SmallVector<mlir::Value> statisticIndices(Statistic statistic, mlir::Value first);
  /// The number of the head at hand among those of all batch entries.
  mlir::Value headOfBatch();
  /// Queries that statistics, and sums, have room for in multiples of this: where copies bring statistics to shared
  /// memory, those of whole tiles of the programs that store them, since such copies know no limit within a row; and
  /// where there are sums, those of whole tiles of each program, which no limit cuts.
  int64_t statisticUnit();
  /// Queries in multiples of which statistics are stored, whichever schedule is the one for a launch.
  int64_t countStoredTogether();
  /// Columns of the statistics that are those of queries.
  mlir::Value countStatisticColumns();
  /// Whether threads add to the sums, each to elements of its own; else the copy engine does, or a CPU.
  bool threadsAddQueries();
  /// Rows that a head has among the sums: whole tiles of each program.
  mlir::Value rowsOfHead();
  /// Stores a tile from `row` of the sums on, or adds it to them.
  tile::StoreOp storeQuerySums(mlir::Value tile, mlir::Value row, bool accumulate);
  /// The end of what a statistic has numbers for.
  mlir::Value statisticLimit(Statistic statistic);
  /// A statistic from `first` on, as a vector of that type.
  mlir::Value loadStatistic(Statistic statistic, mlir::Value first, mlir::VectorType type);
};

} // namespace attnc::attn

#endif // ATTNC_PASSES_ATTN_TO_TILE_TILESTATISTICS_H
