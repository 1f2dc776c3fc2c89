//===- DifferentiateScore.cpp - The derivative of a score region - C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/attn/CapturedGradients.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "passes/attn/Passes.h"
#include "passes/attn/ScoreDerivative.h"

namespace attnc::attn {
#define GEN_PASS_DEF_ATTNDIFFERENTIATESCORE
#include "passes/attn/Passes.h.inc"
} // namespace attnc::attn

using namespace mlir;
using namespace attnc::attn;

/// The index of dimension `dim` that `load` reads, from 0 to the end of a dimension of a static size: as the load
/// clamps it. An i32.
static Value clampedIndex(OpBuilder &builder, LoadOp load, unsigned dim) {
  Location loc = load.getLoc();
  int64_t size = load.getTensor().getType().getDimSize(dim);
  int64_t last = ShapedType::isDynamic(size) ? std::numeric_limits<int32_t>::max() : size - 1;
  auto constant = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(builder, loc, value); };
  Value index = arith::MinSIOp::create(builder, loc, load.getIndices()[dim], constant(last));
  index = arith::MaxSIOp::create(builder, loc, index, constant(0));
  return arith::IndexCastOp::create(builder, loc, builder.getI32Type(), index);
}

/// By which coordinate `load` reads each dimension; nothing for a computed index.
static Axes axesOf(const CapturedGradient &captured, LoadOp load) {
  Axes axes;
  for (auto [dim, size] : llvm::enumerate(load.getTensor().getType().getShape()))
    axes.push_back(size == 1 ? captured.axes()[dim] : getIndexCoordinate(load, dim));
  return axes;
}

/// For each read of `captured` the gradient of it and its computed indices. Reads that have become one since they were
/// counted have a gradient of 0.
static SmallVector<Value> gradientsOfScattered(OpBuilder &builder, const CapturedGradient &captured,
                                               ArrayRef<Value> reads, ArrayRef<Value> gradients) {
  Location loc = captured.tensor.getLoc();
  SmallVector<Value> results;
  llvm::SmallPtrSet<Operation *, 4> done;
  for (const Axes &read : captured.reads) {
    auto isOf = [&](Value value) {
      auto load = value.getDefiningOp<LoadOp>();
      return load && load.getTensor() == captured.tensor && !done.contains(load) && axesOf(captured, load) == read;
    };
    const Value *found = llvm::find_if(reads, isOf);
    if (found == reads.end()) {
      results.push_back(arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0)));
      Value none = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0));
      results.append(captured.computedDims(read).size(), none);
      continue;
    }
    auto load = found->getDefiningOp<LoadOp>();
    done.insert(load);
    results.push_back(gradients[found - reads.begin()]);
    for (unsigned dim : captured.computedDims(read))
      results.push_back(clampedIndex(builder, load, dim));
  }
  return results;
}

/// The sum of the gradients of those `reads`, loads and scalars, that read `captured`, and with a bucket that as an
/// f32, which holds small numbers.
static SmallVector<Value> gradientOfReads(OpBuilder &builder, const CapturedGradient &captured, ArrayRef<Value> reads,
                                          ArrayRef<Value> gradients) {
  Location loc = captured.tensor.getLoc();
  Value sum, zero = arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0)), bucket = zero;
  for (auto [value, gradient] : llvm::zip_equal(reads, gradients)) {
    auto load = value.getDefiningOp<LoadOp>();
    if ((load ? load.getTensor() : value) != captured.tensor)
      continue;
    sum = sum ? arith::AddFOp::create(builder, loc, sum, gradient).getResult() : gradient;
    if (captured.form == CapturedForm::Buckets)
      bucket = arith::SIToFPOp::create(builder, loc, builder.getF32Type(),
                                       clampedIndex(builder, load, *captured.dimOfBuckets()));
  }
  SmallVector<Value> results{sum ? sum : zero};
  if (captured.form == CapturedForm::Buckets)
    results.push_back(bucket);
  return results;
}

/// Expands the sugar of a cloned region, in the form that it has once it is folded; `mapping` follows.
static void expandSugar(Block &block, IRMapping &mapping) {
  for (Operation &inner : llvm::make_early_inc_range(block)) {
    auto sugar = dyn_cast<SugarOpInterface>(inner);
    if (!sugar)
      continue;
    // The first time may take a constant in, the second give the operand.
    SmallVector<OpFoldResult> folded;
    for (int times = 0; times < 2 && folded.empty(); ++times)
      (void)inner.fold(folded);
    OpBuilder builder(&inner);
    Value expanded = folded.empty() ? sugar.expand(builder) : cast<Value>(folded.front());
    Value result = inner.getResult(0);
    for (auto &[from, to] : mapping.getValueMap())
      if (to == result)
        mapping.map(from, expanded);
    result.replaceAllUsesWith(expanded);
    inner.erase();
  }
}

/// Fills `derivative`: (ds, s, b, h, i, j) to the gradients of the logit s and of what the score reads of captured
/// tensors that have gradients, where the score has the gradient ds.
static void differentiate(BackwardOp op) {
  Region &score = op.getScore(), &region = op.getDerivative();
  if (score.empty() || !region.empty())
    return;
  OpBuilder builder(op.getContext());
  Block &source = score.front();
  Block *block = builder.createBlock(&region);
  Value incoming = block->addArgument(builder.getF32Type(), op.getLoc());
  IRMapping mapping;
  for (BlockArgument argument : source.getArguments())
    mapping.map(argument, block->addArgument(argument.getType(), argument.getLoc()));
  for (Operation &inner : source.without_terminator())
    builder.clone(inner, mapping);
  expandSugar(*block, mapping);
  Value yielded = mapping.lookupOrDefault(source.getTerminator()->getOperand(0));
  SmallVector<Value> inputs{mapping.lookup(source.getArgument(0))};
  for (LoadOp load : block->getOps<LoadOp>())
    if (llvm::is_contained(op.getCaptured(), load.getTensor()))
      inputs.push_back(load);
  for (Value captured : op.getCaptured())
    if (!isa<ShapedType>(captured.getType()))
      inputs.push_back(captured);
  ScoreDerivative derivative(block, inputs);
  SmallVector<Value> all = derivative.run(yielded, incoming), results{all.front()};
  builder.setInsertionPointToEnd(block);
  ArrayRef<Value> reads = ArrayRef(inputs).drop_front(), gradients = ArrayRef(all).drop_front();
  for (const CapturedGradient &captured : getCapturedGradients(op))
    llvm::append_range(results, captured.form == CapturedForm::Scattered
                                    ? gradientsOfScattered(builder, captured, reads, gradients)
                                    : gradientOfReads(builder, captured, reads, gradients));
  // A score that adds to the logit has its gradient: nothing is left to compute.
  if (results.size() == 1 && results.front() == incoming) {
    region.dropAllReferences();
    region.getBlocks().clear();
    return;
  }
  YieldOp::create(builder, op.getLoc(), results);
}

namespace {
struct DifferentiateScore : attnc::attn::impl::AttnDifferentiateScoreBase<DifferentiateScore> {
  void runOnOperation() override {
    getOperation()->walk([](BackwardOp op) { differentiate(op); });
  }
};
} // namespace
