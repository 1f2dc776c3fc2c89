//===- RowwiseOps.h - Operations on elements and rows -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_DIALECT_TILE_ROWWISEOPS_H
#define ATTNC_DIALECT_TILE_ROWWISEOPS_H

#include "mlir/IR/Block.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace attnc::tile {

/// Whether `op` computes elements of tiles, or numbers of rows or columns, from those of its operands: a thread
/// computes it for some of its rows at a time.
bool isRowwise(mlir::Operation &op);

/// Calls `visit` for each run of such operations in `block`, in which nothing stands but those, constants and
/// operations on scalars: what a thread may compute row by row.
void forEachRowwiseRun(mlir::Block &block, llvm::function_ref<void(llvm::ArrayRef<mlir::Operation *>)> visit);

} // namespace attnc::tile

#endif // ATTNC_DIALECT_TILE_ROWWISEOPS_H
