//===- ElementBody.h - What a map or mask does to a row ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Positions of keys and queries are the same for a whole row but for a constant an element, so most of what a region
// makes of them is, too: it is computed once a row, and elements differ by immediate operands.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_NVPTX_ELEMENTBODY_H
#define ATTNC_CODEGEN_NVPTX_ELEMENTBODY_H

#include "codegen/nvptx/EmitContext.h"
#include "dialect/tile/RowTerms.h"
#include <optional>

namespace mlir::arith {
class CmpIOp;
} // namespace mlir::arith

namespace attnc::nvptx {

/// A number in one row of a thread's part of a tile: base + (offset + step * c) * factor, or that number's magnitude,
/// in the element that stands c columns from the thread's first.
struct RowNumber {
  mlir::Value base;
  int64_t offset = 0, step = 0;
  mlir::Value factor = {}; ///< of floats; absent for 1
  bool magnitude = false;

  /// Whether it is the same in all columns; it has no offset then, unless it is an integer.
  bool isUniform() const { return step == 0; }
};

/// The region of a map or mask, for the elements of one of a thread's rows.
class ElementBody {
public:
  static constexpr int64_t bitsOfWord = 32;

  ElementBody(EmitContext &context, tile::MapOp map, int64_t threadRow)
      : ElementBody(context, threadRow, map, map.getBody().front()) {
    start(map.getGroup(), map.getTiles(), map.getRows(), map.getCols(), map.getI(), map.getJ());
  }
  ElementBody(EmitContext &context, tile::MaskOp mask, int64_t threadRow)
      : ElementBody(context, threadRow, mask, mask.getBody().front()) {
    start(mask.getGroup(), mask.getTiles(), mask.getRows(), mask.getCols(), mask.getI(), mask.getJ());
  }

  /// How many elements of the row some operation of the region wants to compute together: a power of two, mostly 1.
  int64_t getGroup() const;

  /// Emits what the region yields for some elements of the row, operation by operation. A value that ends in a
  /// truncation is given wide: pairs are packed together.
  llvm::SmallVector<llvm::SmallVector<mlir::Value>> emit(llvm::ArrayRef<int64_t> elements);
  llvm::SmallVector<mlir::Value> emit(int64_t element) { return emit(llvm::ArrayRef(element)).front(); }

  /// Where the region yields a sum with `tile.row_shift`, leaves out of it from now on what is the same for the whole
  /// row, and returns that; else nothing.
  mlir::Value splitShift();

  /// Where the region yields one condition on positions alone, which of the row's `count` elements it holds for: one
  /// bit each, in words of i32. Nothing where it depends on more.
  std::optional<llvm::SmallVector<mlir::Value>> emitBits(int64_t count);

private:
  ElementBody(EmitContext &context, int64_t threadRow, mlir::Operation *op, mlir::Block &body)
      : context(context), ptx(context.ptx), threadRow(threadRow), body(body), terms(op) {}
  void start(int64_t group, mlir::ValueRange tiles, mlir::ValueRange rows, mlir::ValueRange cols, mlir::Value i,
             mlir::Value j);

  // Once a row.
  void computeRow(mlir::Operation &op);
  RowNumber computeLinear(mlir::Operation &op, tile::RowRule rule);
  RowNumber distribute(mlir::Operation &op);
  mlir::Value keepFromUniform(mlir::Value factor);
  std::optional<RowNumber> find(mlir::Value value);
  RowNumber combine(mlir::Operation &op, RowNumber a, RowNumber b);

  // Conditions.
  std::optional<std::pair<RowNumber, RowNumber>> findSides(mlir::arith::CmpIOp compare);
  mlir::Value distance(const RowNumber &a, const RowNumber &b);
  std::optional<mlir::Value> emitCompare(mlir::arith::CmpIOp compare, int64_t column);
  std::optional<mlir::Value> emitWord(mlir::Value condition, int64_t word);
  std::optional<mlir::Value> computeWord(mlir::Value condition, int64_t word);
  std::optional<mlir::Value> emitRange(mlir::arith::CmpIOp compare, int64_t word);
  mlir::Value bitsBelow(mlir::Value column, int64_t word);

  /// An element, and what values of the region are for it.
  struct Element {
    Element(ElementBody &parent, int64_t number);

    int64_t number;
    llvm::DenseMap<mlir::Value, mlir::Value> values;
  };

  // Elements.
  mlir::Value lookUp(Element &element, mlir::Value value);
  void compute(mlir::Operation &inner, Element &element);
  void computeTogether(mlir::Operation &inner, llvm::MutableArrayRef<Element> elements);
  mlir::Value at(const RowNumber &number, int64_t column);
  mlir::Value emitShifted(mlir::Operation &op, int64_t element);

  EmitContext &context;
  Ptx &ptx;
  int64_t threadRow;
  mlir::Block &body;
  tile::RowTerms terms;
  mlir::ValueRange tiles, cols;
  llvm::DenseMap<mlir::Value, RowNumber> numbers;
  llvm::DenseMap<mlir::Operation *, mlir::Value> distances;
  llvm::DenseMap<mlir::Value, std::optional<mlir::Value>> wordBits; ///< what `emitWord` gave, of one word
  llvm::DenseMap<mlir::Operation *, mlir::Value> shiftedTerms;      ///< of operations on elements that have a shift
  mlir::Operation *split = nullptr;                                 ///< the sum whose shift is left out
};

} // namespace attnc::nvptx

#endif // ATTNC_CODEGEN_NVPTX_ELEMENTBODY_H
