//===- PanelTiles.cpp - Products by tile registers --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// AMX multiplies 16 rows of the right operand, as they lie in memory, with 16 rows of a panel, of which two elements
// that are multiplied in one step lie side by side. Its sums are 16 columns of the panel, which is how panels are kept.
//===----------------------------------------------------------------------===//

#include "codegen/cpu/PanelEmitter.h"
#include "codegen/cpu/Staging.h"
#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::cpu;

/// Rows of a tile register, and elements of bf16 of one.
static constexpr int64_t tileRows = 16, tileDepth = 32;

static bool isOfBf16(Value value) {
  return tile::isTile(value.getType()) && getElementTypeOrSelf(value.getType()).isBF16();
}

/// Whether `use` is the left operand of a product of whole tiles, whose right one is staged. A register has the same
/// shape in all of a function, so that those of a rest would be others', of which there are eight.
static bool isLeftOfStaged(OpOperand &use) {
  auto product = dyn_cast<tile::MmaOp>(use.getOwner());
  if (!product || use.getOperandNumber() != 0 || product.getLeftTransposed())
    return false;
  auto load = product.getB().getDefiningOp<tile::LoadOp>();
  return load && isOfBf16(product.getB()) && isStaged(load) && columnsOf(product.getA()) % tileDepth == 0 &&
         columnsOf(product.getResult()) % tileRows == 0;
}

/// Whether products of bf16 are of pairs. One register of rows takes less time than turning values would.
static bool hasPairs(const EmitContext &context) {
  return context.lanes == tileRows && (context.bf16Tiles || (context.bf16Dots && context.panels * context.vectors > 1));
}

bool attnc::cpu::isPaired(const EmitContext &context, Value tile) {
  return hasPairs(context) && isOfBf16(tile) && tile.getDefiningOp<tile::MapOp>() && !tile.use_empty() &&
         llvm::all_of(tile.getUses(), isLeftOfStaged);
}

bool attnc::cpu::usesPairs(const EmitContext &context, tile::MmaOp op) {
  return hasPairs(context) && isOfBf16(op.getA()) && isLeftOfStaged(op.getAMutable()) &&
         (op.getA().getDefiningOp<tile::LoadOp>() || isPaired(context, op.getA()));
}

Value PanelEmitter::pairsOf(Value tile) const {
  Value loaded = values.pairs.lookup(tile);
  return loaded ? loaded : findStored(tile);
}

/// Rounds pairs of columns, and stores them side by side.
void PanelEmitter::storePairs(const ColumnBlock &block, Value buffer, Value column) {
  OpBuilder &b = context.builder;
  Location loc = context.loc;
  // One instruction rounds both, which gives the second operand's first; LLVM makes it of nothing else.
  auto rounded = VectorType::get({2 * context.lanes}, b.getBF16Type());
  SmallVector<int64_t> interleaved;
  for (int64_t lane = 0; lane < context.lanes; ++lane)
    interleaved.append({lane, context.lanes + lane});
  Value first = arith::DivUIOp::create(b, loc, column, context.index(2));
  for (size_t offset = 0; offset < block.size(); offset += 2)
    for (auto [number, lanes] : llvm::enumerate(llvm::zip_equal(block[offset], block[offset + 1]))) {
      auto [even, odd] = lanes;
      Value both = LLVM::CallIntrinsicOp::create(
                       b, loc, rounded, b.getStringAttr("llvm.x86.avx512bf16.cvtne2ps2bf16.512"), ValueRange{odd, even})
                       .getResult(0);
      Value pairs = vector::ShuffleOp::create(b, loc, both, both, interleaved);
      SmallVector<Value> indices = bufferIndices(buffer, context.add(first, context.index(offset / 2)));
      indices.back() = context.index(2 * context.lanes * (firstVector + static_cast<int64_t>(number)));
      vector::StoreOp::create(b, loc, pairs, buffer, indices);
    }
}

/// Rows of a view as pairs of columns. Rows and columns past the limits are 0.
void PanelEmitter::loadPairs(tile::LoadOp op) {
  OpBuilder &b = context.builder;
  Location loc = context.loc;
  auto type = cast<VectorType>(op.getType());
  PanelAccess access = accessOf(op, type);
  SmallVector<int64_t> shape{access.columns / 2, 2 * context.panelRows()};
  if (usedOutside(op.getResult()))
    shape.insert(shape.begin(), context.panels);
  Value buffer = values.pairs[op.getResult()] = context.allocate(shape, type.getElementType());
  auto place = [&](Value row, Value column, bool isOdd = false) {
    Value pair = arith::DivUIOp::create(b, loc, column, context.index(2));
    SmallVector<Value> indices = bufferIndices(buffer, pair);
    indices.back() = context.add(context.mul(row, context.index(2)), context.index(isOdd));
    return indices;
  };
  Value zero = context.index(0), rows = context.index(context.panelRows()), columns = context.index(access.columns);
  auto isShort = [&](Value live, Value all) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, live, all);
  };
  auto partial = scf::IfOp::create(
      b, loc, arith::OrIOp::create(b, loc, isShort(access.liveRows, rows), isShort(access.liveColumns, columns)));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(partial.thenBlock()->getTerminator());
    auto line = VectorType::get({2 * context.lanes}, type.getElementType());
    Value none = arith::ConstantOp::create(b, loc, b.getZeroAttr(line));
    forRange(context, zero, columns, 2, [&](Value column) {
      forRange(context, zero, rows, context.lanes,
               [&](Value row) { vector::StoreOp::create(b, loc, none, buffer, place(row, column)); });
    });
  }
  // Squares of words, each a pair.
  constexpr int64_t columnsOfSquare = 2 * squareBlock;
  auto words = VectorType::get({squareBlock}, b.getI32Type());
  auto elements = VectorType::get({columnsOfSquare}, type.getElementType());
  auto loadSquare = [&](Value row, Value column) {
    SmallVector<Value> square;
    for (int64_t n = 0; n < squareBlock; ++n) {
      Value part = vector::LoadOp::create(b, loc, elements, access.view,
                                          viewIndices(access, context.add(row, context.index(n)), column));
      square.push_back(vector::BitCastOp::create(b, loc, words, part));
    }
    for (auto [n, turned] : llvm::enumerate(transposed(context, square)))
      vector::StoreOp::create(b, loc, vector::BitCastOp::create(b, loc, elements, turned), buffer,
                              place(row, context.add(column, context.index(2 * n))));
  };
  auto loadPair = [&](Value row, Value column) {
    for (bool isOdd : {false, true}) {
      Value element = memref::LoadOp::create(b, loc, access.view,
                                             viewIndices(access, row, context.add(column, context.index(isOdd))));
      memref::StoreOp::create(b, loc, element, buffer, place(row, column, isOdd));
    }
  };
  forElements(access, columnsOfSquare, /*columnsOfSingle=*/2, loadSquare, loadPair);
}

/// Writes what `tile` is, from wherever it comes, to `buffer`.
void PanelEmitter::fillWith(Value tile, Value buffer) {
  if (!findStored(tile))
    bringRows(tile.getDefiningOp());
  width = 1;
  forRange(context, context.index(0), context.index(columnsOf(tile)), width,
           [&](Value column) { storeBlock(evaluate(tile, column), buffer, column); });
  width = context.columns;
}

void PanelEmitter::emitTileProduct(tile::MmaOp op) {
  OpBuilder &b = context.builder;
  Location loc = context.loc;
  int64_t columns = columnsOf(op.getResult()), depth = columnsOf(op.getA());
  Value left = pairsOf(op.getA()), right = values.forPairs(op.getB(), op.getTransposed());
  Value sums = bufferFor(op.getResult(), op, {});
  bool isFresh = matchPattern(op.getAcc(), m_AnyZeroFloat());
  if (!isFresh && findStored(op.getAcc()) != sums)
    fillWith(op.getAcc(), sums);
  prefetchNext(op, /*block=*/context.index(0), /*blocks=*/1);

  auto ofSums = amx::TileType::get({tileRows, tileRows}, b.getF32Type());
  auto ofFactors = amx::TileType::get({tileRows, tileDepth}, b.getBF16Type());
  // Sums of `count` tiles one below the other from `first` on, and of all rows of the panel.
  auto multiply = [&](Value first, int64_t count) {
    auto rowOf = [&](int64_t m) { return context.add(first, context.index(m * tileRows)); };
    auto at = [&](int64_t m, int64_t n) {
      SmallVector<Value> indices = bufferIndices(sums, rowOf(m));
      indices.back() = context.index(n * context.lanes);
      return indices;
    };
    SmallVector<Lanes> totals(count);
    for (int64_t m = 0; m < count; ++m)
      for (int64_t n = 0; n < context.vectors; ++n)
        totals[m].push_back(isFresh ? amx::TileZeroOp::create(b, loc, ofSums).getResult()
                                    : amx::TileLoadOp::create(b, loc, ofSums, sums, at(m, n)).getResult());
    for (int64_t k = 0; k < depth; k += tileDepth) {
      Lanes factors;
      for (int64_t n = 0; n < context.vectors; ++n) {
        SmallVector<Value> indices = bufferIndices(left, context.index(k / 2));
        indices.back() = context.index(2 * n * context.lanes);
        factors.push_back(amx::TileLoadOp::create(b, loc, ofFactors, left, indices));
      }
      for (int64_t m = 0; m < count; ++m) {
        Value factor = amx::TileLoadOp::create(b, loc, ofFactors, right, ValueRange{rowOf(m), context.index(k)});
        for (int64_t n = 0; n < context.vectors; ++n)
          totals[m][n] = amx::TileMulFOp::create(b, loc, ofSums, factor, factors[n], totals[m][n]);
      }
    }
    for (int64_t m = 0; m < count; ++m)
      for (int64_t n = 0; n < context.vectors; ++n)
        amx::TileStoreOp::create(b, loc, sums, at(m, n), totals[m][n]);
  };
  // Of eight registers, sums take four or three.
  int64_t together = context.vectors > 2 ? 1 : 2, step = together * tileRows, whole = columns / step * step;
  forRange(context, context.index(0), context.index(whole), step, [&](Value first) { multiply(first, together); });
  if (whole < columns)
    multiply(context.index(whole), 1);
  buffers[op.getResult()] = sums;
}
