//===- Staging.h - Copies between tensors and scratch memory ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_CPU_STAGING_H
#define ATTNC_CODEGEN_CPU_STAGING_H

#include "codegen/cpu/PanelEmitter.h"

namespace attnc::cpu {

/// Writes `for (i = low; i < high; i += step) body(i)`.
void forRange(EmitContext &context, mlir::Value low, mlir::Value high, int64_t step,
              llvm::function_ref<void(mlir::Value)> body);

/// An element (or vector) of a tensor as it is held: floats in f32, conditions as bytes.
mlir::Value widen(EmitContext &context, mlir::Value element);

/// Rows and columns of the blocks that are turned in registers.
constexpr int64_t squareBlock = 4;

/// The rows or columns among `live` that fill blocks of `size`.
mlir::Value wholeBlocks(EmitContext &context, mlir::Value live, int64_t size);

/// The columns of a square block of rows, as vectors.
llvm::SmallVector<mlir::Value> transposed(EmitContext &context, llvm::ArrayRef<mlir::Value> rows);

/// A held scalar (or vector) as an element of a tensor. Floats were rounded before, so that nothing is lost here.
mlir::Value narrow(EmitContext &context, mlir::Value held, mlir::Type element);

/// Columns of a tile, in registers or shared memory.
int64_t columnsOf(mlir::Value tile);

/// How many products each sum of a product has.
int64_t depthOf(tile::MmaOp op);

/// Whether a load is of a key or value tile, which all panels share.
bool isStaged(tile::LoadOp load);

/// Copies a key or value tile into scratch memory, in f32 and as its products read it: packed by rows where its rows
/// are columns of the product, else by columns. Rows and columns past the limits are 0.
void stageTile(EmitContext &context, ProgramValues &values, tile::LoadOp load);

/// Gives products whose right operand is read in other ways as well a load of their own, anywhere in `program`.
void separateStagedLoads(tile::ProgramOp program);

/// Goes from `indices` of a row of a sequence to those of where `view` holds it, in a page that the table `pages`
/// names.
void moveToPage(EmitContext &context, mlir::Value pages, mlir::Value view, int64_t rowAxis,
                llvm::MutableArrayRef<mlir::Value> indices);

/// Copies a column vector into scratch memory.
void stageColumns(EmitContext &context, ProgramValues &values, tile::LoadOp load);
/// Computes a column vector from others, or from scalars, into scratch memory.
void computeColumns(EmitContext &context, ProgramValues &values, mlir::Operation &op);
/// The element of a column vector, as it is held, or that of a constant.
mlir::Value columnElement(EmitContext &context, const ProgramValues &values, mlir::Value vector, mlir::Value position);

/// The element that a constant has everywhere, as it is held.
mlir::Value splatElement(EmitContext &context, mlir::DenseElementsAttr constant);

/// Writes the loops of a tile.min_max; records its results.
void emitMinMax(EmitContext &context, ProgramValues &values, tile::MinMaxOp minMax);

} // namespace attnc::cpu

#endif // ATTNC_CODEGEN_CPU_STAGING_H
