//===- JoinRows.cpp - Rows that several warps have some of ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Where a warp would need more registers than there are for whole rows of sums, two have the same rows and half of the
// columns each, as in FlashAttention-2's gradients: what a warp loads from shared memory then serves twice as many
// rows.
//===----------------------------------------------------------------------===//

#include "dialect/tile/TileQueries.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/tile/Passes.h"
#include "passes/tile/RowVectors.h"

namespace attnc::tile {
#define GEN_PASS_DEF_TILEJOINROWS
#include "passes/tile/Passes.h.inc"
} // namespace attnc::tile

using namespace mlir;
using namespace attnc::tile;

namespace {

/// Joins the rows of one program, whose warps have one of `parts` of the columns each.
class RowJoiner {
public:
  RowJoiner(ProgramOp program, int64_t parts) : program(program), parts(parts), builder(program.getContext()) {}

  void run();
  unsigned numJoined = 0;

private:
  Value getRing(VectorType tile, int64_t stages);
  void join(Value ofPart, bool max, Value start);
  void join(ReduceOp reduce);
  void shareAtSource(Value value, Value ring);
  void joinLeft(MmaOp product);

  ProgramOp program;
  int64_t parts;
  OpBuilder builder;
  llvm::SmallDenseMap<Type, Value> rings; ///< by what they hold
  llvm::SmallDenseSet<Value> shared;      ///< tiles that have been
};

} // namespace

/// The ring that brings tiles of this type, of so many buffers.
Value RowJoiner::getRing(VectorType tile, int64_t stages) {
  Value &ring = rings[tile];
  if (!ring) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&program.getBody().front());
    auto type = RingType::get(builder.getContext(), stages, tile);
    ring = RingOp::create(builder, program.getLoc(), type, IntegerAttr(), IntegerAttr());
  }
  return ring;
}

/// Has all readers of `ofPart`, which each warp has of its own columns, read the same of all columns, and of `start`
/// where that is not null: what a sum begins with.
void RowJoiner::join(Value ofPart, bool max, Value start) {
  Location loc = ofPart.getLoc();
  auto rows = cast<VectorType>(ofPart.getType());
  auto all = VectorType::get({parts, rows.getDimSize(0)}, rows.getElementType());
  Value ring = getRing(all, /*stages=*/1);
  builder.setInsertionPointAfterValue(ofPart);
  auto share = ShareOp::create(builder, loc, ofPart, ring);
  auto get = GetOp::create(builder, loc, SharedTileType::get(builder.getContext(), all), ring);
  Value joined = BlockReduceOp::create(builder, loc, rows, get, max);
  ReleaseOp::create(builder, loc, ring);
  if (start)
    joined = arith::AddFOp::create(builder, loc, start, joined);
  ofPart.replaceAllUsesExcept(joined, share);
  ++numJoined;
}

void RowJoiner::join(ReduceOp reduce) {
  reduce.setOwnColumns(true);
  if (reduce.getKind() == ReduceKind::Max)
    return join(reduce.getResult(), /*max=*/true, /*start=*/Value());
  // A sum takes in once what it starts from.
  Value start = reduce.getAcc();
  builder.setInsertionPoint(reduce);
  reduce.getAccMutable().assign(splat(builder, start, 0));
  join(reduce.getResult(), /*max=*/false, start);
}

/// The loop that hands `value` on from step to step, and its number there; no loop where an operation makes it.
static std::pair<scf::ForOp, unsigned> findCarrier(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = cast<scf::ForOp>(argument.getOwner()->getParentOp());
    return {loop, argument.getArgNumber() - loop.getNumInductionVars()};
  }
  return {value.getDefiningOp<scf::ForOp>(), cast<OpResult>(value).getResultNumber()};
}

/// Shares the tile that `value` is, wherever that comes from: of a loop that hands it on, what it starts with and what
/// each step makes.
void RowJoiner::shareAtSource(Value value, Value ring) {
  if (!shared.insert(value).second)
    return;
  if (auto [loop, number] = findCarrier(value); loop) {
    shareAtSource(loop.getInitArgs()[number], ring);
    shareAtSource(loop.getYieldedValues()[number], ring);
    return;
  }
  builder.setInsertionPointAfterValue(value);
  ShareOp::create(builder, value.getLoc(), value, ring);
}

/// The reduction in the block of `product` that comes after it, or null.
static BlockReduceOp findReduction(MmaOp product) {
  for (auto reduce : product->getBlock()->getOps<BlockReduceOp>())
    if (product->isBeforeInBlock(reduce))
      return reduce;
  return {};
}

/// Has `product` take its left operand, of which warps have some columns each, from shared memory.
void RowJoiner::joinLeft(MmaOp product) {
  Value left = product.getA();
  auto tile = dyn_cast<VectorType>(left.getType());
  if (!tile || left.getDefiningOp<LoadOp>())
    return;
  // One buffer holds the step's own tile: barriers stand between its uses. That of the step before is still read while
  // the next is shared.
  bool isOfStepBefore = static_cast<bool>(findCarrier(left).first);
  Value ring = getRing(tile, isOfStepBefore ? 2 : 1);
  shareAtSource(left, ring);
  // What is got together takes one barrier: the tile, the right operand, and row maxima that the step waits for. The
  // product then runs while their exponents are computed.
  if (BlockReduceOp reduce = isOfStepBefore ? findReduction(product) : BlockReduceOp())
    product->moveBefore(reduce);
  Operation *place = product;
  // Keys that are values too were loaded before.
  if (auto load = product.getB().getDefiningOp<LoadOp>();
      load && load->getBlock() == product->getBlock() && load->hasOneUse()) {
    load->moveBefore(product);
    place = load;
  }
  builder.setInsertionPoint(place);
  auto get = GetOp::create(builder, product.getLoc(), SharedTileType::get(builder.getContext(), tile), ring);
  product.getAMutable().assign(get);
  builder.setInsertionPointAfter(product);
  ReleaseOp::create(builder, product.getLoc(), ring);
}

void RowJoiner::run() {
  SmallVector<Operation *> ops;
  program.walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops)
    if (auto reduce = dyn_cast<ReduceOp>(op); reduce && !reduce.getPartial())
      join(reduce);
    else if (auto lanes = dyn_cast<WarpReduceOp>(op))
      join(lanes.getRows(), lanes.getMax(), /*start=*/Value());
  // Reductions have their places by now.
  for (Operation *op : ops)
    if (auto product = dyn_cast<MmaOp>(op))
      joinLeft(product);
}

namespace {
struct JoinRows : attnc::tile::impl::TileJoinRowsBase<JoinRows> {
  void runOnOperation() override {
    ProgramOp program = getOperation();
    int64_t parts = countPartsOfRows(program);
    if (parts == 1 || sharesTiles(program))
      return;
    RowJoiner joiner(program, parts);
    joiner.run();
    numJoined += joiner.numJoined;
  }
};
} // namespace
