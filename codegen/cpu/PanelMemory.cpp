//===- PanelMemory.cpp - Loads, stores and products of a panel --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/cpu/PanelEmitter.h"
#include "codegen/cpu/Staging.h"
#include "dialect/tile/BlockedRows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::cpu;

template <typename Op>
PanelEmitter::PanelAccess PanelEmitter::accessOf(Op op, VectorType type) {
  PanelAccess access{{}, {}, 0, 0, op.getRowGroup(), 0, {}, {}, {}, op.getBlocked()};
  access.view = values.scalar(op.getView());
  for (Value index : op.getIndices())
    access.base.push_back(values.scalar(index));
  access.rowAxis = op.getAxes()[0];
  access.columnAxis = type.getRank() == 1 ? -1 : op.getAxes()[1];
  access.columns = type.getRank() == 1 ? 1 : type.getDimSize(1);

  auto liveBelow = [&](Value first, Value limit, int64_t size, int64_t group) {
    Value left = context.greatest(context.sub(values.scalar(limit), first), context.index(0));
    return context.least(group == 1 ? left : context.mul(left, context.index(group)), context.index(size));
  };
  // Panels begin with whole groups.
  Value firstRow = context.add(access.base[access.rowAxis],
                               context.mul(panel, context.index(context.panelRows() / access.group.size)));
  access.liveRows = liveBelow(firstRow, op.getLimits()[0], context.panelRows(), access.group.size);
  access.liveColumns = access.columnAxis < 0
                           ? context.index(1)
                           : liveBelow(access.base[access.columnAxis], op.getLimits()[1], access.columns, 1);
  access.base[access.rowAxis] = firstRow;
  if constexpr (std::is_same_v<Op, tile::LoadOp>)
    if (op.getPages())
      access.pages = values.scalar(op.getPages());
  return access;
}

/// Indices of an element in the view.
SmallVector<Value> PanelEmitter::viewIndices(const PanelAccess &access, Value row, Value column) {
  SmallVector<Value> indices = access.base;
  auto move = [&](int64_t axis, Value by) { indices[axis] = context.add(indices[axis], by); };
  if (access.group.size == 1) {
    move(access.rowAxis, row);
  } else {
    Value size = context.index(access.group.size);
    move(access.rowAxis, arith::DivUIOp::create(context.builder, context.loc, row, size));
    if (access.group.dimension >= 0)
      move(access.group.dimension, arith::RemUIOp::create(context.builder, context.loc, row, size));
  }
  if (access.columnAxis >= 0)
    indices[access.columnAxis] = context.add(indices[access.columnAxis], column);
  if (access.pages)
    moveToPage(context, access.pages, access.view, access.rowAxis, indices);
  if (access.blocked)
    moveToBlocked(access, indices);
  return indices;
}

/// Goes to where the order of `tile::BlockedRows` has an element, as its `positionOf` says.
void PanelEmitter::moveToBlocked(const PanelAccess &access, MutableArrayRef<Value> indices) {
  using tile::BlockedRows;
  OpBuilder &b = context.builder;
  auto divide = [&](Value x, int64_t by) {
    return std::pair<Value, Value>(arith::DivUIOp::create(b, context.loc, x, context.index(by)),
                                   arith::RemUIOp::create(b, context.loc, x, context.index(by)));
  };
  auto scaled = [&](Value x, int64_t by) { return context.mul(x, context.index(by)); };
  constexpr int64_t ofLane = 2, lanesOfRow = BlockedRows::blockColumns / ofLane, half = BlockedRows::bandRows / 2;
  auto [band, inBand] = divide(indices[0], BlockedRows::bandRows);
  auto [block, inBlock] = divide(indices[1], BlockedRows::blockColumns);
  auto [lower, row] = divide(inBand, half);
  auto [pair, second] = divide(inBlock, ofLane);
  Value lane = context.add(scaled(row, lanesOfRow), pair), inPiece = context.add(scaled(lower, ofLane), second);
  Value place = context.add(scaled(block, BlockedRows::blockElements), scaled(lane, BlockedRows::pieceElements));
  place = context.add(context.add(place, inPiece), scaled(band, BlockedRows::bandRows * access.columns));
  std::tie(indices[0], indices[1]) = divide(place, access.columns);
}

/// Indices of the same element in a buffer: of one panel, or of all.
SmallVector<Value> PanelEmitter::elementIndices(const PanelAccess &access, Value buffer, Value row, Value column) {
  SmallVector<Value> indices{row};
  if (access.columnAxis >= 0)
    indices.insert(indices.begin(), column);
  if (cast<MemRefType>(buffer.getType()).getRank() > static_cast<int64_t>(indices.size()))
    indices.insert(indices.begin(), panel);
  return indices;
}

/// Visits what is live of a panel in blocks of `squareBlock` rows and `columnsOfSquare` columns, and what they leave
/// over in `columnsOfSingle` columns of a row at a time; all of it so where the elements of a row do not lie side by
/// side in the view.
void PanelEmitter::forElements(const PanelAccess &access, int64_t columnsOfSquare, int64_t columnsOfSingle,
                               llvm::function_ref<void(Value, Value)> square,
                               llvm::function_ref<void(Value, Value)> single) {
  Value zero = context.index(0);
  auto type = cast<MemRefType>(access.view.getType());
  bool isContiguous = !access.blocked && access.columnAxis == type.getRank() - 1 && type.isLastDimUnitStride();
  Value rows = isContiguous ? wholeBlocks(context, access.liveRows, squareBlock) : zero;
  if (isContiguous)
    forRange(context, zero, rows, squareBlock, [&](Value row) {
      Value columns = wholeBlocks(context, access.liveColumns, columnsOfSquare);
      forRange(context, zero, columns, columnsOfSquare, [&](Value column) { square(row, column); });
      forRange(context, columns, access.liveColumns, columnsOfSingle, [&](Value column) {
        for (int64_t n = 0; n < squareBlock; ++n)
          single(context.add(row, context.index(n)), column);
      });
    });
  forRange(context, rows, access.liveRows, 1, [&](Value row) {
    forRange(context, zero, access.liveColumns, columnsOfSingle, [&](Value column) { single(row, column); });
  });
}

/// Copies rows of a view into a panel, transposed: buffer[column][row]. Rows and columns past the limits are 0.
void PanelEmitter::emitLoad(tile::LoadOp op) {
  auto isTileProduct = [&](Operation *user) {
    auto product = dyn_cast<tile::MmaOp>(user);
    return product && usesTiles(context, product);
  };
  if (llvm::any_of(op->getUsers(), isTileProduct))
    loadPairs(op);
  if (!op->use_empty() && llvm::all_of(op->getUsers(), isTileProduct))
    return;
  OpBuilder &b = context.builder;
  Location loc = context.loc;
  auto type = cast<VectorType>(op.getResult().getType());
  PanelAccess access = accessOf(op, type);
  bool isVector = type.getRank() == 1;
  Type element = storageType(type.getElementType());

  Value state;
  if (usedOutside(op.getResult()) || isVector) {
    SmallVector<int64_t> shape{context.panels, context.panelRows()};
    if (!isVector)
      shape.insert(shape.begin() + 1, access.columns);
    state = values.states[op.getResult()] = context.allocate(shape, element);
  } else {
    state = buffers[op.getResult()] = context.allocate({access.columns, context.panelRows()}, element);
  }
  auto clear = [&](Value row, Value column) {
    memref::StoreOp::create(b, loc, context.constant(element, 0), state, elementIndices(access, state, row, column));
  };

  auto loadSquare = [&](Value row, Value column) {
    auto narrowType = VectorType::get({squareBlock}, cast<MemRefType>(access.view.getType()).getElementType());
    SmallVector<Value> square;
    for (int64_t n = 0; n < squareBlock; ++n)
      square.push_back(
          widen(context, vector::LoadOp::create(b, loc, narrowType, access.view,
                                                viewIndices(access, context.add(row, context.index(n)), column))));
    for (auto [n, turned] : llvm::enumerate(transposed(context, square)))
      vector::StoreOp::create(b, loc, turned, state,
                              elementIndices(access, state, row, context.add(column, context.index(n))));
  };
  Value zero = context.index(0), allColumns = context.index(access.columns);
  forElements(access, squareBlock, /*columnsOfSingle=*/1, loadSquare, [&](Value row, Value column) {
    Value loaded = memref::LoadOp::create(b, loc, access.view, viewIndices(access, row, column));
    memref::StoreOp::create(b, loc, widen(context, loaded), state, elementIndices(access, state, row, column));
  });
  forRange(context, zero, access.liveRows, 1, [&](Value row) {
    forRange(context, access.liveColumns, allColumns, 1, [&](Value column) { clear(row, column); });
  });
  forRange(context, access.liveRows, context.index(context.panelRows()), 1,
           [&](Value row) { forRange(context, zero, allColumns, 1, [&](Value column) { clear(row, column); }); });
}

/// Copies a panel out, row by row, as far as the limits go, or adds it to what is there, element by element: other
/// threads may add to the same.
void PanelEmitter::emitStore(tile::StoreOp op) {
  OpBuilder &b = context.builder;
  Location loc = context.loc;
  auto type = cast<VectorType>(op.getValue().getType());
  PanelAccess access = accessOf(op, type);
  Value buffer;
  Value zero = context.index(0);
  if (type.getRank() == 1) {
    buffer = context.allocate({context.panelRows()}, storageType(type.getElementType()));
    for (auto [number, vector] : llvm::enumerate(rowVector(op.getValue())))
      context.storeVector(asStored(vector), buffer, zero, static_cast<int64_t>(number));
  } else {
    buffer = findStored(op.getValue());
    if (!buffer) {
      bringRows(op.getValue().getDefiningOp());
      buffer = context.allocate({access.columns, context.panelRows()}, b.getF32Type());
      auto loop = scf::ForOp::create(b, loc, zero, context.index(access.columns), context.index(context.columns));
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      Value column = loop.getInductionVar();
      storeBlock(evaluate(op.getValue(), column), buffer, column);
    }
  }
  if (op.getAccumulate()) {
    // The tile's rows are added all, or none.
    Value isBelow =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, values.scalar(op.getIndices()[access.rowAxis]),
                              values.scalar(op.getLimits()[0]));
    access.liveRows = arith::SelectOp::create(b, loc, isBelow, context.index(context.panelRows()), zero);
    access.liveColumns = context.index(access.columns);
  }
  auto storeSquare = [&](Value row, Value column) {
    auto held = VectorType::get({squareBlock}, cast<MemRefType>(buffer.getType()).getElementType());
    SmallVector<Value> square;
    for (int64_t n = 0; n < squareBlock; ++n)
      square.push_back(vector::LoadOp::create(
          b, loc, held, buffer, elementIndices(access, buffer, row, context.add(column, context.index(n)))));
    for (auto [n, turned] : llvm::enumerate(transposed(context, square)))
      vector::StoreOp::create(b, loc, narrow(context, turned, type.getElementType()), access.view,
                              viewIndices(access, context.add(row, context.index(n)), column));
  };
  forElements(access, squareBlock, /*columnsOfSingle=*/1, storeSquare, [&](Value row, Value column) {
    Value element = memref::LoadOp::create(b, loc, buffer, elementIndices(access, buffer, row, column));
    if (op.getAccumulate()) {
      memref::AtomicRMWOp::create(b, loc, arith::AtomicRMWKind::addf, element, access.view,
                                  viewIndices(access, row, column));
      return;
    }
    memref::StoreOp::create(b, loc, narrow(context, element, type.getElementType()), access.view,
                            viewIndices(access, row, column));
  });
}

/// Adds the elements of a panel one by one. Other threads may add to the same.
void PanelEmitter::emitScatter(tile::ScatterOp op) {
  OpBuilder &b = context.builder;
  Location loc = context.loc;
  Value buffer = stored(op.getValue()), zero = context.index(0);
  SmallVector<Value> places = llvm::map_to_vector(op.getPlaces(), [&](Value tile) { return stored(tile); });
  forRange(context, zero, context.index(columnsOf(op.getValue())), 1, [&](Value column) {
    forRange(context, zero, context.index(context.panelRows()), 1, [&](Value row) {
      auto elementOf = [&](Value stored) -> Value {
        SmallVector<Value> indices = bufferIndices(stored, column);
        indices.back() = row;
        return memref::LoadOp::create(b, loc, stored, indices);
      };
      Value value = elementOf(buffer);
      Value adds = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, value, context.constant(b.getF32Type(), 0));
      auto branch = scf::IfOp::create(b, loc, adds, /*withElseRegion=*/false);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(branch.thenBlock()->getTerminator());
      SmallVector<Value> at = llvm::map_to_vector(op.getIndices(), [&](Value index) { return values.scalar(index); });
      for (auto [axis, tile] : llvm::zip_equal(op.getAxes(), places)) {
        Value place = arith::IndexCastOp::create(b, loc, b.getIndexType(), elementOf(tile));
        at[axis] = context.add(at[axis], place);
      }
      memref::AtomicRMWOp::create(b, loc, arith::AtomicRMWKind::addf, value, values.scalar(op.getView()), at);
    });
  });
}

/// Products summed over columns [low, high) of the first factor, for a block of columns of the result: sums stay in
/// registers, elements of the second factor are broadcast.
ColumnBlock PanelEmitter::sumProducts(tile::MmaOp op, Value column, Value low, Value high) {
  OpBuilder &b = context.builder;
  Location loc = context.loc;
  Value a = findStored(op.getA());
  Value packed = values.packed(op.getB(), op.getTransposed());
  assert(a && packed && "factors are stored before they are multiplied");
  // Four steps of the sum a turn: enough to hide the loop's own work, little enough for the instruction cache.
  constexpr int64_t unroll = 4;
  Value zero = context.splat(context.constant(b.getF32Type(), 0));
  SmallVector<Value> init(context.columns * context.vectors, zero);
  Value group = arith::DivUIOp::create(b, loc, column, context.index(context.columns));
  // Packed, or in rows as they are stored.
  bool isPacked = cast<MemRefType>(packed.getType()).getRank() == 3;
  auto place = [&](Value k, int64_t offset) -> SmallVector<Value> {
    Value number = context.index(offset);
    if (isPacked)
      return {group, k, number};
    number = context.add(column, number);
    return op.getTransposed() ? SmallVector<Value>{number, k} : SmallVector<Value>{k, number};
  };
  auto loop = scf::ForOp::create(b, loc, low, high, context.index(unroll), init);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(loop.getBody());
    SmallVector<Value> sums(loop.getRegionIterArgs());
    for (int64_t step = 0; step < unroll; ++step) {
      Value k = context.add(loop.getInductionVar(), context.index(step));
      SmallVector<Value> indices = bufferIndices(a, k);
      Lanes factor;
      for (int64_t number = 0; number < context.vectors; ++number)
        factor.push_back(context.loadVector(a, indices, number));
      for (int64_t offset = 0; offset < context.columns; ++offset) {
        Value element = memref::LoadOp::create(b, loc, packed, place(k, offset));
        Value everywhere = context.splat(element);
        for (int64_t number = 0; number < context.vectors; ++number) {
          Value &sum = sums[offset * context.vectors + number];
          sum = vector::FMAOp::create(b, loc, factor[number], everywhere, sum);
        }
      }
    }
    scf::YieldOp::create(b, loc, sums);
  }
  ColumnBlock block;
  ValueRange sums = loop.getResults();
  for (int64_t offset = 0; offset < context.columns; ++offset) {
    block.push_back(Lanes(sums.take_front(context.vectors)));
    sums = sums.drop_front(context.vectors);
  }
  return block;
}

/// Asks for a share of the next tile of keys or values while this one is multiplied: by the time it is staged, all of
/// it has come from memory. Blocks of columns, of which the product has `blocks` and this is number `block`, take turns
/// with its rows, or parts of rows: those of the later half of the panels, as part of what came earlier would be gone
/// again from a cache that is nearly full. Of rows in pages the table says where the next are, if it has an entry.
void PanelEmitter::prefetchNext(tile::MmaOp op, Value block, int64_t blocks) {
  auto load = op.getB().getDefiningOp<tile::LoadOp>();
  if (!load || load.getPages() || !load->getParentOfType<scf::ForOp>())
    return;
  OpBuilder &b = context.builder;
  auto type = cast<VectorType>(load.getResult().getType());
  int64_t rows = type.getDimSize(0), columns = type.getDimSize(1);
  int64_t lineElements = cacheLine * 8 / type.getElementTypeBitWidth();
  int64_t lines = llvm::divideCeil(columns, lineElements);
  int64_t firstPanel = context.panels / 2, turns = (context.panels - firstPanel) * blocks;
  // More turns than rows: a row is shared out. Fewer: a turn takes several rows.
  int64_t parts = 1;
  while (2 * parts * rows <= turns && lines % (2 * parts) == 0)
    parts *= 2;
  int64_t rowsPerTurn = llvm::divideCeil(rows * parts, turns);

  Value isLate = arith::CmpIOp::create(b, context.loc, arith::CmpIPredicate::uge, panel, context.index(firstPanel));
  auto branch = scf::IfOp::create(b, context.loc, isLate, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenBlock()->getTerminator());
  Value turn = context.add(context.mul(context.sub(panel, context.index(firstPanel)), context.index(blocks)), block);
  Value row = arith::DivUIOp::create(b, context.loc, turn, context.index(parts));
  Value part = arith::RemUIOp::create(b, context.loc, turn, context.index(parts));
  SmallVector<Value> base;
  for (Value index : load.getIndices())
    base.push_back(values.scalar(index));
  int64_t rowAxis = load.getAxes()[0], columnAxis = load.getAxes()[1];
  for (int64_t extra = 0; extra < rowsPerTurn; ++extra) {
    SmallVector<Value> at = base;
    Value next = context.add(context.mul(row, context.index(rowsPerTurn)), context.index(rows + extra));
    at[rowAxis] = context.add(at[rowAxis], next);
    at[columnAxis] = context.add(at[columnAxis], context.mul(part, context.index(columns / parts)));
    for (int64_t line = 0; line < lines / parts; ++line) {
      SmallVector<Value> address = at;
      address[columnAxis] = context.add(address[columnAxis], context.index(line * lineElements));
      // Level 2: the first-level cache is full of this tile.
      memref::PrefetchOp::create(b, context.loc, values.scalar(load.getView()), address, /*isWrite=*/false,
                                 /*localityHint=*/2, /*isDataCache=*/true);
    }
  }
}

/// Adds two blocks of columns; where an element of the first is a product, in one instruction with it.
static ColumnBlock addBlocks(EmitContext &context, const ColumnBlock &a, const ColumnBlock &b) {
  ColumnBlock sum = a;
  for (auto [left, right] : llvm::zip_equal(sum, b))
    for (auto [x, y] : llvm::zip_equal(left, right)) {
      if (auto product = x.getDefiningOp<arith::MulFOp>())
        x = vector::FMAOp::create(context.builder, context.loc, product.getLhs(), product.getRhs(), y);
      else
        x = arith::AddFOp::create(context.builder, context.loc, x, y);
    }
  return sum;
}

/// How many products go into one piece of a sum of `depth` products, which head dims make a multiple of 8: at most 32
/// where such pieces divide them, else half of them.
static int64_t pieceOf(int64_t depth) {
  constexpr int64_t longest = 32, mostPieces = 8;
  if (depth > 2 * longest)
    for (int64_t pieces = (depth + longest - 1) / longest; pieces <= mostPieces; ++pieces)
      if (depth % (8 * pieces) == 0)
        return depth / pieces;
  return depth / 2;
}

/// A product is summed apart and then added, and long sums of f32 in pieces: rounding errors grow with the length of
/// the longest chain of additions, and f32 inputs leave nothing to hide them behind. On narrower inputs the pieces
/// would be wasted.
ColumnBlock PanelEmitter::evaluateMma(tile::MmaOp op, Value column) {
  OpBuilder &b = context.builder;
  int64_t depth = columnsOf(op.getA());
  int64_t piece = pieceOf(depth);
  bool isExact = cast<VectorType>(op.getA().getType()).getElementType().isF32();
  // What is added to an accumulator is a piece of a longer sum already.
  bool isWhole = matchPattern(op.getAcc(), m_AnyZeroFloat());
  prefetchNext(op, arith::DivUIOp::create(b, context.loc, column, context.index(context.columns)),
               columnsOf(op.getResult()) / context.columns);
  ColumnBlock product;
  if (!isExact || !isWhole || depth <= 32) {
    product = sumProducts(op, column, context.index(0), context.index(depth));
  } else {
    SmallVector<Value> init;
    for (const Lanes &lanes : sumProducts(op, column, context.index(0), context.index(piece)))
      llvm::append_range(init, lanes);
    auto loop =
        scf::ForOp::create(b, context.loc, context.index(piece), context.index(depth), context.index(piece), init);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(loop.getBody());
    Value low = loop.getInductionVar();
    auto asBlock = [&](ValueRange flat) {
      ColumnBlock block;
      for (; !flat.empty(); flat = flat.drop_front(context.vectors))
        block.push_back(Lanes(flat.take_front(context.vectors)));
      return block;
    };
    SmallVector<Value> next;
    for (const Lanes &lanes : addBlocks(context, asBlock(loop.getRegionIterArgs()),
                                        sumProducts(op, column, low, context.add(low, context.index(piece)))))
      llvm::append_range(next, lanes);
    scf::YieldOp::create(b, context.loc, next);
    product = asBlock(loop.getResults());
  }
  if (isWhole)
    return product;
  return addBlocks(context, evaluate(op.getAcc(), column), product);
}
