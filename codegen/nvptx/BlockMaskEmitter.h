//===- BlockMaskEmitter.h - Lists of the steps that are needed -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_NVPTX_BLOCKMASKEMITTER_H
#define ATTNC_CODEGEN_NVPTX_BLOCKMASKEMITTER_H

#include "codegen/nvptx/MinMaxEmitter.h"
#include "llvm/ADT/SetVector.h"

namespace attnc::nvptx {

/// Emits `tile.block_mask` for a block in a program without roles, in rounds of as many steps as the block has threads.
/// Warps bring the minima and maxima of steps to shared memory, several steps on their way at once; then each thread
/// looks at a step of its own. At the end each warp counts what stands before its steps, and lists them.
class BlockMaskEmitter {
public:
  /// `base` is the address of shared memory.
  BlockMaskEmitter(EmitContext &context, mlir::Value base) : context(context), minMaxEmitter(context), base(base) {}

  mlir::LogicalResult emit(tile::BlockMaskOp blockMask);

  /// Whether a block mask alone reads `minMax`: then it is emitted where the block mask wants it.
  static bool owns(tile::MinMaxOp minMax);

private:
  /// Two words for 32 steps: those that keep all, and the others that keep some.
  struct Bits {
    mlir::Value all, some;
  };

  void setUp();
  void collect();
  void emitForStep(mlir::Value step, llvm::ArrayRef<mlir::Operation *> ops);
  llvm::SmallVector<MinMaxEmitter::Parts> startSteps(mlir::Value first, mlir::Value end);
  llvm::SmallVector<MinMaxEmitter::Parts> startStepsIf(mlir::Value condition, mlir::Value first, mlir::Value end);
  void finishSteps(mlir::Value first, mlir::Value round, mlir::Value end, llvm::ArrayRef<MinMaxEmitter::Parts> parts);
  void loadMinMax(mlir::Value round, mlir::Value end);
  void judgeSteps(mlir::Value round);
  void listSteps();
  Bits loadBits(mlir::Value group);
  llvm::SmallVector<mlir::Value>
  loopOver(mlir::Value start, mlir::Value end, int64_t stride, mlir::ValueRange carried,
           llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value, mlir::ValueRange)> body);
  mlir::Value element(mlir::Value address, mlir::Value index);
  mlir::Value threadOfBlock();

  EmitContext &context;
  MinMaxEmitter minMaxEmitter;
  mlir::Value base;
  tile::BlockMaskOp blockMask;
  llvm::SetVector<tile::MinMaxOp> beforeSteps;    ///< the same for all steps, and part of where those of steps lie
  llvm::SetVector<tile::MinMaxOp> ofRows;         ///< the same for all steps, and wanted when they are judged
  llvm::SmallVector<tile::MinMaxOp> ofSteps;      ///< in the region
  llvm::SmallVector<mlir::Operation *> positions; ///< what says where they lie; minima and maxima may be part of it
  llvm::SmallVector<mlir::Operation *> judgement; ///< the rest of the region
  int64_t wordsOfStep = 0;                        ///< of its minima and maxima, in shared memory
  int64_t warps = 0, roundSteps = 0;
  mlir::Value warp;  ///< of the block
  mlir::Value row;   ///< address of the row of the list
  mlir::Value steps; ///< of the range
  mlir::Value bits;  ///< address of the bits of all steps
};

} // namespace attnc::nvptx

#endif // ATTNC_CODEGEN_NVPTX_BLOCKMASKEMITTER_H
