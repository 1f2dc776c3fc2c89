//===- RowVectors.h - One number for each row of a tile ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_PASSES_TILE_ROWVECTORS_H
#define ATTNC_PASSES_TILE_ROWVECTORS_H

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace attnc::tile {

/// A row vector of the type of `like` that holds `value`, a `float` or `llvm::APFloat` of its format, in each row.
template <typename Number>
mlir::Value splat(mlir::OpBuilder &builder, mlir::Value like, const Number &value) {
  return mlir::arith::ConstantOp::create(
      builder, like.getLoc(), mlir::DenseElementsAttr::get(mlir::cast<mlir::ShapedType>(like.getType()), value));
}

} // namespace attnc::tile

#endif // ATTNC_PASSES_TILE_ROWVECTORS_H
