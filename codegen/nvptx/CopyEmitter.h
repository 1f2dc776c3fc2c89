//===- CopyEmitter.h - Rings that all threads fill --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Rings of programs without roles: every thread copies its pieces of 16 bytes of each tile. Where the stages of a ring
// are put and got is the same for all threads; `tile.sync` stands where they wait for each other. Parts of f32 are
// written by threads that share out a tile in the same way.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_NVPTX_COPYEMITTER_H
#define ATTNC_CODEGEN_NVPTX_COPYEMITTER_H

#include "codegen/nvptx/EmitContext.h"
#include "dialect/tile/SharedLayout.h"

namespace attnc::nvptx {

/// Emits what a program without roles does with rings.
class CopyEmitter {
public:
  /// `base` is the address of shared memory; variables are created where the builder stands.
  CopyEmitter(EmitContext &context, mlir::Value base, tile::ProgramOp program);

  void emit(tile::PutOp put);
  void emit(tile::GetOp get);
  void emit(tile::SplitOp split);
  void emit(tile::ShareOp share);
  void emit(tile::BlockReduceOp reduce);
  void emit(tile::SyncOp sync);

private:
  /// Where the program is in a ring.
  struct State {
    tile::RingOp ring;
    mlir::Value put, got; ///< addresses of variables: the next stage to fill, and to get; null with one stage
  };
  /// What a thread copies of each row of a tile.
  struct Part;

  /// How threads share out the pieces of a tile's rows.
  struct Share {
    int64_t threadsOfRow, rowsTogether; ///< powers of two: threads that share a row, and rows that all have at once
    mlir::Value row, piece;             ///< the thread's: the first row, and the piece of each
  };

  /// The address of what would be the first element of tiles of `view` if their rows began at 0.
  struct Origin {
    mlir::Value view;
    llvm::SmallVector<mlir::Value> indices; ///< null for the rows
    mlir::Value address;
  };

  Share shareOut(int64_t pieces);
  void shareRows(tile::ShareOp share);
  mlir::Value findOrigin(tile::PutOp put);
  mlir::Value takeStage(State &state, mlir::Value variable);
  void copyAligned(const Part &part);
  void copyElements(const Part &part);
  mlir::Value rowAddress(const Part &part, mlir::Value row);
  mlir::Value nextAddress(const Part &part, mlir::Value address, mlir::Value row, mlir::Type unit, mlir::Value step);
  mlir::Value pieceAddress(mlir::Value tile, const tile::SharedLayout &layout, mlir::Value row, mlir::Value piece);
  void splitPiece(const SharedTile &source, mlir::Value parts, mlir::Value row, mlir::Value piece);

  EmitContext &context;
  mlir::Value base;
  int64_t threads; ///< of the block
  llvm::SmallVector<Origin> origins;
  llvm::DenseMap<mlir::Value, State> states;
};

} // namespace attnc::nvptx

#endif // ATTNC_CODEGEN_NVPTX_COPYEMITTER_H
