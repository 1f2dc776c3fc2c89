//===- TileCensus.cpp - Tiles of keys that data keeps -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Where only data says which tiles of keys a mask keeps (segments, documents, dense masks), a program of its own lists
// them before the kernel runs: those that all queries of a tile keep whole, and the others. The kernel's loop goes over
// the list, has no branches, and overlaps its steps as that of any mask does. Dong, Feng, Guessous, Liang and He,
// "FlexAttention" (2024), section 4.2, lists blocks of masks so.
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"
#include "passes/attn/TileBuilder.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::attn;

bool attnc::attn::isCensusTaken(KernelOpInterface kernel, ScheduleAttr schedule) {
  PipelineAttr pipeline = schedule.getPipeline();
  return !kernel.getBlocks().empty() && pipeline && pipeline.getCensus();
}

/// Rows of counts and starts (see `tile.census`).
Type TileBuilder::workspaceType() const {
  MLIRContext *context = loc.getContext();
  constexpr int64_t any = ShapedType::kDynamic;
  return MemRefType::get({any, any}, IntegerType::get(context, 32), StridedLayoutAttr::get(context, 0, {any, 1}));
}

/// How a GPU runs the program. A census has no products and nothing to overlap: as many warps as a block can have look
/// at a step each.
PipelineAttr TileBuilder::programPipeline() const {
  PipelineAttr pipeline = schedule.getPipeline();
  if (kind == ProgramKind::Kernel || !pipeline)
    return pipeline;
  constexpr int64_t warpgroups = 8;
  return PipelineAttr::get(pipeline.getContext(), warpgroups, /*stages=*/1, /*query_stages=*/1,
                           /*producer_registers=*/0, /*consumer_registers=*/0, Rescale::After, /*lazy=*/false,
                           /*turns=*/false, /*by_row=*/false, /*pinned=*/false, Epilogue::Direct, /*dynamic=*/false,
                           /*section_bytes=*/0, /*census=*/true, Staging::Pieces);
}

/// Whether the mask, as far as a census sees it, differs from head to head.
bool TileBuilder::censusKnowsHeads() {
  constexpr unsigned head = 1; // of (batch, head, ...)
  // An index into a single element tells nothing of the head. Indices follow the tensor; a range has them twice.
  auto tells = [](OpOperand &use) {
    if (!isa<LoadOp, LoadRangeOp>(use.getOwner()))
      return true;
    auto tensor = cast<RankedTensorType>(use.getOwner()->getOperand(0).getType());
    return tensor.getDimSize((use.getOperandNumber() - 1) % tensor.getRank()) != 1;
  };
  auto uses = [&](Region &region) {
    return !region.empty() && llvm::any_of(region.getArgument(head).getUses(), tells);
  };
  return uses(kernel.getBlocks()) || uses(kernel.getBounds());
}

/// One of the counts in the tile's row of the list.
Value TileBuilder::loadCount(Value column) {
  Value count = memref::LoadOp::create(builder, loc, program.getWorkspaceView(), ValueRange{listRow, column});
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), count);
}

Value TileBuilder::buildKeyStep() {
  return index(isCensusTaken(kernel, schedule) && kind == ProgramKind::Kernel ? 1 : getKeys());
}

Value TileBuilder::buildKey(Value iv) {
  return isCensusTaken(kernel, schedule) ? loadCount(add(iv, index(tile::CensusOp::numCounts))) : iv;
}

/// Moves what is the same for all steps out of the region, but no single elements: tensors without elements have no
/// steps either, and boxes of them are empty. Tensors do not change while a program runs.
static void hoistInvariants(tile::CensusOp census) {
  Region &region = census.getBody();
  moveLoopInvariantCode(
      &region, [&](Value value, Region *) { return !region.isAncestor(value.getParentRegion()); },
      [](Operation *op, Region *) {
        return !op->hasTrait<OpTrait::IsTerminator>() && (isMemoryEffectFree(op) || isa<tile::ExtentOp>(op));
      },
      [&](Operation *op, Region *) { op->moveBefore(census); });
}

void TileBuilder::buildCensus() {
  KeyBounds bounds = buildBounds();
  auto census = tile::CensusOp::create(builder, loc, program.getWorkspaceView(), listRow, bounds.low, bounds.high,
                                       buildKeyStep());
  {
    OpBuilder::InsertionGuard guard(builder);
    Block *body = builder.createBlock(&census.getBody(), {}, builder.getIndexType(), loc);
    auto [some, all] = buildBlock(body->getArgument(0));
    tile::YieldOp::create(builder, loc, ValueRange{some, all});
  }
  hoistInvariants(census);
}
