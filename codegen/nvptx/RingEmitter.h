//===- RingEmitter.h - Rings of buffers on barriers -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Every stage of a ring has a barrier that completes when it is full and one that completes when all consumers have
// released it. Where a thread is in a ring is a stage and the parity of its round. Where puts may clear rows, the ring
// has one more barrier, on which the producer waits for its own copy.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_NVPTX_RINGEMITTER_H
#define ATTNC_CODEGEN_NVPTX_RINGEMITTER_H

#include "codegen/nvptx/EmitContext.h"
#include "dialect/tile/SharedLayout.h"

namespace attnc::nvptx {

/// Emits what one role does with rings. Its places in them are variables of the role.
class RingEmitter {
public:
  /// `base` is the address of shared memory; variables are created where the builder stands, which dominates the role.
  RingEmitter(EmitContext &context, mlir::Value base, tile::ProgramOp program);

  /// Initialises the barriers of all rings of `program`, for one thread.
  static void initBarriers(Ptx &ptx, mlir::Value base, tile::ProgramOp program);

  mlir::LogicalResult emit(tile::PutOp put);
  void emit(tile::GetOp get);
  void emit(tile::HeldOp held);
  void emit(tile::ReleaseOp release);
  /// Writes the warpgroup's rows to the next buffer.
  void emit(tile::ShareOp share);
  /// What others must see is fenced.
  void emit(tile::PostOp post);
  /// Passes a tile number on to the consumers.
  void post(mlir::Value ring, mlir::Value number);
  /// The next tile number, for a whole warpgroup, or for a producer's warp.
  mlir::Value receive(mlir::Value ring, bool ofWarp);

private:
  /// Where the role is in a ring.
  struct State {
    tile::RingOp ring;
    mlir::Value stage, parity; ///< addresses of variables: of the oldest buffer that a consumer has not released
    mlir::Value landing;       ///< the parity of the next landing that the producer waits for; null without
    mlir::Value filledStage, filledParity; ///< of the next buffer that consumers fill; null where they fill none
  };

  /// A stage, and the parity of the round.
  struct Place {
    mlir::Value stage, parity;
  };

  /// Addresses of variables: entries of a page table, each lane of a producer's warp one of the next 64 from `first` on
  /// that `sequence` has.
  struct Pages {
    mlir::Value here, next; ///< of the lane's entry, and of the one 32 further on
    mlir::Value first, sequence;
  };

  State &find(mlir::Value ring) { return states.find(ring)->second; }
  void startCopies(tile::PutOp put, const tile::SharedLayout &layout, mlir::Value address, mlir::Value full);
  void startPages(tile::PutOp put, const tile::SharedLayout &layout, mlir::Value address, mlir::Value full);
  mlir::Value findPage(const View &table, mlir::Value sequence, mlir::Value first, mlir::Value entry);
  void startBoxes(const TensorMap &map, const tile::SharedLayout &layout, mlir::Value address, mlir::Value full,
                  llvm::SmallVector<mlir::Value> position, int64_t columnAxis);
  void clearRows(State &state, const tile::SharedLayout &layout, mlir::Value address, mlir::Value first,
                 mlir::Value full);
  void setSharedTile(const State &state, mlir::Value stage, mlir::Value shared);
  mlir::Value barrier(const State &state, mlir::Value stage, bool full);
  mlir::Value read(mlir::Value variable);
  Place next(const State &state, Place place);
  void advance(State &state, mlir::Value stage);

  EmitContext &context;
  mlir::Value base;
  bool hasUniformStages; ///< stages are in uniform registers, not descriptors
  llvm::DenseMap<mlir::Value, State> states;
  Pages pages; ///< null where rows lie in none
};

} // namespace attnc::nvptx

#endif // ATTNC_CODEGEN_NVPTX_RINGEMITTER_H
