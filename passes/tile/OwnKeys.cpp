//===- OwnKeys.cpp - Bounds of keys for a part of the rows ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "passes/tile/OwnKeys.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attnc::tile;

/// All operations that `value` is computed from, in their order.
static SetVector<Operation *> findMakers(Value value) {
  SetVector<Operation *> makers;
  BackwardSliceOptions options;
  options.inclusive = true;
  (void)getBackwardSlice(value, &makers, options);
  return makers;
}

PartOp attnc::tile::findPart(Value bound) {
  for (Operation *op : findMakers(bound))
    if (auto part = dyn_cast<PartOp>(op))
      return part;
  return {};
}

Value attnc::tile::createBoundOfTile(OpBuilder &builder, Value bound) {
  PartOp part = findPart(bound);
  if (!part)
    return bound;
  SetVector<Operation *> followers;
  getForwardSlice(part.getOperation(), &followers);
  IRMapping mapping;
  mapping.map(part.getFirst(), arith::ConstantIndexOp::create(builder, part.getLoc(), 0));
  mapping.map(part.getEnd(), arith::ConstantIndexOp::create(builder, part.getLoc(), part.getCount()));
  for (Operation *op : findMakers(bound))
    if (followers.contains(op))
      builder.clone(*op, mapping);
  return mapping.lookup(bound);
}
