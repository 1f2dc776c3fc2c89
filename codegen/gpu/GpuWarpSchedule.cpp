//===- GpuWarpSchedule.cpp - Tiles of kernels without roles -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/gpu/GpuWarpSchedule.h"
#include "codegen/gpu/GpuKernelTraits.h"
#include "codegen/gpu/GpuScheduleParts.h"
#include "dialect/attn/LaunchSizes.h"
#include "dialect/attn/PipelineFields.h"
#include "passes/attn/ElementRegisters.h"

using namespace mlir;
using namespace attnc::attn;
using namespace attnc::gpu;

/// The schedule of `entry` with this step, and with so many heads of a tile, for launches of the entry's sizes.
static ScheduleAttr getSchedule(KernelOpInterface kernel, GpuTargetAttr target, EntryAttr entry, TileStep step,
                                int64_t heads) {
  ScheduleAttr own = entry.getSchedule();
  PipelineFields fields(own.getPipeline());
  fields.stages = step.stages;
  fields.logitStages = step.logitStages;
  fields.sectionBytes = getSectionBytes(kernel, target);
  fields.blockMask = needsBlockMask(kernel);
  fields.early = startsEarly(kernel, target);
  return ScheduleAttr::get(target.getContext(), own.getQueryTile(), step.columns, own.getPanel(),
                           fields.get(target.getContext()), heads)
      .forSizes(own.getWhen());
}

/// The schedule with parts of f32 in shared memory where these find room: what warps would split each for itself then
/// is split once.
static ScheduleAttr splitFloats(KernelOpInterface kernel, ScheduleAttr schedule, GpuTargetAttr target) {
  if (!multipliesParts(kernel))
    return schedule;
  ScheduleAttr split = schedule.withPipeline(schedule.getPipeline().withSplitFloats());
  bool fits = sharesAsBefore(target, getSharedUse(kernel, schedule).bytes, getSharedUse(kernel, split).bytes);
  return fits ? split : schedule;
}

/// Whether tiles of `entry` have more rows than one warpgroup whose warps have 16 each.
static bool isWide(EntryAttr entry) { return entry.getSchedule().getQueryTile() > warpgroupRows; }

/// Registers of a thread for the tiles of a step of so many keys, and for what elements take, where tiles are wide.
/// What is loaded is there for all rows at once, what functions take for one after the other.
static double countWideRegisters(KernelOpInterface kernel, RegisterCostsAttr costs, EntryAttr entry, int64_t keys) {
  double ofElement = std::max(getElementRegisters(kernel, costs), getMaskRegisters(kernel, costs));
  // Of a warp's sixteen rows: half of one for each column.
  double outputs = static_cast<double>(getDims(kernel.getValueOrNull())) / 2, logits = static_cast<double>(keys) / 2;
  double ofRows = outputs + logits + ofElement * (isBoundByFunctions(kernel) ? logits / 2 : logits);
  return static_cast<double>(entry.getSchedule().getPanel()) / warpgroupRows * ofRows /
         static_cast<double>(entry.getSchedule().countPartsOfRows());
}

/// The same where tiles are not wide, of the `most` that there are. What elements take is there for one row after the
/// other, but for random numbers: rows share them, and calls under way take as much again.
static double countRegisters(KernelOpInterface kernel, RegisterCostsAttr costs, double most, int64_t keys) {
  // Elements of the output that a thread holds: two of a row's eight columns, in two rows. Weights are stored in every
  // step, which takes as many addresses: they leave room for 16 others.
  Value value = kernel.getValueOrNull();
  double held = value ? static_cast<double>(getDims(value)) / 2 : most - 16, logits = static_cast<double>(keys) / 2;
  return held + logits + getElementRegisters(kernel, costs) * (kernel.hasDropout() ? 2 * logits : logits / 2);
}

/// The schedules of the entries that there is room for, up to the one after which no launch is left; else, for those
/// that are, the last of those that are not wide.
static SmallVector<ScheduleAttr> select(KernelOpInterface kernel, const ScheduleTables &tables, GpuTargetAttr target,
                                        int64_t heads, bool mayBeWide) {
  SmallVector<ScheduleAttr> schedules;
  ScheduleAttr last;
  OpenSizes open(target.getContext());
  RegisterCostsAttr costs = tables.getCosts();
  for (EntryAttr entry : tables.find(Program::Forward)) {
    bool wide = isWide(entry);
    // Where tiles hold several heads, queries are few, and so are blocks.
    if ((wide && (!mayBeWide || !kernel.getValueOrNull())) || (heads > 1 && entry.getBlocks() > 1))
      continue;
    auto most = static_cast<double>(entry.getRegisters());
    for (TileStep step : entry.listSteps()) {
      ScheduleAttr schedule = getSchedule(kernel, target, entry, step, heads);
      double count = wide ? countWideRegisters(kernel, costs, entry, step.columns)
                          : countRegisters(kernel, costs, most, step.columns);
      if (count <= most && fitsShared(kernel, schedule, target, entry.getBlocks())) {
        if (open.take(schedule.getWhen()))
          schedules.push_back(splitFloats(kernel, schedule, target));
        break;
      }
      if (!wide)
        last = schedule;
    }
    if (open.empty())
      return schedules;
  }
  if (last)
    schedules.push_back(splitFloats(kernel, last.forAllSizes(), target));
  return schedules;
}

SmallVector<ScheduleAttr> attnc::gpu::selectWarps(KernelOpInterface kernel, const ScheduleTables &tables,
                                                  GpuTargetAttr target) {
  return select(kernel, tables, target, /*heads=*/1, /*mayBeWide=*/true);
}

SmallVector<ScheduleAttr> attnc::gpu::selectWarpsOfFew(KernelOpInterface kernel, const ScheduleTables &tables,
                                                       GpuTargetAttr target, int64_t heads) {
  return select(kernel, tables, target, heads, /*mayBeWide=*/false);
}
