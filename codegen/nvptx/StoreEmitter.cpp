//===- StoreEmitter.cpp - Tiles and row vectors to and from memory *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/StoreEmitter.h"
#include "dialect/tile/SharedLayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::nvptx;

/// Named barriers 8, 9, ... join the threads of one consumer warpgroup.
static constexpr int64_t firstWarpgroupBarrier = 8;

Value StoreEmitter::isBelow(Value position, Value limit) { return context.ptx.less(position, context.scalar(limit)); }

/// Indices of an element `row` and `column` (which may be null) further along the axes.
SmallVector<Value> StoreEmitter::place(ValueRange indices, ArrayRef<int64_t> axes, Value row, Value column) {
  SmallVector<Value> positions = llvm::map_to_vector(indices, [&](Value value) { return context.scalar(value); });
  positions[axes[0]] = context.ptx.add(positions[axes[0]], row);
  if (column)
    positions[axes[1]] = context.ptx.add(positions[axes[1]], column);
  return positions;
}

/// A row vector: one lane of those that share a row stores it.
void StoreEmitter::storeRows(tile::StoreOp store) {
  Ptx &ptx = context.ptx;
  const View &view = context.abi.getView(store.getView());
  Value first = ptx.equal(ptx.bitAnd(context.place.lane, lanesOfRow - 1), 0);
  for (int64_t slot = 0; slot < rowsOfThread; ++slot) {
    Value row = ptx.add(context.place.row, rowOf(slot));
    SmallVector<Value> positions = place(store.getIndices(), store.getAxes(), row, {});
    Value inside = isBelow(positions[store.getAxes()[0]], store.getLimits()[0]);
    auto guard = scf::IfOp::create(ptx.b, ptx.loc, arith::AndIOp::create(ptx.b, ptx.loc, first, inside));
    OpBuilder::InsertionGuard insertion(ptx.b);
    ptx.b.setInsertionPoint(guard.thenBlock()->getTerminator());
    LLVM::StoreOp::create(ptx.b, ptx.loc, context.row(store.getValue(), slot),
                          view.address(ptx.b, ptx.loc, positions));
  }
}

/// A tile straight from registers, element by element; pairs of 16-bit elements in one store where they are adjacent.
void StoreEmitter::storeTile(tile::StoreOp store) {
  Ptx &ptx = context.ptx;
  const View &view = context.abi.getView(store.getView());
  auto type = cast<VectorType>(store.getValue().getType());
  ArrayRef<int64_t> axes = store.getAxes();
  int64_t elements = type.getDimSize(1) / lanesOfRow * rowsOfThread;
  bool contiguous = axes[1] == view.type.getRank() - 1;
  for (int64_t slot = 0; slot < rowsOfThread; ++slot) {
    Value row = ptx.add(context.place.row, rowOf(slot));
    SmallVector<Value> start = place(store.getIndices(), axes, row, context.place.column);
    auto guard = scf::IfOp::create(ptx.b, ptx.loc, isBelow(start[axes[0]], store.getLimits()[0]));
    OpBuilder::InsertionGuard insertion(ptx.b);
    ptx.b.setInsertionPoint(guard.thenBlock()->getTerminator());
    Value address = view.address(ptx.b, ptx.loc, start);
    for (int64_t element = 0; element < elements; ++element) {
      if (slotOf(element) != slot)
        continue;
      Value column = ptx.add(start[axes[1]], columnOf(element));
      OpBuilder::InsertionGuard inner(ptx.b);
      // Head dims are whole groups of eight columns: no element of a row is past their end.
      APInt limit;
      if (!matchPattern(store.getLimits()[1], m_ConstantInt(&limit)) || limit.getSExtValue() != type.getDimSize(1)) {
        auto one = scf::IfOp::create(ptx.b, ptx.loc, isBelow(column, store.getLimits()[1]));
        ptx.b.setInsertionPoint(one.thenBlock()->getTerminator());
      }
      Value at = contiguous
                     ? LLVM::GEPOp::create(ptx.b, ptx.loc, address.getType(), type.getElementType(), address,
                                           ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(columnOf(element))})
                           .getResult()
                     : view.address(ptx.b, ptx.loc,
                                    place(store.getIndices(), axes, row,
                                          ptx.add(context.place.column, columnOf(element))));
      LLVM::StoreOp::create(ptx.b, ptx.loc, context.element(store.getValue(), element), at);
    }
  }
}

/// Through the buffer: fragments to rows of shared memory, and boxes of it to the tensor by the copy engine.
void StoreEmitter::storeStaged(tile::StoreOp store) {
  Ptx &ptx = context.ptx;
  usesCopies = true;
  auto buffer = store.getBuffer().getDefiningOp<tile::BufferOp>();
  tile::SharedLayout layout(buffer.getSlot().getType().getTile());
  const Fragment &fragment = context.tiles.find(store.getValue())->second;
  int64_t columns = cast<VectorType>(store.getValue().getType()).getDimSize(1);
  int64_t staged = layout.panels * layout.panelColumns;
  Value barrier = ptx.add(context.place.warpgroup, firstWarpgroupBarrier);
  // This warpgroup's rows of a panel.
  Value region = ptx.add(ptx.add(base, *buffer.getOffset()),
                         ptx.mul(context.place.warpgroup, warpgroupRows * tile::SharedLayout::rowBytes));
  Value row = ptx.add(ptx.mul(context.place.warp, 16), ptx.bitAnd(context.place.lane, 15));
  Value rowStart = ptx.add(region, ptx.mul(row, tile::SharedLayout::rowBytes));
  Value permutation = ptx.shiftLeft(ptx.bitAnd(row, 7), 4);
  Value half = ptx.shiftLeft(ptx.shiftRight(context.place.lane, 4), 4); // the second matrix of each row: 16 bytes on
  auto onLeader = [&](llvm::function_ref<void()> body) {
    auto guard = scf::IfOp::create(ptx.b, ptx.loc, context.place.isLeader);
    OpBuilder::InsertionGuard insertion(ptx.b);
    ptx.b.setInsertionPoint(guard.thenBlock()->getTerminator());
    body();
  };
  for (int64_t first = 0; first < columns; first += staged) {
    onLeader([&] { ptx.waitStores(/*readOnly=*/true); });
    ptx.barrierSync(barrier, warpgroupThreads);
    int64_t end = std::min(columns, first + staged);
    // Sixteen columns a step: four matrices of 8x8.
    for (int64_t column = first; column < end; column += 16) {
      int64_t word = column / 4, inPanel = (column - first) % layout.panelColumns;
      int64_t panel = (column - first) / layout.panelColumns;
      Value offset = ptx.bitXor(ptx.add(half, inPanel * 2), permutation);
      Value address = ptx.add(ptx.add(rowStart, panel * layout.panelBytes()), offset);
      int64_t words = std::min<int64_t>(4, (end - column) / 4);
      ptx.storeMatrices(address, ArrayRef(fragment.values).slice(word, words));
    }
    ptx.fenceAsync();
    ptx.barrierSync(barrier, warpgroupThreads);
    onLeader([&] {
      Value map = context.abi.getTensorMapAddress(getTensorMap(store));
      for (int64_t column = first; column < end; column += layout.panelColumns) {
        SmallVector<Value> coordinates;
        for (auto [dim, position] : llvm::enumerate(store.getIndices())) {
          Value at = context.scalar(position);
          if (static_cast<int64_t>(dim) == store.getAxes()[0])
            at = ptx.add(at, ptx.mul(context.place.warpgroup, warpgroupRows));
          if (static_cast<int64_t>(dim) == store.getAxes()[1])
            at = ptx.add(at, column);
          coordinates.insert(coordinates.begin(), at);
        }
        int64_t panel = (column - first) / layout.panelColumns;
        ptx.storeTensor(ptx.add(region, panel * layout.panelBytes()), map, coordinates);
      }
      ptx.commitStores();
    });
  }
}

void StoreEmitter::emit(tile::StoreOp store) {
  if (cast<VectorType>(store.getValue().getType()).getRank() == 1)
    storeRows(store);
  else if (store.getBuffer())
    storeStaged(store);
  else
    storeTile(store);
}

/// Elements of the thread's rows, columns or both; 0 past a limit.
void StoreEmitter::emit(tile::LoadOp load) {
  Ptx &ptx = context.ptx;
  const View &view = context.abi.getView(load.getView());
  auto type = cast<VectorType>(load.getResult().getType());
  Type element = type.getElementType();
  ArrayRef<int64_t> axes = load.getAxes();
  Value zero = arith::ConstantOp::create(ptx.b, ptx.loc, ptx.b.getZeroAttr(element));
  // What lies past a limit is read at the limit's last element before it, which is there, and then dropped.
  auto read = [&](Value row, Value column) -> Value {
    SmallVector<Value> positions =
        llvm::map_to_vector(load.getIndices(), [&](Value value) { return context.scalar(value); });
    Value inside;
    for (auto [axis, offset, limit] :
         llvm::zip_equal(axes, ArrayRef<Value>({row, column}).take_front(axes.size()), load.getLimits())) {
      Value at = ptx.add(positions[axis], offset), below = isBelow(at, limit);
      positions[axis] = ptx.select(below, at, ptx.i32(0));
      inside = inside ? arith::AndIOp::create(ptx.b, ptx.loc, inside, below).getResult() : below;
    }
    Value address = view.address(ptx.b, ptx.loc, positions);
    Value value;
    if (element.isInteger(1)) {
      Value byte = LLVM::LoadOp::create(ptx.b, ptx.loc, ptx.b.getI8Type(), address);
      Value none = arith::ConstantOp::create(ptx.b, ptx.loc, ptx.b.getI8IntegerAttr(0));
      value = arith::CmpIOp::create(ptx.b, ptx.loc, arith::CmpIPredicate::ne, byte, none);
    } else {
      value = LLVM::LoadOp::create(ptx.b, ptx.loc, element, address);
    }
    return inside ? ptx.select(inside, value, zero) : value;
  };
  bool isColumn = llvm::any_of(load->getUses(), [&](OpOperand &use) {
    auto isIn = [&](ValueRange columns) {
      return llvm::is_contained(columns, load.getResult());
    };
    if (auto map = dyn_cast<tile::MapOp>(use.getOwner()))
      return isIn(map.getCols());
    if (auto mask = dyn_cast<tile::MaskOp>(use.getOwner()))
      return isIn(mask.getCols());
    return false;
  });
  auto rowAt = [&](int64_t slot) { return ptx.add(context.place.row, rowOf(slot)); };
  auto columnAt = [&](int64_t offset) { return ptx.add(context.place.column, offset); };
  if (type.getRank() == 2) {
    Fragment fragment;
    int64_t elements = type.getDimSize(1) / lanesOfRow * rowsOfThread;
    for (int64_t n = 0; n < elements; ++n)
      fragment.values.push_back(read(rowAt(slotOf(n)), columnAt(columnOf(n))));
    context.tiles[load.getResult()] = fragment;
  } else if (isColumn) {
    SmallVector<Value> &columns = context.columns[load.getResult()];
    for (int64_t n = 0; n < type.getDimSize(0) / lanesOfRow; ++n)
      columns.push_back(read(columnAt(n / 2 * 8 + n % 2), {}));
  } else {
    SmallVector<Value> &rows = context.rows[load.getResult()];
    for (int64_t slot = 0; slot < rowsOfThread; ++slot)
      rows.push_back(read(rowAt(slot), {}));
  }
}

void StoreEmitter::finish() {
  if (!usesCopies)
    return;
  Ptx &ptx = context.ptx;
  auto guard = scf::IfOp::create(ptx.b, ptx.loc, context.place.isLeader);
  OpBuilder::InsertionGuard insertion(ptx.b);
  ptx.b.setInsertionPoint(guard.thenBlock()->getTerminator());
  ptx.waitStores(/*readOnly=*/false);
}
