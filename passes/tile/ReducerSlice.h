//===- ReducerSlice.h - What a reducer computes -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_TILE_REDUCERSLICE_H
#define ATTNC_PASSES_TILE_REDUCERSLICE_H

#include "dialect/tile/TileOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

namespace attnc::tile {

/// What the reducer of a program computes in place of its consumers: all that is made of tiles which those share
/// (`tile.take`), and what nothing else reads. Loops and branches are of both, but for the values that they hand on.
class ReducerSlice {
public:
  ReducerSlice() = default;
  /// That of `body`, the body of a program whose roles are not told apart yet.
  explicit ReducerSlice(mlir::Block &body);

  bool empty() const { return operations.empty(); }
  /// Whether the reducer has `op`, which is no loop and no branch.
  bool contains(mlir::Operation *op) const { return operations.contains(op); }
  /// Whether the result of this number of a loop or a branch is the reducer's.
  bool carries(mlir::Operation *op, unsigned number) const { return carried.contains({op, number}); }
  /// Takes it from the program of `body`, whose loops and branches hand on zeros instead.
  void erase(mlir::Block &body);

private:
  bool isReadHere(mlir::OpOperand &use) const;
  bool isReadHere(mlir::Value value) const;
  void add(mlir::Operation *op);
  bool addReadByNoOther(mlir::Operation *op);

  llvm::SetVector<mlir::Operation *> operations;
  llvm::SetVector<std::pair<mlir::Operation *, unsigned>> carried;
};

} // namespace attnc::tile

#endif // ATTNC_PASSES_TILE_REDUCERSLICE_H
