//===- RingEmitter.cpp - Rings of buffers on barriers -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/RingEmitter.h"
#include "dialect/tile/SharedLayout.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::nvptx;

/// Bytes of a barrier, and of the place of a tile number.
static constexpr int64_t wordBytes = 8;

/// Warpgroups that release buffers.
static int64_t countConsumers(tile::ProgramOp program) { return program.getPipelineAttr().getConsumers(); }

RingEmitter::RingEmitter(EmitContext &context, Value base, tile::ProgramOp program) : context(context), base(base) {
  Ptx &ptx = context.ptx;
  Type pointer = LLVM::LLVMPointerType::get(ptx.b.getContext());
  // At the function's start, where LLVM looks for what can be registers.
  auto variable = [&] {
    Value address;
    {
      OpBuilder::InsertionGuard guard(ptx.b);
      ptx.b.setInsertionPointToStart(&context.abi.getFunction().getBody().front());
      address = LLVM::AllocaOp::create(ptx.b, ptx.loc, pointer, ptx.b.getI32Type(), ptx.i32(1));
    }
    LLVM::StoreOp::create(ptx.b, ptx.loc, ptx.i32(0), address);
    return address;
  };
  for (auto ring : program.getBody().getOps<tile::RingOp>())
    states[ring.getRing()] = State{ring, variable(), variable()};
}

void RingEmitter::initBarriers(Ptx &ptx, Value base, tile::ProgramOp program) {
  int64_t consumers = countConsumers(program);
  for (auto ring : program.getBody().getOps<tile::RingOp>()) {
    int64_t stages = ring.getRing().getType().getStages();
    for (int64_t stage = 0; stage < stages; ++stage) {
      ptx.initBarrier(ptx.add(base, *ring.getBarriers() + stage * wordBytes), 1);
      ptx.initBarrier(ptx.add(base, *ring.getBarriers() + (stages + stage) * wordBytes), consumers);
    }
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

/// Goes on to the stage after `stage`.
void RingEmitter::advance(State &state, Value stage) {
  Ptx &ptx = context.ptx;
  tile::RingOp ring = state.ring;
  int64_t stages = ring.getRing().getType().getStages();
  Value parity = read(state.parity);
  Value next = ptx.add(stage, 1), wraps = ptx.equal(next, stages);
  LLVM::StoreOp::create(ptx.b, ptx.loc, ptx.select(wraps, ptx.i32(0), next), state.stage);
  LLVM::StoreOp::create(ptx.b, ptx.loc, ptx.select(wraps, ptx.bitXor(parity, ptx.i32(1)), parity), state.parity);
}

void RingEmitter::emit(tile::PutOp put) {
  Ptx &ptx = context.ptx;
  State &state = find(put.getRing());
  Value stage = read(state.stage), parity = read(state.parity);
  auto tileType = cast<VectorType>(put.getRing().getType().getElement());
  tile::SharedLayout layout(tileType);
  // A fresh ring is empty: waiting for the round before the first does not block.
  ptx.waitBarrier(barrier(state, stage, /*full=*/false), ptx.bitXor(parity, ptx.i32(1)));
  Value full = barrier(state, stage, /*full=*/true);
  Value address = ptx.add(ptx.add(base, *state.ring.getOffset()), ptx.mul(stage, layout.bytes()));
  context.onOneThread([&] { startCopies(put, layout, address, full); });
  advance(state, stage);
}

/// Starts the copies of a tile's panels to `address`, which complete on the barrier `full`.
void RingEmitter::startCopies(tile::PutOp put, const tile::SharedLayout &layout, Value address, Value full) {
  Ptx &ptx = context.ptx;
  ptx.expectBytes(full, layout.bytes());
  Value map = context.abi.getTensorMapAddress(getTensorMap(put));
  for (int64_t panel = 0; panel < layout.panels; ++panel) {
    SmallVector<Value> coordinates;
    for (auto [dim, position] : llvm::enumerate(put.getIndices())) {
      Value at = context.scalar(position);
      if (static_cast<int64_t>(dim) == put.getAxes()[1])
        at = ptx.add(at, panel * layout.panelColumns);
      coordinates.insert(coordinates.begin(), at);
    }
    ptx.loadTensor(ptx.add(address, panel * layout.panelBytes()), map, full, coordinates);
  }
}

void RingEmitter::emit(tile::GetOp get) {
  Ptx &ptx = context.ptx;
  State &state = find(get.getRing());
  Value stage = read(state.stage), parity = read(state.parity);
  VectorType tileType = get.getSlot().getType().getTile();
  tile::SharedLayout layout(tileType);
  // Descriptors count 16 bytes; stages follow each other, so that a descriptor takes one multiplication and addition.
  Value first = ptx.shiftRight(ptx.bitAnd(ptx.add(base, *state.ring.getOffset()), 0x3ffff), 4);
  Value start = ptx.add(first, ptx.mul(stage, layout.bytes() / 16));
  // Of a left operand, each warpgroup reads its own rows.
  bool isLeft = llvm::any_of(get->getUsers(), [&](Operation *user) {
    auto product = dyn_cast<tile::StartOp>(user);
    return product && product.getA() == get.getSlot();
  });
  if (isLeft)
    start = ptx.add(start, ptx.mul(context.place.warpgroup, warpgroupRows * tile::SharedLayout::rowBytes / 16));
  Value descriptor = ptx.uniform(start);
  context.slots[get.getSlot()] = Slot{Value(), descriptor, tileType};
  ptx.waitBarrier(barrier(state, stage, /*full=*/true), parity);
}

void RingEmitter::emit(tile::ReleaseOp release) {
  State &state = find(release.getRing());
  Value stage = read(state.stage);
  // One predicated instruction: branches between a wait and the softmax cost more.
  context.ptx.arriveIf(barrier(state, stage, /*full=*/false), context.place.isLeader);
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

Value RingEmitter::receive(Value ring) {
  Ptx &ptx = context.ptx;
  State &state = find(ring);
  Value stage = read(state.stage), parity = read(state.parity);
  ptx.waitBarrier(barrier(state, stage, /*full=*/true), parity);
  Value number = ptx.loadShared(ptx.add(ptx.add(base, *state.ring.getOffset()), ptx.mul(stage, wordBytes)));
  // All threads of the warpgroup have read it before one releases it.
  context.syncWarpgroup();
  ptx.arriveIf(barrier(state, stage, /*full=*/false), context.place.isLeader);
  advance(state, stage);
  return number;
}
