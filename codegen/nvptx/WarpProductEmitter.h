//===- WarpProductEmitter.h - Products of warps -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Products of 16 or 32 rows a warp by mma.sync (PTX ISA 9.7.14.5), of operands in the layout of
// dialect/tile/SharedLayout.h, and tiles from there in registers. f32 operands are split in three parts each that bf16
// holds, whose sum is exact, and six products taken: Henry, Tang and Heinecke, "Leveraging the bfloat16 Artificial
// Intelligence Datatype For Higher-Precision Computations" (2019). Parts in tf32 would be as exact, at half the rate.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_NVPTX_WARPPRODUCTEMITTER_H
#define ATTNC_CODEGEN_NVPTX_WARPPRODUCTEMITTER_H

#include "codegen/nvptx/EmitContext.h"
#include "dialect/tile/SharedLayout.h"

namespace attnc::nvptx {

/// Emits `tile.mma` of operands in shared memory, or of a left one in registers, and `tile.read`.
class WarpProductEmitter {
public:
  explicit WarpProductEmitter(EmitContext &context) : context(context) {}

  void emit(tile::MmaOp product);
  void emit(tile::ReadOp read);

private:
  using Words = llvm::SmallVector<mlir::Value, 4>;
  /// What one instruction takes of an operand: words of two elements each; of f32 those of its parts, the greatest
  /// first, or of TF32 words of an element each for one half of a step, and for the other.
  using Operand = llvm::SmallVector<Words, 3>;
  /// Two elements of f32, as words, of which each part has one word.
  using Floats = std::array<mlir::Value, 2>;

  /// Where a lane finds the right operand.
  struct Right {
    tile::SharedLayout layout;
    bool transposed;
    bool floats;   ///< f32 that is not in parts
    int64_t depth; ///< elements that the product sums over
    llvm::SmallVector<mlir::Value, 2> addresses;
  };

  /// What one load brings of it: one or two groups of eight columns, from `column` on, in the rows of a step.
  struct RightPlace {
    int64_t step, column, groups;
  };

  int64_t firstElement(int64_t group, int64_t band) const;
  mlir::Value findOwnRows(const SharedTile &shared, mlir::Value first);
  mlir::Value findOwnColumns(const SharedTile &shared, mlir::Value first);
  Operand loadLeft(tile::MmaOp product, int64_t step, int64_t band);
  Floats loadPair(const SharedTile &shared, mlir::Value first, int64_t bytes, int64_t below);
  Right findRight(tile::MmaOp product);
  llvm::SmallVector<mlir::Value> loadRight(const Right &right, const RightPlace &place);
  Operand getOperand(const Right &right, llvm::ArrayRef<mlir::Value> words, int64_t group);
  Operand narrow(llvm::ArrayRef<Floats> pairs);
  Operand split(llvm::ArrayRef<Floats> pairs);
  Operand round(llvm::ArrayRef<Floats> pairs);
  void multiply(mlir::Type element, const Operand &left, const Operand &right, llvm::MutableArrayRef<mlir::Value> acc);
  void multiplyFloats(const Operand &left, const Operand &right, llvm::MutableArrayRef<mlir::Value> acc);

  EmitContext &context;
  bool tf32 = false; ///< the product at hand rounds f32 to TF32
};

} // namespace attnc::nvptx

#endif // ATTNC_CODEGEN_NVPTX_WARPPRODUCTEMITTER_H
