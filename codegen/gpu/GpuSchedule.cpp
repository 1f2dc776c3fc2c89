//===- GpuSchedule.cpp - Tiles and overlap on a GPU -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/gpu/GpuSchedule.h"
#include "codegen/gpu/GpuBackwardSchedule.h"
#include "codegen/gpu/GpuCandidates.h"
#include "codegen/gpu/GpuKernelTraits.h"
#include "codegen/gpu/GpuRoleSchedule.h"
#include "codegen/gpu/GpuScheduleParts.h"
#include "codegen/gpu/GpuWarpSchedule.h"
#include "dialect/attn/AttnDialect.h"
#include "dialect/attn/TargetInterface.h"
#include "dialect/tile/TensorBox.h"
#include "mlir/IR/DialectRegistry.h"
#include "passes/attn/PackableHeads.h"

using namespace mlir;
using namespace attnc::attn;
using namespace attnc::gpu;

/// The schedules of `kernel` on `target`: by roles where it has products of warpgroups and tables know of them, else by
/// warps.
static SmallVector<ScheduleAttr> selectSchedules(KernelOpInterface kernel, GpuTargetAttr target) {
  if (usesWarpgroups(kernel, target))
    if (SmallVector<ScheduleAttr> schedules = selectRoles(kernel, {kernel, target, Staging::Tma}, target);
        !schedules.empty())
      return schedules;
  ScheduleTables tables(kernel, target, Staging::CpAsync);
  int64_t heads = countPackableHeads(kernel, warpgroupRows);
  SmallVector<ScheduleAttr> schedules, single = selectWarps(kernel, tables, target);
  const bool splits = isSplittable(kernel, tables, heads);
  if (heads > 1 || splits) {
    int64_t most = heads == 1 ? tables.getSplitQueries() : tables.getPackedQueries();
    auto few = SizesAttr::get(target.getContext(), SizeRange{Size::Queries, 0, most});
    for (ScheduleAttr schedule : selectWarpsOfFew(kernel, tables, target, heads))
      if (SizesAttr when = schedule.getWhen().intersect(few))
        schedules.push_back((splits ? splitOverBlocks(schedule, target) : schedule).forSizes(when));
  }
  llvm::append_range(schedules, single);
  return schedules;
}

/// Checks the registers of roles, and those of the products of warpgroups: an instruction has its part of all columns
/// at once, and what it is started with as well.
static LogicalResult checkRegisters(KernelOpInterface kernel, ScheduleAttr schedule, GpuTargetAttr target) {
  PipelineAttr pipeline = schedule.getPipeline();
  if (failed(checkRegistersOfRoles(kernel, pipeline, target)))
    return failure();
  int64_t threads = pipeline.countWarpgroups() * warpgroupThreads;
  int64_t atStart = getRegistersAtStart(target, pipeline.countWarpgroups());
  // What ptxas asks for: addresses and the like, and a left operand where that is not in shared memory.
  constexpr int64_t besideColumns = 26, leftOperand = 4;
  auto check = [&](StringRef what, int64_t columns, int64_t others) -> LogicalResult {
    if (columns / 2 + others <= atStart)
      return success();
    return kernel.emitError() << "the schedule's " << what << " need " << columns / 2 + others
                              << " registers of a thread (" << columns << " / 2 + " << others << "), but "
                              << target.getArch() << " has " << atStart << " for each of " << threads << " threads";
  };
  Value value = kernel.getValueOrNull();
  if (failed(check("logits", schedule.getKeyTile(), besideColumns)) ||
      (value && failed(check("outputs", getDims(value), besideColumns + leftOperand))))
    return failure();
  // A step's logits are on their way while the product with the values of the step before still adds to the outputs.
  // With fewer registers ptxas lets no two products overlap, or finds none at all for them (C7512, C7600).
  int64_t outputs = value ? getDims(value) : 0, inFlight = (schedule.getKeyTile() + outputs) / 2 + besideColumns;
  if (inFlight > pipeline.getConsumerRegisters())
    return kernel.emitError() << "the schedule's logits and outputs need " << inFlight << " registers of a thread (("
                              << schedule.getKeyTile() << " + " << outputs << ") / 2 + " << besideColumns
                              << "), but its consumers have " << pipeline.getConsumerRegisters();
  return success();
}

/// Checks a schedule whose warps have some of the columns each of the same rows: of logits and of outputs whole panels
/// of shared memory, or a power of two of pieces.
static LogicalResult checkSharedRows(KernelOpInterface kernel, ScheduleAttr schedule) {
  constexpr int64_t leastColumns = 16, mostParts = 4;
  if (!isa<ForwardOp>(kernel.getOperation()) || getOperandType(kernel).isF32() || schedule.isSplit())
    return kernel.emitError("expected attn.forward of 16 bits without splits where all consumers have the same rows");
  int64_t parts = schedule.countPartsOfRows(), dims = getDims(kernel.getValueOrNull());
  auto mayDeal = [&](int64_t columns) {
    return columns % parts == 0 && columns / parts >= leastColumns && llvm::isPowerOf2_64(columns / parts);
  };
  if (parts <= mostParts && mayDeal(schedule.getKeyTile()) && mayDeal(dims))
    return success();
  return kernel.emitError() << "expected up to " << mostParts
                            << " warps with the same rows, and for each of them a power "
                            << "of two of keys and of values' columns, " << leastColumns << " or more, got " << parts
                            << " warps, " << schedule.getKeyTile() << " keys and " << dims << " columns";
}

/// Checks that a schedule of the spec's own suits `target`; an error names what does not and the sum that shows it.
static LogicalResult checkSchedule(KernelOpInterface kernel, ScheduleAttr schedule, GpuTargetAttr target) {
  PipelineAttr pipeline = schedule.getPipeline();
  if (!pipeline)
    return kernel.emitError() << "expected the schedule to have a pipeline for " << target.getArch();
  bool cpAsync = pipeline.getStaging() == Staging::CpAsync;
  if (!cpAsync && !usesWarpgroups(kernel, target))
    return kernel.emitError() << "expected #attn.warps on " << target.getArch()
                              << (!target.getWarpgroupMma() || !target.getTensorCopies() ? ""
                                  : getOperandType(kernel).isF32() ? " for f32"
                                                                   : " for pages of no multiple of 8 rows");
  int64_t rows = schedule.getRows(), ofAll = schedule.getPanel() * pipeline.getConsumers();
  bool sharesRows = cpAsync && rows < ofAll && ofAll % rows == 0 && rows % warpgroupRows == 0;
  if (!mayHavePanel(pipeline, schedule.getPanel()) || (rows != ofAll && !sharesRows))
    return kernel.emitError() << "expected query_tile to be consumers * panel, and panel to be " << warpgroupRows
                              << " rows, or " << wideRows << " with #attn.warps, got " << schedule.getQueryTile()
                              << ", " << pipeline.getConsumers() << " and " << schedule.getPanel();
  if (sharesRows && failed(checkSharedRows(kernel, schedule)))
    return failure();
  if (pipeline.getWeightsAhead() && !sharesRows)
    return kernel.emitError("expected weights_ahead of #attn.warps where all consumers have the rows of one panel");
  if (int64_t most = countPackableHeads(kernel, warpgroupRows); most % schedule.getHeads() != 0)
    return kernel.emitError() << "expected heads to divide " << most
                              << ", the heads that tiles can hold together here, got " << schedule.getHeads();
  if (schedule.getKeyTile() % 16 != 0 || schedule.getKeyTile() > 256)
    return kernel.emitError() << "expected key_tile to be a multiple of 16 up to 256, got " << schedule.getKeyTile();
  if (pipeline.getQueryStages() == 0)
    return kernel.emitError("expected query_stages of 1 or more, got 0, which only gradients may have");
  if (pipeline.getEarly() && !target.getEarlyStart())
    return kernel.emitError() << "expected no early = true: on " << target.getArch()
                              << " a kernel starts when the one before it has ended";
  if (int64_t most = attnc::tile::mostThreads / warpgroupThreads - (cpAsync ? 0 : 1); pipeline.getConsumers() > most)
    return kernel.emitError() << "expected at most " << most << " consumers, since a block has up to "
                              << attnc::tile::mostThreads << " threads, got " << pipeline.getConsumers();
  if (Headroom headroom = findHeadroom(kernel); pipeline.getHeadroom() > headroom.most)
    return kernel.emitError() << "expected headroom up to " << headroom.most << headroom.where << ", got "
                              << pipeline.getHeadroom();
  if (!cpAsync && failed(checkRegisters(kernel, schedule, target)))
    return failure();
  if (pipeline.getSplitFloats() && !multipliesParts(kernel))
    return kernel.emitError("expected split_floats for exact f32 alone");
  if (pipeline.getCaptureStages() > 0) {
    if (countCapturedTiles(kernel) == 0)
      return kernel.emitError("expected capture_stages = 0: the score reads no tile of 16 bits by query and key, along "
                              "whose last dimension no packed sequences lie");
    if (pipeline.getOwnKeys() || pipeline.getBlockMask() || schedule.isSplit() || schedule.getHeads() > 1)
      return kernel.emitError("expected neither own_keys, block_mask, splits nor several heads with capture_stages");
    if (failed(checkSchedule(kernel, schedule.getWithoutBoxes(), target)))
      return failure();
  }
  SharedUse use = getSharedUse(kernel, schedule);
  if (use.bytes + barrierBytes > target.getSharedBytes())
    return kernel.emitError() << "the schedule needs " << use.bytes + barrierBytes << " bytes of shared memory ("
                              << use.sum << " + " << barrierBytes << " (barriers)), but " << target.getArch() << " has "
                              << target.getSharedBytes();
  return success();
}

namespace {
struct GpuTargetModel : TargetInterface::ExternalModel<GpuTargetModel, GpuTargetAttr> {
  SmallVector<ScheduleAttr> selectSchedules(Attribute target, KernelOpInterface kernel) const {
    if (auto backward = dyn_cast<BackwardOp>(kernel.getOperation()))
      return selectBackwardSchedules(backward, cast<GpuTargetAttr>(target));
    return ::selectSchedules(kernel, cast<GpuTargetAttr>(target));
  }
  LogicalResult checkSchedule(Attribute target, KernelOpInterface kernel, ScheduleAttr schedule) const {
    if (auto backward = dyn_cast<BackwardOp>(kernel.getOperation()))
      return checkBackwardSchedule(backward, schedule, cast<GpuTargetAttr>(target));
    return ::checkSchedule(kernel, schedule, cast<GpuTargetAttr>(target));
  }
  SmallVector<ScheduleAttr> enumerateSchedules(Attribute target, KernelOpInterface kernel, ScheduleAttr base) const {
    return enumerateGpuSchedules(kernel, base, cast<GpuTargetAttr>(target));
  }
  StringRef getMachineName(Attribute target) const { return cast<GpuTargetAttr>(target).getArch(); }
  int64_t getSharedBytes(Attribute target) const { return cast<GpuTargetAttr>(target).getSharedBytes(); }
};
} // namespace

void attnc::gpu::registerSchedules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, AttnDialect *dialect) {
    GpuTargetAttr::attachInterface<GpuTargetModel>(*context);
    addBuiltInTables(*dialect);
  });
}
