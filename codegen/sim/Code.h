//===- Code.h - The body of a role as a list of steps -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Agents stop wherever they wait, so control flow is jumps between numbered instructions, not a walk over regions.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_SIM_CODE_H
#define ATTNC_CODEGEN_SIM_CODE_H

#include "codegen/sim/ElementProgram.h"
#include "dialect/tile/TileOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace attnc::sim {

/// What an instruction does. Those up to `LoopTest` end at once, and nobody else sees that they ran.
enum class Action : uint8_t {
  Element,     ///< an operation on numbers or row vectors
  Step,        ///< the numbers of the agent's rows
  ReadView,    ///< one element of a tensor
  Dim,         ///< one size of a tensor
  Part,        ///< tile.part
  Map,         ///< tile.map, tile.mask
  Philox,      ///< tile.philox
  Reduce,      ///< tile.reduce
  LanePartial, ///< tile.lane_partial
  WarpReduce,  ///< tile.warp_reduce
  BlockReduce, ///< tile.block_reduce
  Any,         ///< tile.any
  Product,     ///< tile.mma
  LoadTile,    ///< tile.load
  Read,        ///< tile.read
  Row,         ///< tile.row
  StoreTile,   ///< tile.store without a buffer
  Scatter,     ///< tile.scatter
  MinMax,      ///< tile.min_max
  NoteStep,    ///< one step of a tile.block_mask
  ListSteps,   ///< the end of a tile.block_mask
  Move,        ///< results become operands, all at once
  Advance,     ///< the induction variable of a loop
  Nothing,     ///< barriers for the assembler, views of views and the like
  Jump,        ///< to `target`
  Branch,      ///< to `target` where the operand does not hold
  LoopTest,    ///< to `target` where the induction variable has reached its end
  FirstTile,   ///< of the tiles of the grid that the block works on
  NextTile,    ///< the number of the next tile, or to `target` where there is none
  Put,         ///< tile.put
  Get,         ///< tile.get
  Hold,        ///< tile.held
  Release,     ///< tile.release
  Share,       ///< tile.share
  Split,       ///< tile.split
  Post,        ///< tile.post
  Start,       ///< tile.start
  Await,       ///< tile.await
  PingPong,    ///< tile.ping_pong
  Sync,        ///< tile.sync
  Stage,       ///< tile.store through a buffer, or in an order
  End,
};

/// One step of an agent. Operands and results number the agent's values.
struct Instruction {
  Action action;
  mlir::Operation *op;
  llvm::SmallVector<int, 6> operands = {};
  llvm::SmallVector<int, 4> results = {};
  int target = -1;
  /// Index in `Code::elements` or `Code::regions`.
  int payload = -1;
  /// Of a product: the value that takes the place of its left operand in the next step of a loop, in the same
  /// registers. -1 where there is none.
  int successor = -1;
};

/// What the agents of one role run.
class Code {
public:
  /// Reads the body of a role, whose rows are dealt to `parts` warpgroups, or of a program without roles.
  mlir::LogicalResult compile(mlir::Block &body, int64_t parts);

  /// Values that do not change, and their numbers.
  const std::vector<std::pair<int, mlir::Attribute>> &getConstants() const { return constants; }
  const std::vector<std::pair<int, mlir::Value>> &getOutside() const { return outside; }

  /// The number of `value`.
  int numberOf(mlir::Value value);

  /// The number of `value`, which has one.
  int lookUp(mlir::Value value) const { return numbers.lookup(value); }

  /// The type of the value `number`.
  mlir::Type typeOf(int number) const { return types[number]; }
  /// Whether the value `number` is a vector over columns, which is not dealt to warpgroups.
  bool isColumns(int number) const { return tile::isColumnVector(types[number]); }
  /// Whether the value `number` is a constant: it takes no registers.
  bool isConstant(int number) const { return constantNumbers.contains(number); }

  int64_t numValues() const { return static_cast<int64_t>(types.size()); }

  std::vector<Instruction> instructions;
  std::vector<ElementOp> elements;
  std::vector<ElementProgram> regions;

private:
  mlir::LogicalResult compileBlock(mlir::Block &block);
  mlir::LogicalResult compileOp(mlir::Operation &op);
  mlir::LogicalResult compileFor(mlir::scf::ForOp loop);
  mlir::LogicalResult compileIf(mlir::scf::IfOp branch);
  mlir::LogicalResult compileEach(tile::PersistentOp each);
  mlir::LogicalResult compileBlockMask(tile::BlockMaskOp blockMask);
  template <typename Op>
  mlir::LogicalResult compileElementwise(Op op);
  Instruction &append(Action action, mlir::Operation *op, mlir::ValueRange operands = {},
                      mlir::ValueRange results = {});
  bool isOutside(mlir::Value value) const;
  int here() const { return static_cast<int>(instructions.size()); }

  int64_t parts = 1;
  mlir::Region *region = nullptr;
  llvm::DenseMap<mlir::Value, int> numbers;
  std::vector<mlir::Type> types;
  llvm::DenseSet<int> constantNumbers;
  std::vector<std::pair<int, mlir::Attribute>> constants;
  std::vector<std::pair<int, mlir::Value>> outside;
};

} // namespace attnc::sim

#endif // ATTNC_CODEGEN_SIM_CODE_H
