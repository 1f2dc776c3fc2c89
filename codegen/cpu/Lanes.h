//===- Lanes.h - Query rows on SIMD lanes -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// On a CPU the rows of a query tile are SIMD lanes. A panel is the rows that are worked on together: a few registers
// wide. Row maxima, sums and masks then need no operation across lanes, and keys and values enter as broadcast scalars,
// straight from their rows (docs/rationale/cpu-kernel.md).
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_CPU_LANES_H
#define ATTNC_CODEGEN_CPU_LANES_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallVector.h"

namespace attnc::cpu {

/// Bytes of a line of the caches.
constexpr int64_t cacheLine = 64;

/// One element of each row of a panel: one SIMD vector after the other.
using Lanes = llvm::SmallVector<mlir::Value, 4>;

/// Columns of a tile that are computed together: `columns[c]` is a column of the panel.
using ColumnBlock = llvm::SmallVector<Lanes, 8>;

/// What all parts of the emitter share while they write one function.
struct EmitContext {
  mlir::OpBuilder &builder;
  mlir::Location loc;
  int64_t lanes;                  ///< f32 elements of one SIMD register
  int64_t vectors;                ///< registers of a panel
  int64_t panels;                 ///< panels of a tile
  int64_t columns;                ///< columns computed together
  bool bf16Tiles;                 ///< products of bf16 go by tile registers
  bool bf16Dots;                  ///< they go two at a time
  mlir::Value scratch;            ///< memref<?xi8>: the worker's memory
  int64_t scratchBytes = 0;       ///< handed out so far
  int64_t ownRows = 0;            ///< rows of the program's tiles
  int64_t ownVectors = 0;         ///< registers of their panels
  int64_t regionInstructions = 0; ///< about how many of them regions have come to in the entry

  /// Rows of a panel.
  int64_t panelRows() const { return lanes * vectors; }

  /// From now on the work is on tiles of `rows` rows, whole registers of them: those of the program in its panels,
  /// others in panels of at most as many registers that divide them.
  void setRows(int64_t rows);

  /// A new buffer in the worker's scratch memory, on a cache line of its own.
  mlir::Value allocate(llvm::ArrayRef<int64_t> shape, mlir::Type element);

  mlir::Value index(int64_t value);
  /// A scalar constant of a float or integer type.
  mlir::Value constant(mlir::Type type, double value);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value min(mlir::Value a, mlir::Value b);
  mlir::Value max(mlir::Value a, mlir::Value b);
  mlir::VectorType vectorType(mlir::Type element) const { return mlir::VectorType::get({lanes}, element); }
  /// A scalar in all lanes.
  mlir::Value splat(mlir::Value scalar);
  /// The `number`-th SIMD vector at `indices`, the last of which is the first row of a panel.
  mlir::Value loadVector(mlir::Value buffer, mlir::ValueRange indices, int64_t number);
  void storeVector(mlir::Value vector, mlir::Value buffer, mlir::ValueRange indices, int64_t number);
};

/// How an element type is held in buffers and lanes: floats as f32, whatever their precision; conditions as bytes.
mlir::Type storageType(mlir::Type element);

} // namespace attnc::cpu

#endif // ATTNC_CODEGEN_CPU_LANES_H
