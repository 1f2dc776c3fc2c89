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
/// Bytes of a row that one step sums over: two pieces.
static constexpr int64_t stepBytes = 32;
/// Rows or columns that one load of four matrices spans.
static constexpr int64_t matrixSpan = 16;
/// Columns of one product, and what a thread holds of its sixteen rows: elements, and rows.
static constexpr int64_t groupColumns = 8, groupElements = 4, groupRows = 2;
/// Columns of f32 from which on accumulators leave so few registers that loads stay near the products that they serve,
/// one part ahead: left to itself the assembler brings more than there is room for. A part is two groups, or one.
static constexpr int64_t crowdedColumns = 40, fullColumns = 224;

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
  return (group * context.rowsOfThread / groupRows + band) * groupElements;
}

/// Four words of sixteen rows of the left operand, those of number `band`: rows of the upper and lower half at the
/// step's first columns, then at its last.
SmallVector<Value> WarpProductEmitter::loadLeft(tile::MmaOp product, int64_t step, int64_t band) {
  Ptx &ptx = context.ptx;
  auto held = context.sharedTiles.find(product.getA());
  if (held == context.sharedTiles.end()) {
    const Fragment &fragment = context.tiles.find(product.getA())->second;
    SmallVector<Value> words;
    if (fragment.packed) {
      for (int64_t group : {2 * step, 2 * step + 1})
        llvm::append_range(words,
                           ArrayRef(fragment.values).slice(group * context.rowsOfThread + band * groupRows, groupRows));
      return words;
    }
    // Which key a column of the step stands for is free as long as both operands agree: column t is key 2t, column
    // t + 4 key 2t + 1, and accumulators serve as they are.
    for (int64_t number : {0, 2, 1, 3})
      words.push_back(toWord(ptx, fragment.values[firstElement(step, band) + number]));
    return words;
  }
  const SharedTile &shared = held->second;
  tile::SharedLayout layout(shared.tile);
  const Place &place = context.place;
  Value first = ptx.add(ptx.mul(place.warpgroup, context.warpgroupRows),
                        ptx.mul(place.warp, context.warpgroupRows / warpsOfWarpgroup));
  Value row = ptx.add(first, ptx.bitAnd(place.lane, 15));
  Value address = laneAddress(ptx, shared.address, row, ptx.shiftRight(place.lane, 4), ptx.bitAnd(place.lane, 7));
  int64_t offset = band * warpRows * rowBytes;
  address = moveAlong(ptx, address, layout, step * stepBytes, offset);
  return ptx.loadMatrices(address, offset, 4, /*transposed=*/false);
}

/// Addresses of a lane in the right operand, from which all its parts follow.
WarpProductEmitter::Right WarpProductEmitter::findRight(tile::MmaOp product) {
  Ptx &ptx = context.ptx;
  const SharedTile &shared = context.sharedTiles.find(product.getB())->second;
  Right right{tile::SharedLayout(shared.tile), product.getTransposed(), {}};
  Value lane = context.place.lane, low = ptx.bitAnd(lane, 7);
  if (right.transposed) {
    // Rows are the result's columns: two pieces of eight rows, then of eight more.
    Value matrix = ptx.shiftRight(lane, 3);
    Value row = ptx.add(ptx.shiftLeft(ptx.shiftRight(matrix, 1), 3), low);
    right.addresses = {laneAddress(ptx, shared.address, row, ptx.bitAnd(matrix, 1), low)};
  } else if (!shared.tile.getElementType().isF32()) {
    // Rows are summed over: sixteen of them, then those of the next piece.
    right.addresses = {laneAddress(ptx, shared.address, ptx.bitAnd(lane, 15), ptx.shiftRight(lane, 4), low)};
  } else {
    // There is no load that transposes words. Row 8 step + 2t is column t of the left operand's step, the next row
    // column t + 4; the permutation of pieces keeps lanes in banks of their own.
    Value column = ptx.shiftRight(lane, 2), inPiece = ptx.shiftLeft(ptx.bitAnd(column, 3), 2);
    for (int64_t n : {0, 1}) {
      Value row = ptx.add(ptx.shiftLeft(ptx.bitAnd(lane, 3), 1), n);
      Value address = laneAddress(ptx, shared.address, row, ptx.shiftRight(column, 2), row);
      right.addresses.push_back(ptx.add(address, inPiece));
    }
  }
  return right;
}

/// The right operand of a step for one or two groups of eight columns, from `column` on.
SmallVector<WarpProductEmitter::Pair> WarpProductEmitter::loadRight(const Right &right, int64_t step, int64_t column,
                                                                    int64_t groups) {
  Ptx &ptx = context.ptx;
  SmallVector<Pair> pairs;
  if (right.addresses.size() == 1) {
    int64_t offset = (right.transposed ? column : step * matrixSpan) * rowBytes;
    int64_t along = right.transposed ? step * stepBytes : column * 2;
    Value address = moveAlong(ptx, right.addresses.front(), right.layout, along, offset);
    SmallVector<Value> words = ptx.loadMatrices(address, offset, 2 * groups, !right.transposed);
    for (int64_t n = 0; n < 2 * groups; n += 2)
      pairs.push_back({words[n], words[n + 1]});
    return pairs;
  }
  for (int64_t group = 0; group < groups; ++group) {
    Pair pair;
    for (int64_t n : {0, 1}) {
      int64_t offset = step * groupColumns * rowBytes;
      Value address = moveAlong(ptx, right.addresses[n], right.layout, (column + group * groupColumns) * 4, offset);
      pair[n] = toWord(ptx, ptx.loadSharedFloat(address, offset));
    }
    pairs.push_back(pair);
  }
  return pairs;
}

/// Three parts of 11, 11 and 2 bits, cut off: all of one sign, and finite where the whole is.
WarpProductEmitter::Split WarpProductEmitter::split(Value word) {
  Ptx &ptx = context.ptx;
  constexpr int32_t tf32Bits = ~((1 << 13) - 1);
  Value whole = toFloat(ptx, word), big = ptx.bitAnd(word, tf32Bits);
  Value rest = arith::SubFOp::create(ptx.b, ptx.loc, whole, toFloat(ptx, big));
  Value small = ptx.bitAnd(toWord(ptx, rest), tf32Bits);
  return {big, small, toWord(ptx, arith::SubFOp::create(ptx.b, ptx.loc, rest, toFloat(ptx, small)))};
}

/// Adds a product to the accumulators of a group.
void WarpProductEmitter::multiply(Type element, ArrayRef<Value> left, const Pair &right, MutableArrayRef<Value> acc) {
  llvm::copy(context.ptx.warpProduct(element, left, right, acc), acc.begin());
}

/// Tensor cores cut off what they add. So products of small parts have a sum of their own, the least of them first, and
/// sums are added, rounded to nearest, outside of the tensor cores. With exact parts, the product of a row with one key
/// is as good as that of two f32: all that is left out lies below their last bit.
void WarpProductEmitter::multiplyFloats(ArrayRef<Split> left, ArrayRef<Split> right, MutableArrayRef<Value> acc) {
  Ptx &ptx = context.ptx;
  Type f32 = ptx.b.getF32Type();
  auto part = [](ArrayRef<Split> splits, Value Split::*member) {
    return llvm::map_to_vector(splits, [&](const Split &split) { return split.*member; });
  };
  SmallVector<Value> zeros(groupElements, ptx.f32(0)), sum = zeros;
  auto add = [&](Value Split::*ofLeft, Value Split::*ofRight) {
    sum = ptx.warpProduct(f32, part(left, ofLeft), part(right, ofRight), sum);
  };
  add(&Split::least, &Split::big);
  add(&Split::big, &Split::least);
  add(&Split::small, &Split::small);
  add(&Split::small, &Split::big);
  add(&Split::big, &Split::small);
  SmallVector<Value> bigSum = ptx.warpProduct(f32, part(left, &Split::big), part(right, &Split::big), zeros);
  for (auto [element, big, small] : llvm::zip_equal(acc, bigSum, sum)) {
    Value product = ptx.addInPlace(big, small);
    element = element ? ptx.addInPlace(element, product) : product;
  }
}

void WarpProductEmitter::emit(tile::MmaOp product) {
  Ptx &ptx = context.ptx;
  VectorType leftType = tile::getTileType(product.getA());
  Type element = leftType.getElementType();
  int64_t columns = cast<VectorType>(product.getResult().getType()).getDimSize(1);
  SmallVector<Value> acc;
  bool fresh = matchPattern(product.getAcc(), m_AnyZeroFloat());
  for (int64_t n = 0; n < context.countElements(cast<VectorType>(product.getResult().getType())); ++n)
    acc.push_back(!fresh ? context.element(product.getAcc(), n) : element.isF32() ? Value() : ptx.f32(0));
  Right right = findRight(product);
  auto splitAll = [&](ArrayRef<Value> words) {
    return llvm::map_to_vector(words, [&](Value word) { return split(word); });
  };
  int64_t depth = leftType.getDimSize(1) * leftType.getElementTypeBitWidth() / 8;
  bool crowded = element.isF32() && columns > crowdedColumns;
  int64_t groupsTogether = crowded && columns > fullColumns ? 1 : 2;
  SmallVector<std::pair<int64_t, int64_t>> parts; // step and column
  for (int64_t step = 0; step * stepBytes < depth; ++step)
    for (int64_t column = 0; column < columns; column += groupsTogether * groupColumns)
      parts.push_back({step, column});
  auto load = [&](size_t part) {
    auto [step, column] = parts[part];
    return loadRight(right, step, column, std::min(groupsTogether, (columns - column) / groupColumns));
  };

  const int64_t bands = context.rowsOfThread / groupRows;
  SmallVector<SmallVector<Value>> left(bands);
  SmallVector<SmallVector<Split>> leftParts(bands);
  SmallVector<Pair> pairs, next;
  for (auto [number, part] : llvm::enumerate(parts)) {
    auto [step, column] = part;
    for (int64_t band = 0; column == 0 && band < bands; ++band) {
      left[band] = loadLeft(product, step, band);
      if (element.isF32())
        leftParts[band] = splitAll(left[band]);
    }
    pairs = crowded && number > 0 ? next : load(number);
    if (crowded && number + 1 < parts.size())
      next = load(number + 1);
    for (auto [group, pair] : llvm::enumerate(pairs)) {
      SmallVector<Split> rightParts;
      if (element.isF32())
        rightParts = splitAll(pair);
      for (int64_t band = 0; band < bands; ++band) {
        int64_t first = firstElement(column / groupColumns + static_cast<int64_t>(group), band);
        auto sums = MutableArrayRef(acc).slice(first, groupElements);
        if (element.isF32())
          multiplyFloats(leftParts[band], rightParts, sums);
        else
          multiply(element, left[band], pair, sums);
      }
    }
    // With the count itself the assembler spills 108 bytes at d 192 in f32.
    if (crowded)
      ptx.pin(ptx.add(context.abi.getTileCount(), static_cast<int64_t>(number)));
  }
  context.tiles[product.getResult()] = Fragment{false, acc};
}
