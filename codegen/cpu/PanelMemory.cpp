//===- PanelMemory.cpp - Loads and stores of a panel ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/cpu/PanelEmitter.h"
#include "codegen/cpu/Staging.h"
#include "dialect/tile/BlockedRows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

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
