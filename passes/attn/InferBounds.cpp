//===- InferBounds.cpp - Keys that a tile of queries can see ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/attn/AttnOps.h"
#include "passes/attn/Passes.h"
#include "passes/attn/PositionRange.h"

namespace attnc::attn {
#define GEN_PASS_DEF_ATTNINFERBOUNDS
#include "passes/attn/Passes.h.inc"
} // namespace attnc::attn

using namespace mlir;
using namespace attnc::attn;

namespace {
struct InferBounds : attnc::attn::impl::AttnInferBoundsBase<InferBounds> {
  void runOnOperation() override {
    getOperation()->walk([this](KernelOpInterface kernel) {
      if (kernel.getMask().empty() || !kernel.getBounds().empty())
        return;
      if (Region *queryBounds = kernel.getQueryBoundsOrNull())
        buildQueryBounds(kernel, *queryBounds);
      if (buildBounds(kernel)) {
        ++numExact;
        return;
      }
      if (buildBlocks(kernel))
        ++numBlocks;
    });
  }

  /// Adds an entry block of `arguments` indices to an empty region.
  static Block *addEntry(Region &region, unsigned arguments) {
    OpBuilder builder(region.getContext());
    SmallVector<Type> types(arguments, builder.getIndexType());
    SmallVector<Location> locs(arguments, region.getLoc());
    return builder.createBlock(&region, {}, types, locs);
  }

  /// Fills `bounds`; returns whether it says everything.
  static bool buildBounds(KernelOpInterface kernel) {
    Block *block = addEntry(kernel.getBounds(), 4);
    OpBuilder builder = OpBuilder::atBlockEnd(block);
    Bounds bounds = attnc::attn::buildBounds(builder, kernel, keyAxis, block->getArgument(0), block->getArgument(1),
                                             {block->getArgument(2), block->getArgument(3)});
    Location loc = kernel.getLoc();
    auto constant = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(builder, loc, value); };
    // What is as far away as no key is may be nearer. Distances between ends, in whole steps, are taken in 32 bits, and
    // data and far positions take ends anywhere; an upper end meets the number of keys before.
    auto yield = YieldOp::create(builder, loc, bounds.ends);
    builder.setInsertionPoint(yield);
    RegionRanges ranges(kernel.getBounds());
    for (OpOperand &end : yield->getOpOperands()) {
      bool isLow = end.getOperandNumber() < 2;
      ConstantIntRanges reached = ranges.get(end.get());
      if (reached.smin().slt(-keyAxis.beyond))
        end.set(arith::MaxSIOp::create(builder, loc, end.get(), constant(-keyAxis.beyond)));
      if (isLow ? reached.smax().sgt(keyAxis.beyond) : !reached.smax().isSignedIntN(32))
        end.set(arith::MinSIOp::create(builder, loc, end.get(), constant(keyAxis.beyond)));
    }
    return bounds.exact;
  }

  /// Fills `query_bounds`.
  static void buildQueryBounds(KernelOpInterface kernel, Region &region) {
    Block *block = addEntry(region, 4);
    OpBuilder builder = OpBuilder::atBlockEnd(block);
    Bounds bounds = attnc::attn::buildBounds(builder, kernel, queryAxis, block->getArgument(0), block->getArgument(1),
                                             {block->getArgument(2), block->getArgument(3)});
    Location loc = kernel.getLoc();
    // Data and run-time scalars take ends anywhere; no query stands beyond these.
    auto limit = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(builder, loc, value); };
    for (Value &end : bounds.ends) {
      end = arith::MaxSIOp::create(builder, loc, end, limit(-queryAxis.beyond));
      end = arith::MinSIOp::create(builder, loc, end, limit(queryAxis.beyond));
      end = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), end);
    }
    YieldOp::create(builder, loc, bounds.ends);
  }

  /// Fills `blocks`; removes it again, and returns false, where it decides nothing.
  static bool buildBlocks(KernelOpInterface kernel) {
    Block *block = addEntry(kernel.getBlocks(), 6);
    OpBuilder builder = OpBuilder::atBlockEnd(block);
    Value b = block->getArgument(0), h = block->getArgument(1);
    BoxEvaluator evaluator(builder, kernel.getMask(),
                           {Interval{b, b}, Interval{h, h}, Interval{block->getArgument(2), block->getArgument(3)},
                            Interval{block->getArgument(4), block->getArgument(5)}});
    Interval keep = evaluator.evaluateCondition(kernel.getMask().front().getTerminator()->getOperand(0));
    if (matchPattern(keep.min, m_Zero()) && matchPattern(keep.max, m_One())) {
      block->erase();
      return false;
    }
    if (Value check = evaluator.buildScalarCheck()) {
      Location loc = kernel.getLoc();
      Value one = arith::ConstantIntOp::create(builder, loc, builder.getI1Type(), 1);
      Value unknown = arith::XOrIOp::create(builder, loc, check, one);
      keep = {arith::AndIOp::create(builder, loc, keep.min, check),
              arith::OrIOp::create(builder, loc, keep.max, unknown)};
    }
    YieldOp::create(builder, kernel.getLoc(), ValueRange{keep.max, keep.min});
    return true;
  }
};
} // namespace
