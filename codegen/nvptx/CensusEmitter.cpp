//===- CensusEmitter.cpp - Lists of the steps that are needed ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/CensusEmitter.h"
#include "dialect/tile/SharedLayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <array>

using namespace mlir;
using namespace attnc;
using namespace attnc::nvptx;

static constexpr int64_t lanesOfWarp = 32, warpsOfWarpgroup = warpgroupThreads / lanesOfWarp;

/// The address of an element of the row.
Value CensusEmitter::element(Value column) {
  Ptx &ptx = context.ptx;
  return LLVM::GEPOp::create(ptx.b, ptx.loc, row.getType(), ptx.b.getI32Type(), row, ArrayRef<LLVM::GEPArg>{column});
}

/// The address of the note of a step.
Value CensusEmitter::noteOf(Value step) {
  Ptx &ptx = context.ptx;
  return LLVM::GEPOp::create(ptx.b, ptx.loc, notes.getType(), ptx.b.getI32Type(), notes, ArrayRef<LLVM::GEPArg>{step});
}

void CensusEmitter::storeIf(Value condition, Value address, Value word) {
  Ptx &ptx = context.ptx;
  auto guard = scf::IfOp::create(ptx.b, ptx.loc, condition);
  OpBuilder::InsertionGuard insertion(ptx.b);
  ptx.b.setInsertionPoint(guard.thenBlock()->getTerminator());
  LLVM::StoreOp::create(ptx.b, ptx.loc, word, address);
}

/// A loop from `start` to the number of steps that carries `carried` from one round to the next.
SmallVector<Value> CensusEmitter::loopOver(Value start, int64_t stride, ValueRange carried,
                                           llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  Ptx &ptx = context.ptx;
  auto loop = scf::ForOp::create(ptx.b, ptx.loc, start, steps, ptx.i32(stride), carried);
  OpBuilder::InsertionGuard insertion(ptx.b);
  if (carried.empty())
    ptx.b.setInsertionPoint(loop.getBody()->getTerminator());
  else
    ptx.b.setInsertionPointToEnd(loop.getBody());
  SmallVector<Value> next = body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!carried.empty())
    scf::YieldOp::create(ptx.b, ptx.loc, next);
  return loop.getResults();
}

/// Every warp takes every n-th step.
void CensusEmitter::noteKinds(tile::CensusOp census) {
  Ptx &ptx = context.ptx;
  Value first = ptx.add(ptx.mul(context.place.warpgroup, warpsOfWarpgroup), context.place.warp);
  loopOver(first, context.pipeline.getConsumers() * warpsOfWarpgroup, {}, [&](Value step, ValueRange) {
    Value offset = arith::MulIOp::create(ptx.b, ptx.loc, step, context.scalar(census.getStep()));
    context.scalars[census.getStart()] = ptx.add(context.scalar(census.getLow()), offset);
    Block &body = census.getBody().front();
    emitBody(body);
    Value some = context.scalar(body.getTerminator()->getOperand(0));
    Value all = context.scalar(body.getTerminator()->getOperand(1));
    Value kind = ptx.select(some, ptx.select(all, ptx.i32(Kind::All), ptx.i32(Kind::Some)), ptx.i32(Kind::None));
    storeIf(ptx.equal(context.place.lane, 0), noteOf(step), kind);
    return SmallVector<Value>();
  });
}

/// The kind of a step; none for those past the last.
Value CensusEmitter::loadKind(Value step) {
  Ptx &ptx = context.ptx;
  Value last = arith::MinSIOp::create(ptx.b, ptx.loc, step, ptx.add(steps, -1));
  Value kind = LLVM::LoadOp::create(ptx.b, ptx.loc, ptx.b.getI32Type(), noteOf(last));
  return ptx.select(ptx.less(step, steps), kind, ptx.i32(Kind::None));
}

/// The lanes whose step is of a kind, as bits.
Value CensusEmitter::ballot(Value kind, Kind wanted) { return context.ptx.ballot(context.ptx.equal(kind, wanted)); }

/// One warp, a step a lane. Lanes count those before them by their bits.
void CensusEmitter::listSteps(tile::CensusOp census) {
  Ptx &ptx = context.ptx;
  OpBuilder &b = ptx.b;
  auto count = [&](Value bits) -> Value { return math::CtPopOp::create(b, ptx.loc, bits); };
  Value zero = ptx.i32(0), lane = context.place.lane;
  Value full = loopOver(zero, lanesOfWarp, zero, [&](Value step, ValueRange sum) -> SmallVector<Value> {
                 return {ptx.add(sum.front(), count(ballot(loadKind(ptx.add(step, lane)), Kind::All)))};
               }).front();
  Value before = ptx.add(arith::ShLIOp::create(b, ptx.loc, ptx.i32(1), lane), -1);
  // Carries the next place for those that keep all, and for the others.
  constexpr std::array kinds{Kind::All, Kind::Some};
  SmallVector<Value> places = loopOver(zero, lanesOfWarp, {zero, full}, [&](Value step, ValueRange next) {
    Value own = ptx.add(step, lane), kind = loadKind(own);
    Value offset = arith::MulIOp::create(b, ptx.loc, own, context.scalar(census.getStep()));
    SmallVector<Value> after;
    for (auto [wanted, place] : llvm::zip_equal(kinds, next)) {
      Value bits = ballot(kind, wanted), rank = count(arith::AndIOp::create(b, ptx.loc, bits, before));
      storeIf(ptx.equal(kind, wanted), element(ptx.add(ptx.add(place, rank), tile::CensusOp::numCounts)),
              ptx.add(context.scalar(census.getLow()), offset));
      after.push_back(ptx.add(place, count(bits)));
    }
    return after;
  });
  Value listed = places.back();
  Value isFirst = ptx.equal(lane, 0);
  storeIf(isFirst, element(zero), full);
  storeIf(isFirst, element(ptx.i32(1)), listed);
  storeIf(isFirst, element(ptx.add(listed, tile::CensusOp::numCounts)), zero);
}

void CensusEmitter::emit(tile::CensusOp census) {
  Ptx &ptx = context.ptx;
  const View &list = context.abi.getView(census.getList());
  row = list.address(ptx.b, ptx.loc, {context.scalar(census.getRow()), ptx.i32(0)});
  Value range = ptx.sub(context.scalar(census.getHigh()), context.scalar(census.getLow()));
  Value positive = arith::MaxSIOp::create(ptx.b, ptx.loc, range, ptx.i32(0));
  steps = arith::CeilDivUIOp::create(ptx.b, ptx.loc, positive, context.scalar(census.getStep()));
  // In shared memory where they fit; else behind the places, of which there are as many as notes, and one more.
  Value places = ptx.shiftRight(ptx.add(list.sizes[1], -tile::CensusOp::numCounts - 1), 1);
  Type pointer = LLVM::LLVMPointerType::get(ptx.b.getContext());
  auto generic = [&](Value address) -> Value {
    return LLVM::AddrSpaceCastOp::create(ptx.b, ptx.loc, pointer, address);
  };
  Type sharedPointer = LLVM::LLVMPointerType::get(ptx.b.getContext(), sharedSpace);
  Value shared = generic(LLVM::IntToPtrOp::create(ptx.b, ptx.loc, sharedPointer, base));
  Value global = generic(element(ptx.add(places, tile::CensusOp::numCounts + 1)));
  notes = ptx.select(ptx.less(ptx.i32(tile::censusSteps), steps), global, shared);
  noteKinds(census);
  ptx.blockSync();
  Value lists =
      arith::AndIOp::create(ptx.b, ptx.loc, ptx.equal(context.place.warpgroup, 0), ptx.equal(context.place.warp, 0));
  auto guard = scf::IfOp::create(ptx.b, ptx.loc, lists);
  OpBuilder::InsertionGuard insertion(ptx.b);
  ptx.b.setInsertionPoint(guard.thenBlock()->getTerminator());
  listSteps(census);
}
