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
/// Columns of one product, and elements that a thread holds of its sixteen rows.
static constexpr int64_t groupColumns = 8, groupElements = 4;
/// Columns of f32 from which on accumulators leave room for one group of the right operand at a time, not two.
static constexpr int64_t fullColumns = 224;

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

/// A word as an f32.
static Value toFloat(Ptx &ptx, Value word) {
  return arith::BitcastOp::create(ptx.b, ptx.loc, ptx.b.getF32Type(), word);
}

/// The first of a thread's elements in a group of columns and the sixteen rows of number `band`.
int64_t WarpProductEmitter::firstElement(int64_t group, int64_t band) const {
  return (group * context.countBands() + band) * groupElements;
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
  const Place &place = context.place;
  Value first = ptx.add(ptx.mul(place.warpgroup, context.warpgroupRows),
                        ptx.mul(place.warp, context.warpgroupRows / warpsOfWarpgroup));
  Value row = ptx.add(first, ptx.bitAnd(place.lane, 15));
  Value address = laneAddress(ptx, shared.address, row, ptx.shiftRight(place.lane, 4), ptx.bitAnd(place.lane, 7));
  auto load = [&](int64_t bytes) {
    int64_t offset = band * warpRows * rowBytes;
    Value moved = moveAlong(ptx, address, layout, bytes, offset);
    return ptx.loadMatrices(moved, offset, 4, /*transposed=*/false);
  };
  if (!type.getElementType().isF32())
    return {Words(load(step * loadBytes))};
  // A load brings two pieces of four elements, of which a lane has one each. Which elements stand side by side is free
  // as long as both operands agree: here those of both pieces.
  SmallVector<Floats, 4> pairs;
  for (int64_t half : {0, 1}) {
    SmallVector<Value> words(4, zero);
    if (half == 0 || isWhole)
      words = load((2 * step + half) * loadBytes);
    pairs.push_back({words[0], words[2]});
    pairs.push_back({words[1], words[3]});
  }
  return narrow(pairs);
}

/// Addresses of a lane in the right operand, from which all its parts follow.
WarpProductEmitter::Right WarpProductEmitter::findRight(tile::MmaOp product) {
  Ptx &ptx = context.ptx;
  const SharedTile &shared = context.sharedTiles.find(product.getB())->second;
  Right right{tile::SharedLayout(shared.tile),
              product.getTransposed(),
              shared.tile.getElementType().isF32(),
              tile::getTileType(product.getA()).getDimSize(1),
              {}};
  Value lane = context.place.lane, low = ptx.bitAnd(lane, 7);
  if (right.transposed) {
    // Rows are the result's columns: two pieces of eight rows, then of eight more.
    Value matrix = ptx.shiftRight(lane, 3);
    Value row = ptx.add(ptx.shiftLeft(ptx.shiftRight(matrix, 1), 3), low);
    right.addresses = {laneAddress(ptx, shared.address, row, ptx.bitAnd(matrix, 1), low)};
  } else if (!right.floats) {
    // Rows are summed over: sixteen of them, then those of the next piece.
    right.addresses = {laneAddress(ptx, shared.address, ptx.bitAnd(lane, 15), ptx.shiftRight(lane, 4), low)};
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

/// The right operand of a step for one or two groups of eight columns, from `column` on: two words of each group, of
/// f32 those of the step's first rows and then of its last.
SmallVector<Value> WarpProductEmitter::loadRight(const Right &right, int64_t step, int64_t column, int64_t groups) {
  Ptx &ptx = context.ptx;
  bool isWhole = (step + 1) * stepDepth <= right.depth;
  int64_t loadsOfStep = right.floats ? 2 : 1;
  // Matrices of 8x8 words' halves, of `half` of a step of f32. Rows are those that are summed over, or columns.
  auto loadMatrices = [&](int64_t half) {
    int64_t offset = (right.transposed ? column : step * stepDepth) * rowBytes;
    int64_t along = right.transposed ? (loadsOfStep * step + half) * loadBytes : column * 2;
    Value address = moveAlong(ptx, right.addresses.front(), right.layout, along, offset);
    return ptx.loadMatrices(address, offset, 2 * groups, !right.transposed);
  };
  auto loadWords = [&](int64_t half) {
    SmallVector<Value> words;
    for (int64_t group = 0; group < groups; ++group)
      for (int64_t n : {0, 1}) {
        int64_t offset = (step * stepDepth + half * groupColumns) * rowBytes;
        Value address = moveAlong(ptx, right.addresses[n], right.layout, (column + group * groupColumns) * 4, offset);
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
  ArrayRef<Value> first = words.slice(2 * group, 2);
  if (!right.floats)
    return {Words(first)};
  ArrayRef<Value> last = words.slice(words.size() / 2 + 2 * group, 2);
  return narrow({{first[0], first[1]}, {last[0], last[1]}});
}

/// What instructions take of f32.
WarpProductEmitter::Operand WarpProductEmitter::narrow(ArrayRef<Floats> pairs) {
  return tf32 ? round(pairs) : split(pairs);
}

/// Three parts of eight bits each. Rounded to nearest, parts are half as large as cut off, and so is what products
/// leave out, which is as often too much as too little. The first is finite where the whole is.
WarpProductEmitter::Operand WarpProductEmitter::split(ArrayRef<Floats> pairs) {
  Ptx &ptx = context.ptx;
  constexpr int32_t upperHalf = ~0xffff;
  auto subtract = [&](Value x, Value y) -> Value { return arith::SubFOp::create(ptx.b, ptx.loc, x, toFloat(ptx, y)); };
  Operand parts(3);
  for (auto [low, high] : pairs) {
    Value lowRest = toFloat(ptx, low), highRest = toFloat(ptx, high);
    auto takeOff = [&](Value part) {
      lowRest = subtract(lowRest, ptx.shiftLeft(part, 16));
      highRest = subtract(highRest, ptx.bitAnd(part, upperHalf));
      return part;
    };
    parts[0].push_back(takeOff(ptx.packFinite(lowRest, highRest)));
    parts[1].push_back(takeOff(ptx.pack(ptx.b.getBF16Type(), lowRest, highRest)));
    // Of eight bytes, those of the second operand are 4 to 7.
    parts[2].push_back(ptx.permuteBytes(toWord(ptx, lowRest), toWord(ptx, highRest), ptx.i32(0x7632)));
  }
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
/// of the great ones is added to their sum; what a step sums up is added to the accumulators, rounded to nearest, outside
/// of the tensor cores. What is left out of a product of two elements is at most 2^-24 of it.
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

void WarpProductEmitter::emit(tile::MmaOp product) {
  Ptx &ptx = context.ptx;
  VectorType leftType = tile::getTileType(product.getA());
  Type element = leftType.getElementType();
  int64_t columns = cast<VectorType>(product.getResult().getType()).getDimSize(1);
  SmallVector<Value> acc;
  tf32 = product.getTf32();
  bool isSplit = element.isF32() && !tf32;
  bool fresh = matchPattern(product.getAcc(), m_AnyZeroFloat());
  for (int64_t n = 0; n < context.countElements(cast<VectorType>(product.getResult().getType())); ++n)
    acc.push_back(!fresh ? context.element(product.getAcc(), n) : isSplit ? Value() : ptx.f32(0));
  Right right = findRight(product);
  const int64_t bands = context.countBands();
  // Parts of f32 and accumulators leave so few registers that loads stay near the products that they serve, one part
  // ahead: left to itself the assembler brings more than there is room for.
  bool floats = element.isF32();
  int64_t groupsTogether = floats && columns > fullColumns ? 1 : 2;
  SmallVector<std::pair<int64_t, int64_t>> parts; // step and column
  for (int64_t step = 0; step * stepDepth < right.depth; ++step)
    for (int64_t column = 0; column < columns; column += groupsTogether * groupColumns)
      parts.push_back({step, column});
  auto load = [&](size_t part) {
    auto [step, column] = parts[part];
    return loadRight(right, step, column, std::min(groupsTogether, (columns - column) / groupColumns));
  };

  SmallVector<Operand> left(bands);
  SmallVector<Value> words, next;
  for (auto [number, part] : llvm::enumerate(parts)) {
    auto [step, column] = part;
    for (int64_t band = 0; column == 0 && band < bands; ++band)
      left[band] = loadLeft(product, step, band);
    words = floats && number > 0 ? next : load(number);
    if (floats && number + 1 < parts.size())
      next = load(number + 1);
    int64_t groups = std::min(groupsTogether, (columns - column) / groupColumns);
    for (int64_t group = 0; group < groups; ++group) {
      Operand ofGroup = getOperand(right, words, group);
      for (int64_t band = 0; band < bands; ++band)
        multiply(element, left[band], ofGroup,
                 MutableArrayRef(acc).slice(firstElement(column / groupColumns + group, band), groupElements));
    }
    // With the count itself the assembler spills 108 bytes at d 192 in f32.
    if (floats)
      ptx.pin(ptx.add(context.abi.getTileCount(), static_cast<int64_t>(number)));
  }
  context.tiles[product.getResult()] = Fragment{false, acc};
}
