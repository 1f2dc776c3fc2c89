//===- ScheduleTable.cpp - Tables of schedules ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/attn/PipelineFields.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace attnc::attn;

LogicalResult KernelsAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<KernelKind>, ArrayRef<Program>,
                                  int64_t bits, int64_t minDim, int64_t maxDim, int64_t minValueDim,
                                  int64_t maxValueDim, BoolAttr, BoolAttr, BoolAttr) {
  if (bits != 0 && bits != 16 && bits != 32)
    return emitError() << "expected bits to be 16 or 32, got " << bits;
  auto check = [&](StringRef what, int64_t min, int64_t max) -> LogicalResult {
    if (min >= 0 && min <= max)
      return success();
    return emitError() << "expected min_" << what << " from 0 to max_" << what << ", got " << min << " and " << max;
  };
  return success(succeeded(check("dim", minDim, maxDim)) && succeeded(check("value_dim", minValueDim, maxValueDim)));
}

/// The step that `schedule` has.
static TileStep getStep(ScheduleAttr schedule) {
  PipelineAttr pipeline = schedule.getPipeline();
  return {schedule.getColumns(), pipeline.getStages(), pipeline.getLogitStages()};
}

LogicalResult EntryAttr::verify(function_ref<InFlightDiagnostic()> emitError, KernelsAttr kernels,
                                ArrayRef<TileStep> steps, int64_t registers, int64_t blocks, ScheduleAttr schedule) {
  if (!schedule.getPipeline())
    return emitError() << "expected the schedule of an entry to have a pipeline";
  if (registers <= 0 || blocks <= 0)
    return emitError() << "expected positive registers and blocks, got " << registers << " and " << blocks;
  if (schedule.getHeads() != 1 || schedule.isSplit() || schedule.getOtherwise())
    return emitError()
           << "expected neither heads, splits nor otherwise in an entry: what the kernel asks for is filled in";
  for (TileStep step : steps)
    if (step.columns <= 0 || step.stages <= 0 || step.logitStages < 0)
      return emitError() << "expected steps of one column and one stage or more, got " << step.columns << " x "
                         << step.stages;
  if (TileStep own = getStep(schedule); !steps.empty() && steps.front() != own)
    return emitError() << "expected the first step to be the schedule's own, " << own.columns << " x " << own.stages
                       << (own.logitStages ? " x " + std::to_string(own.logitStages) : "") << ", got "
                       << steps.front().columns << " x " << steps.front().stages
                       << (steps.front().logitStages ? " x " + std::to_string(steps.front().logitStages) : "");
  for (TileStep step : steps) {
    PipelineFields fields(schedule.getPipeline());
    fields.stages = step.stages;
    fields.logitStages = step.logitStages;
    if (!fields.getChecked(emitError, schedule.getContext()))
      return failure();
  }
  if (kernels && !kernels.getPrograms().empty() && !llvm::is_contained(kernels.getPrograms(), schedule.getProgram()))
    return emitError() << "expected the schedule's program, " << stringifyProgram(schedule.getProgram())
                       << ", to be one of programs";
  return success();
}

SmallVector<TileStep> EntryAttr::listSteps() const {
  if (!getSteps().empty())
    return SmallVector<TileStep>(getSteps());
  return {getStep(getSchedule())};
}

bool EntryAttr::isFor(Program program) const {
  if (KernelsAttr kernels = getKernels(); kernels && !kernels.getPrograms().empty())
    return llvm::is_contained(kernels.getPrograms(), program);
  return getSchedule().getProgram() == program;
}

ScheduleAttr EntryAttr::getSchedule(Program program, TileStep step) const {
  ScheduleAttr own = getSchedule();
  PipelineAttr pipeline = own.getPipeline().withStages(step.stages, step.logitStages);
  bool ofKeys = attn::tilesKeys(program);
  return ScheduleAttr::get(getContext(), ofKeys ? step.columns : own.getRows(), ofKeys ? own.getRows() : step.columns,
                           own.getPanel(), own.getWhen(), own.getHeads(), pipeline, program, own.getSplits(),
                           own.getSplitBlocks(), own.getOtherwise());
}

LogicalResult RegisterCostsAttr::verify(function_ref<InFlightDiagnostic()> emitError, FloatAttr narrowTile,
                                        FloatAttr tile, FloatAttr narrowVector, FloatAttr vector, FloatAttr function,
                                        FloatAttr dropout) {
  for (FloatAttr cost : {narrowTile, tile, narrowVector, vector, function, dropout})
    if (!cost.getType().isF64() || !(cost.getValueAsDouble() >= 0 && cost.getValueAsDouble() <= 256))
      return emitError() << "expected costs from 0 to 256 registers, got " << cost;
  return success();
}

LogicalResult ScheduleTableAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayAttr archs, Staging staging,
                                        int64_t splitQueries, int64_t packedQueries, int64_t windowRegisters,
                                        RegisterCostsAttr, ArrayRef<EntryAttr> entries) {
  if (archs && !llvm::all_of(archs, [](Attribute arch) { return isa<StringAttr>(arch); }))
    return emitError() << "expected archs to be names of architectures, got " << archs;
  if (splitQueries < 0 || packedQueries < 0 || windowRegisters < 0)
    return emitError() << "expected split_queries, packed_queries and window_registers not below 0, got "
                       << splitQueries << ", " << packedQueries << " and " << windowRegisters;
  for (EntryAttr entry : entries)
    if (Staging own = entry.getSchedule().getPipeline().getStaging(); own != staging)
      return emitError() << "expected schedules with the table's staging, " << stringifyStaging(staging) << ", got "
                         << entry.getSchedule();
  return success();
}

bool ScheduleTableAttr::names(StringRef arch) const {
  return getArchs() &&
         llvm::any_of(getArchs().getAsValueRange<StringAttr>(), [&](StringRef name) { return name == arch; });
}
