//===- RowwiseEmitter.cpp - Maps, masks and reductions ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/RowwiseEmitter.h"
#include "codegen/nvptx/ElementBody.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <limits>

using namespace mlir;
using namespace attnc;
using namespace attnc::nvptx;

void RowwiseEmitter::emitMap(tile::MapOp map, ArrayRef<int64_t> threadRows) {
  int64_t elements = context.countElements(cast<VectorType>(map.getResult(0).getType()));
  for (Value result : map.getResults()) {
    Fragment &fragment = context.tiles[result];
    fragment.packed = isPacked(result.getType());
    fragment.values.resize(fragment.packed ? elements / 2 : elements);
  }
  SmallVector<std::optional<ElementBody>> bodies(context.rowsOfThread);
  for (int64_t threadRow : threadRows) {
    bodies[threadRow].emplace(context, map, threadRow);
    if (Value shift = bodies[threadRow]->splitShift()) {
      context.tiles[map.getResult(0)].shifts.resize(context.rowsOfThread);
      context.tiles[map.getResult(0)].shifts[threadRow] = shift;
    }
  }
  auto store = [&](int64_t element, ValueRange low, ValueRange high) {
    for (auto [number, result] : llvm::enumerate(map.getResults())) {
      Fragment &fragment = context.tiles[result];
      if (!fragment.packed) {
        fragment.values[element] = low[number];
        fragment.values[element + 1] = high[number];
        continue;
      }
      Type type = cast<VectorType>(result.getType()).getElementType();
      Ptx &ptx = context.ptx;
      auto widen = [&](Value value) {
        return value.getType().isF32() ? value
                                       : arith::ExtFOp::create(ptx.b, ptx.loc, ptx.b.getF32Type(), value).getResult();
      };
      fragment.values[element / 2] = ptx.pack(type, widen(low[number]), widen(high[number]));
    }
  };
  // The two elements of a pair are in one row.
  int64_t group = bodies[threadRows.front()]->getGroup();
  SmallVector<SmallVector<int64_t>> gathered(context.rowsOfThread);
  for (int64_t element = 0; element < elements; element += 2) {
    int64_t threadRow = context.threadRowOf(element);
    if (!llvm::is_contained(threadRows, threadRow))
      continue;
    ElementBody &body = *bodies[threadRow];
    if (group == 1) {
      SmallVector<Value> low = body.emit(element), high = body.emit(element + 1);
      store(element, low, high);
      continue;
    }
    SmallVector<int64_t> &waiting = gathered[threadRow];
    waiting.append({element, element + 1});
    bool isLast = element + 2 * context.rowsOfThread >= elements;
    if (static_cast<int64_t>(waiting.size()) < group && !isLast)
      continue;
    auto values = body.emit(waiting);
    for (size_t n = 0; n < waiting.size(); n += 2)
      store(waiting[n], values[n], values[n + 1]);
    waiting.clear();
  }
}

/// Multiplies a tile by row factors that mostly are 1, if one of the warp's is not.
void RowwiseEmitter::emitUnlessOne(tile::MapOp map) {
  Ptx &ptx = context.ptx;
  Value one = ptx.f32(1), differs;
  for (int64_t threadRow = 0; threadRow < context.rowsOfThread; ++threadRow) {
    Value other =
        arith::CmpFOp::create(ptx.b, ptx.loc, arith::CmpFPredicate::UNE, context.row(map.getRows()[0], threadRow), one);
    differs = differs ? arith::OrIOp::create(ptx.b, ptx.loc, differs, other).getResult() : other;
  }
  int64_t elements = context.countElements(cast<VectorType>(map.getResult(0).getType()));
  SmallVector<Type> types(elements, ptx.b.getF32Type());
  auto branch = scf::IfOp::create(ptx.b, ptx.loc, types, ptx.voteAny(differs), /*withElseRegion=*/true);
  SmallVector<Value> before;
  {
    OpBuilder::InsertionGuard guard(ptx.b);
    ptx.b.setInsertionPointToEnd(branch.elseBlock());
    for (int64_t element = 0; element < elements; ++element)
      before.push_back(context.element(map.getTiles()[0], element));
    scf::YieldOp::create(ptx.b, ptx.loc, before);
    ptx.b.setInsertionPointToEnd(branch.thenBlock());
    emitMap(map, context.threadRows());
    scf::YieldOp::create(ptx.b, ptx.loc, context.tiles[map.getResult(0)].values);
  }
  context.tiles[map.getResult(0)].values.assign(branch.getResults().begin(), branch.getResults().end());
}

/// Registers that tiles of a thread may take for each of its bands to have bits in words of its own.
static constexpr int64_t mostHeldBesideWords = 192;

/// Registers that the tile takes, and those of f32 that its loop carries: one an element.
static int64_t countHeld(tile::MaskOp mask, const EmitContext &context) {
  int64_t held = context.countElements(cast<VectorType>(mask.getResult().getType()));
  if (auto loop = mask->getParentOfType<scf::ForOp>())
    for (Type type : loop.getResultTypes())
      if (auto tile = dyn_cast<VectorType>(type); tile && tile::isTile(tile) && tile.getElementType().isF32())
        held += context.countElements(tile);
  return held;
}

void RowwiseEmitter::emitMask(tile::MaskOp mask, ArrayRef<int64_t> threadRows) {
  Ptx &ptx = context.ptx;
  int64_t elements = context.countElements(cast<VectorType>(mask.getResult().getType()));
  Value source = mask.getTiles().front();
  Fragment result;
  std::swap(result, context.tiles[mask.getResult()]);
  result.values.resize(elements);
  if (auto held = context.tiles.find(source); held != context.tiles.end())
    result.shifts = held->second.shifts;
  Value dropped = ptx.f32(-std::numeric_limits<float>::infinity());
  bool hasWordsOfBands = countHeld(mask, context) <= mostHeldBesideWords;
  for (int64_t threadRow : threadRows) {
    ElementBody body(context, mask, threadRow);
    auto words = body.emitBits(elements / context.rowsOfThread);
    // Rows that share their bits would keep a predicate for each bit from the first band for the next; a thread has
    // seven.
    if (words && threadRow >= rowsOfBand && hasWordsOfBands)
      for (Value &word : *words)
        word = ptx.afresh(word);
    int64_t number = 0;
    for (int64_t element = 0; element < elements; ++element) {
      if (context.threadRowOf(element) != threadRow)
        continue;
      Value keep = words ? ptx.testBit((*words)[number / ElementBody::bitsOfWord], number % ElementBody::bitsOfWord)
                         : body.emit(element).front();
      ++number;
      result.values[element] = ptx.select(keep, context.unshifted(source, element), dropped);
    }
  }
  std::swap(result, context.tiles[mask.getResult()]);
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

Value RowwiseEmitter::sumOverLanes(Value part) {
  Ptx &ptx = context.ptx;
  for (int64_t mask : {1, 2})
    part = arith::AddFOp::create(ptx.b, ptx.loc, part, ptx.shuffle(part, mask));
  return part;
}

Value RowwiseEmitter::maxOverLanes(Value part) {
  Ptx &ptx = context.ptx;
  for (int64_t mask : {2, 1})
    part = arith::MaxNumFOp::create(ptx.b, ptx.loc, part, ptx.shuffle(part, mask));
  return part;
}

void RowwiseEmitter::emitAny(tile::AnyOp any) {
  Ptx &ptx = context.ptx;
  Value some;
  for (int64_t threadRow = 0; threadRow < context.rowsOfThread; ++threadRow) {
    Value row = context.row(any.getRows(), threadRow);
    some = some ? arith::OrIOp::create(ptx.b, ptx.loc, some, row).getResult() : row;
  }
  context.scalars[any.getResult()] = ptx.voteAny(some);
}

void RowwiseEmitter::emitReduce(tile::ReduceOp reduce, ArrayRef<int64_t> threadRows) {
  Ptx &ptx = context.ptx;
  int64_t elements = context.countElements(cast<VectorType>(reduce.getSource().getType()));
  context.rows[reduce.getResult()].resize(context.rowsOfThread);
  bool isMax = reduce.getKind() == tile::ReduceKind::Max;
  auto join = [&](Value x, Value y) { return ptx.join(isMax, x, y); };
  auto held = context.tiles.find(reduce.getSource());
  for (int64_t threadRow : threadRows) {
    // Parts start from the accumulator; whole sums take it in once, after the lanes have met, and maxima of elements
    // that have a shift after that.
    bool shifted = isMax && held != context.tiles.end() && !held->second.shifts.empty();
    bool inside = (isMax && !shifted) || reduce.getPartial();
    auto chains = reduce->getAttrOfType<IntegerAttr>(tile::chainsAttrName);
    SmallVector<Value> parts(chains ? chains.getInt() : 1);
    if (inside)
      parts[0] = context.row(reduce.getAcc(), threadRow);
    int64_t number = 0;
    for (int64_t element = 0; element < elements; ++element)
      if (context.threadRowOf(element) == threadRow) {
        Value next =
            shifted ? context.unshifted(reduce.getSource(), element) : context.element(reduce.getSource(), element);
        Value &part = parts[number++ % parts.size()];
        part = part ? join(part, next) : next;
      }
    Value value = parts[0];
    for (Value part : ArrayRef(parts).drop_front())
      value = join(value, part);
    if (shifted)
      value = join(context.row(reduce.getAcc(), threadRow),
                   arith::AddFOp::create(ptx.b, ptx.loc, value, held->second.shifts[threadRow]));
    if (isMax) {
      value = maxOverLanes(value);
    } else if (!reduce.getPartial()) {
      value = join(context.row(reduce.getAcc(), threadRow), sumOverLanes(value));
    }
    context.rows[reduce.getResult()][threadRow] = value;
  }
}

/// An operation on row vectors, for each of the thread's rows.
void RowwiseEmitter::emitVector(Operation &op, ArrayRef<int64_t> threadRows) {
  if (matchPattern(&op, m_Constant()))
    return;
  Ptx &ptx = context.ptx;
  auto &values = context.rows[op.getResult(0)];
  values.resize(context.rowsOfThread);
  for (int64_t threadRow : threadRows) {
    Value result;
    if (auto broadcast = dyn_cast<vector::BroadcastOp>(op)) {
      result = context.scalar(broadcast.getSource());
    } else if (isa<vector::StepOp>(op)) {
      result = ptx.add(context.place.row, rowOf(threadRow));
    } else if (auto spread = dyn_cast<tile::LanePartialOp>(op)) {
      Value whole = context.row(spread.getRows(), threadRow);
      Value first = ptx.equal(ptx.bitAnd(context.place.lane, lanesOfRow - 1), 0);
      // Of the warps that have the row, one.
      if (context.sharesRows())
        first = arith::AndIOp::create(ptx.b, ptx.loc, first, ptx.equal(context.findPartOfRows(), 0));
      result = ptx.select(first, whole, ptx.f32(0));
    } else if (auto total = dyn_cast<tile::WarpReduceOp>(op)) {
      Value part = context.row(total.getParts(), threadRow);
      result = total.getMax() ? maxOverLanes(part) : sumOverLanes(part);
    } else {
      result = context
                   .cloneScalar(op,
                                [&](Value value) {
                                  return isa<VectorType>(value.getType()) ? context.row(value, threadRow)
                                                                          : context.scalar(value);
                                })
                   .front();
    }
    context.rows[op.getResult(0)][threadRow] = result;
  }
}

/// An operation on column vectors, for each of the thread's columns.
void RowwiseEmitter::emitColumns(Operation &op) {
  if (matchPattern(&op, m_Constant()))
    return;
  SmallVector<Value> values;
  for (int64_t number = 0; number < context.countColumns(cast<VectorType>(op.getResult(0).getType())); ++number) {
    if (auto broadcast = dyn_cast<vector::BroadcastOp>(op)) {
      values.push_back(context.scalar(broadcast.getSource()));
      continue;
    }
    auto results = context.cloneScalar(op, [&](Value value) {
      return isa<VectorType>(value.getType()) ? context.column(value, number) : context.scalar(value);
    });
    values.push_back(results.front());
  }
  context.columns[op.getResult(0)] = values;
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

void RowwiseEmitter::emit(Operation &op, ArrayRef<int64_t> threadRows) {
  context.ptx.loc = op.getLoc();
  auto map = dyn_cast<tile::MapOp>(op);
  if (map && map.getMostlyOne())
    emitUnlessOne(map);
  else if (map)
    emitMap(map, threadRows);
  else if (auto mask = dyn_cast<tile::MaskOp>(op))
    emitMask(mask, threadRows);
  else if (auto reduce = dyn_cast<tile::ReduceOp>(op))
    emitReduce(reduce, threadRows);
  else if (isa<tile::SchedBarrierOp>(op))
    return;
  else if (!tile::isColumnVector(op.getResult(0).getType()))
    emitVector(op, threadRows);
  else if (threadRows.front() == 0)
    emitColumns(op);
}

void RowwiseEmitter::flush() {
  SmallVector<Operation *> operations;
  std::swap(operations, waiting);
  auto pin = [&](Operation *op) {
    if (isa<tile::SchedBarrierOp>(op))
      context.ptx.pin(context.abi.getTileCount());
  };
  auto isByRow = [](Operation *op) { return op->hasAttr(tile::byRowAttrName); };
  if (llvm::none_of(operations, isByRow)) {
    for (Operation *op : operations) {
      emit(*op, context.threadRows());
      pin(op);
    }
    return;
  }
  for (int64_t threadRow : context.threadRows())
    for (Operation *op : llvm::make_filter_range(operations, isByRow)) {
      emit(*op, threadRow);
      if (threadRow + 1 == context.rowsOfThread)
        pin(op);
    }
  for (Operation *op : operations)
    if (!isByRow(op))
      emit(*op, context.threadRows());
}
