//===- PartPrograms.cpp - Forward over parts of the keys --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A part leaves the maximum and the sum of each row, and its output divided by that sum: the state of the online
// softmax, from which sums are those that a single walk over the keys makes, whatever the logits (S16).
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/attn-to-tile/ForwardWriter.h"
#include <limits>

using namespace mlir;
using namespace attnc;
using namespace attnc::attn;

static constexpr float infinity = std::numeric_limits<float>::infinity();

void ForwardWriter::writePart(ForwardOp op, State state) {
  OpBuilder::InsertionGuard guard(builder);
  auto branch = scf::IfOp::create(builder, loc, b.isPart());
  builder.setInsertionPoint(branch.thenBlock()->getTerminator());
  tile::SoftmaxEndOp end = finish(state);
  Value factors = end.getFactors();
  // Rows that keep nothing of the part have a factor of 0.
  Value sums = arith::DivFOp::create(builder, loc, constant(1), factors);
  sums = arith::SelectOp::create(builder, loc, equals(factors, 0), constant(0), sums);
  auto alone = scf::IfOp::create(builder, loc, b.isOnlyPart(), /*withElseRegion=*/true);
  builder.setInsertionPoint(alone.thenBlock()->getTerminator());
  storeResults(op, state, end);
  builder.setInsertionPoint(alone.elseBlock()->getTerminator());
  if (state.out)
    b.storePart(divideRows(state.out, factors, builder.getF32Type()));
  b.storePart(TileBuilder::PartNumber::Max, state.max);
  b.storePart(TileBuilder::PartNumber::Sum, sums);
}

/// What part `number` has left, or what the last has where there is no such part.
ForwardWriter::Part ForwardWriter::loadPart(Value number, Value parts) {
  Value last = b.sub(parts, b.index(1)), place = b.min(number, last);
  Part part;
  part.exists = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, number, parts);
  part.max = b.loadPart(TileBuilder::PartNumber::Max, place);
  part.sum = b.loadPart(TileBuilder::PartNumber::Sum, place);
  if (valueOrNull())
    part.out = b.loadPart(place);
  return part;
}

/// What weights by the maxima `max` are multiplied by to be relative to the maxima `finite`.
Value ForwardWriter::factorBetween(Value max, Value finite) {
  Value distance = arith::SubFOp::create(builder, loc, max, finite);
  Value exponent = arith::MulFOp::create(builder, loc, distance, constant(unit.factor));
  return unit.power(builder, loc, exponent);
}

/// The sum of a part's weights, relative to the maxima `finite`.
Value ForwardWriter::weightsOfPart(const Part &part, Value finite) {
  return arith::MulFOp::create(builder, loc, factorBetween(part.max, finite), part.sum);
}

/// Adds a part to sums that stand by the maxima `finite`.
ForwardWriter::State ForwardWriter::addPart(const Part &part, Value finite, State state) {
  Value sum = weightsOfPart(part, finite);
  sum = arith::MulFOp::create(builder, loc, sum, b.choose(part.exists, 1, 0));
  if (state.out)
    state.out = b.buildMap({state.out, part.out}, sum, {}, builder.getF32Type(), [&](ValueRange x) -> Value {
      Value product = arith::MulFOp::create(builder, loc, x[1], x[2]);
      return arith::AddFOp::create(builder, loc, x[0], product);
    });
  state.sum = arith::AddFOp::create(builder, loc, state.sum, sum);
  return state;
}

/// Adds parts to what others have left, as a step of the online softmax adds keys: rows go by the greatest of all
/// maxima.
ForwardWriter::State ForwardWriter::addParts(ArrayRef<Part> parts, State state) {
  Value max = state.max;
  for (const Part &part : parts)
    max = arith::MaximumFOp::create(builder, loc, max, part.max);
  Value finite = finiteMax(max), factor = factorBetween(state.max, finite);
  state.max = max;
  state.sum = arith::MulFOp::create(builder, loc, state.sum, factor);
  if (state.out)
    state.out = b.buildMap(state.out, factor, {}, builder.getF32Type(),
                           [&](ValueRange x) -> Value { return arith::MulFOp::create(builder, loc, x[0], x[1]); });
  for (const Part &part : parts)
    state = addPart(part, finite, state);
  return state;
}

void ForwardWriter::combineParts(ForwardOp op) {
  // Their maxima and weights are those of the first part.
  if (kernel.getSinks())
    sinkState();
  Value parts = b.countParts();
  const int64_t together = b.countPartsTogether();
  State initial;
  initial.max = constant(-infinity);
  initial.sum = constant(0);
  if (valueOrNull())
    initial.out = b.splat(b.tileType(b.getColumns(), builder.getF32Type()), 0);
  auto loop = scf::ForOp::create(builder, loc, b.index(0), parts, b.index(together), initial.values());
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(loop.getBody());
    SmallVector<Part> loaded;
    for (int64_t n = 0; n < together; ++n)
      loaded.push_back(loadPart(b.add(loop.getInductionVar(), b.index(n)), parts));
    State state = addParts(loaded, initial.with(loop.getRegionIterArgs()));
    scf::YieldOp::create(builder, loc, state.values());
  }
  State state = initial.with(loop.getResults());
  tile::SoftmaxEndOp end = finish(state);
  if (state.out)
    storeOutput(op, state, end);
  if (!b.isReturned(op.getLse()))
    return;
  auto branch = scf::IfOp::create(builder, loc, b.hasFirstColumns());
  builder.setInsertionPoint(branch.thenBlock()->getTerminator());
  b.storeRowVector(end.getLse(), op.getLse());
}

void ForwardWriter::writeCombining() {
  chooseUnit();
  b.buildGeometry();
  {
    OpBuilder::InsertionGuard guard(builder);
    combineParts(cast<ForwardOp>(kernel.getOperation()));
  }
  b.finish();
}
