//===- Staging.h - Copies between tensors and scratch memory ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_CPU_STAGING_H
#define ATTNC_CODEGEN_CPU_STAGING_H

#include "codegen/cpu/PanelEmitter.h"

namespace attnc::cpu {

/// Writes `for (i = low; i < high; ++i) body(i)`.
void forRange(EmitContext &context, mlir::Value low, mlir::Value high, llvm::function_ref<void(mlir::Value)> body);

/// An element (or vector) of a tensor as it is held: floats in f32, conditions as bytes.
mlir::Value widen(EmitContext &context, mlir::Value element);

/// A held scalar as an element of a tensor. Floats were rounded before, so that nothing is lost here.
mlir::Value narrow(EmitContext &context, mlir::Value held, mlir::Type element);

/// Columns of a tile.
int64_t columnsOf(mlir::Value tile);

/// Whether a load is of a key or value tile, which all panels share.
bool isStaged(tile::LoadOp load);

/// Whether a load is of a column vector.
bool isColumnVector(tile::LoadOp load);

/// Copies a key or value tile into scratch memory, in f32: [rows][columns], rows past the limit 0.
void stageTile(EmitContext &context, ProgramValues &values, tile::LoadOp load);

/// Copies a column vector into scratch memory.
void stageColumns(EmitContext &context, ProgramValues &values, tile::LoadOp load);

/// Writes the loops of a tile.extent; records its results.
void emitExtent(EmitContext &context, ProgramValues &values, tile::ExtentOp extent);

} // namespace attnc::cpu

#endif // ATTNC_CODEGEN_CPU_STAGING_H
