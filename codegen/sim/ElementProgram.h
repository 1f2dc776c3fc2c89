//===- ElementProgram.h - Regions of maps and masks -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_SIM_ELEMENTPROGRAM_H
#define ATTNC_CODEGEN_SIM_ELEMENTPROGRAM_H

#include "codegen/sim/Numbers.h"
#include "dialect/tile/RowTerms.h"
#include "mlir/IR/Region.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>

namespace attnc::sim {

/// The region of a map or mask as a list of operations, each of which runs on a whole row before the next.
class ElementProgram {
public:
  /// Compiles `region`; `numberOf` numbers the values that it uses from outside. An operation without a meaning here
  /// is a diagnostic at it.
  mlir::LogicalResult compile(mlir::Region &region, llvm::function_ref<int(mlir::Value)> numberOf);

  /// Room for the rows of one run.
  class Registers {
  public:
    /// Row `number`, an argument of the region in its order, to be set before each run.
    Number *argument(int64_t number) { return at(number); }
    /// Row `number` of what the region yields, after a run.
    const Number *yielded(int64_t number) { return at(program.yields[number]); }
    /// Sets argument `number` to a row whose elements have `shifts`.
    void setShifted(int64_t number, const Number *elements, const Number *shifts);
    /// What the run has left out of the elements that it yields; null for nothing.
    const Number *getShifts() const { return program.shiftOfYield ? shifts.data() : nullptr; }

  private:
    friend class ElementProgram;
    Registers(const ElementProgram &program, int64_t columns)
        : program(program), columns(columns), numbers(program.numRegisters * columns), shifts(columns) {}
    Number *at(int64_t number) { return numbers.data() + number * columns; }

    const ElementProgram &program;
    int64_t columns;
    std::vector<Number> numbers, shifts;
    /// By argument, its elements and what has been left out of them.
    llvm::SmallDenseMap<int, std::pair<const Number *, const Number *>> shifted;
  };

  /// Registers of `columns` elements; `scalarOf` gives the values from outside.
  Registers makeRegisters(int64_t columns, llvm::function_ref<Number(int)> scalarOf) const;

  /// Runs on the arguments in `registers`; `viewOf` gives tensors from outside. Returns the operation that reads past
  /// the end of one, or null.
  mlir::Operation *run(Registers &registers, llvm::function_ref<const attn::HostArray &(int)> viewOf) const;

private:
  /// Of a sum that leaves out what is the same for the row: how its second operand goes along the row.
  struct RowShift {
    int64_t sign;   ///< -1 of a difference
    int64_t step;   ///< from column to column, without the factor
    int64_t anchor; ///< the column, counted from a thread's first, whose number is left out
    int factor;     ///< the register of what steps are multiplied by; negative for 1
  };

  /// One operation.
  struct Line {
    mlir::Operation *op;
    ElementOp element;
    int view = -1;                 ///< of a load, or of a size
    int64_t sharing = 1;           ///< elements that share a reciprocal
    int64_t multiplyAddShare = 0;  ///< of so many columns of a thread, the first by multiply-adds; 0 for none
    std::optional<int64_t> anchor; ///< of a product that is distributed over columns
    bool isLinearSecond = false;   ///< its second factor is linear in the column
    int shiftedArgument = -1;      ///< whose shift meets the other operands, which are the same for the row, first
    llvm::SmallVector<int, 3> operands;
    llvm::SmallVector<int, 2> results;
  };

  std::vector<Line> lines;
  std::vector<std::pair<int, Number>> constants;
  std::vector<std::pair<int, int>> captured; ///< register, number outside
  llvm::SmallVector<int, 2> yields;
  int64_t numRegisters = 0;
  std::optional<RowShift> shiftOfYield; ///< of the last line, where that leaves out what is the same for the row

  /// The tile that `op` reads first, if its other operands are the same for the row, so that a shift meets them first.
  static std::optional<int> findShiftedArgument(mlir::Operation &op, const tile::RowTerms &terms);
  /// Finds what the region leaves out where it yields `sum`, and that has `tile.row_shift`.
  void findShiftOfYield(mlir::Operation *sum, const tile::RowTerms &terms);
  /// Runs an operation whose shift meets its other operands first: (x + s) * f + a is x * f + (s * f + a).
  void runShifted(const Line &line, Registers &registers) const;
  /// Runs the sum that leaves out what is the same for the row: each element gets what its column differs by.
  void splitShift(const Line &line, Registers &registers) const;
};

/// Reads element `indices` of `view` into `result`; false where it lies outside.
bool readElement(const attn::HostArray &view, llvm::ArrayRef<int64_t> indices, Number &result);

/// The elements of a view along one of its dimensions.
class ElementLine {
public:
  /// Those of dimension `axis`; the other indices are those of `indices`.
  ElementLine(const attn::HostArray &view, llvm::ArrayRef<int64_t> indices, int64_t axis);

  /// Reads the element at `index`, as readElement does.
  bool read(int64_t index, Number &result) const {
    if (index < 0 || index >= end)
      return false;
    result = loadNumber(kind, data, first + index * stride);
    return true;
  }

private:
  attn::ElementKind kind;
  const void *data;
  int64_t first = 0, stride; ///< in elements
  int64_t end;               ///< of the indices inside; 0 where another index lies outside
};

} // namespace attnc::sim

#endif // ATTNC_CODEGEN_SIM_ELEMENTPROGRAM_H
