//===- StoreEmitter.h - Tiles and row vectors to memory ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_NVPTX_STOREEMITTER_H
#define ATTNC_CODEGEN_NVPTX_STOREEMITTER_H

#include "codegen/nvptx/EmitContext.h"

namespace attnc::nvptx {

/// Emits stores of results.
class StoreEmitter {
public:
  /// `base` is the address of shared memory.
  StoreEmitter(EmitContext &context, mlir::Value base) : context(context), base(base) {}

  void emit(tile::StoreOp store);
  /// Makes what the warp has written to shared memory visible to the copy engine and to products, and starts the copies
  /// of deferred stores.
  void startCopies();
  /// Ends a tile: others may add to what it has added to.
  void endTile();
  /// Waits for all stores of the warpgroup at the end of the kernel.
  void finish();

private:
  void storeStaged(tile::StoreOp store);
  void storeStagedBelow(tile::StoreOp store);
  void storeTile(tile::StoreOp store);
  int64_t countBlocks(tile::StoreOp store);
  llvm::SmallVector<mlir::Value> findBands(tile::StoreOp store);
  llvm::SmallVector<mlir::Value> findPiece(tile::StoreOp store, int64_t block, int64_t band);
  mlir::Value existsBlocked(tile::StoreOp store);
  void storeBlocked(tile::StoreOp store);
  void storePieces(tile::StoreOp store);
  void addInOrder(tile::StoreOp store);
  /// The semaphore of a warp that adds in an order, the place that it waits for, and one that it has seen there, or
  /// null.
  struct Turn {
    mlir::Value semaphore = {}, after = {}, seen = {};
  };
  mlir::Value findWarp();
  mlir::Value findSemaphore(tile::StoreOp store, llvm::SmallVector<mlir::Value> indices);
  Turn findTurn(tile::StoreOp store, mlir::Value exists);
  void definePending(tile::StoreOp store);
  Turn takePlace(tile::StoreOp store, mlir::Value exists);
  void leavePlace();
  void storeElements(tile::StoreOp store, mlir::Value address, int64_t threadRow, int64_t first);
  void storeGroups(mlir::Value address, llvm::SmallVector<mlir::Value> words, mlir::Value inside);
  mlir::Value areRowsAligned(const View &view);
  mlir::Value hasWholeGroups(tile::StoreOp store);
  void storeRows(tile::StoreOp store);
  mlir::Value isBelow(mlir::Value position, mlir::Value limit);
  llvm::SmallVector<mlir::Value> place(tile::StoreOp store, mlir::Value row);

  EmitContext &context;
  mlir::Value base;
  bool usesCopies = false;
  /// A warp's part of a deferred store: where it lies in shared and in global memory, whether it is stored, and when.
  struct Copy {
    mlir::Value from, to;
    int64_t bytes;
    mlir::Value condition;
    Turn turn;
  };
  /// The copy in an order that is under way: one of the stores whose it is, and variables that hold the place to leave,
  /// 0 where there is none, and the indices of the semaphore.
  struct Pending {
    tile::StoreOp store;
    mlir::Value place;
    llvm::SmallVector<mlir::Value> indices;
  };
  Pending pending;
  llvm::SmallVector<Copy, 1> deferred;
};

} // namespace attnc::nvptx

#endif // ATTNC_CODEGEN_NVPTX_STOREEMITTER_H
