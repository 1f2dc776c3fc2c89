//===- ExtentEmitter.h - Least and greatest elements of boxes ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_NVPTX_EXTENTEMITTER_H
#define ATTNC_CODEGEN_NVPTX_EXTENTEMITTER_H

#include "codegen/nvptx/EmitContext.h"

namespace attnc::nvptx {

/// Emits `tile.extent`, for whole warps: the lanes go over the last dimension of the box together, and meet at the end.
class ExtentEmitter {
public:
  explicit ExtentEmitter(EmitContext &context) : context(context) {}

  void emit(tile::ExtentOp extent);

private:
  /// Least and greatest element so far, i32 or i64.
  using Range = std::pair<mlir::Value, mlir::Value>;

  Range walk(tile::ExtentOp extent, const View &view, llvm::SmallVector<mlir::Value> position, Range range);
  mlir::Value arePieces(tile::ExtentOp extent, const View &view);
  Range walkPieces(tile::ExtentOp extent, const View &view);
  Range walkPiecesIfWhole(tile::ExtentOp extent, const View &view, Range none);
  Range join(Range range, mlir::Value least, mlir::Value greatest);
  mlir::Value load(const View &view, mlir::ValueRange position);

  EmitContext &context;
};

} // namespace attnc::nvptx

#endif // ATTNC_CODEGEN_NVPTX_EXTENTEMITTER_H
