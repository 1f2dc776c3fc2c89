//===- GpuRoleSchedule.cpp - Tiles of kernels with roles --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/gpu/GpuRoleSchedule.h"
#include "codegen/gpu/GpuKernelTraits.h"
#include "codegen/gpu/GpuScheduleParts.h"
#include "dialect/attn/PipelineFields.h"
#include "passes/attn/ElementRegisters.h"
#include "passes/attn/PackableHeads.h"
#include "passes/attn/ScoreRange.h"

using namespace mlir;
using namespace attnc::attn;
using namespace attnc::gpu;

namespace {

/// Buffers of queries, and how the output leaves, for so many consumers and more.
struct Buffers {
  int64_t queryStages;
  Epilogue epilogue;
  int64_t minConsumers;
};

/// What an entry gives up where there is no room for it, in this order. Three consumers wait longer for the next tile's
/// queries than for room for their output.
constexpr Buffers fallbacks[] = {{2, Epilogue::Staged, 1},
                                 {2, Epilogue::Slabs, 3},
                                 {1, Epilogue::Staged, 1},
                                 {1, Epilogue::Slabs, 1},
                                 {1, Epilogue::Direct, 1}};

/// Registers of a producer that finds the keys of a part: with less than 48 it would spill them.
constexpr int64_t splitProducerRegisters = 56;

/// Fits entries to a kernel.
class RoleFitter {
public:
  RoleFitter(KernelOpInterface kernel, const ScheduleTables &tables, GpuTargetAttr target)
      : kernel(kernel), tables(tables), target(target) {}

  /// The schedule of `entry` for launches of all sizes, with so many consumers and heads of a tile.
  ScheduleAttr fit(EntryAttr entry, int64_t consumers, int64_t heads);
  ScheduleAttr fit(EntryAttr entry, int64_t heads) {
    return fit(entry, entry.getSchedule().getPipeline().getConsumers(), heads);
  }
  /// The schedule of one warpgroup, whose rows are enough for all queries of so many heads. Keys are split where they
  /// can be, so that all multiprocessors read.
  ScheduleAttr fitFew(EntryAttr entry, int64_t heads);

private:
  TileStep selectStep(EntryAttr entry);
  void setRegisters(PipelineFields &fields, int64_t keys);
  bool takesTurns(PipelineAttr pipeline);

  KernelOpInterface kernel;
  const ScheduleTables &tables;
  GpuTargetAttr target;
};

} // namespace

/// Octaves that the weight of a row's maximum starts below 1 by (docs/rationale/online-softmax.md). f16 has 15 above 1,
/// and loses digits from 14 below it on. bf16 has range to spare, which values need as well; under dropout its weights
/// must not grow far. Sinks may be far above all logits, whose weights then have none to spare, and scores within
/// limits take all of the range themselves, whatever the schedule says.
Headroom attnc::gpu::findHeadroom(KernelOpInterface kernel) {
  constexpr int64_t most = 60, mostOfHalf = 8;
  if (!isa<ForwardOp>(kernel.getOperation()) || findNarrowRange(kernel))
    return {0, most, ""};
  if (kernel.getSinks())
    return {0, 0, " with sinks"};
  if (getOperandType(kernel).isF16())
    return {6, mostOfHalf, " for f16"};
  return kernel.getSeed() ? Headroom{0, 0, " for bf16 under dropout"} : Headroom{most, most, ""};
}

bool attnc::gpu::isSplittable(KernelOpInterface kernel, const ScheduleTables &tables, int64_t heads) {
  int64_t rows = kernel.getQueryRows();
  return isa<ForwardOp>(kernel.getOperation()) && !needsBlockMask(kernel) && !hasWindow(kernel) &&
         (heads > 1 || (!ShapedType::isDynamic(rows) && rows <= tables.getSplitQueries()));
}

ScheduleAttr attnc::gpu::splitOverBlocks(ScheduleAttr schedule, GpuTargetAttr target) {
  bool hasRoles = schedule.getPipeline().getStaging() == Staging::Tma;
  return schedule.withSplitBlocks((hasRoles ? 1 : 2) * target.getMultiprocessors());
}

/// The first step of `entry` that registers have room for, or else the last.
TileStep RoleFitter::selectStep(EntryAttr entry) {
  double ofElement = getElementRegisters(kernel, tables.getCosts()), most = tables.getRegisters(entry);
  auto fits = [&](TileStep step) {
    // Of 64 rows a thread has the 128th part; weights are half as wide as logits.
    auto keys = static_cast<double>(step.columns);
    double output = static_cast<double>(getLargestDims(kernel)) / 2, logits = keys / 2, weights = keys / 4;
    return output + logits + weights + ofElement * logits <= most;
  };
  SmallVector<TileStep> steps = entry.listSteps();
  auto *chosen = llvm::find_if(steps, fits);
  return chosen == steps.end() ? steps.back() : *chosen;
}

/// Sets the registers of both roles. A producer that finds pages takes 24 or 32 of the consumers, or what one leaves
/// free: with the entry's it would spill. Three consumers have them to spare in short steps. What NVRTC makes of a
/// producer takes 16 of two consumers, and three have none to spare (docs/rationale/nvrtc.md).
void RoleFitter::setRegisters(PipelineFields &fields, int64_t keys) {
  constexpr int64_t shortStep = 64;
  const bool isNvrtc = target.getCuda() && fields.consumers < 3;
  const int64_t taken = fields.consumers != 2 || !kernel.isPaged() ? 8 : 16;
  if (!isNvrtc && (!kernel.isPaged() || (fields.consumers > 2 && keys > shortStep)))
    return;
  if (fields.consumers == 1) {
    fields.producerRegisters = splitProducerRegisters;
  } else {
    fields.producerRegisters += taken * fields.consumers;
    fields.consumerRegisters -= taken;
  }
}

/// Whether consumers have use for the turns that `pipeline` has them take. Functions keep a unit of their own busy, and
/// windows leave few steps. Beyond 128, products take so long that functions are worth turns as well
/// (docs/rationale/hopper-variants.md).
bool RoleFitter::takesTurns(PipelineAttr pipeline) {
  constexpr int64_t fewDims = 128;
  if (!pipeline.getPingPong())
    return false;
  if (isBoundByFunctions(kernel))
    return !kernel.getMask().empty() && getLargestDims(kernel) > fewDims;
  return !hasWindow(kernel) || hasChunks(kernel);
}

/// What `pipeline` has, and what it may give up after that.
static SmallVector<Buffers> listBuffers(PipelineAttr pipeline) {
  SmallVector<Buffers> listed = {{pipeline.getQueryStages(), pipeline.getEpilogue(), /*minConsumers=*/1}};
  const Buffers *own = llvm::find_if(fallbacks, [&](const Buffers &buffers) {
    return buffers.queryStages == listed.front().queryStages && buffers.epilogue == listed.front().epilogue;
  });
  if (own != std::end(fallbacks))
    listed.append(std::next(own), std::end(fallbacks));
  return listed;
}

ScheduleAttr RoleFitter::fit(EntryAttr entry, int64_t consumers, int64_t heads) {
  PipelineAttr pipeline = entry.getSchedule().getPipeline();
  TileStep step = selectStep(entry);
  PipelineFields fields(pipeline);
  fields.consumers = consumers;
  fields.stages = step.stages;
  fields.logitStages = step.logitStages;
  fields.blockMask = needsBlockMask(kernel);
  fields.early = startsEarly(kernel, target);
  fields.sectionBytes = getSectionBytes(kernel, target);
  fields.headroom = fields.rescaling == Rescaling::OnOverflow ? findHeadroom(kernel).usual : 0;
  fields.batchInside = !fields.blockMask && mayShareCapturesOverBatch(kernel);
  fields.pingPong = consumers > 1 && takesTurns(pipeline);
  setRegisters(fields, step.columns);
  ScheduleAttr schedule;
  for (int64_t captured : {heads == 1 ? pipeline.getCaptureStages() : 0, int64_t(0)})
    for (const Buffers &buffers : listBuffers(pipeline)) {
      if (consumers < buffers.minConsumers)
        continue;
      fields.captureStages = captured;
      fields.ownKeys = pipeline.getOwnKeys() && consumers > 1 && !fields.blockMask && captured == 0;
      fields.queryStages = buffers.queryStages;
      fields.epilogue = buffers.epilogue;
      schedule = ScheduleAttr::get(target.getContext(), warpgroupRows * consumers, step.columns, warpgroupRows,
                                   fields.get(target.getContext()), heads);
      if (fitsShared(kernel, schedule, target, /*blocks=*/1))
        return schedule;
    }
  return schedule;
}

ScheduleAttr RoleFitter::fitFew(EntryAttr entry, int64_t heads) {
  if (!isSplittable(kernel, tables, heads))
    return fit(entry, /*consumers=*/1, heads);
  TileStep step = selectStep(entry);
  PipelineFields fields;
  fields.staging = Staging::Tma;
  fields.stages = step.stages;
  fields.producerRegisters = splitProducerRegisters;
  fields.consumerRegisters = entry.getSchedule().getPipeline().getConsumerRegisters();
  fields.byRow = fields.dynamic = true;
  fields.early = target.getEarlyStart();
  return splitOverBlocks(ScheduleAttr::get(target.getContext(), warpgroupRows, step.columns, warpgroupRows,
                                           fields.get(target.getContext()), heads),
                         target);
}

SmallVector<ScheduleAttr> attnc::gpu::selectRoles(KernelOpInterface kernel, const ScheduleTables &tables,
                                                  GpuTargetAttr target) {
  RoleFitter fitter(kernel, tables, target);
  SmallVector<ScheduleAttr> schedules;
  KernelKind kind = tables.getKind();
  SmallVector<EntryAttr> entries = tables.find(Program::Forward);
  if (entries.empty())
    return {};
  // Of launches among `within`, each has the first of `from` that is for its sizes.
  auto add = [&](ArrayRef<EntryAttr> from, SizesAttr within, function_ref<ScheduleAttr(EntryAttr)> fit) {
    for (EntryAttr entry : from)
      if (SizesAttr when = entry.getSchedule().getWhen().intersect(within))
        schedules.push_back(fit(entry).forSizes(when));
  };
  auto upTo = [&](int64_t queries) {
    return SizesAttr::get(target.getContext(), SizeRange{Size::Queries, 0, queries});
  };
  int64_t heads = countPackableHeads(kernel, warpgroupRows);
  const bool splits = isSplittable(kernel, tables, heads);
  const int64_t few = heads > 1 ? warpgroupRows / heads : tables.getSplitQueries();
  if (heads > 1 || splits) {
    // Where memory binds, shorter steps do not pay; but parts want them.
    KernelKind ofFew = kind == KernelKind::RegisterBound || splits ? kind : KernelKind::Listed;
    add(tables.find(Program::Forward, ofFew), upTo(few), [&](EntryAttr entry) { return fitter.fitFew(entry, heads); });
  }
  if (heads > 1)
    add(entries, upTo(tables.getPackedQueries()), [&](EntryAttr entry) { return fitter.fit(entry, heads); });
  // What launches have whose captured tensors the copy engine cannot take.
  SmallVector<EntryAttr> unstaged;
  if (kind == KernelKind::Captured)
    unstaged = tables.find(Program::Forward, KernelKind::RegisterBound);
  add(entries, SizesAttr::get(target.getContext()), [&](EntryAttr entry) {
    ScheduleAttr schedule = fitter.fit(entry, /*heads=*/1);
    const EntryAttr *other = llvm::find_if(
        unstaged, [&](EntryAttr one) { return one.getSchedule().getWhen().intersect(entry.getSchedule().getWhen()); });
    if (other == unstaged.end())
      return schedule;
    ScheduleAttr otherwise = fitter.fit(*other, /*heads=*/1);
    return schedule.stagesCaptures() ? schedule.withOtherwise(otherwise) : otherwise;
  });
  return schedules;
}
