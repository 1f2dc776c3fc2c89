//===- LoadEmitter.h - Captured tensors to registers ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_NVPTX_LOADEMITTER_H
#define ATTNC_CODEGEN_NVPTX_LOADEMITTER_H

#include "codegen/nvptx/EmitContext.h"

namespace attnc::nvptx {

/// Emits loads of what consumers read from memory themselves: elements of captured tensors, for the rows and columns
/// that a thread has.
class LoadEmitter {
public:
  explicit LoadEmitter(EmitContext &context) : context(context) {}

  mlir::LogicalResult emit(tile::LoadOp load);

private:
  /// Elements along a row of a view, from the thread's first column on.
  struct Run {
    mlir::Value first;  ///< address of the thread's first element, which need not be there
    mlir::Value inside; ///< whether the row is below its limit; null without rows
  };

  mlir::Value findColumn(tile::LoadOp load);
  mlir::Value offsetOfPair(tile::LoadOp load, mlir::Value pair);
  Run findRun(tile::LoadOp load, int64_t threadRow);
  mlir::Value areWholePairs(tile::LoadOp load, const Run &run, int64_t pairs);
  llvm::SmallVector<mlir::Value> readPairs(tile::LoadOp load, const Run &run, int64_t pairs);
  llvm::SmallVector<mlir::Value> readAdjacent(tile::LoadOp load, const Run &run, int64_t pairs);
  llvm::SmallVector<mlir::Value> readPair(tile::LoadOp load, const Run &run, mlir::Value offset);
  llvm::SmallVector<mlir::Value> readElements(tile::LoadOp load, const Run &run, int64_t pairs);
  void loadBlocked(tile::LoadOp load);
  llvm::SmallVector<mlir::Value> readNothing(tile::LoadOp load, int64_t pairs);
  llvm::SmallVector<mlir::Value> readWords(tile::LoadOp load, int64_t threadRow, int64_t pairs);
  mlir::Value readRow(tile::LoadOp load, int64_t threadRow);
  mlir::Value isBelow(mlir::Value position, mlir::Value limit);

  EmitContext &context;
};

} // namespace attnc::nvptx

#endif // ATTNC_CODEGEN_NVPTX_LOADEMITTER_H
