//===- StageCaptures.cpp - Captured tiles by the copy engine ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/tile/TensorBox.h"
#include "dialect/tile/TileQueries.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "passes/tile/Passes.h"
#include "llvm/ADT/SetVector.h"

namespace attnc::tile {
#define GEN_PASS_DEF_TILESTAGECAPTURES
#include "passes/tile/Passes.h.inc"
} // namespace attnc::tile

using namespace mlir;
using namespace attnc::tile;

/// Whether the rows of the tile of `load` lie along the last dimension of its view, as columns of boxes do.
static bool isTransposed(LoadOp load) { return load.getAxes()[0] == load.getView().getType().getRank() - 1; }

/// The dimension of the view of `load` along which boxes of its tile have their rows.
static int64_t rowDimension(LoadOp load) { return load.getAxes()[isTransposed(load) ? 1 : 0]; }

/// Whether `value` is a multiple of `factor`, as far as arithmetic tells: what memory holds is none.
static bool isMultipleOf(Value value, int64_t factor) {
  if (APInt constant; matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSExtValue() % factor == 0;
  auto argument = dyn_cast<BlockArgument>(value);
  if (auto loop = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : scf::ForOp())
    return argument == loop.getInductionVar() && isMultipleOf(loop.getLowerBound(), factor) &&
           isMultipleOf(loop.getStep(), factor);
  Operation *op = value.getDefiningOp();
  auto is = [&](unsigned operand) { return isMultipleOf(op->getOperand(operand), factor); };
  if (isa_and_present<arith::MulIOp>(op))
    return is(0) || is(1);
  if (isa_and_present<arith::AddIOp, arith::SubIOp, arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp>(op))
    return is(0) && is(1);
  if (isa_and_present<arith::SelectOp>(op))
    return is(1) && is(2);
  if (isa_and_present<arith::IndexCastOp>(op))
    return is(0);
  return false;
}

/// Where a tile may be brought that iterations of a loop read: the outermost loop whose iterations all read the same
/// one, or else the load itself. A gradient that batch entries share has such a loop.
static Operation *findPlace(LoadOp load) {
  Operation *place = load;
  for (Operation *parent = load->getParentOp(); isa<scf::IfOp, scf::ForOp>(parent); parent = parent->getParentOp()) {
    auto isOutside = [&](Value value) { return !parent->isAncestor(value.getParentRegion()->getParentOp()); };
    if (!llvm::all_of(load.getIndices(), isOutside))
      break;
    if (isa<scf::ForOp>(parent))
      place = parent;
  }
  return place;
}

/// Whether the copy engine can bring the tile of `load`, which elements of a step alone read, given a tensor that suits
/// it: one of 16 bits, along whose last dimension its columns or its rows lie, from whole units of the engine on.
/// Sequences that are packed begin at any element. An H200 calls a copy from within a unit an illegal instruction.
static bool isStageable(LoadOp load) {
  constexpr int64_t leastRank = 2, mostRank = 5;
  constexpr unsigned bits = 16;
  auto type = cast<VectorType>(load.getType());
  if (!isTile(type) || type.getElementTypeBitWidth() != bits || !isa<BlockArgument>(load.getView()) ||
      load.getPages() || load.getRowGroup().size != 1 || load->use_empty() ||
      (findPlace(load) == load && !isa<scf::ForOp>(load->getParentOp())))
    return false;
  int64_t rank = load.getView().getType().getRank();
  return rank >= leastRank && rank <= mostRank && llvm::is_contained(load.getAxes(), rank - 1) &&
         isMultipleOf(load.getIndices().back(), copyUnitBytes * 8 / bits) &&
         llvm::all_of(load->getUsers(), llvm::IsaPred<MapOp>);
}

/// The load of the box that has the tile of `load`. What the copy engine brings ends with the tensor, and where one
/// element stands for all along other dimensions, it is at 0.
static LoadOp createBox(OpBuilder &builder, LoadOp load) {
  Location loc = load.getLoc();
  Value view = load.getView();
  auto type = cast<MemRefType>(view.getType());
  auto size = [&](int64_t dim) -> Value { return memref::DimOp::create(builder, loc, view, dim); };
  int64_t rows = rowDimension(load), columns = type.getRank() - 1;
  SmallVector<Value> indices(load.getIndices()), limits = {size(rows), size(columns)};
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim) && dim != rows && dim != columns) {
      Value last = arith::SubIOp::create(builder, loc, size(dim), arith::ConstantIndexOp::create(builder, loc, 1));
      indices[dim] = arith::MinSIOp::create(builder, loc, indices[dim], last);
    }
  auto tile = cast<VectorType>(load.getType());
  auto box =
      isTransposed(load) ? VectorType::get({tile.getDimSize(1), tile.getDimSize(0)}, tile.getElementType()) : tile;
  return LoadOp::create(builder, loc, box, view, indices, limits, {rows, columns}, {});
}

/// Has the tiles of `loads` read from where the copy engine brings them. What it brings before a loop is read in each
/// iteration, so that it takes no registers meanwhile, and branches of a step read the same.
static void stage(ArrayRef<LoadOp> loads) {
  SmallVector<std::pair<LoadOp, LoadOp>> hoisted; // loads, each with that of its box
  for (LoadOp load : loads) {
    Operation *place = findPlace(load);
    OpBuilder builder(place);
    auto isSame = [&](std::pair<LoadOp, LoadOp> other) {
      return findPlace(other.first) == place && other.first.getView() == load.getView() &&
             other.first.getIndices() == load.getIndices() && other.first.getAxes() == load.getAxes();
    };
    auto *known = llvm::find_if(hoisted, isSame);
    LoadOp box = known == hoisted.end() ? createBox(builder, load) : known->second;
    if (place != load && known == hoisted.end())
      hoisted.push_back({load, box});
    builder.setInsertionPoint(load);
    load.replaceAllUsesWith(
        ReadOp::create(builder, load.getLoc(), load.getType(), box, isTransposed(load)).getResult());
  }
  for (LoadOp load : loads)
    load.erase();
}

namespace {
struct StageCaptures : attnc::tile::impl::TileStageCapturesBase<StageCaptures> {
  void runOnOperation() override {
    for (auto program : llvm::make_early_inc_range(getOperation().getOps<ProgramOp>())) {
      attnc::attn::PipelineAttr pipeline = program.getPipelineAttr();
      if (program.getWithoutBoxes() || (pipeline && pipeline.getCaptureStages() > 0))
        run(program);
    }
  }

private:
  void run(ProgramOp program) {
    SmallVector<LoadOp> loads;
    llvm::SmallSetVector<std::pair<int64_t, int64_t>, 2> tensors;
    program.walk([&](LoadOp load) {
      if (!isStageable(load))
        return;
      loads.push_back(load);
      tensors.insert({cast<BlockArgument>(load.getView()).getArgNumber(), rowDimension(load)});
    });
    bool isOther = program.getWithoutBoxes();
    // Whatever its tensors are, one program will do.
    if (loads.empty()) {
      if (isOther)
        program.setWithoutBoxes(false);
      else
        program.erase();
      return;
    }
    SmallVector<int64_t> boxes;
    for (auto [argument, rows] : tensors)
      boxes.append({argument, rows});
    program.setBoxes(boxes);
    if (isOther)
      return;
    stage(loads);
    numStaged += loads.size();
  }
};
} // namespace
