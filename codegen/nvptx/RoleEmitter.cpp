//===- RoleEmitter.cpp - What the warpgroups of a role do -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/RoleEmitter.h"
#include "codegen/nvptx/PhiloxEmitter.h"
#include "codegen/nvptx/ScatterEmitter.h"
#include "dialect/tile/ProgramRules.h"
#include "dialect/tile/RowwiseOps.h"
#include "dialect/tile/SharedLayout.h"
#include "dialect/tile/TileQueries.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::nvptx;

/// Named barriers 1, 2, ... are those of ping-pong; each joins two warpgroups.
static constexpr int64_t firstPingPongBarrier = 1;
/// Rows or columns that one product instruction sums over: 16 elements of 16 bits.
static constexpr int64_t productDepth = 16;

//===----------------------------------------------------------------------===//
// Values across control flow
//===----------------------------------------------------------------------===//

/// Types of the scalars that stand for `value`.
SmallVector<Type> RoleEmitter::flatTypes(Value value) {
  OpBuilder &b = context.ptx.b;
  Type type = value.getType();
  auto vector = dyn_cast<VectorType>(type);
  if (!vector)
    return {context.scalarType(type)};
  if (!tile::isTile(vector))
    return SmallVector<Type>(tile::isColumnVector(vector) ? context.countColumns(vector) : context.rowsOfThread,
                             context.scalarType(vector.getElementType()));
  int64_t elements = context.countElements(vector);
  if (isPacked(vector))
    return SmallVector<Type>(elements / 2, b.getI32Type());
  return SmallVector<Type>(elements, vector.getElementType());
}

SmallVector<Value> RoleEmitter::flatten(ValueRange values) {
  Ptx &ptx = context.ptx;
  SmallVector<Value> flat;
  for (Value value : values) {
    auto vector = dyn_cast<VectorType>(value.getType());
    if (!vector) {
      flat.push_back(context.scalar(value));
    } else if (tile::isColumnVector(vector)) {
      for (int64_t number = 0; number < context.countColumns(vector); ++number)
        flat.push_back(context.column(value, number));
    } else if (tile::isRowVector(vector)) {
      for (int64_t threadRow = 0; threadRow < context.rowsOfThread; ++threadRow)
        flat.push_back(context.row(value, threadRow));
    } else if (auto it = context.tiles.find(value); it != context.tiles.end()) {
      llvm::append_range(flat, it->second.values);
    } else {
      // A splat constant; of narrow tiles only zeros occur.
      int64_t count = flatTypes(value).size();
      Value splat = isPacked(vector) ? ptx.i32(0) : context.element(value, 0);
      flat.append(count, splat);
    }
  }
  return flat;
}

void RoleEmitter::unflatten(ValueRange values, ValueRange flat) {
  for (Value value : values) {
    auto vector = dyn_cast<VectorType>(value.getType());
    size_t count = flatTypes(value).size();
    SmallVector<Value> part(flat.take_front(count));
    flat = flat.drop_front(count);
    if (!vector)
      context.scalars[value] = part.front();
    else if (tile::isColumnVector(vector))
      context.columns[value] = part;
    else if (tile::isRowVector(vector))
      context.rows[value] = part;
    else
      context.tiles[value] = Fragment{isPacked(vector), part};
  }
}

static SmallVector<Value> toValues(ValueRange values) { return SmallVector<Value>(values.begin(), values.end()); }

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

/// Tiles in shared memory that a region uses but that were got outside get descriptors of their own at its start: what
/// crosses a loop's edge does not stay in uniform registers.
void RoleEmitter::refreshSharedTiles(Region &region) {
  llvm::SetVector<std::pair<Value, TilePart>> used;
  region.walk([&](tile::StartOp start) {
    for (bool left : {true, false}) {
      Value operand = left ? start.getA() : start.getB();
      if (isa<tile::SharedTileType>(operand.getType()) && !region.isAncestor(operand.getParentRegion()))
        used.insert({operand, getPartOf(start, left)});
    }
  });
  for (auto [shared, part] : used) {
    Value &descriptor = context.sharedTiles.find(shared)->second.descriptorOf(part);
    descriptor = context.ptx.uniform(descriptor);
  }
}

LogicalResult RoleEmitter::emitFor(scf::ForOp loop) {
  OpBuilder &b = context.ptx.b;
  SmallVector<Value> init = flatten(loop.getInitArgs());
  auto emitted = scf::ForOp::create(b, context.ptx.loc, context.scalar(loop.getLowerBound()),
                                    context.scalar(loop.getUpperBound()), context.scalar(loop.getStep()), init);
  context.scalars[loop.getInductionVar()] = emitted.getInductionVar();
  unflatten(toValues(loop.getRegionIterArgs()), emitted.getRegionIterArgs());
  {
    OpBuilder::InsertionGuard guard(b);
    if (init.empty())
      b.setInsertionPoint(emitted.getBody()->getTerminator());
    else
      b.setInsertionPointToEnd(emitted.getBody());
    auto outside = context.sharedTiles;
    refreshSharedTiles(loop.getRegion());
    if (failed(emitBlock(*loop.getBody())))
      return failure();
    context.sharedTiles = outside;
    if (!init.empty())
      scf::YieldOp::create(b, context.ptx.loc, flatten(loop.getYieldedValues()));
  }
  unflatten(toValues(loop.getResults()), emitted.getResults());
  return success();
}

LogicalResult RoleEmitter::emitIf(scf::IfOp branch) {
  OpBuilder &b = context.ptx.b;
  SmallVector<Type> types;
  for (Value result : branch.getResults())
    llvm::append_range(types, flatTypes(result));
  bool hasElse = !branch.getElseRegion().empty();
  auto emitted = scf::IfOp::create(b, context.ptx.loc, types, context.scalar(branch.getCondition()), hasElse);
  for (auto [from, to] : llvm::zip(branch->getRegions(), emitted->getRegions())) {
    if (from.empty())
      continue;
    OpBuilder::InsertionGuard guard(b);
    if (types.empty())
      b.setInsertionPoint(to.front().getTerminator());
    else
      b.setInsertionPointToEnd(&to.front());
    auto outside = context.sharedTiles;
    refreshSharedTiles(from);
    if (failed(emitBlock(from.front())))
      return failure();
    context.sharedTiles = outside;
    if (!types.empty())
      scf::YieldOp::create(b, context.ptx.loc, flatten(from.front().getTerminator()->getOperands()));
  }
  unflatten(toValues(branch.getResults()), emitted.getResults());
  return success();
}

/// Takes a number from the counter: one for each tile that was worked on, so that the last wraps it back to 0.
Value RoleEmitter::fetchNumber() {
  Ptx &ptx = context.ptx;
  OpBuilder &b = ptx.b;
  auto fetch = [&] {
    Value last = ptx.sub(context.abi.getTileCount(), ptx.i32(1));
    return LLVM::AtomicRMWOp::create(b, ptx.loc, LLVM::AtomicBinOp::uinc_wrap, context.abi.getCounter(), last,
                                     LLVM::AtomicOrdering::monotonic, "device")
        .getResult();
  };
  if (!context.wholeWarp)
    return fetch();
  auto one = scf::IfOp::create(b, ptx.loc, TypeRange(b.getI32Type()), ptx.equal(context.place.lane, 0),
                               /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(one.thenBlock());
  scf::YieldOp::create(b, ptx.loc, fetch());
  b.setInsertionPointToEnd(one.elseBlock());
  scf::YieldOp::create(b, ptx.loc, ptx.i32(0));
  b.setInsertionPointAfter(one);
  return ptx.uniform(one.getResult(0));
}

/// While there are tiles: from the counter, or every n-th.
LogicalResult RoleEmitter::emitEach(tile::PersistentOp each) {
  Ptx &ptx = context.ptx;
  OpBuilder &b = ptx.b;
  Location loc = ptx.loc;
  Type i32 = b.getI32Type();
  bool produces = role.getKind() == tile::RoleKind::Producer;
  bool fetches = role.takesTiles();
  Value ring = each.getTiles(), count = context.abi.getTileCount();
  bool receives = ring && !fetches;
  Value first = receives ? ptx.i32(0) : ptx.blockId();
  auto loop = scf::WhileOp::create(b, loc, TypeRange(i32), first);
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&loop.getBefore(), {}, i32, loc);
  Value tile = loop.getBeforeArguments()[0];
  if (receives)
    tile = rings.receive(ring, /*ofWarp=*/produces);
  else if (ring)
    rings.post(ring, tile);
  scf::ConditionOp::create(b, loc, ptx.less(tile, count), tile);
  b.createBlock(&loop.getAfter(), {}, i32, loc);
  tile = loop.getAfterArguments()[0];
  // A reduction gives a uniform register, where a shuffle does not.
  if (receives && each->hasAttr(tile::uniformNumberAttrName))
    tile = ptx.minOverLanes(tile);
  context.scalars[each.getTile()] = tile;
  if (failed(emitBlock(each.getBody().front())))
    return failure();
  stores.endTile();
  Value next = tile;
  if (ring && fetches) {
    next = ptx.add(fetchNumber(), ptx.gridSize());
  } else if (!ring) {
    next = ptx.add(tile, ptx.gridSize());
  }
  scf::YieldOp::create(b, loc, next);
  return success();
}

/// What other dialects have is emitted on scalars alone, where no emitter of vectors takes it.
static LogicalResult verifyScalar(Operation &op) {
  auto isVector = llvm::IsaPred<VectorType>;
  if (op.getNumRegions() == 0 && !llvm::any_of(op.getOperandTypes(), isVector) &&
      !llvm::any_of(op.getResultTypes(), isVector))
    return success();
  return op.emitOpError("has no meaning in a kernel for a GPU");
}

/// Whether warps can have the rows of the tiles that `op` gives: all of them, or whole bands of one.
LogicalResult RoleEmitter::verifyRows(Operation &op) {
  const int64_t rowsOfWarp = context.warpgroupRows / warpsOfWarpgroup;
  for (Type type : op.getResultTypes())
    if (auto vector = dyn_cast<VectorType>(type);
        copies && vector && tile::isTile(vector) && vector.getDimSize(0) % rowsOfWarp)
      return op.emitOpError() << "expected tiles of a multiple of " << rowsOfWarp << " rows, got " << vector;
  return success();
}

/// Whether `tile` is in registers of warps that have some of its columns each.
bool RoleEmitter::isDealt(Value tile) {
  auto type = dyn_cast<VectorType>(tile.getType());
  return type && tile::isTile(type) && context.countParts(type) > 1;
}

/// What `op` needs of where it stands and of its operands, so that its emitter finds them.
LogicalResult RoleEmitter::verifyPlace(Operation &op) {
  bool isOfRoles = isa<tile::PersistentOp, tile::HeldOp, tile::PostOp, tile::StartOp, tile::AwaitOp, tile::PingPongOp,
                       tile::BufferOp>(op);
  if (copies && isOfRoles)
    return op.emitOpError("has no meaning in a program without roles");
  if (!copies && isa<tile::SplitOp, tile::MmaOp, tile::BlockReduceOp>(op))
    return op.emitOpError("has no meaning in a program with roles");
  if (failed(tile::verifyStaged(op)))
    return failure();
  if (auto start = dyn_cast<tile::StartOp>(op))
    return tile::verifyShared(op, start.getB());
  if (auto read = dyn_cast<tile::ReadOp>(op); read && isDealt(read.getResult()))
    return op.emitOpError("expected rows of which a warp has all columns");
  auto store = dyn_cast<tile::StoreOp>(op);
  if (store && store.getOrder() && context.countBands() != 1)
    return op.emitOpError("expected warps that have one band of rows with 'order'");
  auto product = dyn_cast<tile::MmaOp>(op);
  if (!product)
    return success();
  if (product.getLeftTransposed() && tile::getTileType(product.getA()).getElementTypeBitWidth() != 16)
    return op.emitOpError("has no meaning with 'left_transposed' of 32-bit elements in a program without roles");
  if ((product.getLeftTransposed() || isDealt(product.getA())) && failed(tile::verifyShared(op, product.getA())))
    return failure();
  return tile::verifyShared(op, product.getB());
}

LogicalResult RoleEmitter::emitBlock(Block &block) {
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::IsTerminator>() || matchPattern(&op, m_Constant()))
      continue;
    if (failed(verifyRows(op)))
      return failure();
    if (tile::isRowwise(op)) {
      if (auto reduce = dyn_cast<tile::ReduceOp>(op);
          reduce && isDealt(reduce.getSource()) && !reduce.getPartial() && !reduce.getOwnColumns())
        return op.emitOpError("expected rows of which a warp has all columns");
      rowwise.add(op);
      continue;
    }
    bool isScalar = !isa<tile::TileDialect>(op.getDialect()) && !isa<scf::SCFDialect>(op.getDialect());
    if (auto view = dyn_cast<memref::ReinterpretCastOp>(op)) {
      context.reinterpret(view);
      continue;
    }
    if (isScalar) {
      if (failed(verifyScalar(op)))
        return failure();
      context.ptx.loc = op.getLoc();
      auto results = context.cloneScalar(op, [&](Value value) { return context.scalar(value); });
      for (auto [from, to] : llvm::zip_equal(op.getResults(), results))
        context.scalars[from] = to;
      continue;
    }
    rowwise.flush();
    if (failed(emitOp(op)))
      return failure();
  }
  rowwise.flush();
  return success();
}

/// An operation that is neither elementwise nor on scalars alone.
LogicalResult RoleEmitter::emitOp(Operation &op) {
  if (failed(verifyPlace(op)))
    return failure();
  LogicalResult result = success();
  context.ptx.loc = op.getLoc();
  llvm::TypeSwitch<Operation *>(&op)
      .Case([&](scf::ForOp loop) { result = emitFor(loop); })
      .Case([&](scf::IfOp branch) { result = emitIf(branch); })
      .Case([&](tile::PersistentOp each) { result = emitEach(each); })
      .Case([&](tile::PutOp put) {
        if (copies)
          copies->emit(put);
        else
          result = rings.emit(put);
      })
      .Case([&](tile::GetOp get) { copies ? copies->emit(get) : rings.emit(get); })
      .Case([&](tile::HeldOp held) { rings.emit(held); })
      .Case([&](tile::ReleaseOp release) {
        // Without roles, barriers say all.
        if (!copies)
          rings.emit(release);
      })
      .Case([&](tile::SplitOp split) { copies->emit(split); })
      .Case([&](tile::SyncOp sync) { copies->emit(sync); })
      .Case([&](tile::ShareOp share) { copies ? copies->emit(share) : rings.emit(share); })
      .Case([&](tile::BlockReduceOp reduce) { copies->emit(reduce); })
      .Case([&](tile::PostOp post) {
        stores.startCopies();
        rings.emit(post);
      })
      .Case([&](tile::RowOp row) { emitRow(row); })
      .Case([&](tile::ReadOp read) { products.emit(read); })
      .Case([&](tile::PhiloxOp philox) { PhiloxEmitter(context).emit(philox); })
      .Case([&](tile::MmaOp product) { products.emit(product); })
      .Case([&](tile::StartOp start) { emitStart(start); })
      .Case([&](tile::AwaitOp await) { emitAwait(await); })
      .Case([&](tile::AnyOp any) { rowwise.emitAny(any); })
      .Case([&](tile::PingPongOp pingPong) { emitPingPong(pingPong.getKind()); })
      .Case([&](tile::PartOp part) { emitPart(part); })
      .Case([&](tile::SkipOp) { context.syncWarpgroup(); })
      .Case([&](tile::MinMaxOp minMax) {
        if (!BlockMaskEmitter::owns(minMax))
          MinMaxEmitter(context).emit(minMax);
      })
      .Case([&](tile::BlockMaskOp blockMask) { result = BlockMaskEmitter(context, base).emit(blockMask); })
      .Case([&](tile::LoadOp load) { result = LoadEmitter(context).emit(load); })
      .Case([&](tile::StoreOp store) { stores.emit(store); })
      .Case([&](tile::ScatterOp scatter) { ScatterEmitter(context, scatter).emit(); })
      // Rings have their place already, and all rows of a warpgroup are computed.
      .Case<tile::RingOp, tile::BufferOp, tile::LiveRowsOp>([](auto) {})
      .Default([&](Operation *) { result = op.emitOpError("has no meaning in a kernel for a GPU"); });
  return result;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The thread's columns of a row that a ring brought.
void RoleEmitter::emitRow(tile::RowOp row) {
  Ptx &ptx = context.ptx;
  const SharedTile &shared = context.sharedTiles.find(row.getTile())->second;
  int64_t columns = shared.tile.getDimSize(1), bytes = shared.tile.getElementTypeBitWidth() / 8;
  Value first = ptx.add(shared.address, ptx.mul(context.place.column, bytes));
  SmallVector<Value> &values = context.columns[row.getResult()];
  for (int64_t group = 0; group < columns; group += 2 * lanesOfRow)
    llvm::append_range(values, ptx.loadSharedPair(first, (row.getNumber() * columns + group) * bytes));
}

void RoleEmitter::emitStart(tile::StartOp start) {
  Ptx &ptx = context.ptx;
  auto type = start.getResult().getType().getTile();
  int64_t columns = countOwnColumns(type, countWarpgroups(start));
  SharedTile right = context.sharedTiles.find(start.getB())->second;
  tile::SharedLayout rightLayout(right.tile);
  bool fresh = matchPattern(start.getAcc(), m_AnyZeroFloat());
  Type element = right.tile.getElementType();
  auto left = context.sharedTiles.find(start.getA());
  bool fromShared = left != context.sharedTiles.end();
  int64_t depth = tile::getTileType(start.getA()).getDimSize(start.getLeftTransposed() ? 0 : 1);

  // Descriptors count 16 bytes. Operands whose rows are summed over lie in panels; a step is 32 bytes of a row. Others
  // are 16 rows further each step, and their leading offset leads from panel to panel.
  constexpr int64_t unit = 16, noLeading = 1;
  auto alongRow = [&](const tile::SharedLayout &layout, int64_t step) {
    int64_t column = step * productDepth;
    return column / layout.panelColumns * layout.panelBytes() / unit + column % layout.panelColumns * 2 / unit;
  };
  auto alongColumn = [&](int64_t step) { return step * productDepth * tile::SharedLayout::rowBytes / unit; };
  int64_t leading = start.getTransposed() ? noLeading : rightLayout.panelBytes() / unit;
  SmallVector<ProductStep> steps((depth + productDepth - 1) / productDepth);
  for (auto [number, step] : llvm::enumerate(steps)) {
    auto place = static_cast<int64_t>(number);
    if (fromShared) {
      // Of a turned operand no more than the columns of one panel are read.
      step.a.push_back(left->second.descriptorOf(getPartOf(start, /*left=*/true)));
      step.aOffset =
          (start.getLeftTransposed() ? alongColumn(place) : alongRow(tile::SharedLayout(left->second.tile), place)) +
          (noLeading << 16);
    } else {
      llvm::append_range(step.a, ArrayRef(context.tiles.find(start.getA())->second.values).slice(4 * place, 4));
    }
    int64_t offset = start.getTransposed() ? alongRow(rightLayout, place) : alongColumn(place);
    step.b = right.descriptorOf(getPartOf(start, /*left=*/false));
    step.bOffset = offset + (leading << 16);
  }
  SmallVector<Value> acc;
  if (!fresh)
    acc = flatten(start.getAcc());
  // Registers that products read have been written since the last one: by rescaling, or by moves at a loop's edge.
  ptx.fenceProducts();
  acc = ptx.product(columns, element, steps, acc, !start.getTransposed(), start.getLeftTransposed());
  ptx.commitProducts();
  flight.push_back(start.getResult());
  pending[start.getResult()] = acc;
}

void RoleEmitter::emitAwait(tile::AwaitOp await) {
  auto it = llvm::find(flight, await.getPending());
  int64_t later = 0;
  if (it != flight.end()) {
    later = flight.end() - it - 1;
    flight.erase(flight.begin(), it + 1);
  } else {
    // A later product was awaited before: this one is done.
    context.tiles[await.getResult()] = Fragment{false, pending.lookup(await.getPending())};
    return;
  }
  SmallVector<Value> written = context.ptx.waitProducts(later, pending.lookup(await.getPending()));
  context.tiles[await.getResult()] = Fragment{false, written};
}

/// The rows of the tile that this warpgroup computes.
void RoleEmitter::emitPart(tile::PartOp part) {
  Ptx &ptx = context.ptx;
  if (!role) {
    context.scalars[part.getFirst()] = ptx.i32(0);
    context.scalars[part.getEnd()] = ptx.i32(static_cast<int32_t>(part.getCount()));
    return;
  }
  auto rows = static_cast<int64_t>(part.getCount() / role.getWarpgroups());
  Value first = ptx.mul(context.place.warpgroup, rows);
  context.scalars[part.getFirst()] = first;
  context.scalars[part.getEnd()] = ptx.add(first, rows);
}

/// Consumers go round: warpgroup w waits on barrier 1 + w, and arrives at that of the next.
void RoleEmitter::emitPingPong(tile::PingPongKind kind) {
  Ptx &ptx = context.ptx;
  Value warpgroup = context.place.warpgroup;
  int64_t consumers = role.getWarpgroups();
  if (kind == tile::PingPongKind::Wait)
    return ptx.barrierSync(context.findBarrier(warpgroup, firstPingPongBarrier), 2 * warpgroupThreads);
  Value next = ptx.add(warpgroup, 1);
  Value wrapped = ptx.select(ptx.equal(next, consumers), ptx.i32(0), next);
  ptx.barrierArrive(context.findBarrier(wrapped, firstPingPongBarrier), 2 * warpgroupThreads);
}

LogicalResult RoleEmitter::emit() {
  Ptx &ptx = context.ptx;
  bool hasPingPong = false;
  role.walk([&](tile::PingPongOp) { hasPingPong = true; });
  if (hasPingPong) {
    // Warpgroup 0 starts products first.
    Value last = ptx.equal(context.place.warpgroup, role.getWarpgroups() - 1);
    context.onlyIf(last, [&] { emitPingPong(tile::PingPongKind::Arrive); });
  }
  if (failed(emitBlock(role.getBody().front())))
    return failure();
  if (role.getKind() != tile::RoleKind::Producer) {
    stores.endTile();
    stores.finish();
  }
  return success();
}
