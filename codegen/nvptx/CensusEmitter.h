//===- CensusEmitter.h - Lists of the steps that are needed -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_NVPTX_CENSUSEMITTER_H
#define ATTNC_CODEGEN_NVPTX_CENSUSEMITTER_H

#include "codegen/nvptx/EmitContext.h"

namespace attnc::nvptx {

/// Emits `tile.census` for a block in a program without roles: each warp looks at steps of its own and notes what kind
/// they are; then the first warp lists them in order.
class CensusEmitter {
public:
  /// `base` is the address of shared memory; `emitBody` emits the region of a census for a whole warp.
  CensusEmitter(EmitContext &context, mlir::Value base, llvm::function_ref<void(mlir::Block &)> emitBody)
      : context(context), base(base), emitBody(emitBody) {}

  void emit(tile::CensusOp census);

private:
  /// What is known of a step: its number as the notes of the block have it.
  enum Kind : int64_t { None = 0, Some = 1, All = 2 };

  void noteKinds(tile::CensusOp census);
  void listSteps(tile::CensusOp census);
  mlir::Value element(mlir::Value column);
  mlir::Value loadKind(mlir::Value step);
  mlir::Value ballot(mlir::Value kind, Kind wanted);
  llvm::SmallVector<mlir::Value>
  loopOver(mlir::Value start, int64_t stride, mlir::ValueRange carried,
           llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value, mlir::ValueRange)> body);
  mlir::Value noteOf(mlir::Value step);
  void storeIf(mlir::Value condition, mlir::Value address, mlir::Value word);

  EmitContext &context;
  mlir::Value base;
  llvm::function_ref<void(mlir::Block &)> emitBody;
  mlir::Value row;   ///< address of the row of the list
  mlir::Value steps; ///< of the range
  mlir::Value notes; ///< address of the kinds
};

} // namespace attnc::nvptx

#endif // ATTNC_CODEGEN_NVPTX_CENSUSEMITTER_H
