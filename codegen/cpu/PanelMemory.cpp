//===- PanelMemory.cpp - Loads and stores of a panel ------------*- C++ -*-===//
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
  access.columnAxis = tile::isRowVector(type) ? -1 : op.getAxes()[1];
  access.columns = tile::isRowVector(type) ? 1 : type.getDimSize(1);

  auto liveBelow = [&](Value first, Value limit, int64_t size, int64_t group) {
    Value left = context.max(context.sub(values.scalar(limit), first), context.index(0));
    return context.min(group == 1 ? left : context.mul(left, context.index(group)), context.index(size));
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

/// Copies elements that are live from where they are to `buffer`.
void PanelEmitter::copyIn(const PanelAccess &access, Value buffer) {
  OpBuilder &b = context.builder;
  Location loc = context.loc;
  auto loadSquare = [&](Value row, Value column) {
    auto narrowType = VectorType::get({squareBlock}, cast<MemRefType>(access.view.getType()).getElementType());
    SmallVector<Value> square;
    for (int64_t n = 0; n < squareBlock; ++n)
      square.push_back(
          widen(context, vector::LoadOp::create(b, loc, narrowType, access.view,
                                                viewIndices(access, context.add(row, context.index(n)), column))));
    for (auto [n, turned] : llvm::enumerate(transposed(context, square)))
      vector::StoreOp::create(b, loc, turned, buffer,
                              elementIndices(access, buffer, row, context.add(column, context.index(n))));
  };
  forElements(access, squareBlock, /*columnsOfSingle=*/1, loadSquare, [&](Value row, Value column) {
    Value loaded = memref::LoadOp::create(b, loc, access.view, viewIndices(access, row, column));
    memref::StoreOp::create(b, loc, widen(context, loaded), buffer, elementIndices(access, buffer, row, column));
  });
}

/// Copies rows of a view into a panel, transposed: buffer[column][row]. Rows and columns past the limits are 0.
void PanelEmitter::emitLoad(tile::LoadOp op) {
  auto isOfPairs = [&](Operation *user) {
    auto product = dyn_cast<tile::MmaOp>(user);
    return product && usesPairs(context, product);
  };
  if (llvm::any_of(op->getUsers(), isOfPairs))
    loadPairs(op);
  if (!op->use_empty() && llvm::all_of(op->getUsers(), isOfPairs))
    return;
  OpBuilder &b = context.builder;
  Location loc = context.loc;
  auto type = cast<VectorType>(op.getResult().getType());
  PanelAccess access = accessOf(op, type);
  Type element = storageType(type.getElementType());
  Value state = placeFor(op.getResult());
  auto clear = [&](Value row, Value column) {
    memref::StoreOp::create(b, loc, context.constant(element, 0), state, elementIndices(access, state, row, column));
  };
  Value zero = context.index(0), allColumns = context.index(access.columns);
  copyIn(access, state);
  forRange(context, zero, access.liveRows, 1, [&](Value row) {
    forRange(context, access.liveColumns, allColumns, 1, [&](Value column) { clear(row, column); });
  });
  forRange(context, access.liveRows, context.index(context.panelRows()), 1,
           [&](Value row) { forRange(context, zero, allColumns, 1, [&](Value column) { clear(row, column); }); });
}

/// The buffer of what is brought from memory: a state where others read it, and of row vectors.
Value PanelEmitter::placeFor(Value value) {
  auto type = cast<VectorType>(value.getType());
  Type element = storageType(type.getElementType());
  bool isVector = tile::isRowVector(type);
  if (!usedOutside(value) && !isVector)
    return buffers[value] = context.allocate({columnsOf(value), context.panelRows()}, element);
  SmallVector<int64_t> shape{context.panels, context.panelRows()};
  if (!isVector)
    shape.insert(shape.begin() + 1, columnsOf(value));
  return values.states[value] = context.allocate(shape, element);
}

/// The buffer of a tile that is copied out: one that it is computed to for that, where nothing else has stored it.
Value PanelEmitter::bufferOf(Value tile) {
  if (Value buffer = findStored(tile))
    return buffer;
  OpBuilder &b = context.builder;
  bringRows(tile.getDefiningOp());
  Value buffer = context.allocate({columnsOf(tile), context.panelRows()},
                                  storageType(cast<VectorType>(tile.getType()).getElementType()));
  auto loop = scf::ForOp::create(b, context.loc, context.index(0), context.index(columnsOf(tile)),
                                 context.index(context.columns));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value column = loop.getInductionVar();
  storeBlock(evaluate(tile, column), buffer, column);
  return buffer;
}

/// Copies elements of a buffer that are live out, row by row, as elements of `element`, or adds them to what is there,
/// one by one.
void PanelEmitter::copyOut(const PanelAccess &access, Value buffer, Type element, Addition addition) {
  OpBuilder &b = context.builder;
  Location loc = context.loc;
  auto storeSquare = [&](Value row, Value column) {
    auto held = VectorType::get({squareBlock}, cast<MemRefType>(buffer.getType()).getElementType());
    SmallVector<Value> square;
    for (int64_t n = 0; n < squareBlock; ++n)
      square.push_back(vector::LoadOp::create(
          b, loc, held, buffer, elementIndices(access, buffer, row, context.add(column, context.index(n)))));
    for (auto [n, turned] : llvm::enumerate(transposed(context, square)))
      vector::StoreOp::create(b, loc, narrow(context, turned, element), access.view,
                              viewIndices(access, context.add(row, context.index(n)), column));
  };
  forElements(access, squareBlock, /*columnsOfSingle=*/1, storeSquare, [&](Value row, Value column) {
    Value loaded = memref::LoadOp::create(b, loc, buffer, elementIndices(access, buffer, row, column));
    SmallVector<Value> at = viewIndices(access, row, column);
    if (addition == Addition::Atomic) {
      memref::AtomicRMWOp::create(b, loc, arith::AtomicRMWKind::addf, loaded, access.view, at);
      return;
    }
    if (addition == Addition::Plain) {
      Value sum = memref::LoadOp::create(b, loc, access.view, at);
      loaded = arith::AddFOp::create(b, loc, sum, loaded);
    }
    memref::StoreOp::create(b, loc, narrow(context, loaded, element), access.view, at);
  });
}

/// Copies a panel out as far as the limits go, or adds it to what is there.
void PanelEmitter::emitStore(tile::StoreOp op) {
  auto type = cast<VectorType>(op.getValue().getType());
  PanelAccess access = accessOf(op, type);
  Value buffer;
  Value zero = context.index(0);
  if (tile::isRowVector(type)) {
    buffer = context.allocate({context.panelRows()}, storageType(type.getElementType()));
    for (auto [number, vector] : llvm::enumerate(rowVector(op.getValue())))
      context.storeVector(asStored(vector), buffer, zero, static_cast<int64_t>(number));
  } else {
    buffer = bufferOf(op.getValue());
  }
  if (op.getAccumulate()) {
    // The tile's rows are added all, or none.
    Value isBelow =
        arith::CmpIOp::create(context.builder, context.loc, arith::CmpIPredicate::slt,
                              values.scalar(op.getIndices()[access.rowAxis]), values.scalar(op.getLimits()[0]));
    access.liveRows =
        arith::SelectOp::create(context.builder, context.loc, isBelow, context.index(context.panelRows()), zero);
    access.liveColumns = context.index(access.columns);
  }
  Addition addition = op.getOrder() ? Addition::Plain : op.getAccumulate() ? Addition::Atomic : Addition::None;
  copyOut(access, buffer, type.getElementType(), addition);
}

//===----------------------------------------------------------------------===//
// Tiles that are read as a whole
//===----------------------------------------------------------------------===//

/// The panel's rows of a tile [rows][columns], or with `isTurned` of the tile that has its columns as rows.
PanelEmitter::PanelAccess PanelEmitter::accessOfWhole(Value whole, bool isTurned) {
  int64_t rowAxis = isTurned ? 1 : 0, columnAxis = 1 - rowAxis;
  int64_t columns = cast<MemRefType>(whole.getType()).getDimSize(columnAxis);
  SmallVector<Value> base(2, context.index(0));
  base[rowAxis] = context.mul(panel, context.index(context.panelRows()));
  return {whole,
          base,
          rowAxis,
          columnAxis,
          tile::RowGroup({}),
          columns,
          context.index(context.panelRows()),
          context.index(columns),
          {},
          /*blocked=*/false};
}

void PanelEmitter::copyToWhole(Value tile, Value whole) {
  copyOut(accessOfWhole(whole, /*isTurned=*/false), bufferOf(tile), cast<MemRefType>(whole.getType()).getElementType(),
          Addition::None);
}

void PanelEmitter::copyWhole(Value panelNumber, Value tile, Value whole) {
  panel = panelNumber;
  copyToWhole(tile, whole);
}

void PanelEmitter::emitRead(tile::ReadOp op) {
  copyIn(accessOfWhole(values.whole.lookup(op.getTile()), op.getTransposed()), placeFor(op.getResult()));
}

/// Stores the left operand of a product: a constant, or the panel's rows of what is in shared memory.
void PanelEmitter::bringLeft(Value tile) {
  if (isa<tile::SharedTileType>(tile.getType()) && !buffers.contains(tile)) {
    Value whole = values.whole.lookup(tile);
    buffers[tile] =
        context.allocate({columnsOf(tile), context.panelRows()}, cast<MemRefType>(whole.getType()).getElementType());
    copyIn(accessOfWhole(whole, /*isTurned=*/false), buffers[tile]);
  } else if (matchPattern(tile, m_Constant())) {
    stored(tile);
  }
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
