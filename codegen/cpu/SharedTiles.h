//===- SharedTiles.h - Tiles that are read as a whole -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Panels keep the rows of a tile apart, and most operations stay within one. What goes across rows, as products of
// turned tiles do, reads a copy of the whole tile, [rows][columns] in scratch memory, which all panels write before any
// reads it. Shared memory is such copies: `tile.share` writes one, and one thread has nobody to wait for.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_CPU_SHAREDTILES_H
#define ATTNC_CODEGEN_CPU_SHAREDTILES_H

#include "codegen/cpu/PanelEmitter.h"
#include "llvm/ADT/MapVector.h"

namespace attnc::cpu {

/// Whether `use` reads all rows of a tile. Those of loads that are staged have copies of another form.
bool readsWhole(mlir::OpOperand &use);

/// Whether rows of tiles are read across panels anywhere in `program`: then all of them are computed, also those that
/// hold nothing.
bool readsAcrossRows(tile::ProgramOp program);

/// The most tiles of each type that have a place at the same time from their `tile.share` to the last read of what
/// `tile.take` gives: or an error, where that is not known from the program, or one thread would wait for itself.
llvm::FailureOr<llvm::SmallMapVector<mlir::Type, int64_t, 2>> countSharedTiles(tile::ProgramOp program);

/// The places of the tiles of one type that are shared and have not been taken, in scratch memory.
class SharedTiles {
public:
  SharedTiles(EmitContext &context, mlir::VectorType tile, int64_t places);

  /// Writes, where the builder is, which place the next tile that is shared goes to, or the next one that is taken is
  /// in: a view of [rows][columns].
  mlir::Value share(EmitContext &context) { return next(context, 0); }
  mlir::Value take(EmitContext &context) { return next(context, 1); }

private:
  mlir::Value next(EmitContext &context, int64_t counter);

  int64_t places;
  mlir::Value buffers;
  mlir::Value counters; ///< of tiles shared and taken; null where there is one place
};

/// A buffer for all of a tile, [rows][columns].
mlir::Value allocateWhole(EmitContext &context, mlir::VectorType tile);

/// Copies a row of what is kept as a whole to a column vector.
void copyRow(EmitContext &context, ProgramValues &values, tile::RowOp op);

} // namespace attnc::cpu

#endif // ATTNC_CODEGEN_CPU_SHAREDTILES_H
