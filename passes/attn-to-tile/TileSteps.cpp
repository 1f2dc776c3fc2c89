//===- TileSteps.cpp - Loops over the columns of a tile ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "passes/attn-to-tile/TileSteps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::attn;

/// Where data decides about steps, so many of them are looked at together first: mostly all of them are left out, or
/// keep all.
static constexpr int64_t stepsOfStretch = 8;

/// Goes on at the end of `block`, without the terminator that it is created with where nothing is carried.
static void setInsertionPointToOpenEnd(OpBuilder &builder, Block *block) {
  if (block->mightHaveTerminator())
    block->getTerminator()->erase();
  builder.setInsertionPointToEnd(block);
}

SmallVector<Value> TileSteps::buildBranch(TypeRange types, Value condition, function_ref<SmallVector<Value>()> then,
                                          function_ref<SmallVector<Value>()> otherwise) {
  auto branch = scf::IfOp::create(builder, loc, types, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  setInsertionPointToOpenEnd(builder, branch.thenBlock());
  scf::YieldOp::create(builder, loc, then());
  setInsertionPointToOpenEnd(builder, branch.elseBlock());
  scf::YieldOp::create(builder, loc, otherwise());
  return SmallVector<Value>(branch.getResults());
}

scf::ForOp TileSteps::buildLoop(Value low, Value high, int64_t step, ValueRange initial,
                                function_ref<SmallVector<Value>(Value iv, ValueRange state)> body) {
  auto loop = scf::ForOp::create(builder, loc, low, high, index(step), initial);
  OpBuilder::InsertionGuard guard(builder);
  setInsertionPointToOpenEnd(builder, loop.getBody());
  scf::YieldOp::create(builder, loc, body(loop.getInductionVar(), loop.getRegionIterArgs()));
  return loop;
}

void TileSteps::setOverlap(scf::ForOp loop) {
  PipelineAttr pipeline = schedule.getPipeline();
  if (!pipeline || (pipeline.getStaging() != Staging::Tma && !pipeline.getWeightsAhead()))
    return;
  auto set = [&](tile::Overlap overlap) {
    loop->setAttr(tile::overlapAttrName, tile::OverlapAttr::get(builder.getContext(), overlap));
  };
  // Where one product starts a step, only the one that adds up its weights is left to overlap with. Other gradients
  // have two that start it, and the schedule says which of them are worth it.
  if (!isBackward() || schedule.getProgram() == Program::Dv)
    return set(tile::Overlap::WeightsAhead);
  switch (pipeline.getOverlap()) {
  case Overlap::InStep:
    return;
  case Overlap::LogitsAhead:
    return set(tile::Overlap::LogitsAhead);
  case Overlap::ScoresAhead:
  case Overlap::QueriesFirst: // which is the order of what is left
    return set(tile::Overlap::ScoresAhead);
  case Overlap::SumsLate:
    return set(tile::Overlap::SumsLate);
  }
}

SmallVector<Value> TileSteps::overColumns(ValueRange initial, const ColumnBounds &bounds, StepBody body) {
  if (hasBlockMask(kernel, schedule))
    return overPlaces(initial, bounds, [&](Value place) { return buildColumn(place); }, body);
  if (looksAtSteps())
    return overStretches(initial, bounds, body);
  scf::ForOp loop = buildLoop(bounds.low, bounds.high, getColumns(), initial, [&](Value first, ValueRange state) {
    return body({first, bounds, /*masked=*/true}, state);
  });
  setOverlap(loop);
  return SmallVector<Value>(loop.getResults());
}

SmallVector<Value> TileSteps::overPlaces(ValueRange initial, ColumnBounds places,
                                         function_ref<Value(Value place)> columnOf, StepBody body) {
  scf::ForOp loop = buildLoop(places.low, places.high, /*step=*/1, initial, [&](Value place, ValueRange state) {
    places.position = place;
    return body({columnOf(place), places, /*masked=*/true}, state);
  });
  setOverlap(loop);
  return SmallVector<Value>(loop.getResults());
}

bool TileSteps::looksAtSteps() { return !kernel.getBlocks().empty() && !hasBlockMask(kernel, schedule); }

bool TileSteps::mayJoinHeads() { return !looksAtSteps() && !readsCoordinate(kernel, Coordinate::Head); }

SmallVector<Value> TileSteps::overColumnsOfHeads(ValueRange initial, const ColumnBounds &bounds, StepBody body) {
  bool listed = hasBlockMask(kernel, schedule);
  Value group = index(kernel.getQueryHeads() / kernel.getKeyHeads()), columns = index(getColumns());
  auto divide = [&](Value a, Value b) -> Value { return arith::DivUIOp::create(builder, loc, a, b); };
  auto roundUp = [&](Value column) -> Value { return arith::CeilDivUIOp::create(builder, loc, column, columns); };
  Value end = listed ? Value() : roundUp(bounds.high);
  // How far a step is from the last.
  auto placeOf = [&](Value step) { return mul(sub(end, step), group); };
  ColumnBounds places =
      listed ? ColumnBounds{bounds.low, bounds.fullLow, mul(bounds.fullHigh, group), mul(bounds.high, group)}
             : ColumnBounds{index(0), placeOf(divide(bounds.fullHigh, columns)), placeOf(roundUp(bounds.fullLow)),
                            placeOf(divide(bounds.low, columns))};
  Value firstHead = mul(geometry.keyHead, group), before = geometry.head;
  auto columnOf = [&](Value place) -> Value {
    geometry.head = add(firstHead, arith::RemUIOp::create(builder, loc, place, group));
    Value step = divide(place, group);
    return listed ? buildColumn(step) : mul(sub(sub(end, index(1)), step), columns);
  };
  SmallVector<Value> results = overPlaces(initial, places, columnOf, body);
  geometry.head = before;
  return results;
}

SmallVector<Value> TileSteps::overStretches(ValueRange initial, const ColumnBounds &bounds, StepBody body) {
  auto asDecided = [&](Value first, ValueRange state) {
    return buildStep(first, state, [&](bool masked) { return body({first, bounds, masked}, state); });
  };
  int64_t columns = stepsOfStretch * getColumns();
  auto overStretch = [&](Value stretch, ValueRange state) {
    auto [some, all] = buildBlock(stretch, columns);
    Value full = all, end = min(add(stretch, index(columns)), bounds.high);
    auto steps = [&](function_ref<SmallVector<Value>(Value, ValueRange)> inner) {
      return SmallVector<Value>(buildLoop(stretch, end, getColumns(), state, inner).getResults());
    };
    auto visited = [&] {
      return buildBranch(
          state.getTypes(), full,
          [&] {
            return steps([&](Value first, ValueRange inner) { return body({first, bounds, /*masked=*/false}, inner); });
          },
          [&] { return steps(asDecided); });
    };
    return buildBranch(state.getTypes(), some, visited, [&] { return SmallVector<Value>(state); });
  };
  scf::ForOp loop = buildLoop(bounds.low, bounds.high, columns, initial, overStretch);
  // The rows are looked at once.
  loop->walk([](Operation *op) {
    if (isa<scf::ForOp, scf::IfOp>(op))
      hoistInvariants(op);
  });
  return SmallVector<Value>(loop.getResults());
}

SmallVector<Value> TileSteps::buildStep(Value first, ValueRange state,
                                        function_ref<SmallVector<Value>(bool masked)> step) {
  if (!looksAtSteps())
    return step(/*masked=*/true);
  auto [some, all] = buildBlock(first, getColumns());
  auto branch = [&](Value condition, function_ref<SmallVector<Value>()> then,
                    function_ref<SmallVector<Value>()> otherwise) {
    return buildBranch(state.getTypes(), condition, then, otherwise);
  };
  Value full = all;
  return branch(
      some, [&] { return branch(full, [&] { return step(false); }, [&] { return step(true); }); },
      [&] { return SmallVector<Value>(state); });
}
