//===- TileParts.h - Tiles that go over parts of their keys -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Where queries are few, so are tiles: parts of their keys keep a machine busy (S16). Each part leaves the state of its
// rows in a workspace, and the program that combines them reads it there.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_ATTN_TO_TILE_TILEPARTS_H
#define ATTNC_PASSES_ATTN_TO_TILE_TILEPARTS_H

#include "passes/attn-to-tile/TileStatistics.h"

namespace attnc::attn {

/// Columns [low, high) are visited; [fullLow, fullHigh) are kept by all rows of the tile. Where steps are counted,
/// since a block mask has listed them or each is for several heads, all four are places in their order, and so is
/// `position`, that of the step at hand.
struct ColumnBounds {
  mlir::Value low, fullLow, fullHigh, high;
  mlir::Value position = {};
};

/// Divides the columns of tiles among parts, and keeps what each has left.
class TileParts : public TileStatistics {
public:
  using TileStatistics::TileStatistics;

  /// Where tiles go over parts of their columns: the bounds of the tile's part.
  ColumnBounds takePart(ColumnBounds bounds);
  /// Whether the tile's part is the first; null where tiles go over all columns.
  mlir::Value isFirstPart();
  /// Whether there is such a part: blocks past the last have none. And whether there is but one, which leaves results.
  mlir::Value isPart();
  mlir::Value isOnlyPart();

  /// What a part of a row's columns leaves to the program that combines parts, for each row: its maximum, in the unit
  /// of logits, and its sum of weights relative to that.
  enum class PartNumber { Max, Sum };
  /// Stores such a number, and the rows' output, of as many columns as it has.
  void storePart(PartNumber number, mlir::Value rows);
  void storePart(mlir::Value tile);
  /// How many parts there are, and how many of them the program that combines them loads together.
  mlir::Value countParts();
  int64_t countPartsTogether() const;
  /// In the program that combines parts, whose tiles have some columns of the output: what part `part` has left.
  mlir::Value loadPart(PartNumber number, mlir::Value part);
  mlir::Value loadPart(mlir::Value part);
  /// In such a program: whether the tile has the first columns, and with them what there is one of for each row.
  mlir::Value hasFirstColumns();

protected:
  /// Says how large the workspace is that holds the rows of each part, and how many tiles go over parts of the keys of
  /// `tiles` tiles, of `rows` queries, or are in the program that combines them.
  mlir::AffineExpr setWorkspaceOfParts(mlir::AffineExpr tiles, mlir::AffineExpr rows,
                                       llvm::SmallVectorImpl<int64_t> &sizes);

private:
  /// Columns of a row of the workspace: the output, and the numbers after it, in whole pieces of 16 bytes.
  int64_t countPartColumns();
  /// Keys that the number of parts goes by: those that a sequence stores, or where they are packed somewhat less than
  /// the mean, since there is one cumulative length more than sequences.
  mlir::AffineExpr keysOfParts(llvm::SmallVectorImpl<int64_t> &sizes);
  /// The same in a program.
  mlir::Value countKeysOfParts();
  /// 1 where a launch of `tiles` tiles has several parts, else 0.
  mlir::AffineExpr hasParts(mlir::AffineExpr tiles, mlir::AffineExpr keys);
  /// Where a part of the tile's rows has `column` in the workspace: parts, then batch entries, heads that share tiles,
  /// and rows of these. Packed sequences are one entry.
  llvm::SmallVector<mlir::Value> partIndices(mlir::Value ofPart, mlir::Value column);
  /// The end of the tile's rows in the workspace that hold queries: those are all that is stored, and read.
  mlir::Value endOfPartRows(mlir::Value first);
  /// The column of the workspace that has a number of a part's rows.
  mlir::Value columnOf(PartNumber number);
};

} // namespace attnc::attn

#endif // ATTNC_PASSES_ATTN_TO_TILE_TILEPARTS_H
