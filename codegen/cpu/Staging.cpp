//===- Staging.cpp - Copies between tensors and scratch memory --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Staging.h"
#include "dialect/tile/TileQueries.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include <functional>

using namespace mlir;
using namespace attnc;
using namespace attnc::cpu;

void attnc::cpu::forRange(EmitContext &context, Value low, Value high, int64_t step, function_ref<void(Value)> body) {
  OpBuilder &b = context.builder;
  auto loop = scf::ForOp::create(b, context.loc, low, high, context.index(step));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

Value attnc::cpu::widen(EmitContext &context, Value element) {
  Type type = getElementTypeOrSelf(element.getType());
  Type stored = storageType(type);
  if (type == stored)
    return element;
  Type target = stored;
  if (auto vector = dyn_cast<VectorType>(element.getType()))
    target = VectorType::get(vector.getShape(), stored);
  if (isa<FloatType>(type))
    return arith::ExtFOp::create(context.builder, context.loc, target, element);
  return arith::ExtUIOp::create(context.builder, context.loc, target, element);
}

Value attnc::cpu::narrow(EmitContext &context, Value held, Type element) {
  OpBuilder &b = context.builder;
  Location loc = context.loc;
  if (getElementTypeOrSelf(held.getType()) == element)
    return held;
  auto like = [&](Type type) -> Type {
    auto vector = dyn_cast<VectorType>(held.getType());
    return vector ? VectorType::get(vector.getShape(), type) : type;
  };
  if (element.isBF16()) {
    // The low half is zero.
    Value bits = arith::BitcastOp::create(b, loc, like(b.getI32Type()), held);
    Value places = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(16));
    if (isa<VectorType>(held.getType()))
      places = vector::BroadcastOp::create(b, loc, bits.getType(), places);
    Value high = arith::ShRUIOp::create(b, loc, bits, places);
    Value half = arith::TruncIOp::create(b, loc, like(b.getIntegerType(16)), high);
    return arith::BitcastOp::create(b, loc, like(element), half);
  }
  if (isa<FloatType>(element))
    return arith::TruncFOp::create(b, loc, like(element), held);
  return arith::TruncIOp::create(b, loc, like(element), held);
}

/// Whether `use` is the right operand of a product, or gives one of its rows.
static bool isRight(OpOperand &use) {
  return (isa<tile::MmaOp>(use.getOwner()) && use.getOperandNumber() == 1) || isa<tile::RowOp>(use.getOwner());
}

bool attnc::cpu::isStaged(tile::LoadOp load) { return !load->use_empty() && llvm::all_of(load->getUses(), isRight); }

void attnc::cpu::separateStagedLoads(tile::ProgramOp program) {
  SmallVector<tile::LoadOp> loads;
  program.walk([&](tile::LoadOp load) { loads.push_back(load); });
  for (tile::LoadOp load : loads) {
    SmallVector<OpOperand *> right;
    for (OpOperand &use : load->getUses())
      if (isRight(use))
        right.push_back(&use);
    if (right.empty() || isStaged(load))
      continue;
    tile::copyForUses(load, right);
  }
}

void attnc::cpu::moveToPage(EmitContext &context, Value pages, Value view, int64_t rowAxis,
                            MutableArrayRef<Value> indices) {
  OpBuilder &b = context.builder;
  Value ofPage = context.index(cast<MemRefType>(view.getType()).getDimSize(rowAxis));
  Value &page = indices[rowAxis - 1], &position = indices[rowAxis];
  Value entry = arith::DivUIOp::create(b, context.loc, position, ofPage);
  page = memref::LoadOp::create(b, context.loc, pages, ValueRange{page, entry});
  page = arith::IndexCastOp::create(b, context.loc, b.getIndexType(), page);
  position = arith::RemUIOp::create(b, context.loc, position, ofPage);
}

/// Elements below the limit along an axis, from 0 to `size`.
static Value liveBelow(EmitContext &context, Value first, Value limit, int64_t size) {
  Value left = context.max(context.sub(limit, first), context.index(0));
  return context.min(left, context.index(size));
}

Value attnc::cpu::wholeBlocks(EmitContext &context, Value live, int64_t size) {
  Value block = context.index(size);
  return context.mul(arith::DivUIOp::create(context.builder, context.loc, live, block), block);
}

/// Two rounds of perfect shuffles.
SmallVector<Value> attnc::cpu::transposed(EmitContext &context, ArrayRef<Value> rows) {
  static constexpr int64_t low[] = {0, 4, 1, 5}, high[] = {2, 6, 3, 7};
  SmallVector<Value> block(rows);
  for (int round = 0; round < 2; ++round) {
    SmallVector<Value> next;
    for (int pair = 0; pair < 2; ++pair)
      for (ArrayRef<int64_t> mask : {ArrayRef(low), ArrayRef(high)})
        next.push_back(vector::ShuffleOp::create(context.builder, context.loc, block[pair], block[pair + 2], mask));
    block = next;
  }
  return block;
}

/// What the copies of one tile share.
struct TileCopy {
  TileCopy(EmitContext &context, ProgramValues &values, tile::LoadOp load)
      : context(context), view(values.scalar(load.getView())), type(cast<VectorType>(load.getResult().getType())),
        rowAxis(load.getAxes()[0]), columnAxis(load.getAxes()[1]) {
    for (Value index : load.getIndices())
      base.push_back(values.scalar(index));
    live = liveBelow(context, base[rowAxis], values.scalar(load.getLimits()[0]), type.getDimSize(0));
    if (APInt first, limit; !matchPattern(load.getIndices()[columnAxis], m_ConstantInt(&first)) ||
                            !matchPattern(load.getLimits()[1], m_ConstantInt(&limit)) ||
                            (limit - first).getSExtValue() < columns())
      liveColumns = liveBelow(context, base[columnAxis], values.scalar(load.getLimits()[1]), columns());
    if (load.getPages())
      pages = values.scalar(load.getPages());
  }
  int64_t rows() const { return type.getDimSize(0); }
  int64_t columns() const { return type.getDimSize(1); }

  /// Rows that are copied in blocks of `size`: whole blocks of those that are live, or none where columns are cut.
  Value wholeRows(int64_t size) const { return liveColumns ? context.index(0) : wholeBlocks(context, live, size); }

  /// Indices of the first element of row `row`, which has one.
  SmallVector<Value> rowAt(Value row) const {
    SmallVector<Value> indices = base;
    indices[rowAxis] = context.add(indices[rowAxis], row);
    if (pages)
      moveToPage(context, pages, view, rowAxis, indices);
    return indices;
  }
  /// Those of so many rows from `row` on.
  SmallVector<SmallVector<Value>> rowsFrom(Value row, int64_t count) const {
    SmallVector<SmallVector<Value>> all;
    for (int64_t n = 0; n < count; ++n)
      all.push_back(rowAt(context.add(row, context.index(n))));
    return all;
  }
  /// Indices of a column of the row that begins at `row`.
  SmallVector<Value> at(SmallVector<Value> row, Value column) const {
    row[columnAxis] = context.add(row[columnAxis], column);
    return row;
  }
  /// Elements of a row as they are.
  Value vectorAt(ArrayRef<Value> row, Value column, VectorType part) const {
    return vector::LoadOp::create(context.builder, context.loc, part, view, at(llvm::to_vector(row), column));
  }

  /// Asks for the first line of the rows that lie a tile further on: their pages are then known when the products ask
  /// for the rest. One address after the other that misses in the TLB costs the products more than all of them together
  /// do here. Where the table has no entry for those rows, there is nothing to ask for.
  void prefetchSuccessors(Value row, int64_t count) const {
    if (pages)
      return;
    for (ArrayRef<Value> next : rowsFrom(context.add(row, context.index(rows())), count))
      memref::PrefetchOp::create(context.builder, context.loc, view, next, /*isWrite=*/false, /*localityHint=*/2,
                                 /*isDataCache=*/true);
  }

  EmitContext &context;
  Value view, live;
  Value liveColumns; ///< null where all columns are below their limit
  Value pages;       ///< null where rows are in none
  VectorType type;
  int64_t rowAxis, columnAxis;
  SmallVector<Value> base;
};

/// Copies what is left of a block with the last row, element by element to `place`, and zeros for rows past it.
static void copyRest(EmitContext &context, const TileCopy &tile, Value whole, Value buffer,
                     function_ref<SmallVector<Value>(Value row, Value column)> place) {
  OpBuilder &b = context.builder;
  Type element = cast<MemRefType>(buffer.getType()).getElementType();
  Value zero = context.index(0), columns = context.index(tile.columns());
  auto clear = [&](Value row, Value first) {
    forRange(context, first, columns, 1, [&](Value column) {
      memref::StoreOp::create(b, context.loc, context.constant(element, 0), buffer, place(row, column));
    });
  };
  forRange(context, whole, tile.live, 1, [&](Value row) {
    SmallVector<Value> from = tile.rowAt(row);
    forRange(context, zero, tile.liveColumns ? tile.liveColumns : columns, 1, [&](Value column) {
      Value loaded = memref::LoadOp::create(b, context.loc, tile.view, tile.at(from, column));
      memref::StoreOp::create(b, context.loc, loaded.getType() == element ? loaded : widen(context, loaded), buffer,
                              place(row, column));
    });
    if (tile.liveColumns)
      clear(row, tile.liveColumns);
  });
  forRange(context, tile.live, context.index(tile.rows()), 1, [&](Value row) { clear(row, zero); });
}

/// Copies a tile to [columns / n][rows][n], elements of n columns side by side; with `byRows` to [rows /
/// n][columns][n].
static Value packTile(EmitContext &context, const TileCopy &tile, bool byRows) {
  OpBuilder &b = context.builder;
  Location loc = context.loc;
  int64_t size = context.columns, groups = (byRows ? tile.rows() : tile.columns()) / size;
  // A cache line more than a group: groups a power of two apart would share the sets of the cache.
  int64_t depth = (byRows ? tile.columns() : tile.rows()) + cacheLine / 4 / size;
  Value buffer = context.allocate({groups, depth, size}, b.getF32Type());
  auto place = [&](Value row, Value column) {
    Value within = byRows ? row : column, step = byRows ? column : row;
    return SmallVector<Value>{arith::DivUIOp::create(b, loc, within, context.index(size)), step,
                              arith::RemUIOp::create(b, loc, within, context.index(size))};
  };
  Value zero = context.index(0), columns = context.index(tile.columns());
  Value whole = tile.wholeRows(squareBlock);
  auto part = VectorType::get({squareBlock}, tile.type.getElementType());
  forRange(context, zero, whole, squareBlock, [&](Value row) {
    tile.prefetchSuccessors(row, squareBlock);
    SmallVector<SmallVector<Value>> rows = tile.rowsFrom(row, squareBlock);
    forRange(context, zero, columns, squareBlock, [&](Value column) {
      SmallVector<Value> square;
      for (ArrayRef<Value> from : rows)
        square.push_back(widen(context, tile.vectorAt(from, column, part)));
      for (auto [n, vector] : llvm::enumerate(byRows ? transposed(context, square) : square)) {
        Value next = context.index(n);
        vector::StoreOp::create(b, loc, vector, buffer,
                                byRows ? place(row, context.add(column, next)) : place(context.add(row, next), column));
      }
    });
  });
  copyRest(context, tile, whole, buffer, place);
  return buffer;
}

/// Copies rows as they are, or widened to `element`; those past the limit are 0.
static Value copyRows(EmitContext &context, const TileCopy &tile, Type element) {
  OpBuilder &b = context.builder;
  Location loc = context.loc;
  Type stored = tile.type.getElementType();
  Value buffer = context.allocate({tile.rows(), tile.columns()}, element);
  Value zero = context.index(0), columns = context.index(tile.columns());
  if (tile.liveColumns || stored.isInteger(1)) {
    copyRest(context, tile, zero, buffer, [](Value row, Value column) { return SmallVector<Value>{row, column}; });
    return buffer;
  }
  int64_t size = 2 * context.lanes * 16 / stored.getIntOrFloatBitWidth();
  while (tile.columns() % size != 0)
    size /= 2;
  auto type = VectorType::get({size}, stored);
  forRange(context, zero, tile.live, 1, [&](Value row) {
    tile.prefetchSuccessors(row, 1);
    SmallVector<Value> from = tile.rowAt(row);
    forRange(context, zero, columns, size, [&](Value column) {
      Value part = tile.vectorAt(from, column, type);
      vector::StoreOp::create(b, loc, stored == element ? part : widen(context, part), buffer, {row, column});
    });
  });
  Value none = arith::ConstantOp::create(b, loc, b.getZeroAttr(VectorType::get({size}, element)));
  forRange(context, tile.live, context.index(tile.rows()), 1, [&](Value row) {
    forRange(context, zero, columns, size,
             [&](Value column) { vector::StoreOp::create(b, loc, none, buffer, {row, column}); });
  });
  return buffer;
}

/// Copies columns of bf16 to rows; elements past the limit are 0. Pairs of rows are turned as words.
static Value copyColumns(EmitContext &context, const TileCopy &tile) {
  OpBuilder &b = context.builder;
  Location loc = context.loc;
  Type element = tile.type.getElementType();
  Value buffer = context.allocate({tile.columns(), tile.rows()}, element);
  Value zero = context.index(0), columns = context.index(tile.columns());
  constexpr int64_t rowsOfBlock = 2 * squareBlock;
  auto narrow = VectorType::get({squareBlock}, element), pairs = VectorType::get({rowsOfBlock}, element);
  auto words = VectorType::get({squareBlock}, b.getI32Type());
  Value whole = tile.wholeRows(rowsOfBlock);
  forRange(context, zero, whole, rowsOfBlock, [&](Value row) {
    SmallVector<SmallVector<Value>> rows = tile.rowsFrom(row, rowsOfBlock);
    forRange(context, zero, columns, squareBlock, [&](Value column) {
      SmallVector<Value> square;
      for (int64_t n = 0; n < rowsOfBlock; n += 2) {
        Value first = tile.vectorAt(rows[n], column, narrow), second = tile.vectorAt(rows[n + 1], column, narrow);
        Value pair = vector::InterleaveOp::create(b, loc, first, second);
        square.push_back(vector::BitCastOp::create(b, loc, words, pair));
      }
      for (auto [n, turned] : llvm::enumerate(transposed(context, square)))
        vector::StoreOp::create(b, loc, vector::BitCastOp::create(b, loc, pairs, turned), buffer,
                                {context.add(column, context.index(n)), row});
    });
  });
  copyRest(context, tile, whole, buffer, [](Value row, Value column) { return SmallVector<Value>{column, row}; });
  return buffer;
}

void attnc::cpu::stageTile(EmitContext &context, ProgramValues &values, tile::LoadOp load) {
  OpBuilder &b = context.builder;
  TileCopy tile(context, values, load);
  for (Operation *user : load->getUsers()) {
    if (isa<tile::RowOp>(user)) {
      if (Value &buffer = values.whole[load.getResult()]; !buffer)
        buffer = copyRows(context, tile, storageType(tile.type.getElementType()));
      continue;
    }
    auto product = cast<tile::MmaOp>(user);
    bool byRows = product.getTransposed();
    if (usesPairs(context, product)) {
      Value &buffer = values.forPairs(load.getResult(), byRows);
      if (!buffer)
        buffer = byRows ? copyRows(context, tile, tile.type.getElementType()) : copyColumns(context, tile);
      continue;
    }
    Value &buffer = values.packed(load.getResult(), byRows);
    if (buffer)
      continue;
    // One register of rows takes less time than packing would.
    if (context.panels * context.vectors > 1)
      buffer = packTile(context, tile, byRows);
    else if (Value &other = values.packed(load.getResult(), !byRows))
      buffer = other;
    else
      buffer = copyRows(context, tile, b.getF32Type());
  }
}

void attnc::cpu::stageColumns(EmitContext &context, ProgramValues &values, tile::LoadOp load) {
  OpBuilder &b = context.builder;
  VectorType type = load.getResult().getType();
  int64_t size = type.getDimSize(1), axis = load.getAxes()[0];
  Type element = storageType(type.getElementType());
  Value buffer = context.allocate({size}, element);
  values.columns[load.getResult()] = buffer;
  SmallVector<Value> base;
  for (Value index : load.getIndices())
    base.push_back(values.scalar(index));
  Value live = liveBelow(context, base[axis], values.scalar(load.getLimits()[0]), size);
  forRange(context, context.index(0), live, 1, [&](Value position) {
    SmallVector<Value> from = base;
    from[axis] = context.add(from[axis], position);
    Value loaded = memref::LoadOp::create(b, context.loc, values.scalar(load.getView()), from);
    memref::StoreOp::create(b, context.loc, widen(context, loaded), buffer, position);
  });
  forRange(context, live, context.index(size), 1, [&](Value position) {
    memref::StoreOp::create(b, context.loc, context.constant(element, 0), buffer, position);
  });
}

void attnc::cpu::emitMinMax(EmitContext &context, ProgramValues &values, tile::MinMaxOp minMax) {
  OpBuilder &b = context.builder;
  Location loc = context.loc;
  Value view = values.scalar(minMax.getView());
  Type element = minMax.getMin().getType();
  bool isCondition = element.isInteger(1);
  Type held = storageType(element);
  unsigned bits = held.getIntOrFloatBitWidth();
  Value min = arith::ConstantOp::create(b, loc, b.getIntegerAttr(held, APInt::getSignedMaxValue(bits)));
  Value max = arith::ConstantOp::create(b, loc, b.getIntegerAttr(held, APInt::getSignedMinValue(bits)));

  SmallVector<Value> indices(minMax.getFirst().size());
  // Loops over the dimensions that are ranges, one inside the other.
  std::function<std::pair<Value, Value>(size_t, Value, Value)> visit = [&](size_t dim, Value low, Value high) {
    if (dim == indices.size()) {
      Value loaded = widen(context, memref::LoadOp::create(b, loc, view, indices));
      return std::pair<Value, Value>(arith::MinSIOp::create(b, loc, low, loaded),
                                     arith::MaxSIOp::create(b, loc, high, loaded));
    }
    Value first = values.scalar(minMax.getFirst()[dim]), last = values.scalar(minMax.getLast()[dim]);
    if (first == last) {
      indices[dim] = first;
      return visit(dim + 1, low, high);
    }
    auto loop =
        scf::ForOp::create(b, loc, first, context.add(last, context.index(1)), context.index(1), ValueRange{low, high});
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(loop.getBody());
    indices[dim] = loop.getInductionVar();
    auto [innerLow, innerHigh] = visit(dim + 1, loop.getRegionIterArgs()[0], loop.getRegionIterArgs()[1]);
    scf::YieldOp::create(b, loc, ValueRange{innerLow, innerHigh});
    return std::pair<Value, Value>(loop.getResult(0), loop.getResult(1));
  };
  std::tie(min, max) = visit(0, min, max);
  if (isCondition) {
    // No element at all leaves 127 and -128: all are set, none is.
    Value zero = context.constant(held, 0);
    min = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, min, zero);
    max = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, max, zero);
  }
  values.scalars.map(minMax.getMin(), min);
  values.scalars.map(minMax.getMax(), max);
}
