//===- StoreEmitter.cpp - Tiles and row vectors to memory -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/StoreEmitter.h"
#include "dialect/tile/BlockedRows.h"
#include "dialect/tile/SharedLayout.h"
#include "dialect/tile/TileQueries.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::nvptx;

Value StoreEmitter::isBelow(Value position, Value limit) { return context.ptx.less(position, context.scalar(limit)); }

/// Indices of where row `row` starts.
SmallVector<Value> StoreEmitter::place(tile::StoreOp store, Value row) {
  SmallVector<Value> positions =
      llvm::map_to_vector(store.getIndices(), [&](Value value) { return context.scalar(value); });
  context.moveToRow(positions, store.getAxes()[0], store.getRowGroup(), row);
  return positions;
}

/// A row vector: of the lanes that share rows, each stores another.
void StoreEmitter::storeRows(tile::StoreOp store) {
  assert(context.rowsOfThread <= lanesOfRow && "each row has a lane that stores it");
  Ptx &ptx = context.ptx;
  const View &view = context.abi.getView(store.getView());
  Value number = ptx.bitAnd(context.place.lane, lanesOfRow - 1);
  Value value = context.row(store.getValue(), 0);
  // Each lane selects one of two places. Selecting a row and taking its head from the low bit of what was selected
  // would be shorter, but on an H200 that kernel, which the driver compiled from PTX for sm_80, stored the second
  // head's sums over the first's.
  SmallVector<Value> positions = place(store, ptx.add(context.place.row, rowOf(0)));
  for (int64_t threadRow = 1; threadRow < context.rowsOfThread; ++threadRow) {
    Value isRow = ptx.equal(number, threadRow);
    value = ptx.select(isRow, context.row(store.getValue(), threadRow), value);
    SmallVector<Value> ofRow = place(store, ptx.add(context.place.row, rowOf(threadRow)));
    for (auto [position, other] : llvm::zip_equal(positions, ofRow))
      if (position != other)
        position = ptx.select(isRow, other, position);
  }
  Value stores = arith::AndIOp::create(ptx.b, ptx.loc, ptx.less(number, ptx.i32(context.rowsOfThread)),
                                       isBelow(positions[store.getAxes()[0]], store.getLimits()[0]));
  context.onlyIf(stores,
                 [&] { LLVM::StoreOp::create(ptx.b, ptx.loc, value, view.address(ptx.b, ptx.loc, positions)); });
}

/// Whether rows of a tile of 16-bit elements start at multiples of 16 bytes in `view`, whose last dimension they
/// follow: i1, the same for all threads.
Value StoreEmitter::areRowsAligned(const View &view) {
  Ptx &ptx = context.ptx;
  Value bits = LLVM::PtrToIntOp::create(ptx.b, ptx.loc, ptx.b.getI64Type(), view.pointer);
  for (Value stride : ArrayRef(view.strides).drop_back())
    bits = arith::OrIOp::create(ptx.b, ptx.loc, bits, arith::ShLIOp::create(ptx.b, ptx.loc, stride, ptx.i64(1)));
  Value low = arith::AndIOp::create(ptx.b, ptx.loc, bits, ptx.i64(15));
  return arith::CmpIOp::create(ptx.b, ptx.loc, arith::CmpIPredicate::eq, low, ptx.i64(0));
}

/// One row of four groups of eight columns, 16 bytes a lane: the four lanes of a row exchange their pairs, after which
/// each holds a whole group. All lanes take part, also those whose row is not `inside`.
void StoreEmitter::storeGroups(Value address, SmallVector<Value> words, Value inside) {
  Ptx &ptx = context.ptx;
  Value odd = ptx.less(ptx.i32(0), ptx.bitAnd(context.place.lane, 1));
  Value high = ptx.less(ptx.i32(0), ptx.bitAnd(context.place.lane, 2));
  auto exchange = [&](Value &x, Value &y, Value upper, int64_t mask) {
    Value received = ptx.shuffle(ptx.select(upper, x, y), mask);
    x = ptx.select(upper, received, x);
    y = ptx.select(upper, y, received);
  };
  exchange(words[0], words[1], odd, 1);
  exchange(words[2], words[3], odd, 1);
  exchange(words[0], words[2], high, 2);
  exchange(words[1], words[3], high, 2);
  auto type = VectorType::get(4, ptx.b.getI32Type());
  Value vector = LLVM::UndefOp::create(ptx.b, ptx.loc, type);
  for (int64_t n = 0; n < 4; ++n)
    vector = LLVM::InsertElementOp::create(ptx.b, ptx.loc, vector, words[n], ptx.i32(n));
  auto guard = scf::IfOp::create(ptx.b, ptx.loc, inside);
  OpBuilder::InsertionGuard insertion(ptx.b);
  ptx.b.setInsertionPoint(guard.thenBlock()->getTerminator());
  LLVM::StoreOp::create(ptx.b, ptx.loc, vector, address, /*alignment=*/16);
}

/// Whether no column of the tile is past its limit: head dims are whole groups of eight columns, and known.
static bool endsWithTile(tile::StoreOp store) {
  APInt limit;
  int64_t columns = cast<VectorType>(store.getValue().getType()).getDimSize(1);
  return matchPattern(store.getLimits()[1], m_ConstantInt(&limit)) && limit.getSExtValue() == columns;
}

/// The elements of one of the thread's rows, which starts at `address`, from column `first` on, each by itself.
void StoreEmitter::storeElements(tile::StoreOp store, Value address, int64_t threadRow, int64_t first) {
  Ptx &ptx = context.ptx;
  OpBuilder &b = ptx.b;
  auto type = cast<VectorType>(store.getValue().getType());
  int64_t axis = store.getAxes()[1];
  Value stride = context.abi.getView(store.getView()).strides[axis];
  int64_t elements = context.countElements(type);
  bool whole = endsWithTile(store);
  for (int64_t element = first / lanesOfRow * context.rowsOfThread; element < elements; ++element) {
    if (context.threadRowOf(element) != threadRow)
      continue;
    Value column = ptx.add(context.findColumn(type), context.columnOf(element));
    OpBuilder::InsertionGuard guard(b);
    if (!whole) {
      Value position = ptx.add(context.scalar(store.getIndices()[axis]), column);
      auto inside = scf::IfOp::create(b, ptx.loc, isBelow(position, store.getLimits()[1]));
      b.setInsertionPoint(inside.thenBlock()->getTerminator());
    }
    Value offset = arith::MulIOp::create(b, ptx.loc, ptx.widen(column), stride);
    Value at = ptx.shift(address, type.getElementType(), offset);
    LLVM::StoreOp::create(b, ptx.loc, context.element(store.getValue(), element), at);
  }
}

/// Whether no column of the tile is past a limit that only a launch knows, and the first one is at a multiple of 16
/// bytes: i1, the same for all threads.
Value StoreEmitter::hasWholeGroups(tile::StoreOp store) {
  Ptx &ptx = context.ptx;
  int64_t columns = cast<VectorType>(store.getValue().getType()).getDimSize(1), axis = store.getAxes()[1];
  Value first = context.scalar(store.getIndices()[axis]);
  Value ends = isBelow(ptx.add(first, columns - 1), store.getLimits()[1]);
  Value begins = ptx.equal(ptx.bitAnd(first, columnsOfGroup - 1), 0);
  return arith::AndIOp::create(ptx.b, ptx.loc, ends, begins);
}

/// A tile straight from registers: in whole groups where rows are aligned and no limit cuts them, else element by
/// element.
void StoreEmitter::storeTile(tile::StoreOp store) {
  Ptx &ptx = context.ptx;
  const View &view = context.abi.getView(store.getView());
  auto type = cast<VectorType>(store.getValue().getType());
  ArrayRef<int64_t> axes = store.getAxes();
  constexpr int64_t columnsTogether = lanesOfRow * columnsOfGroup;
  bool packs = context.tiles.find(store.getValue())->second.packed && axes[1] == view.type.getRank() - 1;
  const int64_t columns = context.columnsOfWarp(type);
  int64_t together = packs ? columns / columnsTogether * columnsTogether : 0;
  // Where rows start is computed once, before the ways part: what it is made of need not be kept in registers then.
  SmallVector<Value> inside, addresses;
  for (int64_t threadRow = 0; threadRow < context.rowsOfThread; ++threadRow) {
    SmallVector<Value> start = place(store, ptx.add(context.place.row, rowOf(threadRow)));
    inside.push_back(isBelow(start[axes[0]], store.getLimits()[0]));
    addresses.push_back(view.address(ptx.b, ptx.loc, start));
  }
  auto inElements = [&](int64_t first) {
    for (int64_t threadRow = 0; threadRow < context.rowsOfThread; ++threadRow)
      context.onlyIf(inside[threadRow], [&] { storeElements(store, addresses[threadRow], threadRow, first); });
  };
  if (!together)
    return inElements(0);
  auto inGroups = [&] {
    // This lane's group of each four.
    Value ofLane = ptx.mul(ptx.bitAnd(context.place.lane, lanesOfRow - 1), columnsOfGroup);
    Value firstColumn = context.findFirstColumn(type);
    Value group = ptx.widen(firstColumn ? ptx.add(ofLane, firstColumn) : ofLane);
    ArrayRef<Value> values = context.tiles.find(store.getValue())->second.values;
    for (int64_t threadRow = 0; threadRow < context.rowsOfThread; ++threadRow) {
      Value address = ptx.shift(addresses[threadRow], type.getElementType(), group);
      for (int64_t column = 0; column < together; column += columnsTogether) {
        SmallVector<Value> words;
        for (int64_t n = 0; n < lanesOfRow; ++n)
          words.push_back(values[(column / columnsOfGroup + n) * context.rowsOfThread + threadRow]);
        storeGroups(ptx.shift(address, type.getElementType(), static_cast<int32_t>(column)), words, inside[threadRow]);
      }
    }
    if (together < columns)
      inElements(together);
  };
  // What can go through a buffer has a tensor map, which asks for rows at multiples of 16 bytes.
  if (store.getBuffer())
    return inGroups();
  Value mayGroup = areRowsAligned(view);
  if (!endsWithTile(store))
    mayGroup = arith::AndIOp::create(ptx.b, ptx.loc, mayGroup, hasWholeGroups(store));
  auto branch = scf::IfOp::create(ptx.b, ptx.loc, mayGroup, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(ptx.b);
  ptx.b.setInsertionPoint(branch.thenBlock()->getTerminator());
  inGroups();
  ptx.b.setInsertionPoint(branch.elseBlock()->getTerminator());
  inElements(0);
}

/// Through the buffer: fragments to rows of shared memory, and boxes of it to the tensor by the copy engine. A warp
/// whose rows are a box needs to wait for no other.
void StoreEmitter::storeStaged(tile::StoreOp store) {
  Ptx &ptx = context.ptx;
  usesCopies = true;
  auto buffer = store.getBuffer().getDefiningOp<tile::BufferOp>();
  tile::SharedLayout layout(buffer.getShared().getType().getTile());
  const Fragment &fragment = context.tiles.find(store.getValue())->second;
  int64_t columns = cast<VectorType>(store.getValue().getType()).getDimSize(1);
  int64_t staged = layout.panels * layout.panelColumns;
  int64_t together = tile::TensorBox(store).rows(), boxes = warpgroupRows / together,
          queries = together / store.getRowGroup().size;
  bool byWarp = boxes > 1;
  // This warpgroup's rows of a panel.
  Value region = ptx.add(ptx.add(base, *buffer.getOffset()),
                         ptx.mul(context.place.warpgroup, warpgroupRows * tile::SharedLayout::rowBytes));
  Value isLeader = byWarp ? ptx.equal(context.place.lane, 0) : context.place.isLeader;
  auto sync = [&] { byWarp ? ptx.warpSync() : context.syncWarpgroup(); };
  Value box = byWarp ? ptx.add(ptx.mul(context.place.warpgroup, boxes), context.place.warp) : context.place.warpgroup;
  Value boxStart =
      byWarp ? ptx.add(region, ptx.mul(context.place.warp, together * tile::SharedLayout::rowBytes)) : region;
  for (int64_t first = 0; first < columns; first += staged) {
    context.onlyIf(isLeader, [&] { ptx.waitStores(/*readOnly=*/true); });
    sync();
    int64_t end = std::min(columns, first + staged);
    context.storeFragment(ptx.add(base, *buffer.getOffset()), layout, fragment.values, first, end);
    ptx.fenceAsync();
    sync();
    context.onlyIf(isLeader, [&] {
      TensorMap map = getTensorMap(store);
      Value mapAddress = context.abi.getTensorMapAddress(map);
      for (int64_t column = first; column < end; column += layout.panelColumns) {
        SmallVector<Value> position =
            llvm::map_to_vector(store.getIndices(), [&](Value index) { return context.scalar(index); });
        Value &row = position[store.getAxes()[0]], &firstColumn = position[store.getAxes()[1]];
        row = ptx.add(row, ptx.mul(box, queries));
        firstColumn = ptx.add(firstColumn, column);
        int64_t panel = (column - first) / layout.panelColumns;
        ptx.storeTensor(ptx.add(boxStart, panel * layout.panelBytes()), mapAddress, map.coordinates(position));
      }
      ptx.commitStores();
    });
  }
}

/// Through the buffer where all rows of the warpgroup are below the limit. Boxes would write what follows it; the few
/// warpgroups whose rows it cuts store straight from registers.
void StoreEmitter::storeStagedBelow(tile::StoreOp store) {
  Ptx &ptx = context.ptx;
  Value position = context.scalar(store.getIndices()[store.getAxes()[0]]);
  int64_t queries = warpgroupRows / store.getRowGroup().size;
  Value end = ptx.add(ptx.add(position, ptx.mul(context.place.warpgroup, queries)), queries);
  Value cut = ptx.less(context.scalar(store.getLimits()[0]), end);
  auto branch = scf::IfOp::create(ptx.b, ptx.loc, cut, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(ptx.b);
  ptx.b.setInsertionPoint(branch.thenBlock()->getTerminator());
  storeTile(store);
  ptx.b.setInsertionPoint(branch.elseBlock()->getTerminator());
  storeStaged(store);
}

/// Blocks of columns that the warp has of a tile in the order of `tile::BlockedRows`.
int64_t StoreEmitter::countBlocks(tile::StoreOp store) {
  auto type = cast<VectorType>(store.getValue().getType());
  bool hasRoles = static_cast<bool>(store->getParentOfType<tile::RoleOp>());
  int64_t columns = hasRoles ? countOwnColumns(type, countWarpgroups(store)) : context.columnsOfWarp(type);
  return columns / tile::BlockedRows::blockColumns;
}

/// Where the first of them is in memory, in each of the warp's bands.
SmallVector<Value> StoreEmitter::findBands(tile::StoreOp store) {
  Ptx &ptx = context.ptx;
  auto type = cast<VectorType>(store.getValue().getType());
  const Place &place = context.place;
  Value row = context.scalar(store.getIndices()[0]);
  if (store->getParentOfType<tile::RoleOp>()) {
    row = ptx.add(row, ptx.mul(place.warp, tile::warpRows));
    const int64_t warpgroups = countWarpgroups(store);
    if (isDealtByColumns(type, warpgroups))
      return {context.findBand(store.getView(), row, ptx.mul(place.warpgroup, countOwnColumns(type, warpgroups)))};
    return {context.findBand(store.getView(), ptx.add(row, ptx.mul(place.warpgroup, tile::warpgroupRows)), {})};
  }
  return context.findBands(store.getView(), row, type);
}

/// The lane's elements of a block of columns, in the band of that number.
SmallVector<Value> StoreEmitter::findPiece(tile::StoreOp store, int64_t block, int64_t band) {
  constexpr int64_t count = tile::BlockedRows::pieceElements;
  int64_t first = (block * context.countBands() + band) * count;
  return llvm::map_to_vector(llvm::seq(count), [&](int64_t n) { return context.element(store.getValue(), first + n); });
}

/// Whether all of the tile is stored, or nothing.
Value StoreEmitter::existsBlocked(tile::StoreOp store) {
  return isBelow(context.scalar(store.getIndices()[0]), store.getLimits()[0]);
}

/// A tile in the order of `tile::BlockedRows`: of each eight columns 16 bytes a lane, and of each band what a warp has
/// of it. Through a buffer, the copy engine adds that to the sums in memory: additions by threads would hold up what
/// else they want of memory.
void StoreEmitter::storeBlocked(tile::StoreOp store) {
  Ptx &ptx = context.ptx;
  using tile::BlockedRows;
  if (!store.getBuffer())
    return storePieces(store);
  usesCopies = true;
  constexpr int64_t blockBytes = BlockedRows::blockElements * sizeof(float), pieceBytes = 16;
  auto buffer = store.getBuffer().getDefiningOp<tile::BufferOp>();
  const int64_t blocks = countBlocks(store);
  Value own = ptx.add(ptx.add(base, *buffer.getOffset()), ptx.mul(findWarp(), blocks * blockBytes));
  Value piece = ptx.add(own, ptx.mul(context.place.lane, pieceBytes));
  ptx.waitStores(/*readOnly=*/!store.getOrder());
  ptx.warpSync();
  if (store.getOrder()) {
    definePending(store);
    leavePlace();
  }
  for (int64_t block = 0; block < blocks; ++block)
    ptx.storePiece(ptx.add(piece, block * blockBytes),
                   llvm::map_to_vector(findPiece(store, block, /*band=*/0), [&](Value element) -> Value {
                     return arith::BitcastOp::create(ptx.b, ptx.loc, ptx.b.getI32Type(), element);
                   }));
  Value band = findBands(store).front();
  Value exists = existsBlocked(store);
  deferred.push_back({own, band, blocks * blockBytes, exists, takePlace(store, exists)});
  if (!store.getDeferred())
    startCopies();
}

/// Each lane stores its own elements, or adds them to what is there.
void StoreEmitter::storePieces(tile::StoreOp store) {
  Ptx &ptx = context.ptx;
  using tile::BlockedRows;
  bool isInterleaved = store.getInterleaved();
  Value ofLane = ptx.mul(context.place.lane, BlockedRows::placeOf(/*lane=*/1, /*inPiece=*/0, isInterleaved));
  auto storeAll = [&] {
    for (auto [number, start] : llvm::enumerate(findBands(store))) {
      Value lane = ptx.shift(start, ptx.b.getF32Type(), ofLane);
      for (int64_t block = 0; block < countBlocks(store); ++block) {
        SmallVector<Value> piece = findPiece(store, block, static_cast<int64_t>(number));
        auto at = [&](int64_t element) {
          int64_t inBlock = BlockedRows::placeOf(/*lane=*/0, element, isInterleaved);
          return ptx.shift(lane, ptx.b.getF32Type(),
                           static_cast<int32_t>(block * BlockedRows::blockElements + inBlock));
        };
        if (!store.getAccumulate() && !isInterleaved) {
          ptx.storeFloats(at(0), piece);
          continue;
        }
        for (auto [n, element] : llvm::enumerate(piece)) {
          Value address = at(static_cast<int64_t>(n));
          if (store.getAccumulate())
            ptx.addFloat(address, element);
          else
            LLVM::StoreOp::create(ptx.b, ptx.loc, element, address);
        }
      }
    }
  };
  if (store.getAccumulate())
    context.onlyIf(existsBlocked(store), storeAll);
  else
    storeAll();
}

/// The number of the warp among those of its role.
Value StoreEmitter::findWarp() {
  Ptx &ptx = context.ptx;
  return ptx.add(ptx.mul(context.place.warpgroup, warpgroupRows / warpRows), context.place.warp);
}

/// Where the warp's semaphore is. `indices` are those of the tile's first.
Value StoreEmitter::findSemaphore(tile::StoreOp store, SmallVector<Value> indices) {
  Ptx &ptx = context.ptx;
  Value warp = store->getParentOfType<tile::RoleOp>() ? findWarp() : context.place.warp;
  indices.back() = ptx.add(indices.back(), warp);
  return context.abi.getView(store.getSemaphores()).address(ptx.b, ptx.loc, indices);
}

/// The place of a tile before, or 0 where the tile adds nothing.
StoreEmitter::Turn StoreEmitter::findTurn(tile::StoreOp store, Value exists) {
  Ptx &ptx = context.ptx;
  auto indices = llvm::map_to_vector(store.getSemaphore(), [&](Value index) { return context.scalar(index); });
  Value none = ptx.i32(0);
  // What adds nothing may have no semaphore.
  for (Value &index : indices)
    index = ptx.select(exists, index, none);
  return {findSemaphore(store, indices), ptx.select(exists, context.scalar(store.getAfter()), none)};
}

/// A place is left a step later, or at the end of the tile: variables that LLVM makes registers say which.
void StoreEmitter::definePending(tile::StoreOp store) {
  if (pending.store)
    return;
  Ptx &ptx = context.ptx;
  pending.store = store;
  auto variable = [&] {
    Value slot = context.localArray(ptx.b.getI32Type(), /*count=*/1);
    OpBuilder::InsertionGuard guard(ptx.b);
    ptx.b.setInsertionPointAfterValue(slot);
    LLVM::StoreOp::create(ptx.b, ptx.loc, ptx.i32(0), slot);
    return slot;
  };
  pending.place = variable();
  for (size_t number = 0; number < store.getSemaphore().size(); ++number)
    pending.indices.push_back(variable());
}

/// Keeps in mind which place is to be left once the copy is complete.
StoreEmitter::Turn StoreEmitter::takePlace(tile::StoreOp store, Value exists) {
  if (!store.getOrder())
    return {};
  Ptx &ptx = context.ptx;
  auto keep = [&](Value value, Value slot) { LLVM::StoreOp::create(ptx.b, ptx.loc, value, slot); };
  keep(ptx.select(exists, context.scalar(store.getOrder()), ptx.i32(0)), pending.place);
  for (auto [index, slot] : llvm::zip_equal(store.getSemaphore(), pending.indices))
    keep(context.scalar(index), slot);
  Turn turn = findTurn(store, exists);
  // A look takes as long as memory is far: what comes before the next tile.post goes on meanwhile.
  if (store.getDeferred())
    turn.seen = ptx.seePlace(turn.semaphore);
  return turn;
}

/// Leaves the place of the copy before, whose end the warp has awaited. Its additions have been done in the L2 cache by
/// then, where those that come after are done as well, and no thread reads what they add to before the kernel's end. So
/// nothing is released or acquired, which would hold up the warp for longer than the additions take.
void StoreEmitter::leavePlace() {
  Ptx &ptx = context.ptx;
  auto read = [&](Value slot) -> Value { return LLVM::LoadOp::create(ptx.b, ptx.loc, ptx.b.getI32Type(), slot); };
  Value place = read(pending.place);
  Value semaphore = findSemaphore(pending.store, llvm::map_to_vector(pending.indices, read));
  Value leaves = arith::AndIOp::create(ptx.b, ptx.loc, ptx.equal(context.place.lane, 0), ptx.less(ptx.i32(0), place));
  ptx.leavePlaceIf(leaves, semaphore, place, /*releases=*/false);
}

void StoreEmitter::endTile() {
  if (!pending.store)
    return;
  Ptx &ptx = context.ptx;
  ptx.waitStores(/*readOnly=*/false);
  ptx.warpSync();
  leavePlace();
  LLVM::StoreOp::create(ptx.b, ptx.loc, ptx.i32(0), pending.place);
}

/// Adds to the same after the tile before, each lane its own pieces.
void StoreEmitter::addInOrder(tile::StoreOp store) {
  Ptx &ptx = context.ptx;
  using tile::BlockedRows;
  const int64_t blocks = countBlocks(store);
  Value exists = existsBlocked(store);
  Turn turn = findTurn(store, exists);
  ptx.waitForPlace(turn.semaphore, turn.after, /*acquires=*/true);
  context.onlyIf(exists, [&] {
    Value start = ptx.shift(findBands(store).front(), ptx.b.getF32Type(),
                            ptx.mul(context.place.lane, BlockedRows::pieceElements));
    auto pieceAt = [&](int64_t block) {
      return ptx.shift(start, ptx.b.getF32Type(), static_cast<int32_t>(block * BlockedRows::blockElements));
    };
    // All loads come before the stores: they wait for memory together.
    SmallVector<SmallVector<Value>> sums;
    for (int64_t block = 0; block < blocks; ++block)
      sums.push_back(ptx.loadFloats(pieceAt(block), BlockedRows::pieceElements));
    for (int64_t block = 0; block < blocks; ++block) {
      for (auto [sum, element] : llvm::zip_equal(sums[block], findPiece(store, block, /*band=*/0)))
        sum = arith::AddFOp::create(ptx.b, ptx.loc, sum, element);
      ptx.storeFloats(pieceAt(block), sums[block]);
    }
  });
  ptx.warpSync();
  Value leaves = arith::AndIOp::create(ptx.b, ptx.loc, ptx.equal(context.place.lane, 0), exists);
  ptx.leavePlaceIf(leaves, turn.semaphore, context.scalar(store.getOrder()), /*releases=*/true);
}

void StoreEmitter::startCopies() {
  Ptx &ptx = context.ptx;
  ptx.fenceAsync();
  ptx.warpSync();
  for (const Copy &copy : deferred)
    if (const Turn &turn = copy.turn; turn.semaphore) {
      Value after = turn.after;
      if (turn.seen)
        after = ptx.select(ptx.less(turn.seen, after), after, ptx.i32(0));
      ptx.waitForPlace(turn.semaphore, after, /*acquires=*/false);
    }
  for (const Copy &copy : deferred)
    ptx.addBytesOfWarp(copy.from, copy.to, copy.bytes, copy.condition);
  deferred.clear();
}

void StoreEmitter::emit(tile::StoreOp store) {
  if (store.getOrder() && !store.getBuffer())
    addInOrder(store);
  else if (store.getBlocked())
    storeBlocked(store);
  else if (tile::isRowVector(store.getValue().getType()))
    storeRows(store);
  else if (!store.getBuffer())
    storeTile(store);
  else if (tile::reachesViewEnds(store))
    storeStaged(store);
  else
    storeStagedBelow(store);
}

void StoreEmitter::finish() {
  if (!usesCopies)
    return;
  context.ptx.waitStores(/*readOnly=*/false);
}
