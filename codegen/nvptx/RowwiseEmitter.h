//===- RowwiseEmitter.h - Maps, masks and reductions ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_NVPTX_ROWWISEEMITTER_H
#define ATTNC_CODEGEN_NVPTX_ROWWISEEMITTER_H

#include "codegen/nvptx/EmitContext.h"

namespace attnc::nvptx {

/// Emits operations that work on each row by itself. They are collected and emitted together: in program order, or
/// all of a thread's first row before its second (`by_row`), which leaves assemblers a better order.
class RowwiseEmitter {
public:
  explicit RowwiseEmitter(EmitContext &context) : context(context) {}

  /// Adds an operation to those that wait.
  void add(mlir::Operation &op) { waiting.push_back(&op); }
  /// Emits what waits.
  void flush();
  /// Asks the rows of a warp, once what waits is emitted.
  void emitAny(tile::AnyOp any);

private:
  void emit(mlir::Operation &op, llvm::ArrayRef<int64_t> threadRows);
  void emitVector(mlir::Operation &op, llvm::ArrayRef<int64_t> threadRows);
  void emitColumns(mlir::Operation &op);
  void emitMap(tile::MapOp map, llvm::ArrayRef<int64_t> threadRows);
  void emitUnlessOne(tile::MapOp map);
  void emitMask(tile::MaskOp mask, llvm::ArrayRef<int64_t> threadRows);
  void emitReduce(tile::ReduceOp reduce, llvm::ArrayRef<int64_t> threadRows);
  mlir::Value sumOverLanes(mlir::Value part);
  mlir::Value maxOverLanes(mlir::Value part);

  EmitContext &context;
  llvm::SmallVector<mlir::Operation *> waiting;
};

} // namespace attnc::nvptx

#endif // ATTNC_CODEGEN_NVPTX_ROWWISEEMITTER_H
