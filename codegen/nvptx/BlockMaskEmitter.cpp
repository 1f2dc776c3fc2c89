//===- BlockMaskEmitter.cpp - Lists of the steps that are needed ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/BlockMaskEmitter.h"
#include "dialect/tile/SharedLayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::nvptx;

static constexpr int64_t wordBytes = 4;

bool BlockMaskEmitter::owns(tile::MinMaxOp minMax) {
  return llvm::all_of(minMax->getUsers(), [](Operation *user) { return isa<tile::BlockMaskOp>(user->getParentOp()); });
}

/// The address of a word.
Value BlockMaskEmitter::element(Value address, Value index) {
  return context.ptx.shift(address, context.ptx.b.getI32Type(), index);
}

Value BlockMaskEmitter::threadOfBlock() {
  Ptx &ptx = context.ptx;
  return ptx.add(ptx.mul(warp, lanesOfWarp), context.place.lane);
}

/// What the branch back of a loop has that stays as it is, also in the assembler.
static LLVM::LoopAnnotationAttr doNotUnroll(OpBuilder &b) {
  auto unroll = LLVM::LoopUnrollAttr::get(b.getContext(), /*disable=*/b.getBoolAttr(true), {}, {}, {}, {}, {}, {});
  return LLVM::LoopAnnotationAttr::get(b.getContext(), {}, {}, {}, unroll, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {});
}

/// A loop that carries `carried` from one round to the next. Most run once or a few times: unrolled, they would be
/// fetched for longer than they run.
SmallVector<Value> BlockMaskEmitter::loopOver(Value start, Value end, int64_t stride, ValueRange carried,
                                              llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  Ptx &ptx = context.ptx;
  auto loop = scf::ForOp::create(ptx.b, ptx.loc, start, end, ptx.i32(stride), carried);
  loop->setAttr("loop_annotation", doNotUnroll(ptx.b));
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

/// Sorts the operations of the region.
void BlockMaskEmitter::collect() {
  Block &body = blockMask.getBody().front();
  llvm::SetVector<Operation *> needed;
  SmallVector<Value> open;
  for (auto minMax : body.getOps<tile::MinMaxOp>()) {
    ofSteps.push_back(minMax);
    int64_t bits = minMaxEmitter.wordType(minMax).getIntOrFloatBitWidth();
    wordsOfStep += 2 * bits / (8 * wordBytes);
    llvm::append_range(open, minMax.getOperands());
  }
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (op && op->getBlock() == &body && needed.insert(op))
      llvm::append_range(open, op->getOperands());
  }
  for (Operation &op : body) {
    bool placesSteps = needed.contains(&op) || isa<tile::MinMaxOp>(op);
    if (needed.contains(&op))
      positions.push_back(&op);
    if (!isa<tile::MinMaxOp, tile::YieldOp>(op))
      judgement.push_back(&op);
    for (Value operand : op.getOperands())
      if (auto minMax = operand.getDefiningOp<tile::MinMaxOp>(); minMax && minMax->getBlock() != &body && owns(minMax))
        (placesSteps ? beforeSteps : ofRows).insert(minMax);
  }
  ofRows.set_subtract(beforeSteps);
}

/// Emits operations on scalars for the step with this number.
void BlockMaskEmitter::emitForStep(Value step, ArrayRef<Operation *> ops) {
  Ptx &ptx = context.ptx;
  Value offset = arith::MulIOp::create(ptx.b, ptx.loc, step, context.scalar(blockMask.getStep()));
  context.scalars[blockMask.getStart()] = ptx.add(context.scalar(blockMask.getLow()), offset);
  for (Operation *op : ops) {
    // Constants are made where they are read.
    if (matchPattern(op, m_Constant()))
      continue;
    llvm::SaveAndRestore<Location> place(ptx.loc, op->getLoc());
    // What says where others lie is wanted at once.
    if (auto minMax = dyn_cast<tile::MinMaxOp>(op)) {
      minMaxEmitter.emit(minMax);
      continue;
    }
    auto results = context.cloneScalar(*op, [&](Value value) { return context.scalar(value); });
    for (auto [from, to] : llvm::zip_equal(op->getResults(), results))
      context.scalars[from] = to;
  }
}

/// Starts the minima and maxima of this and the next steps of the warp, as many as it has on their way at once. Past
/// the end it is the last step again.
SmallVector<MinMaxEmitter::Parts> BlockMaskEmitter::startSteps(Value first, Value end) {
  Ptx &ptx = context.ptx;
  SmallVector<tile::MinMaxOp> all;
  SmallVector<MinMaxEmitter::Row> rows;
  for (int64_t number = 0; number < tile::countLoadsTogether(blockMask); ++number) {
    Value step = ptx.add(first, number * warps);
    if (number)
      step = arith::MinSIOp::create(ptx.b, ptx.loc, step, ptx.add(end, -1));
    emitForStep(step, positions);
    for (tile::MinMaxOp minMax : ofSteps) {
      all.push_back(minMax);
      rows.push_back(minMaxEmitter.describe(minMax));
    }
  }
  return minMaxEmitter.startRows(all, rows);
}

/// Starts the steps after those, where there are any.
SmallVector<MinMaxEmitter::Parts> BlockMaskEmitter::startStepsIf(Value condition, Value first, Value end) {
  Ptx &ptx = context.ptx;
  SmallVector<MinMaxEmitter::Parts> parts;
  SmallVector<Value> flat;
  auto branch = scf::IfOp::create(
      ptx.b, ptx.loc, condition,
      [&](OpBuilder &builder, Location loc) {
        parts = startSteps(first, end);
        for (const MinMaxEmitter::Parts &part : parts) {
          llvm::append_range(flat, part.elements);
          flat.push_back(part.isEmpty);
        }
        scf::YieldOp::create(builder, loc, flat);
      },
      [&](OpBuilder &builder, Location loc) {
        auto zeros = llvm::map_to_vector(flat, [&](Value value) -> Value {
          return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(value.getType()));
        });
        scf::YieldOp::create(builder, loc, zeros);
      });
  ValueRange results = branch.getResults();
  for (MinMaxEmitter::Parts &part : parts) {
    part.elements.assign(results.begin(), results.begin() + part.elements.size());
    part.isEmpty = results[part.elements.size()];
    results = results.drop_front(part.elements.size() + 1);
  }
  return parts;
}

/// The lanes meet for the steps that were started at `first`; one of them writes what they find.
void BlockMaskEmitter::finishSteps(Value first, Value round, Value end, ArrayRef<MinMaxEmitter::Parts> parts) {
  Ptx &ptx = context.ptx;
  for (int64_t number = 0; !parts.empty(); ++number) {
    Value step = ptx.add(first, number * warps);
    Value stores = ptx.equal(context.place.lane, 0);
    if (number)
      stores = arith::AndIOp::create(ptx.b, ptx.loc, stores, ptx.less(step, end));
    Value address = ptx.add(base, ptx.mul(ptx.sub(step, round), wordsOfStep * wordBytes));
    for (tile::MinMaxOp minMax : ofSteps) {
      auto [min, max] = minMaxEmitter.finish(minMax, parts.front());
      parts = parts.drop_front();
      bool isWide = min.getType().isInteger(64);
      for (Value word : {min, max}) {
        ptx.assembly("storeSharedIf", {}, isWide ? "@$2 st.shared.b64 [$0], $1;" : "@$2 st.shared.b32 [$0], $1;",
                     isWide ? "rlb" : "rrb", {address, word, stores});
        address = ptx.add(address, isWide ? 2 * wordBytes : wordBytes);
      }
    }
  }
}

/// Every warp takes every n-th step of a round. Short rows come for several steps at once, twice: all loads are on
/// their way before lanes first meet.
void BlockMaskEmitter::loadMinMax(Value round, Value end) {
  Ptx &ptx = context.ptx;
  Value start = ptx.add(round, warp);
  if (ofSteps.empty())
    return;
  if (!llvm::all_of(ofSteps, MinMaxEmitter::isShortRow)) {
    loopOver(start, end, warps, {}, [&](Value step, ValueRange) {
      emitForStep(step, positions);
      finishSteps(step, round, end,
                  llvm::map_to_vector(ofSteps, [&](tile::MinMaxOp minMax) { return minMaxEmitter.start(minMax); }));
      return SmallVector<Value>();
    });
    return;
  }
  const int64_t stepsAtOnce = tile::countLoadsTogether(blockMask);
  loopOver(start, end, warps * stepsAtOnce * 2, {}, [&](Value first, ValueRange) {
    SmallVector<MinMaxEmitter::Parts> parts = startSteps(first, end);
    Value next = ptx.add(first, warps * stepsAtOnce), isMore = ptx.less(next, end);
    SmallVector<MinMaxEmitter::Parts> more = startStepsIf(isMore, next, end);
    finishSteps(first, round, end, parts);
    context.onlyIf(isMore, [&] { finishSteps(next, round, end, more); });
    return SmallVector<Value>();
  });
}

/// Every thread judges a step of the round by its minima and maxima; the lanes of a warp make words of bits of what
/// they find.
void BlockMaskEmitter::judgeSteps(Value round) {
  Ptx &ptx = context.ptx;
  OpBuilder &b = ptx.b;
  Value thread = threadOfBlock(), step = ptx.add(round, thread);
  Value address = ptx.add(base, ptx.mul(thread, wordsOfStep * wordBytes));
  for (tile::MinMaxOp minMax : ofSteps) {
    bool isWide = minMaxEmitter.wordType(minMax).isInteger(64);
    auto load = [&] {
      Value word =
          ptx.assembly("loadShared", minMaxEmitter.wordType(minMax),
                       isWide ? "ld.shared.b64 $0, [$1];" : "ld.shared.b32 $0, [$1];", isWide ? "lr" : "rr", address);
      address = ptx.add(address, isWide ? 2 * wordBytes : wordBytes);
      return word;
    };
    Value min = load(), max = load();
    minMaxEmitter.define(minMax, {min, max});
  }
  // Single elements are loaded for steps that there are.
  emitForStep(arith::MinSIOp::create(b, ptx.loc, step, ptx.add(steps, -1)), judgement);
  Operation *yield = blockMask.getBody().front().getTerminator();
  Value some = context.scalar(yield->getOperand(0)), all = context.scalar(yield->getOperand(1));
  some = arith::AndIOp::create(b, ptx.loc, some, ptx.less(step, steps));
  Value keepsSome = ptx.ballot(some);
  Value keepsAll = ptx.ballot(arith::AndIOp::create(b, ptx.loc, some, all));
  Value writes = arith::AndIOp::create(b, ptx.loc, ptx.equal(context.place.lane, 0), ptx.less(step, steps));
  context.onlyIf(writes, [&] {
    Value word = ptx.shiftLeft(ptx.add(ptx.shiftRight(round, 5), warp), 1);
    LLVM::StoreOp::create(b, ptx.loc, keepsAll, element(bits, word));
    LLVM::StoreOp::create(b, ptx.loc, ptx.bitXor(keepsSome, keepsAll), element(bits, ptx.add(word, 1)));
  });
}

/// The bits of a group of 32 steps.
BlockMaskEmitter::Bits BlockMaskEmitter::loadBits(Value group) {
  Ptx &ptx = context.ptx;
  Value word = ptx.shiftLeft(group, 1);
  auto load = [&](Value index) -> Value {
    return LLVM::LoadOp::create(ptx.b, ptx.loc, ptx.b.getI32Type(), element(bits, index));
  };
  return {load(word), load(ptx.add(word, 1))};
}

/// Every warp lists every n-th group of 32 steps, a step a lane: first those that keep all, then the others.
void BlockMaskEmitter::listSteps() {
  Ptx &ptx = context.ptx;
  OpBuilder &b = ptx.b;
  Value zero = ptx.i32(0), lane = context.place.lane;
  Value groups = ptx.shiftRight(ptx.add(steps, lanesOfWarp - 1), 5);
  auto count = [&](Value word) -> Value { return math::CtPopOp::create(b, ptx.loc, word); };
  auto sum = [&](Value x) -> Value {
    return NVVM::ReduxOp::create(b, ptx.loc, b.getI32Type(), x, NVVM::ReduxKind::ADD, ptx.i32(-1));
  };
  // Where there are no steps, the first warp still writes the counts.
  Value most = arith::MaxSIOp::create(b, ptx.loc, groups, ptx.i32(1));
  loopOver(warp, most, warps, {}, [&](Value group, ValueRange) {
    // All, those before this group, and the same of the others: a group a lane.
    SmallVector<Value> parts =
        loopOver(lane, groups, lanesOfWarp, {zero, zero, zero, zero}, [&](Value other, ValueRange sums) {
          Bits found = loadBits(other);
          Value isBefore = ptx.less(other, group);
          SmallVector<Value> next;
          for (Value word : {found.all, found.some}) {
            Value number = count(word);
            next.push_back(ptx.add(sums[next.size()], number));
            next.push_back(ptx.add(sums[next.size()], ptx.select(isBefore, number, zero)));
          }
          return next;
        });
    // Lanes had different numbers of rounds.
    ptx.warpSync();
    Value full = sum(parts[0]), fullBefore = sum(parts[1]), others = sum(parts[2]), othersBefore = sum(parts[3]);
    Value isGroup = ptx.less(group, groups);
    Bits own = loadBits(group);
    Value step = ptx.add(ptx.mul(group, lanesOfWarp), lane);
    Value offset = arith::MulIOp::create(b, ptx.loc, step, context.scalar(blockMask.getStep()));
    Value start = ptx.add(context.scalar(blockMask.getLow()), offset);
    Value mine = arith::ShLIOp::create(b, ptx.loc, ptx.i32(1), lane), below = ptx.add(mine, -1);
    auto list = [&](Value word, Value place) {
      Value held = ptx.select(isGroup, word, zero);
      Value isMine = arith::CmpIOp::create(b, ptx.loc, arith::CmpIPredicate::ne,
                                           arith::AndIOp::create(b, ptx.loc, held, mine), zero);
      Value rank = count(arith::AndIOp::create(b, ptx.loc, held, below));
      Value column = ptx.add(ptx.add(place, rank), tile::BlockMaskOp::numCounts);
      context.onlyIf(isMine, [&] { LLVM::StoreOp::create(b, ptx.loc, start, element(row, column)); });
    };
    list(own.all, fullBefore);
    list(own.some, ptx.add(full, othersBefore));
    context.onlyIf(ptx.equal(ptx.add(group, lane), 0), [&] {
      Value listed = ptx.add(full, others);
      LLVM::StoreOp::create(b, ptx.loc, full, element(row, zero));
      LLVM::StoreOp::create(b, ptx.loc, listed, element(row, ptx.i32(1)));
      LLVM::StoreOp::create(b, ptx.loc, zero, element(row, ptx.add(listed, tile::BlockMaskOp::numCounts)));
    });
    return SmallVector<Value>();
  });
}

/// Finds the range, and where its bits lie: in shared memory after the minima and maxima where they fit; else after the
/// places of the list, of which there are more.
void BlockMaskEmitter::setUp() {
  Ptx &ptx = context.ptx;
  const View &list = context.abi.getView(blockMask.getList());
  row = list.address(ptx.b, ptx.loc, {context.scalar(blockMask.getRow()), ptx.i32(0)});
  Value range = ptx.sub(context.scalar(blockMask.getHigh()), context.scalar(blockMask.getLow()));
  Value positive = arith::MaxSIOp::create(ptx.b, ptx.loc, range, ptx.i32(0));
  steps = arith::CeilDivUIOp::create(ptx.b, ptx.loc, positive, context.scalar(blockMask.getStep()));
  warp = ptx.add(ptx.mul(context.place.warpgroup, warpsOfWarpgroup), context.place.warp);
  warps = context.pipeline.getConsumers() * warpsOfWarpgroup;

  Value places = ptx.shiftRight(ptx.add(list.sizes[1], -tile::BlockMaskOp::numCounts - 1), 1);
  Type pointer = LLVM::LLVMPointerType::get(ptx.b.getContext());
  auto generic = [&](Value address) -> Value {
    return LLVM::AddrSpaceCastOp::create(ptx.b, ptx.loc, pointer, address);
  };
  Value shared = generic(ptx.sharedPointer(ptx.add(base, tile::blockMaskMinMaxBytes)));
  Value global = generic(element(row, ptx.add(places, tile::BlockMaskOp::numCounts + 1)));
  bits = ptx.select(ptx.less(ptx.i32(tile::blockMaskSteps), steps), global, shared);
}

LogicalResult BlockMaskEmitter::emit(tile::BlockMaskOp op) {
  Ptx &ptx = context.ptx;
  blockMask = op;
  setUp();
  collect();
  int64_t threads = warps * lanesOfWarp;
  roundSteps = threads;
  if (wordsOfStep)
    roundSteps = std::min(threads, tile::blockMaskMinMaxBytes / (wordsOfStep * wordBytes) / lanesOfWarp * lanesOfWarp);
  if (roundSteps == 0)
    return blockMask.emitOpError() << "has minima and maxima of " << wordsOfStep * wordBytes
                                   << " bytes a step, more than fit " << tile::blockMaskMinMaxBytes << " for a warp";
  loopOver(ptx.i32(0), steps, roundSteps, {}, [&](Value round, ValueRange) {
    Value end = arith::MinSIOp::create(ptx.b, ptx.loc, ptx.add(round, roundSteps), steps);
    // The loads for the rows are on their way while those for the steps start.
    SmallVector<MinMaxEmitter::Parts> parts;
    for (tile::MinMaxOp minMax : beforeSteps)
      minMaxEmitter.emit(minMax);
    for (tile::MinMaxOp minMax : ofRows)
      parts.push_back(minMaxEmitter.start(minMax));
    loadMinMax(round, end);
    for (auto [minMax, part] : llvm::zip_equal(ofRows, parts))
      minMaxEmitter.define(minMax, minMaxEmitter.finish(minMax, part));
    ptx.blockSync();
    if (roundSteps == threads)
      judgeSteps(round);
    else
      context.onlyIf(ptx.less(warp, ptx.i32(roundSteps / lanesOfWarp)), [&] { judgeSteps(round); });
    ptx.blockSync();
    return SmallVector<Value>();
  });
  listSteps();
  return success();
}
