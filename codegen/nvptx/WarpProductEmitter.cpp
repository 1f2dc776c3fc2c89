//===- WarpProductEmitter.cpp - Products of warps ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Each lane gives the address of a row of 16 bytes of one of four matrices of 8x8 words' halves (9.7.14.5.15). Pieces
// of a row are permuted by exclusive or with the row's number; rows start at multiples of 128 bytes, so that going on
// by an even number of pieces is an exclusive or of the address with a constant.
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/WarpProductEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::nvptx;

static constexpr int64_t rowBytes = tile::SharedLayout::rowBytes;
/// Elements that one step sums over, and bytes of a row that one load brings: two pieces.
static constexpr int64_t stepDepth = 16, loadBytes = 32;
/// Elements that a thread holds of the sixteen rows of one product, which has a group of columns.
static constexpr int64_t groupElements = 4;

/// A lane's address: `row` of a tile and the piece `half` (0 or 1) of it, of lane number modulo 8 `low`.
static Value laneAddress(Ptx &ptx, Value tile, Value row, Value half, Value low) {
  Value permuted = ptx.bitXor(half, low);
  return ptx.add(ptx.add(tile, ptx.mul(row, rowBytes)), ptx.shiftLeft(permuted, 4));
}

/// `address` moved on by `bytes` of a row, which are a multiple of 32; those in whole panels go to `offset`.
static Value moveAlong(Ptx &ptx, Value address, const tile::SharedLayout &layout, int64_t bytes, int64_t &offset) {
  offset += bytes / rowBytes * layout.panelBytes();
  int64_t inPanel = bytes % rowBytes;
  return inPanel ? ptx.bitXor(address, ptx.i32(inPanel)) : address;
}

/// An f32 as a word.
static Value toWord(Ptx &ptx, Value x) { return arith::BitcastOp::create(ptx.b, ptx.loc, ptx.b.getI32Type(), x); }

/// The first of a thread's elements in a group of columns and the sixteen rows of number `band`.
int64_t WarpProductEmitter::firstElement(int64_t group, int64_t band) const {
  return (group * context.countBands() + band) * groupElements;
}

/// The lane's address for loads of two pieces of the warp's first sixteen rows, from row `first` on.
Value WarpProductEmitter::findOwnRows(const SharedTile &shared, Value first) {
  Ptx &ptx = context.ptx;
  Value lane = context.place.lane, row = ptx.add(first, ptx.bitAnd(lane, 15));
  return laneAddress(ptx, shared.address, row, ptx.shiftRight(lane, 4), ptx.bitAnd(lane, 7));
}

/// The lane's address for loads of sixteen rows of two pieces that hold the warp's columns, from column `first` on.
Value WarpProductEmitter::findOwnColumns(const SharedTile &shared, Value first) {
  Ptx &ptx = context.ptx;
  tile::SharedLayout layout(shared.tile);
  Value lane = context.place.lane, matrix = ptx.shiftRight(lane, 3), low = ptx.bitAnd(lane, 7);
  Value panel = ptx.shiftRight(first, llvm::Log2_64(layout.panelColumns));
  Value piece = ptx.add(ptx.shiftRight(ptx.bitAnd(first, layout.panelColumns - 1), 3), ptx.bitAnd(matrix, 1));
  Value row = ptx.add(ptx.shiftLeft(ptx.shiftRight(matrix, 1), 3), low);
  Value tile = ptx.add(shared.address, ptx.mul(panel, layout.panelBytes()));
  return laneAddress(ptx, tile, row, piece, low);
}

/// What one step takes of sixteen rows of the left operand, those of number `band`: words of the upper and lower half
/// at the step's first columns, then at its last.
WarpProductEmitter::Operand WarpProductEmitter::loadLeft(tile::MmaOp product, int64_t step, int64_t band) {
  Ptx &ptx = context.ptx;
  VectorType type = tile::getTileType(product.getA());
  bool isWhole = (step + 1) * stepDepth <= type.getDimSize(1);
  Value zero = ptx.i32(0);
  auto held = context.sharedTiles.find(product.getA());
  if (held == context.sharedTiles.end()) {
    const Fragment &fragment = context.tiles.find(product.getA())->second;
    Words words;
    SmallVector<Floats, 4> pairs;
    for (int64_t group : {2 * step, 2 * step + 1})
      for (int64_t row : {band * rowsOfBand, band * rowsOfBand + 1}) {
        int64_t word = group * context.rowsOfThread + row;
        if (fragment.packed)
          words.push_back(fragment.values[word]);
        else if (group == 2 * step || isWhole)
          pairs.push_back({toWord(ptx, fragment.values[2 * word]), toWord(ptx, fragment.values[2 * word + 1])});
        else
          pairs.push_back({zero, zero});
      }
    return fragment.packed ? Operand{words} : narrow(pairs);
  }
  const SharedTile &shared = held->second;
  tile::SharedLayout layout(shared.tile);
  Value first = context.findPart(product.getType()).first, address = findOwnRows(shared, first);
  auto load = [&](int64_t bytes) {
    int64_t offset = band * warpRows * rowBytes;
    Value moved = moveAlong(ptx, address, layout, bytes, offset);
    return ptx.loadMatrices(moved, offset, 4, /*transposed=*/false);
  };
  if (product.getLeftTransposed()) {
    // Rows are summed over, and the product's are the columns of a panel.
    int64_t offset = step * stepDepth * rowBytes;
    Value moved = moveAlong(ptx, findOwnColumns(shared, first), layout, band * warpRows * 2, offset);
    return {Words(ptx.loadMatrices(moved, offset, 4, /*transposed=*/true))};
  }
  if (!type.getElementType().isF32())
    return {Words(load(step * loadBytes))};
  SmallVector<Floats, 4> pairs;
  if (tile::isInParts(product.getB())) {
    // Parts have neighbours side by side.
    for (int64_t half : {0, 1})
      for (int64_t below : {int64_t(0), columnsOfGroup})
        pairs.push_back(half == 0 || isWhole
                            ? loadPair(shared, first, (2 * step + half) * loadBytes, below + band * warpRows)
                            : Floats{zero, zero});
    return narrow(pairs);
  }
  // A load brings two pieces of four elements, of which a lane has one each. Which elements stand side by side is free
  // as long as both operands agree: here those of both pieces.
  for (int64_t half : {0, 1}) {
    SmallVector<Value> words(4, zero);
    if (half == 0 || isWhole)
      words = load((2 * step + half) * loadBytes);
    pairs.push_back({words[0], words[2]});
    pairs.push_back({words[1], words[3]});
  }
  return narrow(pairs);
}

/// Two neighbours of f32 among the eight at `bytes` of a row, which are the lane's: of the row that it has in the eight
/// from row `first` and `below` on.
WarpProductEmitter::Floats WarpProductEmitter::loadPair(const SharedTile &shared, Value first, int64_t bytes,
                                                        int64_t below) {
  Ptx &ptx = context.ptx;
  Value row = ptx.shiftRight(context.place.lane, 2), pair = ptx.bitAnd(context.place.lane, 3);
  Value address = laneAddress(ptx, shared.address, ptx.add(first, row), ptx.shiftRight(pair, 1), row);
  address = ptx.add(address, ptx.shiftLeft(ptx.bitAnd(pair, 1), 3));
  int64_t offset = below * rowBytes;
  address = moveAlong(ptx, address, tile::SharedLayout(shared.tile), bytes, offset);
  SmallVector<Value> floats = ptx.loadSharedPair(address, offset);
  return {toWord(ptx, floats[0]), toWord(ptx, floats[1])};
}

/// Addresses of a lane in the right operand, from which all its parts follow.
WarpProductEmitter::Right WarpProductEmitter::findRight(tile::MmaOp product) {
  Ptx &ptx = context.ptx;
  const SharedTile &shared = context.sharedTiles.find(product.getB())->second;
  Right right{tile::SharedLayout(shared.tile),
              product.getTransposed(),
              shared.tile.getElementType().isF32(),
              tile::getTileType(product.getA()).getDimSize(product.getLeftTransposed() ? 0 : 1),
              {}};
  Value lane = context.place.lane, low = ptx.bitAnd(lane, 7);
  Value firstColumn = context.findPart(product.getType()).second;
  if (right.transposed) {
    // Rows are the result's columns: two pieces of eight rows, then of eight more.
    Value matrix = ptx.shiftRight(lane, 3);
    Value row = ptx.add(ptx.shiftLeft(ptx.shiftRight(matrix, 1), 3), low);
    if (firstColumn)
      row = ptx.add(row, firstColumn);
    right.addresses = {laneAddress(ptx, shared.address, row, ptx.bitAnd(matrix, 1), low)};
  } else if (!right.floats) {
    // Rows are summed over: sixteen of them, then those of the next piece.
    Value address = laneAddress(ptx, shared.address, ptx.bitAnd(lane, 15), ptx.shiftRight(lane, 4), low);
    right.addresses = {context.moveToColumn(address, right.layout, firstColumn)};
  } else {
    // There is no load that transposes words. A lane has rows 2t and 2t + 1 of eight; the permutation of pieces keeps
    // lanes in banks of their own.
    Value column = ptx.shiftRight(lane, 2), inPiece = ptx.shiftLeft(ptx.bitAnd(column, 3), 2);
    for (int64_t n : {0, 1}) {
      Value row = ptx.add(ptx.shiftLeft(ptx.bitAnd(lane, 3), 1), n);
      Value address = laneAddress(ptx, shared.address, row, ptx.shiftRight(column, 2), row);
      right.addresses.push_back(ptx.add(address, inPiece));
    }
  }
  return right;
}

/// The right operand at a place: two words of each group, of f32 those of the step's first rows and then of its last,
/// or of its parts one after the other.
SmallVector<Value> WarpProductEmitter::loadRight(const Right &right, const RightPlace &place) {
  Ptx &ptx = context.ptx;
  const int64_t step = place.step, column = place.column, groups = place.groups;
  bool isWhole = (step + 1) * stepDepth <= right.depth;
  int64_t loadsOfStep = right.floats ? 2 : 1;
  // Matrices of 8x8 words' halves, of `half` of a step of f32. Rows are those that are summed over, or columns.
  auto loadMatrices = [&](int64_t half) {
    int64_t offset = (right.transposed ? column : step * stepDepth) * rowBytes;
    int64_t along = right.transposed ? (loadsOfStep * step + half) * loadBytes : column * 2;
    Value address = moveAlong(ptx, right.addresses.front(), right.layout, along, offset);
    SmallVector<Value> words;
    for (int64_t part = 0; part < right.layout.parts; ++part)
      llvm::append_range(
          words, ptx.loadMatrices(address, offset + part * right.layout.partBytes(), 2 * groups, !right.transposed));
    return words;
  };
  auto loadWords = [&](int64_t half) {
    SmallVector<Value> words;
    for (int64_t group = 0; group < groups; ++group)
      for (int64_t n : {0, 1}) {
        int64_t offset = (step * stepDepth + half * columnsOfGroup) * rowBytes;
        Value address = moveAlong(ptx, right.addresses[n], right.layout, (column + group * columnsOfGroup) * 4, offset);
        words.push_back(toWord(ptx, ptx.loadSharedFloat(address, offset)));
      }
    return words;
  };
  SmallVector<Value> words = right.floats && !right.transposed ? loadWords(0) : loadMatrices(0);
  if (right.floats && isWhole)
    llvm::append_range(words, right.transposed ? loadMatrices(1) : loadWords(1));
  else if (right.floats)
    words.append(2 * groups, ptx.i32(0));
  return words;
}

/// Of what `loadRight` gave, the operand of group `group`.
WarpProductEmitter::Operand WarpProductEmitter::getOperand(const Right &right, ArrayRef<Value> words, int64_t group) {
  if (!right.floats) {
    Operand operand;
    auto wordsOfPart = static_cast<int64_t>(words.size()) / right.layout.parts;
    for (int64_t part = 0; part < right.layout.parts; ++part)
      operand.push_back(Words(words.slice(part * wordsOfPart + 2 * group, 2)));
    return operand;
  }
  ArrayRef<Value> first = words.slice(2 * group, 2), last = words.slice(words.size() / 2 + 2 * group, 2);
  return narrow({{first[0], first[1]}, {last[0], last[1]}});
}

/// What instructions take of f32.
WarpProductEmitter::Operand WarpProductEmitter::narrow(ArrayRef<Floats> pairs) {
  return tf32 ? round(pairs) : split(pairs);
}

/// Three parts of eight bits each.
WarpProductEmitter::Operand WarpProductEmitter::split(ArrayRef<Floats> pairs) {
  Operand parts(tile::floatParts);
  for (auto [low, high] : pairs)
    for (auto [part, word] : llvm::zip_equal(parts, context.ptx.splitFloats(low, high)))
      part.push_back(word);
  return parts;
}

/// Words of an element each, for one half of a step and then for the other: of the rows that a thread has of an
/// operand, the first elements of all pairs, and then the second ones.
WarpProductEmitter::Operand WarpProductEmitter::round(ArrayRef<Floats> pairs) {
  Operand halves;
  for (ArrayRef<Floats> half : {pairs.take_front(pairs.size() / 2), pairs.take_back(pairs.size() / 2)}) {
    Words &words = halves.emplace_back();
    for (size_t number : {0, 1})
      for (const Floats &pair : half)
        words.push_back(context.ptx.roundToTf32(pair[number]));
  }
  return halves;
}

/// Adds a product to the accumulators of a group. Of TF32 it is one for each half.
void WarpProductEmitter::multiply(Type element, const Operand &left, const Operand &right, MutableArrayRef<Value> acc) {
  if (tf32)
    for (auto [ofLeft, ofRight] : llvm::zip_equal(left, right))
      llvm::copy(context.ptx.warpProductTf32(ofLeft, ofRight, acc), acc.begin());
  else if (element.isF32())
    multiplyFloats(left, right, acc);
  else
    llvm::copy(context.ptx.warpProduct(element, left.front(), right.front(), acc), acc.begin());
}

/// Tensor cores cut off what they add. So products of small parts come first, the least of them before others, and that
/// of the great ones is added to their sum; what a step sums up is added to the accumulators, rounded to nearest,
/// outside of the tensor cores. What is left out of a product of two elements is at most 2^-24 of it.
void WarpProductEmitter::multiplyFloats(const Operand &left, const Operand &right, MutableArrayRef<Value> acc) {
  Ptx &ptx = context.ptx;
  Type bf16 = ptx.b.getBF16Type();
  SmallVector<Value> sum(groupElements, ptx.f32(0));
  constexpr std::pair<int, int> byGrowth[] = {{2, 0}, {0, 2}, {1, 1}, {1, 0}, {0, 1}, {0, 0}};
  for (auto [ofLeft, ofRight] : byGrowth)
    sum = ptx.warpProduct(bf16, left[ofLeft], right[ofRight], sum);
  for (auto [element, product] : llvm::zip_equal(acc, sum))
    element = element ? ptx.addInPlace(element, product) : product;
}

/// A load brings what a thread has of sixteen columns, in the order of accumulators. Columns past the last, up to a
/// whole step, are zeros in shared memory, and products read them.
void WarpProductEmitter::emit(tile::ReadOp read) {
  Ptx &ptx = context.ptx;
  const SharedTile &shared = context.sharedTiles.find(read.getTile())->second;
  tile::SharedLayout layout(shared.tile);
  bool isTransposed = read.getTransposed();
  Value first = context.findPart(cast<VectorType>(read.getResult().getType())).first;
  Value address = isTransposed ? findOwnColumns(shared, first) : findOwnRows(shared, first);
  Fragment fragment{/*packed=*/true, {}};
  Value all;
  int64_t columns = cast<VectorType>(read.getResult().getType()).getDimSize(1);
  for (int64_t step = 0; step * stepDepth < columns; ++step) {
    int64_t offset = isTransposed ? step * stepDepth * rowBytes : 0;
    Value moved = isTransposed ? address : moveAlong(ptx, address, layout, step * loadBytes, offset);
    SmallVector<Value> words = ptx.loadMatrices(moved, offset, 4, isTransposed);
    all = all ? arith::OrIOp::create(ptx.b, ptx.loc, all, words.front()).getResult() : words.front();
    llvm::append_range(fragment.values, words);
  }
  context.tiles[read.getResult()] = fragment;
  auto get = read.getTile().getDefiningOp<tile::GetOp>();
  if (!get)
    return;
  if (Value variable = context.lastReadInLoop.lookup(get.getRing()))
    LLVM::StoreOp::create(ptx.b, ptx.loc, all, variable);
  else
    context.lastRead[get.getRing()] = all;
}

void WarpProductEmitter::emit(tile::MmaOp product) {
  Ptx &ptx = context.ptx;
  VectorType leftType = tile::getTileType(product.getA());
  Type element = leftType.getElementType();
  const int64_t columns = context.columnsOfWarp(product.getType());
  SmallVector<Value> acc;
  tf32 = product.getTf32();
  bool isSplit = element.isF32() && !tf32;
  bool fresh = matchPattern(product.getAcc(), m_AnyZeroFloat());
  for (int64_t n = 0; n < firstElement(columns / columnsOfGroup, 0); ++n)
    acc.push_back(!fresh ? context.element(product.getAcc(), n) : isSplit ? Value() : ptx.f32(0));
  Right right = findRight(product);
  const int64_t bands = context.countBands();
  auto columnsOfLoad = product->getAttrOfType<IntegerAttr>(tile::loadColumnsAttrName);
  int64_t groupsOfLoad = columnsOfLoad ? columnsOfLoad.getInt() / columnsOfGroup : 2;
  size_t together = tile::countLoadsTogether(product);
  bool isAhead = product->hasAttr(tile::loadAheadAttrName);
  SmallVector<RightPlace> loads;
  for (int64_t step = 0; step * stepDepth < right.depth; ++step)
    for (int64_t column = 0; column < columns; column += groupsOfLoad * columnsOfGroup)
      loads.push_back({step, column, std::min(groupsOfLoad, (columns - column) / columnsOfGroup)});
  using Loaded = SmallVector<SmallVector<Value>, 2>;
  auto load = [&](ArrayRef<RightPlace> places) {
    return llvm::map_to_vector<2>(places, [&](const RightPlace &place) { return loadRight(right, place); });
  };

  SmallVector<Operand> left(bands);
  Loaded words, next;
  for (size_t first = 0; first < loads.size(); first += together) {
    auto rest = ArrayRef(loads).drop_front(first);
    ArrayRef<RightPlace> places = rest.take_front(together),
                         following = rest.drop_front(places.size()).take_front(together);
    words = isAhead && first > 0 ? next : load(places);
    next = isAhead ? load(following) : Loaded();
    for (auto [place, ofPlace] : llvm::zip_equal(places, words)) {
      for (int64_t band = 0; place.column == 0 && band < bands; ++band)
        left[band] = loadLeft(product, place.step, band);
      for (int64_t group = 0; group < place.groups; ++group) {
        Operand ofGroup = getOperand(right, ofPlace, group);
        for (int64_t band = 0; band < bands; ++band)
          multiply(
              element, left[band], ofGroup,
              MutableArrayRef(acc).slice(firstElement(place.column / columnsOfGroup + group, band), groupElements));
      }
    }
    // Left to itself, the assembler would bring more than there is room for. With the count itself it spills 108 bytes
    // at d 192 in f32.
    if (isAhead)
      ptx.pin(ptx.add(context.abi.getTileCount(), static_cast<int64_t>(first / together)));
  }
  context.tiles[product.getResult()] = Fragment{false, acc};
}
