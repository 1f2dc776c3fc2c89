//===- InsertSync.cpp - Waits, releases and turns ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/tile/TileQueries.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "passes/tile/Passes.h"

namespace attnc::tile {
#define GEN_PASS_DEF_TILEINSERTSYNC
#include "passes/tile/Passes.h.inc"
} // namespace attnc::tile

using namespace mlir;
using namespace attnc::tile;

/// Whether `op` computes `value`, or one of the values that a branch chooses it from.
static bool makes(Operation *op, Value value) {
  if (value.getDefiningOp() == op)
    return true;
  auto branch = value.getDefiningOp<scf::IfOp>();
  unsigned number = branch ? cast<OpResult>(value).getResultNumber() : 0;
  return branch && (makes(op, branch.thenYield().getOperand(number)) ||
                    (branch.elseBlock() && makes(op, branch.elseYield().getOperand(number))));
}

/// Whether `op` waits until a buffer that `product` reads has been filled again. The product must end before it: else
/// the producer waits for the buffer's release, and `op` waits for the producer.
static bool waitsForRefill(Operation *op, MmaOp product) {
  auto get = dyn_cast<GetOp>(op);
  return get && llvm::any_of(ValueRange{product.getA(), product.getB()}, [&](Value operand) {
           auto held = operand.getDefiningOp<GetOp>();
           if (!held || held.getRing() != get.getRing() || held->getBlock() != get->getBlock())
             return false;
           auto since = llvm::make_range(std::next(held->getIterator()), std::next(get->getIterator()));
           int64_t gets = llvm::count_if(since, [&](Operation &between) {
             auto other = dyn_cast<GetOp>(between);
             return other && other.getRing() == get.getRing();
           });
           return gets >= cast<RingType>(get.getRing().getType()).getStages();
         });
}

/// Whether `op` takes the buffer after one that `product` reads: that must be released by then.
static bool holdsNext(Operation *op, MmaOp product) {
  auto next = dyn_cast<HeldOp>(op);
  return next && llvm::any_of(ValueRange{product.getA(), product.getB()}, [&](Value operand) {
           auto held = operand.getDefiningOp<HeldOp>();
           return held && held.getRing() == next.getRing();
         });
}

/// Where `product` must be done: before the first operation that reads its result, that writes the registers which hold
/// its left operand's successor, that waits for a buffer which it reads to be filled again or takes the one after it,
/// that has regions of its own, or that ends the block.
static Operation *findDeadline(MmaOp product) {
  // Registers of a left operand that was read for the whole tile are wanted by nothing else.
  bool isFromRegisters = isa<VectorType>(product.getA().getType()) && !product.getA().getDefiningOp<ReadOp>();
  bool hasElements = false;
  bool sharesTile = !product->getBlock()->getOps<ShareOp>().empty();
  Value successor = isFromRegisters ? nextOf(product.getA()) : Value();
  for (Operation *op = product->getNextNode();; op = op->getNextNode()) {
    bool reads = llvm::is_contained(op->getOperands(), product.getResult());
    bool writes = successor && makes(op, successor);
    bool nests = op->getNumRegions() > 0 && !isa<MapOp, MaskOp>(op);
    // A step that shares a tile has five products. One that starts before the step's last elements is awaited once the
    // next product after them has started: the registers of its left operand are wanted.
    if (isa<MmaOp>(op) && sharesTile && isFromRegisters && hasElements && !reads)
      return op->getNextNode();
    hasElements |= isa<MapOp>(op);
    // A later product may take the accumulator as it is.
    if (reads || writes || nests || waitsForRefill(op, product) || holdsNext(op, product) ||
        op->hasTrait<OpTrait::IsTerminator>() || !op->getNextNode())
      return op;
  }
}

/// Starts a product where it stands and awaits it at its deadline.
static void makeAsync(MmaOp product) {
  Operation *deadline = findDeadline(product);
  OpBuilder builder(product);
  Location loc = product.getLoc();
  auto type = cast<VectorType>(product.getResult().getType());
  auto start = StartOp::create(builder, loc, PendingType::get(builder.getContext(), type), product.getA(),
                               product.getB(), product.getAcc(), product.getTransposed(), product.getLeftTransposed());
  builder.setInsertionPoint(deadline);
  auto await = AwaitOp::create(builder, loc, type, start);
  product.replaceAllUsesWith(await.getResult());
  product.erase();
}

/// Casts a result of `map` to the tile type `type`.
static Value createCast(OpBuilder &builder, MapOp map, unsigned number, Type type) {
  Location loc = map.getLoc();
  Value source = map.getResult(number);
  auto result =
      MapOp::create(builder, loc, TypeRange(type), source, ValueRange(), ValueRange(), map.getI(), map.getJ());
  OpBuilder::InsertionGuard guard(builder);
  Type from = cast<VectorType>(source.getType()).getElementType(), to = cast<VectorType>(type).getElementType();
  Type index = builder.getIndexType();
  Block *body = builder.createBlock(&result.getBody(), {}, {from, index, index}, {loc, loc, loc});
  YieldOp::create(builder, loc, arith::TruncFOp::create(builder, loc, to, body->getArgument(0)).getResult());
  return result.getResult(0);
}

/// Whether `map` is a cast and nothing else.
static bool isCast(MapOp map) { return llvm::hasNItems(map.getBody().front(), 2) && map.getNumResults() == 1; }

/// Whether the loop around takes `value` to its next step, where it has the registers of its predecessor.
static bool isCarried(Value value) {
  return llvm::any_of(value.getUsers(),
                      [](Operation *user) { return isa<scf::YieldOp>(user) && isa<scf::ForOp>(user->getParentOp()); });
}

/// Results of 16 bits of a map that has others, or that a loop carries, become casts of their own, as late as they can
/// stand: the wait for the product that still reads the registers then stands after the map.
static void splitCasts(MapOp map) {
  Operation *yield = map.getBody().front().getTerminator();
  SmallVector<unsigned> narrow;
  for (auto [number, value] : llvm::enumerate(yield->getOperands()))
    if ((map.getNumResults() > 1 || isCarried(map.getResult(number))) && value.getDefiningOp<arith::TruncFOp>() &&
        value.getType().getIntOrFloatBitWidth() < 32 && !isCast(map))
      narrow.push_back(number);
  if (narrow.empty())
    return;
  OpBuilder builder(map);
  SmallVector<Type> types(map.getResultTypes());
  for (unsigned number : narrow) {
    auto trunc = yield->getOperand(number).getDefiningOp<arith::TruncFOp>();
    types[number] = VectorType::get(cast<VectorType>(types[number]).getShape(), trunc.getIn().getType());
    yield->setOperand(number, trunc.getIn());
    if (trunc->use_empty())
      trunc.erase();
  }
  auto wide = MapOp::create(builder, map.getLoc(), types, map.getTiles(), map.getRows(), map.getCols(), map.getI(),
                            map.getJ(), /*scales_rows=*/false, map.getMostlyOne(), map.getGroup());
  wide.getBody().takeBody(map.getBody());
  for (auto [number, result] : llvm::enumerate(map.getResults()))
    if (!llvm::is_contained(narrow, number))
      result.replaceAllUsesWith(wide.getResult(number));
  // After what reads the wide elements, since sums need not wait, and ahead of all that reads the casts.
  Block *block = wide->getBlock();
  Operation *last = wide, *reader = block->getTerminator();
  for (unsigned number : narrow)
    for (Operation *user : map.getResult(number).getUsers())
      if (Operation *op = block->findAncestorOpInBlock(*user); op->isBeforeInBlock(reader))
        reader = op;
  for (Operation *user : wide->getUsers())
    if (user->getBlock() == block && last->isBeforeInBlock(user) && user->isBeforeInBlock(reader))
      last = user;
  builder.setInsertionPointAfter(last);
  for (unsigned number : narrow)
    map.getResult(number).replaceAllUsesWith(createCast(builder, wide, number, map.getResultTypes()[number]));
  map.erase();
}

/// The operation that waits for the product which starts first after `op`: products are those of a whole
/// warpgroup, so that all of its warps have come past `op` by then.
static Operation *findNextAwait(Operation *op) {
  for (Operation *next = op->getNextNode(); next; next = next->getNextNode())
    if (auto start = dyn_cast<StartOp>(next))
      return *start->user_begin();
  return nullptr;
}

/// Releases the buffer that `source` gives once the last product that reads it is done, or where warps read it
/// themselves, once all of them have.
static void release(Operation *source, Value ring) {
  Operation *last = source;
  for (Operation *user : source->getUsers()) {
    Operation *at = source->getBlock()->findAncestorOpInBlock(*user);
    if (auto start = dyn_cast<StartOp>(at))
      at = *start->user_begin();
    else if (Operation *await = isa<RowOp>(at) ? findNextAwait(at) : nullptr)
      at = await;
    if (last->isBeforeInBlock(at))
      last = at;
  }
  OpBuilder builder(source->getContext());
  builder.setInsertionPointAfter(last);
  ReleaseOp::create(builder, source->getLoc(), ring);
}

/// Tells that a shared tile is there. What the step has left before in shared memory, for the copy engine, waits for
/// that: one fence serves both.
static void insertPost(ShareOp share) {
  for (Operation &op : llvm::make_range(share->getBlock()->begin(), share->getIterator()))
    if (auto store = dyn_cast<StoreOp>(op); store && store.getAccumulate())
      store.setDeferred(true);
  OpBuilder builder(share);
  builder.setInsertionPointAfter(share);
  PostOp::create(builder, share.getLoc(), share.getRing());
}

/// Warpgroups take turns (ping-pong) with each group of products that start together, the first of them on new logits:
/// they wait before the first start, and let the next one go after the last, or, with `late`, before the wait for the
/// product in flight. They then keep half a step apart, where they would bunch otherwise, all at their exponentials and
/// then all at their products.
static void insertPingPong(Block &block, bool late) {
  SmallVector<StartOp> group;
  auto close = [&] {
    bool fresh = llvm::any_of(group, [](StartOp start) { return matchPattern(start.getAcc(), m_AnyZeroFloat()); });
    if (fresh) {
      OpBuilder builder(group.front());
      PingPongOp::create(builder, group.front().getLoc(), PingPongKind::Wait);
      builder.setInsertionPointAfter(group.back());
      if (late)
        for (Operation *op = group.back(); op; op = op->getNextNode())
          if (auto await = dyn_cast<AwaitOp>(op); await && await.getPending() != group.front().getResult()) {
            builder.setInsertionPoint(await);
            break;
          }
      PingPongOp::create(builder, group.back().getLoc(), PingPongKind::Arrive);
    }
    group.clear();
  };
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto start = dyn_cast<StartOp>(op))
      group.push_back(start);
    else if (!group.empty() && (isa<AwaitOp>(op) || isa<RegionBranchOpInterface>(op)))
      close();
  }
  if (!group.empty())
    close();
}

namespace {
struct InsertSync : attnc::tile::impl::TileInsertSyncBase<InsertSync> {
  void runOnOperation() override {
    auto pipeline = getOperation().getPipelineAttr();
    if (!pipeline)
      return;
    for (auto role : getOperation().getBody().getOps<RoleOp>())
      if (role.getKind() != RoleKind::Producer)
        synchronize(role, pipeline);
  }

  static void synchronize(RoleOp role, attnc::attn::PipelineAttr pipeline) {
    SmallVector<MapOp> maps;
    role.walk([&](MapOp map) { maps.push_back(map); });
    for (MapOp map : maps)
      splitCasts(map);
    role.walk(insertPost);
    SmallVector<MmaOp> products;
    role.walk([&](MmaOp product) { products.push_back(product); });
    for (MmaOp product : products)
      makeAsync(product);
    role.walk([](Operation *op) {
      if (auto get = dyn_cast<GetOp>(op); get && !get.getKept())
        release(get, get.getRing());
      else if (auto held = dyn_cast<HeldOp>(op))
        release(held, held.getRing());
    });
    bool late = pipeline.getRescaling() == attnc::attn::Rescaling::OnOverflow;
    if (!pipeline.getPingPong())
      return;
    role.walk([&](Block *block) {
      if (!isa<MapOp, MaskOp>(block->getParentOp()))
        insertPingPong(*block, late && isa<scf::ForOp>(block->getParentOp()));
    });
    // Turns go round: who leaves a step out has its turn all the same.
    role.walk([&](SkipOp drop) {
      if (!drop.getTransposed())
        return;
      OpBuilder builder(drop);
      PingPongOp::create(builder, drop.getLoc(), PingPongKind::Wait);
      PingPongOp::create(builder, drop.getLoc(), PingPongKind::Arrive);
    });
  }
};
} // namespace
