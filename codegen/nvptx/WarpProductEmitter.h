//===- WarpProductEmitter.h - Products of warps -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Products of 16 or 32 rows a warp by mma.sync (PTX ISA 9.7.14.5), of operands in the layout of
// dialect/tile/SharedLayout.h. f32 operands are split in three parts each that tf32 holds, and six products taken; with
// two parts: Ootomo and Yokota, "Recovering single precision accuracy from Tensor Cores while surpassing the FP32
// theoretical peak performance" (2022).
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_NVPTX_WARPPRODUCTEMITTER_H
#define ATTNC_CODEGEN_NVPTX_WARPPRODUCTEMITTER_H

#include "codegen/nvptx/EmitContext.h"
#include "dialect/tile/SharedLayout.h"

namespace attnc::nvptx {

/// Emits `tile.mma` of operands in shared memory, or of a left one in registers.
class WarpProductEmitter {
public:
  explicit WarpProductEmitter(EmitContext &context) : context(context) {}

  void emit(tile::MmaOp product);

private:
  /// Parts of an f32 that tensor cores take, as words. Their sum is exact.
  struct Split {
    mlir::Value big, small, least;
  };
  /// Two words of the right operand for eight columns of the result.
  using Pair = std::array<mlir::Value, 2>;

  /// Where a lane finds the right operand.
  struct Right {
    tile::SharedLayout layout;
    bool transposed;
    llvm::SmallVector<mlir::Value, 2> addresses;
  };

  int64_t firstElement(int64_t group, int64_t band) const;
  llvm::SmallVector<mlir::Value> loadLeft(tile::MmaOp product, int64_t step, int64_t band);
  Right findRight(tile::MmaOp product);
  llvm::SmallVector<Pair> loadRight(const Right &right, int64_t step, int64_t column, int64_t groups);
  Split split(mlir::Value word);
  void multiply(mlir::Type element, llvm::ArrayRef<mlir::Value> left, const Pair &right,
                llvm::MutableArrayRef<mlir::Value> acc);
  void multiplyFloats(llvm::ArrayRef<Split> left, llvm::ArrayRef<Split> right, llvm::MutableArrayRef<mlir::Value> acc);

  EmitContext &context;
};

} // namespace attnc::nvptx

#endif // ATTNC_CODEGEN_NVPTX_WARPPRODUCTEMITTER_H
