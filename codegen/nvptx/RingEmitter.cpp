//===- RingEmitter.cpp - Rings of buffers on barriers -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/RingEmitter.h"
#include "dialect/tile/SharedLayout.h"
#include "dialect/tile/TileQueries.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::nvptx;

/// Bytes of a barrier, and of the place of a tile number.
static constexpr int64_t wordBytes = 8;

/// Where the barrier of `ring` lies that says that a copy has landed.
static int64_t landingOffset(tile::RingOp ring) {
  return *ring.getBarriers() + 2 * ring.getRing().getType().getStages() * wordBytes;
}

/// Producers that do not take tiles themselves, and get their numbers from the one that does.
static int64_t countFollowers(tile::ProgramOp program) {
  return llvm::count_if(program.getBody().getOps<tile::RoleOp>(), [](tile::RoleOp role) {
    return role.getKind() == tile::RoleKind::Producer && !role.takesTiles();
  });
}

/// Whether tiles come from pages.
static bool readsPages(tile::ProgramOp program) {
  return program.walk([](tile::PutOp put) { return put.getPages() ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

/// Whether loops read what has been got of `ring` before them.
static bool isReadInLoops(tile::RingOp ring) {
  return llvm::any_of(ring->getUsers(), [](Operation *user) {
    auto get = dyn_cast<tile::GetOp>(user);
    return get && llvm::any_of(get->getUsers(), [&](Operation *reader) {
             return isa<tile::ReadOp>(reader) && reader->getBlock() != get->getBlock();
           });
  });
}

RingEmitter::RingEmitter(EmitContext &context, Value base, tile::ProgramOp program)
    : context(context), base(base), hasUniformStages(program->hasAttr(tile::uniformStagesAttrName)) {
  Ptx &ptx = context.ptx;
  auto variable = [&](int64_t initial = 0) {
    Value address = context.localArray(ptx.b.getI32Type(), 1);
    LLVM::StoreOp::create(ptx.b, ptx.loc, ptx.i32(initial), address);
    return address;
  };
  for (auto ring : program.getBody().getOps<tile::RingOp>()) {
    states[ring.getRing()] = State{ring,
                                   variable(),
                                   variable(),
                                   tile::mayClearRows(ring) ? variable() : Value(),
                                   tile::isFilledByConsumers(ring) ? variable() : Value(),
                                   tile::isFilledByConsumers(ring) ? variable() : Value()};
    if (isReadInLoops(ring))
      context.lastReadInLoop[ring.getRing()] = variable();
  }
  // No sequence has the number -1, so that the first entries are read.
  if (readsPages(program))
    pages = {variable(), variable(), variable(), variable(-1)};
}

void RingEmitter::initBarriers(Ptx &ptx, Value base, tile::ProgramOp program) {
  for (auto ring : program.getBody().getOps<tile::RingOp>()) {
    int64_t stages = ring.getRing().getType().getStages();
    // A barrier waits for somebody, also that of a ring which nobody gives anything back to.
    int64_t readers = std::max<int64_t>(tile::countReaders(ring), 1);
    // Products of a warpgroup read tiles, its warps vectors and captured tiles: each gives back what it has read.
    // Numbers of tiles go to producers as well.
    constexpr int64_t warpsOfReader = warpgroupRows / warpRows;
    int64_t releases = tile::isReadByWarps(ring) ? readers * warpsOfReader : readers;
    if (ring.getRing().getType().getElement().isIndex())
      releases += countFollowers(program);
    int64_t fillers = tile::isFilledByConsumers(ring) ? tile::countSharers(ring) * warpsOfReader : 1;
    for (int64_t stage = 0; stage < stages; ++stage) {
      ptx.initBarrier(ptx.add(base, *ring.getBarriers() + stage * wordBytes), fillers);
      ptx.initBarrier(ptx.add(base, *ring.getBarriers() + (stages + stage) * wordBytes), releases);
    }
    if (tile::mayClearRows(ring))
      ptx.initBarrier(ptx.add(base, landingOffset(ring)), 1);
  }
  ptx.fenceBarrierInit();
}

Value RingEmitter::read(Value variable) {
  return LLVM::LoadOp::create(context.ptx.b, context.ptx.loc, context.ptx.b.getI32Type(), variable);
}

/// The address of the barrier of a stage that says that it is full, or that it is empty.
Value RingEmitter::barrier(const State &state, Value stage, bool full) {
  Ptx &ptx = context.ptx;
  tile::RingOp ring = state.ring;
  int64_t first = *ring.getBarriers() + (full ? 0 : ring.getRing().getType().getStages() * wordBytes);
  return ptx.add(ptx.add(base, first), ptx.mul(stage, wordBytes));
}

/// The place after `place` in the ring of `state`.
RingEmitter::Place RingEmitter::next(const State &state, Place place) {
  Ptx &ptx = context.ptx;
  tile::RingOp ring = state.ring;
  int64_t stages = ring.getRing().getType().getStages();
  Value stage = ptx.add(place.stage, 1), wraps = ptx.equal(stage, stages);
  return {ptx.select(wraps, ptx.i32(0), stage), ptx.select(wraps, ptx.bitXor(place.parity, ptx.i32(1)), place.parity)};
}

/// Goes on to the stage after `stage`.
void RingEmitter::advance(State &state, Value stage) {
  Ptx &ptx = context.ptx;
  Place place = next(state, {stage, read(state.parity)});
  LLVM::StoreOp::create(ptx.b, ptx.loc, place.stage, state.stage);
  LLVM::StoreOp::create(ptx.b, ptx.loc, place.parity, state.parity);
}

LogicalResult RingEmitter::emit(tile::PutOp put) {
  Ptx &ptx = context.ptx;
  if (!tile::reachesViewEnd(put.getView(), put.getAxes()[1], put.getLimits()[1]))
    return put.emitOpError("expected columns that end with the view, where the copy engine stops");
  State &state = find(put.getRing());
  Value stage = read(state.stage), parity = read(state.parity);
  auto tileType = cast<VectorType>(put.getRing().getType().getElement());
  tile::SharedLayout layout(tileType);
  // A fresh ring is empty: waiting for the round before the first does not block.
  ptx.waitBarrier(barrier(state, stage, /*full=*/false), ptx.bitXor(parity, ptx.i32(1)));
  Value full = barrier(state, stage, /*full=*/true);
  Value address = ptx.add(ptx.add(base, *state.ring.getOffset()), ptx.mul(stage, layout.bytes()));
  auto start = [&](Value barrier) {
    if (put.getPages())
      startPages(put, layout, address, barrier);
    else
      context.onOneThread([&] { startCopies(put, layout, address, barrier); });
  };
  if (tile::mayClearRows(put)) {
    Value position = context.scalar(put.getIndices()[put.getAxes()[0]]);
    Value left = ptx.mul(ptx.sub(context.scalar(put.getLimits()[0]), position), put.getRowGroup().size);
    Value ends = ptx.less(left, ptx.i32(layout.rows));
    Value landed = ptx.add(base, landingOffset(state.ring));
    start(ptx.select(ends, landed, full));
    context.onlyIf(ends, [&] { clearRows(state, layout, address, left, full); });
  } else {
    start(full);
  }
  advance(state, stage);
  return success();
}

/// Waits for the copy to `address`, clears its rows from `first` on, and passes the buffer on. All lanes of the warp
/// store: one thread would take as long as a step of the consumers.
void RingEmitter::clearRows(State &state, const tile::SharedLayout &layout, Value address, Value first, Value full) {
  Ptx &ptx = context.ptx;
  assert(context.wholeWarp && "one thread would clear one piece of 32");
  constexpr int64_t pieceBytes = 16;
  Value parity = read(state.landing);
  ptx.waitBarrier(ptx.add(base, landingOffset(state.ring)), parity);
  LLVM::StoreOp::create(ptx.b, ptx.loc, ptx.bitXor(parity, ptx.i32(1)), state.landing);
  // Rows are cleared whole: how their pieces are permuted does not matter.
  Value row = ptx.select(ptx.less(first, ptx.i32(0)), ptx.i32(0), first);
  Value own = ptx.add(ptx.mul(row, tile::SharedLayout::rowBytes), ptx.mul(context.place.lane, pieceBytes));
  auto loop = scf::ForOp::create(ptx.b, ptx.loc, own, ptx.i32(layout.panelBytes()), ptx.i32(lanesOfWarp * pieceBytes),
                                 ValueRange());
  {
    OpBuilder::InsertionGuard insertion(ptx.b);
    ptx.b.setInsertionPoint(loop.getBody()->getTerminator());
    Value piece = ptx.add(address, loop.getInductionVar()), zero = ptx.i32(0);
    for (int64_t panel = 0; panel < layout.panels; ++panel)
      ptx.storePiece(ptx.add(piece, panel * layout.panelBytes()), {zero, zero, zero, zero});
  }
  ptx.fenceAsync();
  ptx.warpSync();
  context.onOneThread([&] { ptx.arrive(full); });
}

/// Starts the copies of a tile's panels to `address`, which complete on the barrier `full`.
void RingEmitter::startCopies(tile::PutOp put, const tile::SharedLayout &layout, Value address, Value full) {
  Ptx &ptx = context.ptx;
  if (tile::bringsVectors(put)) {
    auto type = cast<VectorType>(put.getRing().getType().getElement());
    int64_t rowBytes = type.getDimSize(1) * type.getElementTypeBitWidth() / 8;
    ptx.expectBytes(full, type.getDimSize(0) * rowBytes);
    for (int64_t row = 0; row < type.getDimSize(0); ++row) {
      SmallVector<Value> position =
          llvm::map_to_vector(put.getIndices(), [&](Value index) { return context.scalar(index); });
      Value &ofRow = position[put.getAxes()[0]];
      ofRow = ptx.add(ofRow, row);
      Value from = context.abi.getView(put.getView()).address(ptx.b, ptx.loc, position);
      ptx.loadBytes(ptx.add(address, row * rowBytes), from, full, rowBytes);
    }
    return;
  }
  ptx.expectBytes(full, layout.bytes());
  TensorMap map = getTensorMap(put);
  startBoxes(map, layout, address, full,
             llvm::map_to_vector(put.getIndices(), [&](Value index) { return context.scalar(index); }),
             put.getAxes()[1]);
}

/// Starts the copies of the boxes of all panels that begin at `position`; columns lie along `columnAxis`.
void RingEmitter::startBoxes(const TensorMap &map, const tile::SharedLayout &layout, Value address, Value full,
                             SmallVector<Value> position, int64_t columnAxis) {
  Ptx &ptx = context.ptx;
  Value mapAddress = context.abi.getTensorMapAddress(map), first = position[columnAxis];
  for (int64_t panel = 0; panel < layout.panels; ++panel) {
    position[columnAxis] = ptx.add(first, panel * layout.panelColumns);
    ptx.loadTensor(ptx.add(address, panel * layout.panelBytes()), mapAddress, full, map.coordinates(position));
  }
}

/// The pages of what `sequence` has entries for, one for each lane: `entry` is its own, and `first` that of lane 0,
/// which the others are less than a warp away from. -1, which the copy engine fills with zeros, past the end of the
/// table.
///
/// Entries are read a warp at a time, and those of the next before they are asked for: a load that the copies of each
/// tile wait for would cost a decoding kernel a tenth (docs/rationale/pages.md).
Value RingEmitter::findPage(const View &table, Value sequence, Value first, Value entry) {
  Ptx &ptx = context.ptx;
  OpBuilder &b = ptx.b;
  auto both = [&](Value x, Value y) -> Value { return arith::AndIOp::create(b, ptx.loc, x, y); };
  auto load = [&](Value from) -> Value {
    Value own = ptx.add(from, context.place.lane), exists = ptx.less(own, table.sizes[1]);
    Value at = table.address(b, ptx.loc, {sequence, own});
    return ptx.select(exists, ptx.loadIf(b.getI32Type(), at, exists), ptx.i32(-1));
  };
  Value held = read(pages.first), distance = ptx.sub(first, held);
  Value same = arith::CmpIOp::create(b, ptx.loc, arith::CmpIPredicate::eq, sequence, read(pages.sequence));
  auto within = [&](Value x) -> Value {
    return arith::CmpIOp::create(b, ptx.loc, arith::CmpIPredicate::ult, x, ptx.i32(lanesOfWarp));
  };
  Value here = both(same, within(distance)), next = both(same, within(ptx.sub(distance, ptx.i32(lanesOfWarp))));
  Value isElsewhere = ptx.bitXor(here, arith::ConstantOp::create(b, ptx.loc, b.getBoolAttr(true)));
  auto store = [&](Value value, Value variable) { LLVM::StoreOp::create(b, ptx.loc, value, variable); };
  context.onlyIf(isElsewhere, [&] {
    Value from = ptx.select(next, ptx.add(held, lanesOfWarp), first);
    auto branch = scf::IfOp::create(b, ptx.loc, b.getI32Type(), next, /*withElseRegion=*/true);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToEnd(branch.thenBlock());
      scf::YieldOp::create(b, ptx.loc, read(pages.next));
      b.setInsertionPointToEnd(branch.elseBlock());
      scf::YieldOp::create(b, ptx.loc, load(from));
    }
    store(branch.getResult(0), pages.here);
    store(load(ptx.add(from, lanesOfWarp)), pages.next);
    store(from, pages.first);
    store(sequence, pages.sequence);
  });
  Value place = ptx.sub(entry, read(pages.first));
  Value ofHere = ptx.shuffleFrom(read(pages.here), place), ofNext = ptx.shuffleFrom(read(pages.next), place);
  return ptx.select(ptx.less(place, ptx.i32(lanesOfWarp)), ofHere, ofNext);
}

/// Starts the copies of a tile whose rows lie in pages: a box is in one of them, and has a lane of the warp.
void RingEmitter::startPages(tile::PutOp put, const tile::SharedLayout &layout, Value address, Value full) {
  Ptx &ptx = context.ptx;
  assert(context.wholeWarp && "one thread would start one box after the other");
  TensorMap map = getTensorMap(put);
  int64_t pageRows = put.getView().getType().getDimSize(1), boxes = layout.rows / map.box.rows();
  assert(boxes <= lanesOfWarp && "a warp has a lane for each box");
  SmallVector<Value> position =
      llvm::map_to_vector(put.getIndices(), [&](Value index) { return context.scalar(index); });
  Value lane = context.place.lane, sequence = position[0], firstRow = position[1];
  auto [entry, row] = context.divide(ptx.add(firstRow, ptx.mul(lane, map.box.rows())), pageRows);
  position[0] =
      findPage(context.abi.getView(put.getPages()), sequence, context.divide(firstRow, pageRows).first, entry);
  position[1] = row;
  context.onOneThread([&] { ptx.expectBytes(full, layout.bytes()); });
  ptx.warpSync();
  Value to = ptx.add(address, ptx.mul(lane, map.box.rows() * tile::SharedLayout::rowBytes));
  context.onlyIf(ptx.less(lane, ptx.i32(boxes)),
                 [&] { startBoxes(map, layout, to, full, position, put.getAxes()[1]); });
}

/// Makes the buffer of `ring` at a stage what products read as `shared`.
void RingEmitter::setSharedTile(const State &state, Value stage, Value shared) {
  Ptx &ptx = context.ptx;
  VectorType tileType = cast<tile::SharedTileType>(shared.getType()).getTile();
  tile::SharedLayout layout(tileType);
  tile::RingOp ring = state.ring;
  SharedTile tile{Value(), {}, tileType};
  if (tile::isReadByWarps(ring))
    tile.address = ptx.add(ptx.add(base, *ring.getOffset()), ptx.mul(stage, layout.bytes()));
  if (!llvm::any_of(shared.getUsers(), llvm::IsaPred<tile::StartOp>)) {
    context.sharedTiles[shared] = tile;
    return;
  }
  if (hasUniformStages)
    stage = ptx.uniform(stage);
  auto asUniform = [&](Value descriptor) { return hasUniformStages ? descriptor : ptx.uniform(descriptor); };
  // Descriptors count 16 bytes; stages follow each other, so that a descriptor takes one multiplication and addition.
  Value first = ptx.shiftRight(ptx.bitAnd(ptx.add(base, *ring.getOffset()), 0x3ffff), 4);
  Value start = ptx.add(first, ptx.mul(stage, layout.bytes() / 16));
  auto ofWarpgroup = [&](int64_t bytes) { return ptx.add(start, ptx.mul(context.place.warpgroup, bytes / 16)); };
  for (OpOperand &use : shared.getUses()) {
    auto product = dyn_cast<tile::StartOp>(use.getOwner());
    TilePart part = product ? getPartOf(product, /*left=*/use.getOperandNumber() == 0) : TilePart::Whole;
    Value &descriptor = tile.descriptorOf(part);
    if (descriptor)
      continue;
    if (part == TilePart::OwnRows) {
      descriptor = asUniform(ofWarpgroup(warpgroupRows * tile::SharedLayout::rowBytes));
    } else if (part == TilePart::OwnColumns) {
      // Whole panels, or a part of the only one.
      int64_t columns = tileType.getDimSize(1) / countWarpgroups(product);
      descriptor = asUniform(
          ofWarpgroup(layout.panels == 1 ? columns * 2 : columns / layout.panelColumns * layout.panelBytes()));
    } else {
      descriptor = asUniform(start);
    }
  }
  context.sharedTiles[shared] = tile;
}

void RingEmitter::emit(tile::ShareOp share) {
  Ptx &ptx = context.ptx;
  State &state = find(share.getRing());
  Value stage = read(state.filledStage), parity = read(state.filledParity);
  auto type = cast<VectorType>(share.getValue().getType());
  tile::SharedLayout layout(type);
  ptx.waitBarrier(barrier(state, stage, /*full=*/false), ptx.bitXor(parity, ptx.i32(1)));
  Value address = ptx.add(ptx.add(base, *state.ring.getOffset()), ptx.mul(stage, layout.bytes()));
  context.storeFragment(address, layout, context.packedWords(share.getValue()), 0, type.getDimSize(1));
}

void RingEmitter::emit(tile::PostOp post) {
  Ptx &ptx = context.ptx;
  State &state = find(post.getRing());
  Place place{read(state.filledStage), read(state.filledParity)};
  ptx.arriveIf(barrier(state, place.stage, /*full=*/true), ptx.equal(context.place.lane, 0));
  place = next(state, place);
  LLVM::StoreOp::create(ptx.b, ptx.loc, place.stage, state.filledStage);
  LLVM::StoreOp::create(ptx.b, ptx.loc, place.parity, state.filledParity);
}

void RingEmitter::emit(tile::GetOp get) {
  State &state = find(get.getRing());
  // The variables are those of the oldest buffer that the role has not released.
  Place place{read(state.stage), read(state.parity)};
  for (int64_t held = tile::countHeldBuffers(get); held > 0; --held)
    place = next(state, place);
  setSharedTile(state, place.stage, get.getShared());
  context.ptx.waitBarrier(barrier(state, place.stage, /*full=*/true), place.parity);
}

void RingEmitter::emit(tile::HeldOp held) {
  State &state = find(held.getRing());
  setSharedTile(state, read(state.stage), held.getShared());
}

void RingEmitter::emit(tile::ReleaseOp release) {
  State &state = find(release.getRing());
  Value stage = read(state.stage);
  bool ofWarps = tile::isReadByWarps(state.ring);
  // One thread gives it back for all, and the producer may fill it twice before it waits for that thread again. A warp
  // that had not waited for the first of these by then would find the barrier where it was, and wait for ever.
  if (ofWarps)
    context.ptx.warpSync();
  else if (!tile::haveAllGot(release))
    context.syncWarpgroup();
  Ptx &ptx = context.ptx;
  Value address = barrier(state, stage, /*full=*/false);
  // Loads of a warp may still be on their way when its next instruction runs, and the copy engine's writes know nothing
  // of them: what has been loaded goes into the address, times 0.
  Value lastRead;
  if (Value variable = context.lastReadInLoop.lookup(release.getRing())) {
    lastRead = read(variable);
  } else if (auto word = context.lastRead.find(release.getRing()); word != context.lastRead.end()) {
    lastRead = word->second;
    context.lastRead.erase(word);
  }
  if (lastRead)
    address = ptx.add(address, arith::AndIOp::create(ptx.b, ptx.loc, lastRead, context.abi.getZero()));
  // One predicated instruction: branches between a wait and the softmax cost more.
  ptx.arriveIf(address, ofWarps ? ptx.equal(context.place.lane, 0) : context.place.isLeader);
  advance(state, stage);
}

void RingEmitter::post(Value ring, Value number) {
  Ptx &ptx = context.ptx;
  State &state = find(ring);
  Value stage = read(state.stage), parity = read(state.parity);
  ptx.waitBarrier(barrier(state, stage, /*full=*/false), ptx.bitXor(parity, ptx.i32(1)));
  Value address = ptx.add(ptx.add(base, *state.ring.getOffset()), ptx.mul(stage, wordBytes));
  Value full = barrier(state, stage, /*full=*/true);
  context.onOneThread([&] {
    ptx.storeShared(address, number);
    ptx.arrive(full);
  });
  advance(state, stage);
}

Value RingEmitter::receive(Value ring, bool ofWarp) {
  Ptx &ptx = context.ptx;
  State &state = find(ring);
  Value stage = read(state.stage), parity = read(state.parity);
  ptx.waitBarrier(barrier(state, stage, /*full=*/true), parity);
  Value number = ptx.loadShared(ptx.add(ptx.add(base, *state.ring.getOffset()), ptx.mul(stage, wordBytes)));
  // All threads have read it before one releases it.
  if (ofWarp)
    ptx.warpSync();
  else
    context.syncWarpgroup();
  ptx.arriveIf(barrier(state, stage, /*full=*/false),
               ofWarp ? ptx.equal(context.place.lane, 0) : context.place.isLeader);
  advance(state, stage);
  return number;
}
