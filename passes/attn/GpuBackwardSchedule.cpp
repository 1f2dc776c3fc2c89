//===- GpuBackwardSchedule.cpp - Tiles of gradients on a GPU ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Programs of gradients run without roles, by products of warps, on all machines: right first. What a machine with
// products of warpgroups could do with them is in docs/rationale/backward.md.
//===----------------------------------------------------------------------===//

#include "passes/attn/GpuBackwardSchedule.h"

using namespace mlir;
using namespace attnc::attn;

namespace {

/// Rows of a tile: those of one warpgroup.
constexpr int64_t rows = 64;

/// Columns of a step, from the most comfortable on.
constexpr int64_t columnSteps[] = {64, 32, 16};

/// Columns that a thread's registers have room for in addition to sums of 64 columns or more.
constexpr int64_t mostColumns = 32;

/// Bytes that barriers take at most.
constexpr int64_t barrierBytes = 1024;

} // namespace

static int64_t dimOf(Value tensor) { return cast<RankedTensorType>(tensor.getType()).getShape().back(); }

/// Bytes of shared memory: both row operands, and of each of the two column operands a buffer a stage.
static int64_t countSharedBytes(BackwardOp op, int64_t columns, int64_t stages) {
  constexpr int64_t rowBytes = 128; // of a panel, see dialect/tile/SharedLayout.h
  int64_t elementBytes = cast<RankedTensorType>(op.getQuery().getType()).getElementTypeBitWidth() / 8;
  auto bytesOf = [&](int64_t dim) { return llvm::alignTo(dim * elementBytes, rowBytes); };
  int64_t perRow = bytesOf(dimOf(op.getQuery())) + bytesOf(dimOf(op.getValue()));
  return perRow * (rows + columns * stages);
}

static ScheduleAttr getSchedule(MLIRContext *context, Program program, int64_t columns) {
  auto pipeline = PipelineAttr::get(context, /*consumers=*/1, /*stages=*/1, /*query_stages=*/1,
                                    /*producer_registers=*/0, /*consumer_registers=*/0, Rescaling::EachStep,
                                    /*own_keys=*/false, /*ping_pong=*/false, /*by_row=*/false, Epilogue::Direct,
                                    /*dynamic=*/false, /*section_bytes=*/0, /*block_mask=*/false, /*early=*/false,
                                    Staging::CpAsync, /*headroom=*/0);
  bool tilesKeys = program != Program::Dq;
  return ScheduleAttr::get(context, tilesKeys ? columns : rows, tilesKeys ? rows : columns, rows, pipeline,
                           /*heads=*/1, program);
}

SmallVector<ScheduleAttr> attnc::attn::selectBackwardSchedules(BackwardOp op, GpuTargetAttr target) {
  int64_t dims = std::max(dimOf(op.getQuery()), dimOf(op.getValue()));
  auto fits = [&](int64_t columns) {
    return (dims < 64 || columns <= mostColumns) &&
           countSharedBytes(op, columns, /*stages=*/1) + barrierBytes <= target.getSharedBytes();
  };
  const int64_t *columns = llvm::find_if(columnSteps, fits);
  if (columns == std::end(columnSteps))
    return {};
  MLIRContext *context = op.getContext();
  SmallVector<ScheduleAttr> schedules{getSchedule(context, Program::Dq, *columns),
                                      getSchedule(context, Program::Dkdv, *columns)};
  if (op.getDSinks())
    schedules.push_back(getSchedule(context, Program::Dsinks, mostColumns));
  return schedules;
}

LogicalResult attnc::attn::checkBackwardSchedule(BackwardOp op, ScheduleAttr schedule, GpuTargetAttr target) {
  PipelineAttr pipeline = schedule.getPipeline();
  if (!pipeline || pipeline.getStaging() != Staging::CpAsync)
    return op.emitError("expected a pipeline with staging = cp_async for gradients on a GPU");
  if (schedule.getHeads() != 1 || pipeline.getConsumers() != 1 || pipeline.getBlockMask() ||
      pipeline.getSectionBytes() != 0)
    return op.emitError("expected one head, one consumer, and neither block_mask nor section_bytes for gradients");
  if (schedule.getPanel() != rows || schedule.getRows() != rows)
    return op.emitError() << "expected tiles and panels of " << rows << " rows for gradients, got "
                          << schedule.getRows() << " and " << schedule.getPanel();
  if (schedule.getColumns() % 16 != 0 || schedule.getColumns() > 128)
    return op.emitError() << "expected steps of a multiple of 16 columns up to 128 for gradients, got "
                          << schedule.getColumns();
  int64_t bytes = countSharedBytes(op, schedule.getColumns(), pipeline.getStages()) + barrierBytes;
  if (bytes > target.getSharedBytes())
    return op.emitError() << "the schedule needs " << bytes << " bytes of shared memory, but " << target.getArch()
                          << " has " << target.getSharedBytes();
  return success();
}
