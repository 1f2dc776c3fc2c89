//===- ElementProgram.h - Regions of maps and masks -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_SIM_ELEMENTPROGRAM_H
#define ATTNC_CODEGEN_SIM_ELEMENTPROGRAM_H

#include "codegen/sim/Numbers.h"
#include "mlir/IR/Region.h"
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

  private:
    friend class ElementProgram;
    Registers(const ElementProgram &program, int64_t columns)
        : program(program), columns(columns), numbers(program.numRegisters * columns) {}
    Number *at(int64_t number) { return numbers.data() + number * columns; }

    const ElementProgram &program;
    int64_t columns;
    std::vector<Number> numbers;
  };

  /// Registers of `columns` elements; `scalarOf` gives the values from outside.
  Registers makeRegisters(int64_t columns, llvm::function_ref<Number(int)> scalarOf) const;

  /// Runs on the arguments in `registers`; `viewOf` gives tensors from outside. Returns the operation that reads past
  /// the end of one, or null.
  mlir::Operation *run(Registers &registers, llvm::function_ref<const attn::HostArray &(int)> viewOf) const;

private:
  /// One operation.
  struct Line {
    mlir::Operation *op;
    ElementOp element;
    int view = -1;                 ///< of a load, or of a size
    int64_t sharing = 1;           ///< elements that share a reciprocal
    int64_t multiplyAddShare = 0;  ///< of so many columns of a thread, the first by multiply-adds; 0 for none
    std::optional<int64_t> anchor; ///< of a product that is distributed over columns
    bool isLinearSecond = false;   ///< its second factor is linear in the column
    llvm::SmallVector<int, 3> operands;
    llvm::SmallVector<int, 2> results;
  };

  std::vector<Line> lines;
  std::vector<std::pair<int, Number>> constants;
  std::vector<std::pair<int, int>> captured; ///< register, number outside
  llvm::SmallVector<int, 2> yields;
  int64_t numRegisters = 0;
};

/// Reads element `indices` of `view` into `result`; false where it lies outside.
bool readElement(const attn::HostArray &view, llvm::ArrayRef<int64_t> indices, Number &result);

} // namespace attnc::sim

#endif // ATTNC_CODEGEN_SIM_ELEMENTPROGRAM_H
