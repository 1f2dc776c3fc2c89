//===- RowScaling.cpp - Maps that scale the rows of a tile ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "passes/tile/RowScaling.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attnc::tile;

bool attnc::tile::isRowScaling(MapOp map) {
  if (map.getTiles().size() != 1 || map.getRows().size() != 1 || map->getNumResults() != 1)
    return false;
  Block &body = map.getBody().front();
  Value element = body.getArgument(0), factor = body.getArgument(1);
  auto product = body.getTerminator()->getOperand(0).getDefiningOp<arith::MulFOp>();
  return product && ((product.getLhs() == element && product.getRhs() == factor) ||
                     (product.getLhs() == factor && product.getRhs() == element));
}
