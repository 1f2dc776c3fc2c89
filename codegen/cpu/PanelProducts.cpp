//===- PanelProducts.cpp - Products of a panel ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/cpu/PanelEmitter.h"
#include "codegen/cpu/Staging.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::cpu;

/// The columns of `sums`, which has those of a block one after the other.
static ColumnBlock asBlock(const EmitContext &context, ValueRange sums) {
  ColumnBlock block;
  for (; !sums.empty(); sums = sums.drop_front(context.vectors))
    block.push_back(Lanes(sums.take_front(context.vectors)));
  return block;
}

/// Sums of a block of columns, in registers, over steps [low, high): `step` adds to them, one after the other.
ColumnBlock PanelEmitter::sumSteps(Value low, Value high,
                                   llvm::function_ref<void(Value, MutableArrayRef<Value>)> step) {
  OpBuilder &b = context.builder;
  // Four steps of the sum a turn: enough to hide the loop's own work, little enough for the instruction cache.
  constexpr int64_t unroll = 4;
  Value zero = context.splat(context.constant(b.getF32Type(), 0));
  SmallVector<Value> init(context.columns * context.vectors, zero);
  auto loop = scf::ForOp::create(b, context.loc, low, high, context.index(unroll), init);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(loop.getBody());
  SmallVector<Value> sums(loop.getRegionIterArgs());
  for (int64_t number = 0; number < unroll; ++number)
    step(context.add(loop.getInductionVar(), context.index(number)), sums);
  scf::YieldOp::create(b, context.loc, sums);
  return asBlock(context, loop.getResults());
}

/// Products summed over columns [low, high) of the first factor, for a block of columns of the result: elements of the
/// second factor are broadcast.
ColumnBlock PanelEmitter::sumProducts(tile::MmaOp op, Value column, Value low, Value high) {
  OpBuilder &b = context.builder;
  Location loc = context.loc;
  bool isTurned = op.getLeftTransposed();
  Value a = isTurned ? values.whole.lookup(op.getA()) : findStored(op.getA());
  bool isLoaded = isa_and_nonnull<tile::LoadOp>(op.getB().getDefiningOp());
  Value packed = isLoaded ? values.packed(op.getB(), op.getTransposed()) : values.whole.lookup(op.getB());
  assert(a && packed && "factors are stored before they are multiplied");
  Value firstRow = isTurned ? context.mul(panel, context.index(context.panelRows())) : Value();
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
  return sumSteps(low, high, [&](Value k, MutableArrayRef<Value> sums) {
    SmallVector<Value> indices = isTurned ? SmallVector<Value>{k, firstRow} : bufferIndices(a, k);
    Lanes factor;
    for (int64_t number = 0; number < context.vectors; ++number)
      factor.push_back(context.loadVector(a, indices, number));
    for (int64_t offset = 0; offset < context.columns; ++offset) {
      Value everywhere = context.splat(memref::LoadOp::create(b, loc, packed, place(k, offset)));
      for (int64_t number = 0; number < context.vectors; ++number) {
        Value &sum = sums[offset * context.vectors + number];
        sum = vector::FMAOp::create(b, loc, factor[number], everywhere, sum);
      }
    }
  });
}

/// The same of bf16, two products at a time: pairs of columns of the first factor, by pairs of elements of the second,
/// which lie side by side in its rows.
ColumnBlock PanelEmitter::sumPairs(tile::MmaOp op, Value column) {
  OpBuilder &b = context.builder;
  Location loc = context.loc;
  Value left = pairsOf(op.getA()), right = values.forPairs(op.getB(), op.getTransposed());
  Type element = b.getBF16Type();
  auto pair = VectorType::get({2}, element), pairs = VectorType::get({2 * context.lanes}, element);
  auto word = VectorType::get({1}, b.getI32Type()), words = VectorType::get({context.lanes}, b.getI32Type());
  Value count = context.index(columnsOf(op.getA()) / 2);
  return sumSteps(context.index(0), count, [&](Value k, MutableArrayRef<Value> sums) {
    SmallVector<Value> indices = bufferIndices(left, k);
    Lanes factor;
    for (int64_t number = 0; number < context.vectors; ++number) {
      indices.back() = context.index(2 * context.lanes * number);
      factor.push_back(vector::LoadOp::create(b, loc, pairs, left, indices));
    }
    for (int64_t offset = 0; offset < context.columns; ++offset) {
      SmallVector<Value> at{context.add(column, context.index(offset)), context.mul(k, context.index(2))};
      Value both = vector::BitCastOp::create(b, loc, word, vector::LoadOp::create(b, loc, pair, right, at));
      Value everywhere = vector::BitCastOp::create(b, loc, pairs, vector::BroadcastOp::create(b, loc, words, both));
      for (int64_t number = 0; number < context.vectors; ++number) {
        Value &sum = sums[offset * context.vectors + number];
        sum = x86vector::DotBF16Op::create(b, loc, sum.getType(), sum, factor[number], everywhere);
      }
    }
  });
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

/// Adds two blocks of columns; where an element of the first is a product that may be contracted, in one instruction
/// with it.
static ColumnBlock addBlocks(EmitContext &context, const ColumnBlock &a, const ColumnBlock &b) {
  ColumnBlock sum = a;
  for (auto [left, right] : llvm::zip_equal(sum, b))
    for (auto [x, y] : llvm::zip_equal(left, right)) {
      auto product = x.getDefiningOp<arith::MulFOp>();
      if (product && bitEnumContainsAll(product.getFastmath(), arith::FastMathFlags::contract))
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
  int64_t depth = depthOf(op);
  int64_t piece = pieceOf(depth);
  bool isExact = tile::getTileType(op.getA()).getElementType().isF32();
  // What is added to an accumulator is a piece of a longer sum already.
  bool isWhole = matchPattern(op.getAcc(), m_AnyZeroFloat());
  prefetchNext(op, arith::DivUIOp::create(b, context.loc, column, context.index(context.columns)),
               columnsOf(op.getResult()) / context.columns);
  ColumnBlock product;
  if (usesPairs(context, op)) {
    product = sumPairs(op, column);
  } else if (!isExact || !isWhole || depth <= 32) {
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
    SmallVector<Value> next;
    for (const Lanes &lanes : addBlocks(context, asBlock(context, loop.getRegionIterArgs()),
                                        sumProducts(op, column, low, context.add(low, context.index(piece)))))
      llvm::append_range(next, lanes);
    scf::YieldOp::create(b, context.loc, next);
    product = asBlock(context, loop.getResults());
  }
  if (isWhole)
    return product;
  return addBlocks(context, evaluate(op.getAcc(), column), product);
}
