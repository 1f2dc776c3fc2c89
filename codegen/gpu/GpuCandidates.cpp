//===- GpuCandidates.cpp - Schedules to try on a GPU ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/gpu/GpuCandidates.h"
#include "codegen/gpu/GpuScheduleParts.h"
#include "dialect/attn/PipelineFields.h"

using namespace mlir;
using namespace attnc::attn;
using namespace attnc::gpu;

namespace {

/// A schedule whose fields can be changed one by one.
struct Fields : PipelineFields {
  explicit Fields(ScheduleAttr base)
      : PipelineFields(base.getPipeline()), base(base), panel(base.getPanel()), columns(base.getColumns()) {}

  /// The schedule, or null where no machine could have it.
  ScheduleAttr get() const {
    auto refuse = [&] { return mlir::emitError(UnknownLoc::get(base.getContext())); };
    PipelineAttr pipeline = getChecked(refuse, base.getContext());
    if (!pipeline)
      return {};
    int64_t rows = sharedRows ? sharedRows : panel * consumers;
    bool ofKeys = base.tilesKeys();
    return ScheduleAttr::getChecked(refuse, base.getContext(), ofKeys ? columns : rows, ofKeys ? rows : columns, panel,
                                    SizesAttr::get(base.getContext()), base.getHeads(), pipeline, base.getProgram(),
                                    base.getSplits(), base.getSplitBlocks(), base.getOtherwise());
  }

  /// Takes `count` consumers, with all the registers that they can have.
  void setConsumers(int64_t count, GpuTargetAttr target) {
    constexpr int64_t most = 240, unit = 8, few = 24, more = 32;
    consumers = count;
    producerRegisters = count > 2 ? more : few;
    int64_t all = (count + 1) * getRegistersAtStart(target, count + 1);
    consumerRegisters = std::min(most, (all - producerRegisters) / count / unit * unit);
    if (count == 1)
      ownKeys = pingPong = false;
  }

  ScheduleAttr base;
  int64_t panel, columns;
  int64_t sharedRows = 0; ///< rows that all warpgroups have, or 0 where each has its own
};

/// Rows of a warpgroup whose products are those of warps.
constexpr int64_t panelsOfWarps[] = {warpgroupRows, wideRows};

/// Buffers of queries, and how the output leaves.
struct Buffers {
  int64_t queryStages;
  Epilogue epilogue;
};

constexpr Buffers allBuffers[] = {
    {2, Epilogue::Staged}, {2, Epilogue::Slabs}, {1, Epilogue::Staged}, {1, Epilogue::Slabs}, {1, Epilogue::Direct}};

} // namespace

/// Forward with roles.
static void enumerateRoles(KernelOpInterface kernel, const Fields &base, GpuTargetAttr target,
                           SmallVectorImpl<ScheduleAttr> &schedules) {
  bool mayOwnKeys = !kernel.getMask().empty() && !base.base.getPipeline().getBlockMask();
  for (int64_t consumers : {2, 3, 1}) {
    Fields fields = base;
    if (consumers != base.consumers)
      fields.setConsumers(consumers, target);
    for (int64_t keys : {32, 48, 64, 80, 96, 112, 128, 160, 176})
      for (int64_t stages : {1, 2, 3, 4, 5})
        for (Buffers buffers : allBuffers)
          for (bool ownKeys : {false, true})
            for (bool turns : {false, true}) {
              if ((consumers == 1 && (ownKeys || turns)) || (ownKeys && !mayOwnKeys))
                continue;
              fields.columns = keys;
              fields.stages = stages;
              fields.queryStages = buffers.queryStages;
              fields.epilogue = buffers.epilogue;
              fields.ownKeys = ownKeys;
              fields.pingPong = turns;
              schedules.push_back(fields.get());
            }
  }
}

/// Forward without roles.
static void enumerateWarps(const Fields &base, SmallVectorImpl<ScheduleAttr> &schedules) {
  for (int64_t panel : panelsOfWarps)
    for (int64_t consumers : {1, 2, 4})
      for (int64_t keys : {16, 32, 48, 64, 96, 128})
        for (int64_t stages : {1, 2, 3})
          for (Rescaling rescaling : {Rescaling::EachStep, Rescaling::OnGrowth})
            for (bool splitFloats : {false, true}) {
              Fields fields = base;
              fields.panel = panel;
              fields.consumers = consumers;
              fields.columns = keys;
              fields.stages = stages;
              fields.rescaling = rescaling;
              fields.splitFloats = splitFloats;
              fields.weightsAhead = false;
              schedules.push_back(fields.get());
            }
  // Both warpgroups have the same rows.
  for (int64_t keys : {32, 64})
    for (Rescaling rescaling : {Rescaling::EachStep, Rescaling::OnGrowth})
      for (bool ahead : {false, true}) {
        Fields fields = base;
        fields.panel = fields.sharedRows = wideRows;
        fields.consumers = 2;
        fields.columns = keys;
        fields.stages = 1;
        fields.rescaling = rescaling;
        fields.weightsAhead = ahead;
        schedules.push_back(fields.get());
      }
}

/// Gradients with roles.
static void enumerateGradientRoles(const Fields &base, GpuTargetAttr target, SmallVectorImpl<ScheduleAttr> &schedules) {
  for (int64_t consumers : {2, 1, 3}) {
    Fields fields = base;
    if (consumers != base.consumers)
      fields.setConsumers(consumers, target);
    for (int64_t columns : {16, 32, 48, 64, 80, 96, 112, 128})
      for (int64_t stages : {1, 2, 3})
        for (int64_t logitStages : {1, 2, 3})
          for (Overlap overlap : {Overlap::InStep, Overlap::LogitsAhead, Overlap::SumsLate})
            for (bool turns : {false, true}) {
              fields.columns = columns;
              fields.stages = stages;
              fields.logitStages = logitStages;
              fields.overlap = overlap;
              fields.pingPong = turns && consumers > 1;
              schedules.push_back(fields.get());
            }
  }
}

/// Tiles that heads or batch entries share, with roles. Captured tiles come by the copy engine where they do in `base`.
static void enumerateSharedTiles(const Fields &base, SmallVectorImpl<ScheduleAttr> &schedules) {
  for (int64_t columns : {32, 48, 64, 96, 128})
    for (int64_t stages : {1, 2, 3, 4})
      for (int64_t queryStages : {1, 2})
        for (int64_t sums : {1, 2, 3}) {
          Fields fields = base;
          fields.columns = columns;
          fields.stages = stages;
          fields.queryStages = queryStages;
          fields.sums = sums;
          fields.captureStages = base.captureStages > 0 ? sums : 0;
          schedules.push_back(fields.get());
        }
}

/// All three gradients in one program.
static void enumerateOneProgram(const Fields &base, SmallVectorImpl<ScheduleAttr> &schedules) {
  for (int64_t stages : {2, 3})
    for (Overlap overlap : {Overlap::InStep, Overlap::ScoresAhead, Overlap::QueriesFirst}) {
      Fields fields = base;
      fields.stages = fields.logitStages = stages;
      fields.overlap = overlap;
      schedules.push_back(fields.get());
    }
}

/// The same without roles: warpgroups have rows of their own, or the same.
static void enumerateOneProgramByWarps(const Fields &base, SmallVectorImpl<ScheduleAttr> &schedules) {
  for (int64_t panel : panelsOfWarps)
    for (int64_t consumers : {2, 1})
      for (int64_t sharedRows : {int64_t(0), warpgroupRows, wideRows})
        for (int64_t stages : {1, 2})
          for (bool inRegisters : {false, true}) {
            Fields fields = base;
            fields.panel = panel;
            fields.consumers = consumers;
            fields.sharedRows = sharedRows;
            fields.stages = stages;
            fields.rowsInRegisters = inRegisters;
            schedules.push_back(fields.get());
          }
}

/// Gradients without roles.
static void enumerateGradientWarps(const Fields &base, SmallVectorImpl<ScheduleAttr> &schedules) {
  for (int64_t panel : panelsOfWarps)
    for (int64_t columns : {16, 32, 48, 64, 96, 128})
      for (int64_t stages : {1, 2})
        for (bool splitFloats : {false, true}) {
          Fields fields = base;
          fields.panel = panel;
          fields.columns = columns;
          fields.stages = stages;
          fields.splitFloats = splitFloats;
          schedules.push_back(fields.get());
        }
}

/// The same over fewer and more parts of their keys.
static void enumerateParts(ScheduleAttr base, SmallVectorImpl<ScheduleAttr> &schedules) {
  SmallVector<ScheduleAttr> listed(schedules.begin(), schedules.end());
  int64_t blocks = base.getSplitBlocks();
  for (int64_t others : {blocks / 2, 2 * blocks, 3 * blocks, 4 * blocks})
    for (ScheduleAttr schedule : listed)
      if (schedule && others > 0)
        schedules.push_back(schedule.withSplitBlocks(others));
}

SmallVector<ScheduleAttr> attnc::gpu::enumerateGpuSchedules(KernelOpInterface kernel, ScheduleAttr base,
                                                            GpuTargetAttr target) {
  SmallVector<ScheduleAttr> schedules;
  Fields fields(base);
  // Sinks and sums are few, and what comes before and after one program of all gradients takes no products.
  if (llvm::is_contained({Program::Dsinks, Program::Dsums, Program::ClearScattered, Program::Delta, Program::ConvertDq},
                         base.getProgram()))
    return schedules;
  bool hasRoles = base.getPipeline().getStaging() == Staging::Tma, isForward = !isa<BackwardOp>(kernel.getOperation());
  if (isForward && hasRoles)
    enumerateRoles(kernel, fields, target, schedules);
  else if (isForward)
    enumerateWarps(fields, schedules);
  else if (base.getProgram() == Program::Dqdkdv && hasRoles)
    enumerateOneProgram(fields, schedules);
  else if (base.getProgram() == Program::Dqdkdv)
    enumerateOneProgramByWarps(fields, schedules);
  else if (base.getProgram() == Program::Dbias && hasRoles)
    enumerateSharedTiles(fields, schedules);
  else if (hasRoles)
    enumerateGradientRoles(fields, target, schedules);
  else
    enumerateGradientWarps(fields, schedules);
  if (base.getSplitBlocks() > 0)
    enumerateParts(base, schedules);
  return schedules;
}
