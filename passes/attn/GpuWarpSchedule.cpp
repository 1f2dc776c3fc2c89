//===- GpuWarpSchedule.cpp - Tiles of kernels without roles -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "passes/attn/GpuWarpSchedule.h"
#include "passes/attn/ElementRegisters.h"
#include "passes/attn/GpuKernelTraits.h"
#include "passes/attn/GpuScheduleParts.h"

using namespace mlir;
using namespace attnc::attn;

namespace {

/// Steps of kernels without roles, from the most comfortable on: where two blocks share a multiprocessor, which hides
/// what copies take better than more stages do, and where one has it alone.
constexpr KeyStep sharingSteps[] = {{64, 1}, {32, 2}, {32, 1}, {16, 2}, {16, 1}},
                  loneSteps[] = {{64, 2}, {32, 2}, {16, 2}, {64, 1}, {32, 1}, {16, 1}};

/// Keys of a step from which on sharing pays. Products of f32 take so long that any will do.
constexpr int64_t leastSharingKeys = 32, leastSharingKeysOfFloats = 16;

/// Registers that a thread has for the accumulated output and the logits; operands and addresses come on top, and
/// the parts of f32.
constexpr int64_t accumulatorRegisters = 160, accumulatorRegistersOfFloats = 136;

/// Steps where warps have 32 rows, from the most comfortable on, and the registers of a thread for outputs, logits and
/// what elements take. Parts of f32 come on top.
constexpr KeyStep wideSteps[] = {{128, 1}, {64, 1}, {48, 1}, {32, 1}}, wideStepsOfFloats[] = {{32, 1}, {16, 1}};
constexpr double registersOfWide = 206, registersOfWideFloats = 150;

/// The same of two warpgroups whose warps have 16 rows.
constexpr KeyStep stepsOfTwo[] = {{96, 1}, {64, 1}}, stepsOfTwoFloats[] = {{16, 1}};
constexpr double registersOfTwo = 176, registersOfTwoFloats = 136;

/// Registers of the accumulated output, or of weights that are stored, from which on rows are rescaled only where their
/// maxima grow by much.
constexpr int64_t registersRescaledOnGrowth = 96;

} // namespace

/// The schedule without roles for some steps, of so many warpgroups with `panel` rows each.
static ScheduleAttr getCpAsync(KernelOpInterface kernel, GpuTargetAttr target, int64_t heads, KeyStep step,
                               Rescaling rescaling, int64_t consumers = 1, int64_t panel = warpgroupRows) {
  auto pipeline =
      PipelineAttr::get(target.getContext(), consumers, step.stages, /*query_stages=*/1, /*producer_registers=*/0,
                        /*consumer_registers=*/0, rescaling, /*own_keys=*/false, /*ping_pong=*/false,
                        /*by_row=*/false, Epilogue::Direct, /*dynamic=*/false, getSectionBytes(kernel, target),
                        /*block_mask=*/needsBlockMask(kernel), startsEarly(kernel, target), Staging::CpAsync,
                        /*headroom=*/0, /*logit_stages=*/0, Overlap::InStep, /*split_floats=*/false,
                        /*capture_stages=*/0, /*batch_inside=*/false);
  return ScheduleAttr::get(target.getContext(), consumers * panel, step.keys, panel, pipeline, heads);
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

/// The schedule without roles for many queries, whose products load less for each row: with 32 rows a warp, for two
/// blocks a multiprocessor, or with the rows of two warpgroups to share keys and values; null where neither fits
/// (docs/rationale/warps.md).
static ScheduleAttr selectManyRows(KernelOpInterface kernel, GpuTargetAttr target) {
  constexpr int64_t fewDims = 64, leastDimsOfTwo = 193;
  Value value = kernel.getValueOrNull();
  if (!value)
    return {};
  bool floats = getOperandType(kernel).isF32(), functions = isBoundByFunctions(kernel);
  int64_t dims = getDims(value);
  double ofElement = std::max(getElementRegisters(kernel), getMaskRegisters(kernel));
  // Registers of a warp's sixteen rows: half of one for each column. What is loaded is there for all rows at once, what
  // functions take for one after the other.
  auto count = [&](int64_t keys) {
    auto outputs = static_cast<double>(dims) / 2, logits = static_cast<double>(keys) / 2;
    return outputs + logits + ofElement * (functions ? logits / 2 : logits);
  };
  auto choose = [&](ArrayRef<KeyStep> ofFloats, ArrayRef<KeyStep> others) { return floats ? ofFloats : others; };
  // In steps that rescale many outputs in a branch, row vectors would be on the stack, but for masks' shorter loops.
  bool branches = floats ? dims > fewDims : dims <= fewDims || !kernel.getMask().empty();
  // Functions keep their unit busy whatever products load, and gain from more warps.
  if (dims > fewDims || !functions)
    for (KeyStep step : choose(wideStepsOfFloats, wideSteps)) {
      ScheduleAttr wide =
          getCpAsync(kernel, target, /*heads=*/1, step, branches ? Rescaling::OnGrowth : Rescaling::EachStep,
                     /*consumers=*/1, wideRows);
      if (2 * count(step.keys) <= (floats ? registersOfWideFloats : registersOfWide) &&
          fitsShared(kernel, wide, target, /*blocks=*/2))
        return splitFloats(kernel, wide, target);
    }
  for (KeyStep step : choose(stepsOfTwoFloats, stepsOfTwo)) {
    ScheduleAttr two = getCpAsync(kernel, target, /*heads=*/1, step, floats ? Rescaling::OnGrowth : Rescaling::EachStep,
                                  /*consumers=*/2);
    if (dims >= leastDimsOfTwo && count(step.keys) <= (floats ? registersOfTwoFloats : registersOfTwo) &&
        fitsShared(kernel, two, target, /*blocks=*/1))
      return splitFloats(kernel, two, target);
  }
  return {};
}

/// The schedule without roles. One warpgroup a block: several blocks share a multiprocessor and overlap each other,
/// unless queries are few, as those are that tiles of several heads are for.
ScheduleAttr attnc::attn::selectWarpsOfFew(KernelOpInterface kernel, GpuTargetAttr target, int64_t heads) {
  Value value = kernel.getValueOrNull();
  bool floats = getOperandType(kernel).isF32();
  // Elements of the output that a thread holds: two of a row's eight columns, in two rows. Weights are stored in every
  // step, which takes as many addresses.
  int64_t most = floats ? accumulatorRegistersOfFloats : accumulatorRegisters;
  int64_t held = value ? getDims(value) / 2 : most - 16;
  // Where steps rescale the output outside of a branch, it takes more registers.
  Rescaling rescaling = held >= registersRescaledOnGrowth ? Rescaling::OnGrowth : Rescaling::EachStep;
  double ofElement = getElementRegisters(kernel);
  auto fits = [&](KeyStep step, int64_t blocks) {
    // What elements take is there for one row after the other, but for random numbers: rows share them, and calls under
    // way take as much again.
    double logits = step.keys / 2.0, atOnce = kernel.hasDropout() ? 2 * logits : logits / 2;
    ScheduleAttr schedule = getCpAsync(kernel, target, heads, step, rescaling);
    return held + logits + ofElement * atOnce <= most && fitsShared(kernel, schedule, target, blocks);
  };
  int64_t leastKeys = floats ? leastSharingKeysOfFloats : leastSharingKeys;
  auto fitsTwice = [&](KeyStep step) { return step.keys >= leastKeys && fits(step, /*blocks=*/2); };
  if (const KeyStep *step = llvm::find_if(sharingSteps, fitsTwice); heads == 1 && step != std::end(sharingSteps))
    return splitFloats(kernel, getCpAsync(kernel, target, heads, *step, rescaling), target);
  const KeyStep *step = llvm::find_if(loneSteps, [&](KeyStep step) { return fits(step, /*blocks=*/1); });
  return splitFloats(
      kernel, getCpAsync(kernel, target, heads, step == std::end(loneSteps) ? *std::prev(step) : *step, rescaling),
      target);
}

ScheduleAttr attnc::attn::selectWarps(KernelOpInterface kernel, GpuTargetAttr target) {
  ScheduleAttr many = selectManyRows(kernel, target);
  return many ? many : selectWarpsOfFew(kernel, target, /*heads=*/1);
}
