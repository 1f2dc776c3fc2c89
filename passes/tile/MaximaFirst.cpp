//===- MaximaFirst.cpp - Row maxima before rising functions -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/attn/RegionOps.h"
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
using namespace attnc;
using namespace attnc::tile;

/// What a remark says of a function that maxima cannot be taken before.
constexpr llvm::StringLiteral isWaitedFor = "row maxima wait for a function of products: ";

namespace {

/// What a step makes of its products on the way to scores: one operation after the other, each of the one before and of
/// constants.
struct Chain {
  SmallVector<Operation *> links;
  bool isSlow = false;           ///< whether one of them is worth not waiting for
  Operation *obstacle = nullptr; ///< why maxima of products do not tell those of scores, if they do not
  std::string reason;            ///< what `obstacle` does; empty where only the launch knows
  bool isAlone = true;           ///< whether scores of a row depend on nothing else
};

/// How an operation goes as one of its operands rises.
enum class Way { Up, Down, Unknown };

} // namespace

/// The number that `op` takes next to `value`, or nothing where that is no finite constant.
static std::optional<double> findConstant(Operation &op, Value value) {
  FloatAttr constant;
  if (op.getNumOperands() != 2 || !matchPattern(op.getOperand(op.getOperand(0) == value), m_Constant(&constant)) ||
      !constant.getValue().isFinite())
    return std::nullopt;
  return constant.getValueAsDouble();
}

/// The way that `op` goes as `value` rises. Rounding keeps it.
static Way findWay(Operation &op, Value value) {
  bool isLeft = op.getOperand(0) == value;
  if (op.getNumOperands() == 1) {
    attn::Trend trend = attn::getFunctionFacts(&op).trend;
    return trend == attn::Trend::Rising ? Way::Up : trend == attn::Trend::Falling ? Way::Down : Way::Unknown;
  }
  std::optional<double> constant = findConstant(op, value);
  if (!constant)
    return Way::Unknown;
  if (isa<arith::AddFOp, arith::MaximumFOp, arith::MinimumFOp>(op))
    return Way::Up;
  if (isa<arith::SubFOp>(op))
    return isLeft ? Way::Up : Way::Down;
  if (*constant != 0 && (isa<arith::MulFOp>(op) || (isa<arith::DivFOp>(op) && isLeft)))
    return *constant > 0 ? Way::Up : Way::Down;
  return Way::Unknown;
}

/// Values in the body of `map` that are the same for all elements of a row, those from outside left out.
static DenseSet<Value> findRowValues(MapOp map) {
  Block &body = map.getBody().front();
  DenseSet<Value> ofRow;
  ofRow.insert_range(body.getArguments().slice(map.getTiles().size(), map.getRows().size()));
  ofRow.insert(*(body.args_end() - 2));
  for (Operation &op : body)
    if (llvm::all_of(op.getOperands(),
                     [&](Value operand) { return operand.getParentBlock() != &body || ofRow.contains(operand); }))
      ofRow.insert_range(op.getResults());
  return ofRow;
}

/// Whether `op` multiplies `value` by, or divides it by, a number that only the launch knows, and with it which way it
/// goes.
static bool isOpen(Operation &op, Value value, llvm::function_ref<bool(Value)> isOfRow) {
  if (!isa<arith::MulFOp, arith::DivFOp>(op))
    return false;
  Value other = op.getOperand(op.getOperand(0) == value);
  return isOfRow(other) && !matchPattern(other, m_Constant());
}

/// The operations of `body` that `result`, a value of it, is made by.
static SmallPtrSet<Operation *, 8> findMakers(Block &body, Value result) {
  SmallPtrSet<Operation *, 8> makers;
  for (Operation &op : llvm::reverse(body))
    if (llvm::is_contained(op.getResults(), result) ||
        llvm::any_of(op.getUsers(), [&](Operation *user) { return makers.contains(user); }))
      makers.insert(&op);
  return makers;
}

/// What of a map's tiles is made of the step's products: the only one, or else the first that is not loaded.
static BlockArgument findProducts(MapOp map) {
  for (auto [tile, element] : llvm::zip(map.getTiles(), map.getBody().getArguments()))
    if (map.getTiles().size() == 1 || !tile.getDefiningOp<LoadOp>())
      return element;
  return BlockArgument();
}

/// What `map` makes of products on the way to `scores`, its result.
static Chain findChain(MapOp map, OpResult scores) {
  Chain chain;
  Value value = findProducts(map);
  SmallPtrSet<Value, 8> made{value};
  bool falls = false;
  auto stop = [&](Operation *op, const Twine &reason) {
    if (!chain.obstacle)
      std::tie(chain.obstacle, chain.reason) = std::pair(op, reason.str());
  };
  Block &body = map.getBody().front();
  const DenseSet<Value> rowValues = findRowValues(map);
  auto isOfRow = [&](Value v) { return v.getParentBlock() != &body || rowValues.contains(v); };
  auto makers = findMakers(body, body.getTerminator()->getOperand(scores.getResultNumber()));
  for (Operation &op : body) {
    if (!makers.contains(&op) || llvm::none_of(op.getOperands(), [&](Value operand) { return made.contains(operand); }))
      continue;
    bool readsOthers = llvm::any_of(op.getOperands(), [&](Value v) { return v != value && made.contains(v); });
    chain.isSlow |= attn::getFunctionFacts(&op).isSlow();
    chain.isAlone &= llvm::all_of(op.getOperands(), [&](Value v) { return made.contains(v) || isOfRow(v); });
    made.insert_range(op.getResults());
    if (chain.obstacle)
      continue;
    Way way = readsOthers ? Way::Unknown : findWay(op, value);
    if (readsOthers)
      stop(&op, "they are read twice");
    else if (way == Way::Unknown)
      stop(&op, isOpen(op, value, isOfRow)
                    ? ""
                    : ("'" + op.getName().getStringRef() + "' is not known to rise or fall with them").str());
    falls ^= way == Way::Down;
    chain.links.push_back(&op);
    value = op.getResult(0);
  }
  if (falls)
    stop(map, "it falls where they rise");
  if (map->getNumResults() != 1)
    stop(map, "it has other results");
  return chain;
}

/// Tells of a map that only makes a slow function of products, where more than a mask comes between it and the softmax.
/// `value` is what comes first on the way from there to the products.
static void tellOfFarther(Value value) {
  for (;;) {
    if (auto mask = value.getDefiningOp<MaskOp>()) {
      value = mask.getTiles().front();
      continue;
    }
    auto map = value.getDefiningOp<MapOp>();
    BlockArgument products = map ? findProducts(map) : BlockArgument();
    if (!products)
      return;
    Chain chain = findChain(map, cast<OpResult>(value));
    if (!chain.isAlone || chain.obstacle)
      return;
    if (chain.isSlow) {
      map.emitRemark(isWaitedFor) << "more than a mask comes between it and the softmax";
      return;
    }
    value = map.getTiles()[products.getArgNumber()];
  }
}

/// What `chain` makes of row vectors.
static Value applyToRows(OpBuilder &builder, const Chain &chain, Value rows) {
  auto type = cast<VectorType>(rows.getType());
  for (Operation *op : chain.links) {
    OperationState state(op->getLoc(), op->getName());
    for (Value operand : op->getOperands()) {
      Attribute constant;
      // All but one are constants.
      state.addOperands(matchPattern(operand, m_Constant(&constant))
                            ? arith::ConstantOp::create(builder, op->getLoc(), DenseElementsAttr::get(type, constant))
                            : rows);
    }
    state.addTypes(type);
    rows = builder.create(state)->getResult(0);
  }
  return rows;
}

/// Takes the maxima of `softmax` before the map that its scores are made by, if that only rises. Tells of one that is
/// slow, and does not.
static bool hoist(SoftmaxOp softmax) {
  auto mask = softmax.getScores().getDefiningOp<MaskOp>();
  Value scores = mask ? mask.getTiles().front() : softmax.getScores();
  auto map = scores.getDefiningOp<MapOp>();
  if (softmax.getFixed())
    return false;
  if (!map || !findProducts(map)) {
    tellOfFarther(scores);
    return false;
  }
  Chain chain = findChain(map, cast<OpResult>(scores));
  if (!chain.isSlow) {
    if (chain.isAlone && !chain.obstacle)
      tellOfFarther(map.getTiles()[findProducts(map).getArgNumber()]);
    return false;
  }
  if (!chain.obstacle && map->getBlock() != softmax->getBlock())
    std::tie(chain.obstacle, chain.reason) = std::pair(map.getOperation(), "it is computed outside of the step");
  if (chain.obstacle && chain.isAlone && !chain.reason.empty())
    chain.obstacle->emitRemark(isWaitedFor) << chain.reason;
  if (chain.obstacle)
    return false;
  // What else the mask reads stands before it.
  OpBuilder builder(mask ? mask.getOperation() : map.getOperation());
  Location loc = softmax.getLoc();
  auto type = cast<VectorType>(softmax.getMax().getType());
  constexpr float infinity = std::numeric_limits<float>::infinity();
  auto least = arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, -infinity));
  Value source = map.getTiles()[findProducts(map).getArgNumber()];
  if (mask) {
    IRMapping mapping;
    mapping.map(scores, source);
    source = builder.clone(*mask, mapping)->getResult(0);
  }
  Value maxima = ReduceOp::create(builder, loc, ReduceKind::Max, source, least);
  // A row that kept nothing has no maximum for the function to rise from.
  Value none = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, maxima, least);
  Value risen = arith::SelectOp::create(builder, loc, none, least, applyToRows(builder, chain, maxima));
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
