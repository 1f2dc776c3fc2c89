//===- CopyEmitter.cpp - Rings that all threads fill ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/CopyEmitter.h"
#include "dialect/tile/SharedLayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::nvptx;

/// What one copy brings, and how much of a row one step of a product sums over.
static constexpr int64_t pieceBytes = 16, stepBytes = 32;
/// Pieces of a row of a panel.
static constexpr int64_t panelPieces = tile::SharedLayout::rowBytes / pieceBytes;

/// One piece in each `rowsTogether`-th row, from `row` on.
struct CopyEmitter::Part {
  const View &view;
  tile::SharedLayout layout;
  Type element;
  int64_t rowsTogether;
  Value tile;         ///< address in shared memory
  Value row, piece;   ///< the thread's
  Value corner;       ///< address of the tile's first element
  Value columnOffset; ///< of the thread's piece: elements, i64
  Value rowStride;    ///< elements, i64
  Value columnStride; ///< elements, i64
  tile::RowGroup group;
  Value groupStride;   ///< elements, i64; null where no rows share an index
  const View *pages;   ///< the page table; null where rows are in no pages
  Value sequence;      ///< whose rows they are
  Value firstRow;      ///< of the tile
  Value left;          ///< rows of the tile that are below the limit
  Value insideColumns; ///< whether the piece is below the limit of columns
};

CopyEmitter::CopyEmitter(EmitContext &context, Value base, tile::ProgramOp program)
    : context(context), base(base), threads(program.getPipelineAttr().getConsumers() * warpgroupThreads) {
  Ptx &ptx = context.ptx;
  auto variable = [&](tile::RingOp ring) -> Value {
    if (ring.getRing().getType().getStages() == 1)
      return {};
    Value address = context.localArray(ptx.b.getI32Type(), 1);
    LLVM::StoreOp::create(ptx.b, ptx.loc, ptx.i32(0), address);
    return address;
  };
  for (auto ring : program.getBody().getOps<tile::RingOp>())
    states[ring.getRing()] = State{ring, variable(ring), variable(ring)};
}

/// The address of the stage that `variable` names, which goes on to the next.
Value CopyEmitter::takeStage(State &state, Value variable) {
  Ptx &ptx = context.ptx;
  tile::RingType type = state.ring.getRing().getType();
  Value first = ptx.add(base, *state.ring.getOffset());
  if (!variable)
    return first;
  Value stage = LLVM::LoadOp::create(ptx.b, ptx.loc, ptx.b.getI32Type(), variable);
  Value next = ptx.add(stage, 1);
  LLVM::StoreOp::create(ptx.b, ptx.loc, ptx.select(ptx.equal(next, type.getStages()), ptx.i32(0), next), variable);
  return ptx.add(first, ptx.mul(stage, tile::SharedLayout(cast<VectorType>(type.getElement())).bytes()));
}

/// Indices of what would be the first element of a tile if its rows began at 0; null for the rows, and for their page.
static SmallVector<Value> indicesOfOrigin(tile::PutOp put) {
  auto indices = llvm::to_vector_of<Value>(put.getIndices());
  int64_t axis = put.getAxes()[0];
  indices[axis] = {};
  if (put.getPages())
    indices[axis - 1] = {};
  return indices;
}

/// The first copy of a program computes the origins of those that follow as well: in registers they take less than the
/// numbers that they are made of.
Value CopyEmitter::findOrigin(tile::PutOp put) {
  Ptx &ptx = context.ptx;
  auto find = [&](tile::PutOp other) {
    return llvm::find_if(origins, [&](const Origin &origin) {
      return origin.view == other.getView() && origin.indices == indicesOfOrigin(other);
    });
  };
  auto compute = [&](tile::PutOp other) -> Value {
    SmallVector<Value> indices = llvm::map_to_vector(
        indicesOfOrigin(other), [&](Value value) { return value ? context.scalar(value) : ptx.i32(0); });
    return ptx.afresh(context.abi.getView(other.getView()).address(ptx.b, ptx.loc, indices));
  };
  auto isKnown = [&](Value value) { return !value || context.knows(value); };
  if (auto program = dyn_cast<tile::ProgramOp>(put->getParentOp()); program && find(put) == origins.end())
    program.walk([&](tile::PutOp other) {
      if (find(other) == origins.end() && llvm::all_of(indicesOfOrigin(other), isKnown))
        origins.push_back({other.getView(), indicesOfOrigin(other), compute(other)});
    });
  auto *found = find(put);
  return found == origins.end() ? compute(put) : found->address;
}

/// Where piece `piece` of row `row` of a tile lies in shared memory.
Value CopyEmitter::pieceAddress(Value tile, const tile::SharedLayout &layout, Value row, Value piece) {
  Ptx &ptx = context.ptx;
  Value panel = ptx.mul(ptx.shiftRight(piece, llvm::Log2_64(panelPieces)), layout.panelBytes());
  Value permuted = ptx.bitAnd(ptx.bitXor(piece, row), panelPieces - 1);
  Value inRow = ptx.shiftLeft(permuted, llvm::Log2_64(pieceBytes));
  return ptx.add(ptx.add(ptx.add(tile, panel), ptx.mul(row, tile::SharedLayout::rowBytes)), inRow);
}

/// The address of the thread's elements of row `row`.
Value CopyEmitter::rowAddress(const Part &part, Value row) {
  Ptx &ptx = context.ptx;
  auto scaled = [&](Value x, Value stride) -> Value {
    return arith::MulIOp::create(ptx.b, ptx.loc, ptx.widen(x), stride);
  };
  auto add = [&](Value x, Value y) -> Value { return arith::AddIOp::create(ptx.b, ptx.loc, x, y); };
  if (part.pages) {
    // Rows past the limit have no page.
    auto [entry, inPage] = context.divide(ptx.add(part.firstRow, row), part.view.type.getDimSize(1));
    Value at = part.pages->address(ptx.b, ptx.loc, {part.sequence, entry});
    Value page = ptx.loadIf(ptx.b.getI32Type(), at, ptx.less(row, part.left));
    Value offset = add(scaled(page, part.view.strides[0]), scaled(inPage, part.rowStride));
    return ptx.shift(part.corner, part.element, add(offset, part.columnOffset));
  }
  Value offset = scaled(context.stepsOf(row, part.group.size), part.rowStride);
  if (part.groupStride) {
    Value inGroup = arith::RemUIOp::create(ptx.b, ptx.loc, row, ptx.i32(part.group.size));
    offset = add(offset, scaled(inGroup, part.groupStride));
  }
  offset = add(offset, part.columnOffset);
  return ptx.shift(part.corner, part.element, offset);
}

/// The same, `rowsTogether` rows after the one of `address`, for row `row`. `step` is the distance, in elements of
/// `unit`, where that is the same for all rows.
Value CopyEmitter::nextAddress(const Part &part, Value address, Value row, Type unit, Value step) {
  Ptx &ptx = context.ptx;
  if (part.groupStride || part.pages)
    return rowAddress(part, row);
  return ptx.shift(address, unit, step);
}

/// Rows and addresses are multiples of 16 bytes: pieces are copied whole, and become 0 past the limits.
void CopyEmitter::copyAligned(const Part &part) {
  Ptx &ptx = context.ptx;
  OpBuilder &b = ptx.b;
  int64_t elementBytes = part.element.getIntOrFloatBitWidth() / 8;
  Value step = arith::MulIOp::create(b, ptx.loc, part.rowStride, ptx.i64(part.rowsTogether * elementBytes));
  Value address = rowAddress(part, part.row), left = ptx.sub(part.left, part.row);
  // The thread's row is below `rowsTogether`, and that a power of two, so that the sum of the row and of `first` is
  // their exclusive or. Permutations then differ by that of constants, and the rest is in the instruction. Each copy
  // computes its places: from in front of a loop on, they would take a register each.
  Value place = pieceAddress(part.tile, part.layout, ptx.afresh(part.row), part.piece);
  for (int64_t first = 0; first < part.layout.rows; first += part.rowsTogether) {
    int64_t permuted = first % panelPieces * pieceBytes;
    OpBuilder::InsertionGuard guard(b);
    if (first + part.rowsTogether > part.layout.rows) {
      auto whole = scf::IfOp::create(b, ptx.loc, ptx.less(part.row, ptx.i32(part.layout.rows - first)));
      b.setInsertionPoint(whole.thenBlock()->getTerminator());
    }
    Value inside = arith::AndIOp::create(b, ptx.loc, part.insideColumns, ptx.less(ptx.i32(first), left));
    ptx.copyPiece(permuted ? ptx.bitXor(place, ptx.i32(permuted)) : place, first * tile::SharedLayout::rowBytes,
                  address, ptx.select(inside, ptx.i32(pieceBytes), ptx.i32(0)));
    if (int64_t next = first + part.rowsTogether; next < part.layout.rows)
      address = nextAddress(part, address, ptx.add(part.row, next), b.getI8Type(), step);
  }
}

/// Rows anywhere: element by element, by way of registers.
void CopyEmitter::copyElements(const Part &part) {
  Ptx &ptx = context.ptx;
  OpBuilder &b = ptx.b;
  int64_t bits = part.element.getIntOrFloatBitWidth(), inPiece = pieceBytes * 8 / bits, inWord = 32 / bits;
  Type integer = b.getIntegerType(bits);
  auto loop = scf::ForOp::create(b, ptx.loc, part.row, ptx.i32(part.layout.rows), ptx.i32(part.rowsTogether),
                                 rowAddress(part, part.row));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(loop.getBody());
  Value row = loop.getInductionVar(), address = loop.getRegionIterArg(0);
  Value inside = arith::AndIOp::create(b, ptx.loc, part.insideColumns, ptx.less(row, part.left));
  auto branch = scf::IfOp::create(b, ptx.loc, SmallVector<Type>(pieceBytes / 4, b.getI32Type()), inside,
                                  /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPointToEnd(branch.thenBlock());
    SmallVector<Value> words;
    Value at = address;
    for (int64_t n = 0; n < inPiece; ++n) {
      Value word = LLVM::LoadOp::create(b, ptx.loc, integer, at);
      if (bits < 32)
        word = arith::ExtUIOp::create(b, ptx.loc, b.getI32Type(), word);
      if (n % inWord == 0)
        words.push_back(word);
      else
        words.back() = arith::OrIOp::create(b, ptx.loc, words.back(), ptx.shiftLeft(word, n % inWord * bits));
      if (n + 1 < inPiece)
        at = ptx.shift(at, integer, part.columnStride);
    }
    scf::YieldOp::create(b, ptx.loc, words);
    b.setInsertionPointToEnd(branch.elseBlock());
    scf::YieldOp::create(b, ptx.loc, SmallVector<Value>(words.size(), ptx.i32(0)));
  }
  ptx.storePiece(pieceAddress(part.tile, part.layout, row, part.piece), branch.getResults());
  Value step = arith::MulIOp::create(b, ptx.loc, part.rowStride, ptx.i64(part.rowsTogether));
  Value next = nextAddress(part, address, ptx.add(row, part.rowsTogether), integer, step);
  scf::YieldOp::create(b, ptx.loc, next);
}

/// Pieces of a row that are filled: products sum over whole steps of it.
static int64_t countPieces(int64_t columns, int64_t elementBytes) {
  return llvm::alignTo(columns * elementBytes, stepBytes) / pieceBytes;
}

CopyEmitter::Share CopyEmitter::shareOut(int64_t pieces) {
  Ptx &ptx = context.ptx;
  int64_t threadsOfRow = llvm::PowerOf2Ceil(pieces);
  assert(threadsOfRow <= threads && "a row has a thread for each piece");
  Value thread = ptx.add(ptx.mul(context.place.warpgroup, warpgroupThreads), context.place.thread);
  Value row = ptx.shiftRight(thread, llvm::Log2_64(threadsOfRow));
  return {threadsOfRow, threads / threadsOfRow, row, ptx.bitAnd(thread, threadsOfRow - 1)};
}

void CopyEmitter::emit(tile::PutOp put) {
  Ptx &ptx = context.ptx;
  OpBuilder &b = ptx.b;
  State &state = states.find(put.getRing())->second;
  auto type = cast<VectorType>(put.getRing().getType().getElement());
  const View &view = context.abi.getView(put.getView());
  ArrayRef<int64_t> axes = put.getAxes();
  int64_t elementBytes = type.getElementTypeBitWidth() / 8, inPiece = pieceBytes / elementBytes;
  int64_t pieces = countPieces(type.getDimSize(1), elementBytes);

  Value firstRow = context.scalar(put.getIndices()[axes[0]]), firstColumn = context.scalar(put.getIndices()[axes[1]]);
  // The distance to the first row, unless each has a page to be found; the same for all threads.
  Value distance;
  if (!put.getPages())
    distance = arith::MulIOp::create(b, ptx.loc, ptx.widen(firstRow), view.strides[axes[0]]);
  Value corner = findOrigin(put);
  if (distance)
    corner = ptx.shift(corner, type.getElementType(), distance);
  auto [threadsOfRow, rowsTogether, row, piece] = shareOut(pieces);
  Value column = ptx.mul(piece, inPiece);
  Value rowStride = view.strides[axes[0]], columnStride = view.strides[axes[1]];
  Value columnOffset = arith::MulIOp::create(b, ptx.loc, ptx.widen(column), columnStride);
  tile::RowGroup group = put.getRowGroup();
  Value groupStride = group.size == 1 ? Value() : view.strides[group.dimension];
  // Limits of columns are whole pieces: head dims are multiples of 8 (S14).
  Value insideColumns = ptx.less(ptx.add(firstColumn, column), context.scalar(put.getLimits()[1]));
  Part part{view,
            tile::SharedLayout(type),
            type.getElementType(),
            rowsTogether,
            takeStage(state, state.put),
            row,
            piece,
            corner,
            columnOffset,
            rowStride,
            columnStride,
            group,
            groupStride,
            put.getPages() ? &context.abi.getView(put.getPages()) : nullptr,
            put.getPages() ? context.scalar(put.getIndices()[0]) : Value(),
            firstRow,
            ptx.mul(ptx.sub(context.scalar(put.getLimits()[0]), firstRow), group.size),
            insideColumns};
  {
    OpBuilder::InsertionGuard guard(b);
    if (pieces < threadsOfRow) {
      auto takesPart = scf::IfOp::create(b, ptx.loc, ptx.less(piece, ptx.i32(pieces)));
      b.setInsertionPoint(takesPart.thenBlock()->getTerminator());
    }
    auto [strides, constant] = view.type.getStridesAndOffset();
    if (strides[axes[1]] != 1) {
      copyElements(part);
    } else {
      // Each way computes the addresses of its rows from here: shared, they would be kept in registers across loops.
      part.corner = ptx.afresh(corner);
      Value corners = LLVM::PtrToIntOp::create(b, ptx.loc, b.getI64Type(), part.corner);
      Value other = put.getPages() ? view.strides[0] : groupStride;
      Value stride = other ? arith::OrIOp::create(b, ptx.loc, rowStride, other).getResult() : rowStride;
      Value bytes = arith::MulIOp::create(b, ptx.loc, stride, ptx.i64(elementBytes));
      Value bits = arith::OrIOp::create(b, ptx.loc, corners, bytes);
      Value low = arith::AndIOp::create(b, ptx.loc, bits, ptx.i64(pieceBytes - 1));
      Value aligned = arith::CmpIOp::create(b, ptx.loc, arith::CmpIPredicate::eq, low, ptx.i64(0));
      auto branch = scf::IfOp::create(b, ptx.loc, aligned, /*withElseRegion=*/true);
      b.setInsertionPoint(branch.thenBlock()->getTerminator());
      copyAligned(part);
      b.setInsertionPoint(branch.elseBlock()->getTerminator());
      copyElements(part);
    }
  }
  // Waits count puts: every thread commits each, whatever it copied.
  ptx.commitPieces();
}

void CopyEmitter::emit(tile::GetOp get) {
  State &state = states.find(get.getRing())->second;
  context.sharedTiles[get.getShared()] =
      SharedTile{takeStage(state, state.got), {}, get.getShared().getType().getTile()};
}

/// Each thread writes the pairs of elements that it holds. Those that the lanes of a warp write at a time lie in eight
/// rows, whose permutation gives each its banks.
void CopyEmitter::emit(tile::ShareOp share) {
  if (tile::isRowVector(share.getValue().getType())) {
    shareRows(share);
    return;
  }
  Ptx &ptx = context.ptx;
  State &state = states.find(share.getRing())->second;
  auto type = cast<VectorType>(share.getValue().getType());
  constexpr int64_t rowBytes = tile::SharedLayout::rowBytes, pairElements = 2;
  tile::SharedLayout layout(type);
  SmallVector<Value> words = context.packedWords(share.getValue());
  Value row = context.place.row, inRow = ptx.mul(context.place.column, pieceBytes / columnsOfGroup);
  Value permutation = ptx.shiftLeft(ptx.bitAnd(row, panelPieces - 1), llvm::Log2_64(pieceBytes));
  Value start = ptx.add(ptx.add(takeStage(state, state.put), ptx.mul(row, rowBytes)), ptx.add(permutation, inRow));
  start = context.moveToColumn(start, layout, context.findPart(type).second);
  for (auto [number, word] : llvm::enumerate(words)) {
    auto element = static_cast<int64_t>(number) * pairElements;
    int64_t column = context.columnOf(element), inPanel = column % layout.panelColumns;
    Value moved = ptx.bitXor(start, ptx.i32(inPanel / columnsOfGroup * pieceBytes));
    ptx.storeShared(moved, word,
                    column / layout.panelColumns * layout.panelBytes() +
                        rowOf(context.threadRowOf(element)) * rowBytes);
  }
}

/// Each warp writes what it has of each of its rows; lanes that share a row have the same.
void CopyEmitter::shareRows(tile::ShareOp share) {
  Ptx &ptx = context.ptx;
  auto rows = cast<VectorType>(share.getValue().getType());
  constexpr int64_t bytes = 4;
  Value part = context.findPartOfRows(), row = context.place.row;
  Value place = ptx.add(ptx.mul(part, rows.getDimSize(0)), row);
  State &state = states.find(share.getRing())->second;
  Value start = ptx.add(takeStage(state, state.put), ptx.mul(place, bytes));
  for (int64_t threadRow : context.threadRows()) {
    Value word = arith::BitcastOp::create(ptx.b, ptx.loc, ptx.b.getI32Type(), context.row(share.getValue(), threadRow));
    ptx.storeShared(start, word, rowOf(threadRow) * bytes);
  }
}

void CopyEmitter::emit(tile::BlockReduceOp reduce) {
  Ptx &ptx = context.ptx;
  const SharedTile &parts = context.sharedTiles.find(reduce.getParts())->second;
  constexpr int64_t bytes = 4;
  Value start = ptx.add(parts.address, ptx.mul(context.place.row, bytes));
  SmallVector<Value> &rows = context.rows[reduce.getRows()];
  for (int64_t threadRow : context.threadRows()) {
    Value joined;
    for (int64_t part = 0; part < parts.tile.getDimSize(0); ++part) {
      Value next = ptx.loadSharedFloat(start, (part * parts.tile.getDimSize(1) + rowOf(threadRow)) * bytes);
      joined = joined ? ptx.join(reduce.getMax(), joined, next) : next;
    }
    rows.push_back(joined);
  }
}

/// Writes one piece of each part: eight elements, which are two pieces of f32.
void CopyEmitter::splitPiece(const SharedTile &source, Value parts, Value row, Value piece) {
  Ptx &ptx = context.ptx;
  OpBuilder &b = ptx.b;
  tile::SharedLayout from(source.tile), to(tile::getPartsOf(source.tile));
  auto load = [&]() -> SmallVector<Value> {
    // Permuted, an even piece and the next one are neighbours as well.
    Value address = pieceAddress(source.address, from, row, ptx.shiftLeft(piece, 1));
    SmallVector<Value> words = ptx.loadPiece(address);
    llvm::append_range(words, ptx.loadPiece(ptx.bitXor(address, ptx.i32(pieceBytes))));
    return words;
  };
  // A last step that the row does not fill is filled with zeros.
  SmallVector<Value> words;
  constexpr int64_t inPiece = 8;
  if (int64_t pieces = from.columns / inPiece; pieces % 2 == 0) {
    words = load();
  } else {
    auto branch = scf::IfOp::create(b, ptx.loc, SmallVector<Type>(inPiece, b.getI32Type()),
                                    ptx.less(piece, ptx.i32(pieces)), /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(branch.thenBlock());
    scf::YieldOp::create(b, ptx.loc, load());
    b.setInsertionPointToEnd(branch.elseBlock());
    scf::YieldOp::create(b, ptx.loc, SmallVector<Value>(inPiece, ptx.i32(0)));
    words = branch.getResults();
  }
  std::array<SmallVector<Value>, tile::floatParts> split;
  for (int64_t n = 0; n < inPiece; n += 2)
    for (auto [part, word] : llvm::zip_equal(split, ptx.splitFloats(words[n], words[n + 1])))
      part.push_back(word);
  Value address = pieceAddress(parts, to, row, piece);
  for (auto [number, part] : llvm::enumerate(split))
    ptx.storePiece(address, part, static_cast<int64_t>(number) * to.partBytes());
}

void CopyEmitter::emit(tile::SplitOp split) {
  Ptx &ptx = context.ptx;
  const SharedTile &source = context.sharedTiles.find(split.getShared())->second;
  State &state = states.find(split.getRing())->second;
  Value parts = takeStage(state, state.put);
  tile::SharedLayout layout(tile::getPartsOf(source.tile));
  int64_t pieces = countPieces(layout.columns, /*elementBytes=*/2);
  auto [threadsOfRow, rowsTogether, firstRow, piece] = shareOut(pieces);
  for (int64_t first = 0; first < layout.rows; first += rowsTogether) {
    OpBuilder::InsertionGuard guard(ptx.b);
    // Places are computed each time: from in front of a loop on, they would take a register each.
    Value row = ptx.add(ptx.afresh(firstRow), first), takesPart;
    if (pieces < threadsOfRow)
      takesPart = ptx.less(piece, ptx.i32(pieces));
    if (first + rowsTogether > layout.rows) {
      Value exists = ptx.less(row, ptx.i32(layout.rows));
      takesPart = takesPart ? arith::AndIOp::create(ptx.b, ptx.loc, takesPart, exists) : exists;
    }
    if (takesPart)
      ptx.b.setInsertionPoint(scf::IfOp::create(ptx.b, ptx.loc, takesPart).thenBlock()->getTerminator());
    splitPiece(source, parts, row, piece);
  }
}

void CopyEmitter::emit(tile::SyncOp sync) {
  if (std::optional<uint64_t> copies = sync.getCopies())
    context.ptx.waitPieces(static_cast<int64_t>(*copies));
  context.ptx.blockSync();
}
