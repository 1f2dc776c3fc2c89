//===- MinMaxEmitter.h - Minima and maxima of boxes -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_NVPTX_MINMAXEMITTER_H
#define ATTNC_CODEGEN_NVPTX_MINMAXEMITTER_H

#include "codegen/nvptx/EmitContext.h"

namespace attnc::nvptx {

/// Emits `tile.min_max`, for whole warps: the lanes go over the last dimension of the box together, and meet at the
/// end.
class MinMaxEmitter {
public:
  /// What the lanes of a warp have of a minimum and a maximum before they meet.
  struct Parts {
    /// Elements of a short row, on their way: i32 or i64; else the lane's own minimum and maximum.
    llvm::SmallVector<mlir::Value> elements;
    mlir::Value isEmpty; ///< whether a short row has no elements; null for other boxes
  };
  /// Minimum and maximum, i32 or i64.
  using Range = std::pair<mlir::Value, mlir::Value>;

  /// Where a short row lies.
  struct Row {
    mlir::Value base;   ///< address of its first element
    mlir::Value length; ///< less one
    mlir::Value stride; ///< in bytes
  };

  explicit MinMaxEmitter(EmitContext &context) : context(context) {}

  void emit(tile::MinMaxOp minMax);

  /// Whether the box is a row of so few elements that a warp has all of them on their way at once.
  static bool isShortRow(tile::MinMaxOp minMax);

  /// The first half of `emit`, which for a short row waits for nothing and has no branches.
  Parts start(tile::MinMaxOp minMax);
  /// The second: the lanes meet.
  Range finish(tile::MinMaxOp minMax, const Parts &parts);
  /// Where a short row lies, by what stands for its indices now.
  Row describe(tile::MinMaxOp minMax);
  /// The first halves for short rows, all at once: by vectors where all of them are whole and lie so.
  llvm::SmallVector<Parts> startRows(llvm::ArrayRef<tile::MinMaxOp> minMaxOps, llvm::ArrayRef<Row> rows);
  /// Makes a range of words the results of the operation.
  void define(tile::MinMaxOp minMax, Range range);
  /// The type of a range: i64 for elements that need it, else i32.
  mlir::Type wordType(tile::MinMaxOp minMax);

private:
  llvm::SmallVector<mlir::Value> loadElements(tile::MinMaxOp minMax, const Row &row);
  llvm::SmallVector<mlir::Value> loadVectors(tile::MinMaxOp minMax, const Row &row);
  mlir::Value areVectors(llvm::ArrayRef<tile::MinMaxOp> minMaxOps, llvm::ArrayRef<Row> rows);
  Range walk(tile::MinMaxOp minMax, const View &view, llvm::SmallVector<mlir::Value> position, Range range);
  mlir::Value arePieces(tile::MinMaxOp minMax, const View &view);
  Range walkPieces(tile::MinMaxOp minMax, const View &view);
  Range walkPiecesIfWhole(tile::MinMaxOp minMax, const View &view, Range none);
  Range join(Range range, mlir::Value min, mlir::Value max);
  Range emptyRange(tile::MinMaxOp minMax);
  mlir::Value widen(mlir::Value element);

  EmitContext &context;
};

} // namespace attnc::nvptx

#endif // ATTNC_CODEGEN_NVPTX_MINMAXEMITTER_H
