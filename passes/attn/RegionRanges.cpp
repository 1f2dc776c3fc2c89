//===- RegionRanges.cpp - Integer ranges in regions -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "passes/attn/RegionRanges.h"
#include "dialect/attn/AttnOps.h"
#include "dialect/attn/Coordinates.h"
#include "dialect/attn/Limits.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attnc::attn;

/// Bits of an integer or an index.
static unsigned widthOf(Value value) {
  return value.getType().isIndex() ? 64 : value.getType().getIntOrFloatBitWidth();
}

static ConstantIntRanges between(int64_t least, int64_t greatest) {
  return ConstantIntRanges::fromSigned(APInt(64, least, /*isSigned=*/true), APInt(64, greatest, /*isSigned=*/true));
}

/// What a coordinate of `kernel` can be. The last tile reaches past the last key, and the last key of no keys stands
/// before the first. What is computed for rows that there are not is never stored.
static ConstantIntRanges rangeOf(KernelOpInterface kernel, Coordinate coordinate, bool isLast) {
  switch (coordinate) {
  case Coordinate::Batch:
    return between(0, maxSize);
  case Coordinate::Head:
    return between(0, kernel.getQueryHeads() - 1);
  case Coordinate::Query:
    return kernel.getQOffset() ? between(minPosition, maxPosition) : between(-maxSize - maxTile, maxSize + maxTile);
  case Coordinate::Key:
    return between(isLast ? -1 : 0, maxSize + maxTile);
  }
  llvm_unreachable("all coordinates are handled");
}

RegionRanges::RegionRanges(Region &region, std::optional<unsigned> scalarBits, ArgumentsOnly)
    : region(region), scalarBits(scalarBits) {
  if (region.empty())
    return;
  auto kernel = cast<KernelOpInterface>(region.getParentOp());
  for (BlockArgument argument : region.getArguments())
    if (std::optional<Coordinate> coordinate = getCoordinate(argument))
      ranges.insert_or_assign(argument, rangeOf(kernel, *coordinate, &region == &kernel.getBlocks()));
}

RegionRanges::RegionRanges(Region &region, std::optional<unsigned> scalarBits)
    : RegionRanges(region, scalarBits, ArgumentsOnly()) {
  if (region.empty())
    return;
  for (Operation &op : region.front().without_terminator())
    infer(op);
}

RegionRanges RegionRanges::ofArguments(Region &region) { return {region, std::nullopt, ArgumentsOnly()}; }

void RegionRanges::infer(Operation &op) {
  auto inferable = dyn_cast<InferIntRangeInterface>(op);
  if (!inferable || !llvm::all_of(op.getOperandTypes(), [](Type type) { return type.isIntOrIndex(); }))
    return;
  SmallVector<ConstantIntRanges> operands = llvm::map_to_vector(op.getOperands(), [&](Value v) { return get(v); });
  inferable.inferResultRanges(
      operands, [&](Value result, const ConstantIntRanges &range) { ranges.insert_or_assign(result, range); });
}

void RegionRanges::inferBetween(Block &block, Operation *first, Operation *last) {
  for (Operation *op = first ? first->getNextNode() : &block.front(); op != last; op = op->getNextNode())
    infer(*op);
}

ConstantIntRanges RegionRanges::get(Value value) const {
  if (auto it = ranges.find(value); it != ranges.end())
    return it->second;
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return ConstantIntRanges::constant(constant);
  bool isCaptured = !region.isAncestor(value.getParentRegion());
  if (isCaptured && scalarBits && widthOf(value) == 64)
    return between(-(int64_t(1) << *scalarBits), (int64_t(1) << *scalarBits) - 1);
  return ConstantIntRanges::maxRange(widthOf(value));
}

bool RegionRanges::fits(const ConstantIntRanges &range, unsigned bits) {
  return range.smin().isSignedIntN(bits) && range.smax().isSignedIntN(bits);
}

bool RegionRanges::mayWrap(Operation *op) const {
  // The ends of what the operation computes, in numbers that hold them.
  auto ends = [&](auto combine) {
    ConstantIntRanges a = get(op->getOperand(0)), b = get(op->getOperand(op->getNumOperands() - 1));
    unsigned width = a.smin().getBitWidth(), wide = 2 * width;
    for (const APInt &x : {a.smin(), a.smax()})
      for (const APInt &y : {b.smin(), b.smax()})
        if (!combine(x.sext(wide), y.sext(wide)).isSignedIntN(width))
          return true;
    return false;
  };
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](arith::AddIOp) { return ends([](const APInt &a, const APInt &b) { return a + b; }); })
      .Case([&](arith::SubIOp) { return ends([](const APInt &a, const APInt &b) { return a - b; }); })
      .Case([&](arith::MulIOp) { return ends([](const APInt &a, const APInt &b) { return a * b; }); })
      .Case<arith::DivSIOp, arith::FloorDivSIOp, arith::CeilDivSIOp>([&](auto) {
        // The least number by -1.
        return get(op->getOperand(0)).smin().isMinSignedValue() && !get(op->getOperand(1)).smin().isStrictlyPositive();
      })
      .Case([&](math::AbsIOp) { return get(op->getOperand(0)).smin().isMinSignedValue(); })
      .Case<arith::IndexCastOp, arith::TruncIOp>(
          [&](auto) { return !fits(op->getOperand(0), widthOf(op->getResult(0))); })
      .Case<arith::ExtSIOp, arith::MaxSIOp, arith::MinSIOp, arith::SelectOp, arith::CmpIOp, arith::RemSIOp>(
          [](auto) { return false; })
      .Default([](Operation *) { return true; });
}
