//===- SharedTiles.cpp - Tiles that are read as a whole ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/cpu/SharedTiles.h"
#include "codegen/cpu/Staging.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::cpu;

bool attnc::cpu::readsWhole(OpOperand &use) {
  Operation *reader = use.getOwner();
  auto load = use.get().getDefiningOp<tile::LoadOp>();
  if (load && isStaged(load))
    return false;
  if (auto product = dyn_cast<tile::MmaOp>(reader))
    return use.getOperandNumber() == 1 || (use.getOperandNumber() == 0 && product.getLeftTransposed());
  return isa<tile::RowOp, tile::ReadOp>(reader);
}

bool attnc::cpu::readsAcrossRows(tile::ProgramOp program) {
  return program
      .walk([](Operation *op) {
        bool reads = isa<tile::ShareOp>(op) || llvm::any_of(op->getOpOperands(), readsWhole);
        return reads ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

//===----------------------------------------------------------------------===//
// Tiles that wait to be taken
//===----------------------------------------------------------------------===//

namespace {

/// Goes through a program as one thread does, and counts the tiles of a type.
class TileCount {
public:
  explicit TileCount(Type tile) : tile(tile) {}

  LogicalResult visit(Block &block);
  int64_t getMost() const { return most; }

private:
  LogicalResult share(tile::ShareOp op);
  LogicalResult take(tile::TakeOp op);
  LogicalResult visitRegions(Operation &op);

  Type tile;
  int64_t waiting = 0, most = 0;
  SmallVector<tile::TakeOp> held; ///< taken, from the oldest that is still read on
};

} // namespace

/// Whether what `take` gives is read at `op` or after it.
static bool isReadFrom(tile::TakeOp take, Operation *op) {
  Block *block = take->getBlock();
  Operation *here = block->findAncestorOpInBlock(*op);
  return llvm::any_of(take->getUsers(),
                      [&](Operation *user) { return !block->findAncestorOpInBlock(*user)->isBeforeInBlock(here); });
}

LogicalResult TileCount::share(tile::ShareOp op) {
  while (!held.empty() && !isReadFrom(held.front(), op))
    held.erase(held.begin());
  if (!held.empty() && held.front()->getBlock() != op->getBlock())
    return op.emitOpError(
        "expected no tile to be shared in a loop or a branch, on a CPU, while one that was taken before "
        "it is still read");
  ++waiting;
  most = std::max(most, waiting + static_cast<int64_t>(held.size()));
  return success();
}

LogicalResult TileCount::take(tile::TakeOp op) {
  if (waiting == 0)
    return op.emitOpError("expected a tile that was shared before: one thread would wait for itself");
  --waiting;
  held.push_back(op);
  return success();
}

/// A step of a loop leaves as many tiles as it finds, and so do both branches of a condition.
LogicalResult TileCount::visitRegions(Operation &op) {
  int64_t before = waiting, after = before;
  bool isFirst = true, isLoop = isa<scf::ForOp>(op);
  for (Region &region : op.getRegions()) {
    waiting = before;
    if (!region.empty() && failed(visit(region.front())))
      return failure();
    if ((isLoop && waiting != before) || (!isFirst && waiting != after))
      return op.emitOpError() << "expected " << (isLoop ? "each step" : "both branches") << " to take as many tiles of "
                              << tile << " as " << (isLoop ? "it shares" : "one another") << ", on a CPU";
    after = waiting;
    isFirst = false;
  }
  return success();
}

LogicalResult TileCount::visit(Block &block) {
  for (Operation &op : block) {
    if (auto shared = dyn_cast<tile::ShareOp>(op); shared && shared.getValue().getType() == tile) {
      if (failed(share(shared)))
        return failure();
    } else if (auto taken = dyn_cast<tile::TakeOp>(op); taken && taken.getShared().getType().getTile() == tile) {
      if (failed(take(taken)))
        return failure();
    } else if (isa<scf::ForOp, scf::IfOp>(op) && failed(visitRegions(op))) {
      return failure();
    }
  }
  llvm::erase_if(held, [&](tile::TakeOp op) { return op->getBlock() == &block; });
  return success();
}

FailureOr<llvm::SmallMapVector<Type, int64_t, 2>> attnc::cpu::countSharedTiles(tile::ProgramOp program) {
  llvm::SmallMapVector<Type, int64_t, 2> places;
  program.walk([&](tile::ShareOp op) { places[op.getValue().getType()] = 0; });
  for (auto &[tile, most] : places) {
    TileCount count(tile);
    if (failed(count.visit(program.getBody().front())))
      return failure();
    most = count.getMost();
  }
  return places;
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> shapeOf(VectorType tile) { return {tile.getDimSize(0), tile.getDimSize(1)}; }

Value attnc::cpu::allocateWhole(EmitContext &context, VectorType tile) {
  return context.allocate(shapeOf(tile), storageType(tile.getElementType()));
}

SharedTiles::SharedTiles(EmitContext &context, VectorType tile, int64_t places) : places(places) {
  if (places == 1) {
    buffers = allocateWhole(context, tile);
    return;
  }
  SmallVector<int64_t> shape = shapeOf(tile);
  shape.insert(shape.begin(), places);
  buffers = context.allocate(shape, storageType(tile.getElementType()));
  counters = context.allocate({2}, context.builder.getI64Type());
  for (int64_t counter : {0, 1})
    memref::StoreOp::create(context.builder, context.loc, context.constant(context.builder.getI64Type(), 0), counters,
                            context.index(counter));
}

Value SharedTiles::next(EmitContext &context, int64_t counter) {
  if (places == 1)
    return buffers;
  OpBuilder &b = context.builder;
  Location loc = context.loc;
  Value number = memref::LoadOp::create(b, loc, counters, context.index(counter));
  Value more = arith::AddIOp::create(b, loc, number, context.constant(b.getI64Type(), 1));
  memref::StoreOp::create(b, loc, more, counters, context.index(counter));
  Value place = arith::RemUIOp::create(b, loc, number, context.constant(b.getI64Type(), static_cast<double>(places)));
  place = arith::IndexCastOp::create(b, loc, b.getIndexType(), place);
  auto type = cast<MemRefType>(buffers.getType());
  ArrayRef<int64_t> shape = type.getShape();
  OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  SmallVector<OpFoldResult> offsets{place, zero, zero}, strides{one, one, one},
      sizes{one, b.getIndexAttr(shape[1]), b.getIndexAttr(shape[2])};
  MemRefType view = memref::SubViewOp::inferRankReducedResultType(shape.drop_front(), type, offsets, sizes, strides);
  return memref::SubViewOp::create(b, loc, view, buffers, offsets, sizes, strides);
}

void attnc::cpu::copyRow(EmitContext &context, ProgramValues &values, tile::RowOp op) {
  OpBuilder &b = context.builder;
  Value whole = values.whole.lookup(op.getTile());
  auto type = cast<VectorType>(op.getResult().getType());
  int64_t size = type.getDimSize(1);
  Value buffer = values.columns[op.getResult()] = context.allocate({size}, storageType(type.getElementType()));
  Value row = context.index(static_cast<int64_t>(op.getNumber()));
  forRange(context, context.index(0), context.index(size), 1, [&](Value column) {
    Value element = memref::LoadOp::create(b, context.loc, whole, ValueRange{row, column});
    memref::StoreOp::create(b, context.loc, element, buffer, column);
  });
}
