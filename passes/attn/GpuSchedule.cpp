//===- GpuSchedule.cpp - Tiles and overlap on a GPU -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "passes/attn/GpuSchedule.h"

using namespace mlir;
using namespace attnc::attn;

namespace {

/// Rows of queries that one warpgroup works on.
constexpr int64_t warpgroupRows = 64, warpgroupThreads = 128;

/// How the steps of a kernel overlap.
struct Overlap {
  Rescale rescale;
  bool lazy, byRow, pinned;
};

/// A row of the table of schedules: for head dims up to `dims`, without and with a mask.
struct Shape {
  int64_t dims, keys, consumers, producerRegisters, consumerRegisters;
  bool turns;
  Overlap full, masked;
};

/// What was measured best (docs/rationale/hopper-schedule.md).
constexpr Shape shapes[] = {
    {64, 128, 3, 32, 160, true, {Rescale::After, false, false, false}, {Rescale::First, false, false, true}},
    {128, 128, 2, 24, 240, true, {Rescale::After, false, true, true}, {Rescale::First, false, true, true}},
    {192, 96, 2, 24, 240, true, {Rescale::After, false, true, true}, {Rescale::First, false, true, true}},
    {256, 80, 2, 24, 240, false, {Rescale::Before, false, false, false}, {Rescale::Before, true, false, false}},
};

/// Bytes of shared memory of a schedule's tiles, and the sum as text.
struct SharedUse {
  int64_t bytes = 0;
  std::string sum;

  void add(StringRef what, int64_t count, int64_t rows, int64_t dims) {
    int64_t size = rows * llvm::alignTo(dims, 64) * 2;
    bytes += count * size;
    sum += (sum.empty() ? "" : " + ") + std::to_string(count) + " * " + std::to_string(size) + " (" + what.str() + ")";
  }
};

} // namespace

static int64_t headDim(Value tensor) { return cast<RankedTensorType>(tensor.getType()).getShape().back(); }

static SharedUse sharedUse(KernelOpInterface kernel, ScheduleAttr schedule) {
  SharedUse use;
  PipelineAttr pipeline = schedule.getPipeline();
  int64_t dims = kernel.getHeadDim();
  Value value = kernel.getValueOrNull();
  use.add("queries", pipeline.getQueryStages(), schedule.getQueryTile(), dims);
  use.add("keys", pipeline.getStages(), schedule.getKeyTile(), dims);
  if (value)
    use.add("values", pipeline.getStages(), schedule.getKeyTile(), headDim(value));
  if (value && pipeline.getEpilogue() != Epilogue::Direct)
    use.add("output", 1, schedule.getQueryTile(),
            pipeline.getEpilogue() == Epilogue::Slabs ? std::min<int64_t>(64, headDim(value)) : headDim(value));
  return use;
}

/// Bytes that barriers and tile numbers take at most.
static constexpr int64_t barrierBytes = 1024;

ScheduleAttr attnc::attn::selectGpuSchedule(KernelOpInterface kernel, GpuTargetAttr target) {
  int64_t dims = kernel.getHeadDim();
  if (Value value = kernel.getValueOrNull())
    dims = std::max(dims, headDim(value));
  const Shape *shape = llvm::find_if(shapes, [&](const Shape &row) { return dims <= row.dims; });
  if (shape == std::end(shapes))
    shape = std::prev(std::end(shapes));
  bool masked = !kernel.getMask().empty();
  // K and V of the heads that are worked on together stay in the cache, with room to spare for the rest.
  int64_t section = masked ? target.getL2Bytes() / 5 * 3 : 0;
  const Overlap &overlap = masked ? shape->masked : shape->full;
  int64_t rows = warpgroupRows * shape->consumers;
  ScheduleAttr schedule;
  // The most comfortable of these that fits.
  for (auto [queryStages, epilogue] : {std::pair(2, Epilogue::Staged), std::pair(1, Epilogue::Staged),
                                       std::pair(1, Epilogue::Slabs), std::pair(1, Epilogue::Direct)}) {
    auto pipeline = PipelineAttr::get(target.getContext(), shape->consumers, /*stages=*/2, queryStages,
                                      shape->producerRegisters, shape->consumerRegisters,
                                      overlap.rescale, overlap.lazy, shape->turns, overlap.byRow, overlap.pinned,
                                      epilogue, /*dynamic=*/true, section);
    schedule = ScheduleAttr::get(target.getContext(), rows, shape->keys, warpgroupRows, pipeline);
    if (sharedUse(kernel, schedule).bytes + barrierBytes <= target.getSharedBytes())
      break;
  }
  return schedule;
}

LogicalResult attnc::attn::checkGpuSchedule(KernelOpInterface kernel, GpuTargetAttr target) {
  ScheduleAttr schedule = kernel.getScheduleAttr();
  PipelineAttr pipeline = schedule.getPipeline();
  if (!pipeline)
    return kernel.emitError() << "expected the schedule to have a pipeline for " << target.getArch();
  if (schedule.getPanel() != warpgroupRows || schedule.getQueryTile() != warpgroupRows * pipeline.getConsumers())
    return kernel.emitError() << "expected query_tile to be consumers * panel, and panel to be " << warpgroupRows
                              << " rows, got " << schedule.getQueryTile() << ", " << pipeline.getConsumers() << " and "
                              << schedule.getPanel();
  if (schedule.getKeyTile() % 16 != 0 || schedule.getKeyTile() > 256)
    return kernel.emitError() << "expected key_tile to be a multiple of 16 up to 256, got " << schedule.getKeyTile();
  int64_t registers = warpgroupThreads * (pipeline.getProducerRegisters() +
                                          pipeline.getConsumers() * pipeline.getConsumerRegisters());
  if (registers > target.getRegisters())
    return kernel.emitError() << "the schedule needs " << registers << " registers (" << warpgroupThreads << " * ("
                              << pipeline.getProducerRegisters() << " + " << pipeline.getConsumers() << " * "
                              << pipeline.getConsumerRegisters() << ")), but " << target.getArch() << " has "
                              << target.getRegisters();
  SharedUse use = sharedUse(kernel, schedule);
  if (use.bytes + barrierBytes > target.getSharedBytes())
    return kernel.emitError() << "the schedule needs " << use.bytes + barrierBytes << " bytes of shared memory ("
                              << use.sum << " + " << barrierBytes << " (barriers)), but " << target.getArch()
                              << " has " << target.getSharedBytes();
  return success();
}
