//===- MaximaFirst.cpp - Row maxima before rising functions -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "passes/tile/Passes.h"
#include <limits>

namespace attnc::tile {
#define GEN_PASS_DEF_TILEMAXIMAFIRST
#include "passes/tile/Passes.h.inc"
} // namespace attnc::tile

using namespace mlir;
using namespace attnc::tile;

/// Whether `op` never falls where its first operand rises.
static bool rises(Operation &op) {
  FloatAttr factor;
  if (isa<arith::MulFOp>(op))
    return matchPattern(op.getOperand(1), m_Constant(&factor)) && factor.getValueAsDouble() > 0;
  return isa<math::TanhOp>(op);
}

/// Whether a map applies a chain of rising operations to its one tile, and one of them is worth not waiting for.
static bool isRisingFunction(MapOp map) {
  if (map.getTiles().size() != 1 || !map.getRows().empty() || !map.getCols().empty() || map->getNumResults() != 1)
    return false;
  Block &body = map.getBody().front();
  Value value = body.getArgument(0);
  bool slow = false;
  for (Operation &op : body.without_terminator()) {
    if (op.getOperand(0) != value || !rises(op))
      return false;
    slow |= isa<math::TanhOp>(op);
    value = op.getResult(0);
  }
  return slow && body.getTerminator()->getOperand(0) == value;
}

/// What the body of `map` makes of row vectors.
static Value applyToRows(OpBuilder &builder, MapOp map, Value rows) {
  auto type = cast<VectorType>(rows.getType());
  for (Operation &op : map.getBody().front().without_terminator()) {
    OperationState state(op.getLoc(), op.getName());
    state.addOperands(rows);
    for (Value operand : llvm::drop_begin(op.getOperands())) {
      Attribute constant;
      matchPattern(operand, m_Constant(&constant));
      state.addOperands(
          arith::ConstantOp::create(builder, op.getLoc(), DenseElementsAttr::get(type, constant)).getResult());
    }
    state.addTypes(type);
    rows = builder.create(state)->getResult(0);
  }
  return rows;
}

/// Takes the maxima of `softmax` before the map that its scores are made by, if that only rises.
static bool hoist(SoftmaxOp softmax) {
  auto mask = softmax.getScores().getDefiningOp<MaskOp>();
  Value scores = mask ? mask.getTiles().front() : softmax.getScores();
  auto map = scores.getDefiningOp<MapOp>();
  if (softmax.getFixed() || !map || map->getBlock() != softmax->getBlock() || !isRisingFunction(map))
    return false;
  // What else the mask reads stands before it.
  OpBuilder builder(mask ? mask.getOperation() : map.getOperation());
  Location loc = softmax.getLoc();
  auto type = cast<VectorType>(softmax.getMax().getType());
  constexpr float infinity = std::numeric_limits<float>::infinity();
  auto least = arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, -infinity));
  Value source = map.getTiles().front();
  if (mask) {
    IRMapping mapping;
    mapping.map(scores, source);
    source = builder.clone(*mask, mapping)->getResult(0);
  }
  Value maxima = ReduceOp::create(builder, loc, ReduceKind::Max, source, least);
  // A row that kept nothing has no maximum for the function to rise from.
  Value none = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, maxima, least);
  Value risen = arith::SelectOp::create(builder, loc, none, least, applyToRows(builder, map, maxima));
  // The map itself comes after.
  map->moveAfter(maxima.getDefiningOp());
  softmax.getOwnMaxMutable().assign(risen);
  return true;
}

namespace {
struct MaximaFirst : attnc::tile::impl::TileMaximaFirstBase<MaximaFirst> {
  void runOnOperation() override {
    // With maxima of the steps before, nothing waits for a step's own.
    auto pipeline = getOperation().getPipelineAttr();
    if (!pipeline || pipeline.getRescaling() == attnc::attn::Rescaling::OnOverflow)
      return;
    getOperation()->walk([&](SoftmaxOp softmax) { numHoisted += hoist(softmax); });
  }
};
} // namespace
