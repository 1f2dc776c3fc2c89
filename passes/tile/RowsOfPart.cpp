//===- RowsOfPart.cpp - Numbers of a part of the rows, and of all *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "passes/tile/RowsOfPart.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attnc::tile;

void attnc::tile::mapToAllRows(OpBuilder &builder, PartOp part, IRMapping &mapping) {
  mapping.map(part.getFirst(), arith::ConstantIndexOp::create(builder, part.getLoc(), 0));
  mapping.map(part.getEnd(), arith::ConstantIndexOp::create(builder, part.getLoc(), part.getCount()));
}

/// What `value` is computed from, it among it.
static SetVector<Operation *> findMakers(Value value) {
  SetVector<Operation *> makers;
  BackwardSliceOptions options;
  options.inclusive = true;
  (void)getBackwardSlice(value, &makers, options);
  return makers;
}

bool attnc::tile::isOfPart(Value value) { return llvm::any_of(findMakers(value), llvm::IsaPred<PartOp>); }

Value attnc::tile::createBoundOfTile(OpBuilder &builder, Value bound) {
  SetVector<Operation *> makers = findMakers(bound), followers;
  auto part = llvm::find_if(makers, llvm::IsaPred<PartOp>);
  if (part == makers.end())
    return bound;
  getForwardSlice(*part, &followers);
  IRMapping mapping;
  mapToAllRows(builder, cast<PartOp>(*part), mapping);
  for (Operation *op : makers)
    if (followers.contains(op))
      builder.clone(*op, mapping);
  return mapping.lookup(bound);
}
