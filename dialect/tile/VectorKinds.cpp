//===- VectorKinds.cpp - Row vectors and column vectors ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/tile/VectorKinds.h"
#include "dialect/tile/TileQueries.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace attnc::tile;

static bool isVector(Value value) {
  auto type = dyn_cast<VectorType>(value.getType());
  return type && type.getRank() == 1;
}

/// Whether a vector need not be of one kind: each use may have its own. Such operations may be one since they are the
/// same, as `cse` sees it.
static bool isOpen(Value value) {
  Operation *maker = value.getDefiningOp();
  return maker && (isa<LoadOp, vector::BroadcastOp, vector::StepOp>(maker) || matchPattern(maker, m_Constant()));
}

/// Whether `operands`, those of an operation that `use` is of, hold it.
static bool holds(OperandRange operands, OpOperand &use) {
  unsigned first = operands.getBeginOperandIndex(), number = use.getOperandNumber();
  return number >= first && number < first + operands.size();
}

namespace {

/// Vectors that are of one kind, since they have their elements from each other, and who says of which.
class Family {
public:
  /// The family of a vector, and that of what has it from `use`.
  explicit Family(Value vector) {
    members.insert(vector);
    explore();
  }
  explicit Family(OpOperand &use) {
    follow(use);
    explore();
  }

  ArrayRef<Value> getMembers() const { return members.getArrayRef(); }
  /// The first operations that make or take one of them by rows and by columns; null where none does.
  Operation *byRows = nullptr, *byColumns = nullptr;

private:
  void explore();
  void findMaker(Value vector);
  void follow(OpOperand &use);
  void add(Value value) {
    if (isVector(value))
      members.insert(value);
  }
  void addSource(Value value) {
    if (!isOpen(value))
      add(value);
  }
  void addCarried(scf::ForOp loop, unsigned number);
  static void note(Operation *&known, Operation *op) {
    if (!known)
      known = op;
  }

  llvm::SetVector<Value> members;
};

} // namespace

void Family::explore() {
  for (size_t number = 0; number < members.size(); ++number) {
    Value vector = members[number];
    findMaker(vector);
    for (OpOperand &use : vector.getUses())
      follow(use);
  }
}

/// What a loop carries as its value of that number.
void Family::addCarried(scf::ForOp loop, unsigned number) {
  add(loop.getRegionIterArg(number));
  add(loop.getResult(number));
  addSource(loop.getInitArgs()[number]);
  addSource(loop.getYieldedValues()[number]);
}

/// Looks at what makes `vector`.
void Family::findMaker(Value vector) {
  if (auto argument = dyn_cast<BlockArgument>(vector)) {
    auto loop = dyn_cast_if_present<scf::ForOp>(argument.getOwner()->getParentOp());
    if (loop && argument != loop.getInductionVar())
      addCarried(loop, argument.getArgNumber() - loop.getNumInductionVars());
    return;
  }
  Operation *maker = vector.getDefiningOp();
  unsigned number = cast<OpResult>(vector).getResultNumber();
  if (isa<ReduceOp, WarpReduceOp, LanePartialOp, SoftmaxOp, SoftmaxEndOp>(maker))
    note(byRows, maker);
  else if (isa<RowOp>(maker))
    note(byColumns, maker);
  else if (auto load = dyn_cast<LoadOp>(maker); load && !load.getGroup().empty())
    // Rows alone come in groups.
    note(byRows, maker);
  else if (auto loop = dyn_cast<scf::ForOp>(maker))
    addCarried(loop, number);
  else if (auto branch = dyn_cast<scf::IfOp>(maker))
    for (Region *region : branch.getRegions())
      addSource(region->front().getTerminator()->getOperand(number));
  else if (maker->hasTrait<OpTrait::Elementwise>())
    llvm::for_each(maker->getOperands(), [&](Value operand) { addSource(operand); });
}

/// Looks at where a vector goes.
void Family::follow(OpOperand &use) {
  Operation *taker = use.getOwner();
  auto takeElements = [&](auto op) {
    if (holds(op.getRows(), use))
      note(byRows, op);
    else if (holds(op.getCols(), use))
      note(byColumns, op);
  };
  if (auto map = dyn_cast<MapOp>(taker)) {
    takeElements(map);
  } else if (auto mask = dyn_cast<MaskOp>(taker)) {
    takeElements(mask);
  } else if (isa<ReduceOp, WarpReduceOp, LanePartialOp, SoftmaxOp, SoftmaxEndOp, AnyOp, StoreOp>(taker)) {
    note(byRows, taker);
  } else if (auto loop = dyn_cast<scf::ForOp>(taker)) {
    if (BlockArgument argument = loop.getTiedLoopRegionIterArg(&use))
      addCarried(loop, argument.getArgNumber() - loop.getNumInductionVars());
  } else if (isa<scf::YieldOp>(taker)) {
    Operation *parent = taker->getParentOp();
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      addCarried(loop, use.getOperandNumber());
    else if (isa<scf::IfOp>(parent))
      add(parent->getResult(use.getOperandNumber()));
  } else if (taker->hasTrait<OpTrait::Elementwise>()) {
    llvm::for_each(taker->getResults(), [&](Value result) { add(result); });
  }
}

bool attnc::tile::isColumnVector(Value value) { return isVector(value) && Family(value).byColumns; }

void attnc::tile::separateVectors(ProgramOp program) {
  SmallVector<Operation *> sources;
  program.walk([&](Operation *op) {
    if (op->getNumResults() == 1 && isVector(op->getResult(0)) && isOpen(op->getResult(0)))
      sources.push_back(op);
  });
  for (Operation *source : sources) {
    SmallVector<OpOperand *> byColumns;
    for (OpOperand &use : source->getUses())
      if (Family(use).byColumns)
        byColumns.push_back(&use);
    if (byColumns.empty() || byColumns.size() == static_cast<size_t>(llvm::range_size(source->getUses())))
      continue;
    copyForUses(source, byColumns);
  }
}

LogicalResult attnc::tile::verifyVectorKinds(ProgramOp program) {
  llvm::DenseSet<Value> known;
  auto verify = [&](const Family &family) {
    known.insert_range(family.getMembers());
    if (!family.byRows || !family.byColumns)
      return success();
    InFlightDiagnostic diagnostic =
        family.byColumns->emitOpError("has an element for each column of a vector that elsewhere has one for each row");
    diagnostic.attachNote(family.byRows->getLoc()) << "here it is a vector of rows";
    return LogicalResult(diagnostic);
  };
  auto verifyValue = [&](Value value) {
    if (!isVector(value) || known.contains(value))
      return success();
    // Each use of what is open stands by itself, but one by columns of rows that come in groups.
    auto load = value.getDefiningOp<LoadOp>();
    if (isOpen(value) && !(load && !load.getGroup().empty()))
      return success();
    return verify(Family(value));
  };
  WalkResult result = program.walk([&](Operation *op) {
    bool isRight = llvm::all_of(op->getResults(), [&](Value value) { return succeeded(verifyValue(value)); });
    for (Region &region : op->getRegions())
      for (BlockArgument argument : region.getArguments())
        isRight = isRight && succeeded(verifyValue(argument));
    return isRight ? WalkResult::advance() : WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}
