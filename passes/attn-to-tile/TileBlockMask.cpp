//===- TileBlockMask.cpp - Tiles of keys that data keeps -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Where only data says which tiles of keys a mask keeps (segments, documents, dense masks), a program of its own lists
// them before the kernel runs: those that all queries of a tile keep whole, and the others. The kernel's loop goes over
// the list, has no branches, and overlaps its steps as that of any mask does. Dong, Feng, Guessous, Liang and He,
// "FlexAttention" (2024), section 4.2, lists blocks of masks so.
//===----------------------------------------------------------------------===//

#include "passes/attn-to-tile/TileBlockMask.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::attn;

namespace {

/// Which values come from the elements of a tensor, each looked at once: sums of sums have more ways than operations.
class DataDependence {
public:
  bool contains(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return false;
    if (auto found = known.find(op); found != known.end())
      return found->second;
    bool depends =
        isa<tile::MinMaxOp>(op) || llvm::any_of(op->getOperands(), [&](Value operand) { return contains(operand); });
    return known[op] = depends;
  }

private:
  llvm::DenseMap<Operation *, bool> known;
};

/// Bounds that no element of a tensor decides. The region of a block mask looks at the same data, so that a wider range
/// lists the same steps; and its first loads then wait for nothing.
class BoundsWithoutData {
public:
  explicit BoundsWithoutData(OpBuilder &builder) : builder(builder) {}

  /// A bound of `value`, from above or below: a choice by data is both of its values. Null where there is none.
  Value find(Value value, bool above) {
    if (!data.contains(value))
      return value;
    if (auto found = bounds[above].find(value); found != bounds[above].end())
      return found->second;
    Value bound = compute(value.getDefiningOp(), above);
    return bounds[above][value] = bound;
  }

private:
  Value compute(Operation *op, bool above);

  OpBuilder &builder;
  DataDependence data;
  std::array<llvm::DenseMap<Value, Value>, 2> bounds; ///< from below, and from above
};

} // namespace

Value BoundsWithoutData::compute(Operation *op, bool above) {
  Location loc = op->getLoc();
  auto bound = [&](unsigned operand, bool direction) { return find(op->getOperand(operand), direction); };
  if (auto choice = dyn_cast<arith::SelectOp>(op)) {
    Value x = bound(1, above), y = bound(2, above);
    if (!x || !y)
      return {};
    if (!data.contains(choice.getCondition()))
      return arith::SelectOp::create(builder, loc, choice.getCondition(), x, y);
    return above ? arith::MaxSIOp::create(builder, loc, x, y).getResult()
                 : arith::MinSIOp::create(builder, loc, x, y).getResult();
  }
  bool isScaled = isa<arith::MulIOp, arith::DivUIOp>(op);
  if (isScaled) {
    // Rounding to whole steps.
    APInt factor;
    if (!matchPattern(op->getOperand(1), m_ConstantInt(&factor)) || !factor.isStrictlyPositive())
      return {};
  } else if (!isa<arith::MinSIOp, arith::MaxSIOp, arith::AddIOp, arith::SubIOp>(op)) {
    return {};
  }
  Value x = bound(0, above), y = bound(1, above != isa<arith::SubIOp>(op));
  if (!x || !y)
    return {};
  IRMapping mapping;
  mapping.map(op->getOperands(), ValueRange{x, y});
  return builder.clone(*op, mapping)->getResult(0);
}

/// Moves scalars that are the same for all steps, and ranges of elements, out of the regions of `op`, but no single
/// elements: tensors without elements have no steps either, and boxes of them are empty. Tensors that ranges are of do
/// not change while a program runs. What is made of elements stays: it can wait for them there.
void attnc::attn::hoistInvariants(Operation *op) {
  DataDependence data;
  for (Region &region : op->getRegions())
    moveLoopInvariantCode(
        &region, [&](Value value, Region *) { return !region.isAncestor(value.getParentRegion()); },
        [&](Operation *inner, Region *) {
          bool stays = inner->hasTrait<OpTrait::IsTerminator>() || inner->getNumRegions() > 0 ||
                       llvm::any_of(inner->getOperands(), [&](Value operand) { return data.contains(operand); }) ||
                       llvm::any_of(inner->getResultTypes(), llvm::IsaPred<VectorType>);
          return !stays && (isMemoryEffectFree(inner) || isa<tile::MinMaxOp>(inner));
        },
        [&](Operation *inner, Region *) { inner->moveBefore(op); });
}

void TileBlockMask::buildBlockMask() {
  ColumnBounds bounds = buildBounds();
  BoundsWithoutData withoutData(builder);
  Value low = withoutData.find(bounds.low, /*above=*/false), high = withoutData.find(bounds.high, /*above=*/true);
  auto blockMask = tile::BlockMaskOp::create(builder, loc, program.getWorkspaceView(stepsWorkspace), listRow,
                                             low ? low : bounds.low, high ? high : bounds.high, buildColumnStep());
  {
    OpBuilder::InsertionGuard guard(builder);
    Block *body = builder.createBlock(&blockMask.getBody(), {}, builder.getIndexType(), loc);
    auto [some, all] = buildBlock(body->getArgument(0), getColumns());
    tile::YieldOp::create(builder, loc, ValueRange{some, all});
  }
  hoistInvariants(blockMask);
}
