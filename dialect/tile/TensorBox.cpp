//===- TensorBox.cpp - What the copy engine moves at once -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/tile/TensorBox.h"
#include "dialect/tile/SharedLayout.h"
#include <numeric>

using namespace mlir;
using namespace attnc::tile;

/// A box of `rows` rows of `tile` in `view`.
static void fillBox(TensorBox &box, Value view, VectorType tile, int64_t rows, RowGroup group, ArrayRef<int64_t> axes) {
  int64_t rank = cast<MemRefType>(view.getType()).getRank();
  box.rowAxis = axes[0];
  box.sizes.assign(rank, 1);
  box.order = llvm::to_vector(llvm::seq(rank));
  box.sizes[axes[0]] = rows / group.size;
  // The rows of a group follow each other in a tile, so in a box: their dimension goes inside that of rows.
  if (group.dimension >= 0) {
    box.sizes[group.dimension] = group.size;
    llvm::erase(box.order, group.dimension);
    box.order.insert(std::next(llvm::find(box.order, axes[0])), group.dimension);
  }
  box.sizes[axes[1]] = SharedLayout(tile).panelColumns;
}

TensorBox::TensorBox(PutOp put) {
  auto tile = cast<VectorType>(put.getRing().getType().getElement());
  int64_t rows = tile.getDimSize(0);
  if (put.getPages())
    rows = std::gcd(rows, put.getView().getType().getDimSize(1));
  fillBox(*this, put.getView(), tile, rows, put.getRowGroup(), put.getAxes());
}

TensorBox::TensorBox(StoreOp store) {
  int64_t rows = store.getRowGroup().size <= warpRows ? warpRows : warpgroupRows;
  fillBox(*this, store.getView(), store.getBuffer().getType().getTile(), rows, store.getRowGroup(), store.getAxes());
}

int64_t TensorBox::rows() const {
  int64_t rows = 1;
  for (int64_t dim : ArrayRef(order).drop_back())
    rows *= sizes[dim];
  return rows;
}

void TensorBox::move(MutableArrayRef<int64_t> indices, int64_t row) const {
  indices[rowAxis] += row / rows() * sizes[rowAxis];
  int64_t inBox = row % rows();
  for (int64_t dim : llvm::reverse(ArrayRef(order).drop_back())) {
    indices[dim] += inBox % sizes[dim];
    inBox /= sizes[dim];
  }
}
