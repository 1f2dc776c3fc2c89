//===- GpuSchedule.cpp - Tiles and overlap on a GPU -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "passes/attn/GpuSchedule.h"
#include "dialect/attn/TargetInterface.h"
#include "mlir/IR/DialectRegistry.h"
#include "passes/attn/ElementRegisters.h"
#include "passes/attn/GpuBackwardSchedule.h"
#include "passes/attn/GpuCandidates.h"
#include "passes/attn/GpuKernelTraits.h"
#include "passes/attn/GpuScheduleParts.h"
#include "passes/attn/GpuWarpSchedule.h"
#include "passes/attn/PackableHeads.h"
#include "passes/attn/ScoreRange.h"

using namespace mlir;
using namespace attnc::attn;

namespace {

/// How consumers overlap: whether each visits the keys of its own rows alone, and whether they take turns.
struct ConsumerOverlap {
  bool ownKeys, turns;
};
constexpr ConsumerOverlap shared = {false, true}, own = {true, true}, sharedFree = {false, false};

/// Up to how many queries a row of the table is for: without a mask, with one, and with one and a score that
/// functions bind.
struct Queries {
  int64_t full, masked, functions;
};

constexpr int64_t any = unlimitedQueries;
constexpr Queries few = {256, 1024, 1024}, unlessFull = {1024, any, any}, many = {any, 4096, 1024},
                  some = {any, 2048, 1024}, every = {any, any, any};

/// Kinds of kernels, as bits. A single consumer has the rows of lists.
enum Kind : unsigned {
  Plain = 1,    ///< all keys up to some; elements take next to no registers but for the logits
  Windowed = 2, ///< the same for keys near the query alone: tiles are short
  Listed = 4,   ///< the same for steps that a block mask lists
  Heavy = 8,  ///< elements take registers of their own (passes/attn/ElementRegisters.h), and steps have as many keys as
              ///< leave room
  Paged = 16, ///< as the first two, of keys in pages that are shorter than steps, or of head dims up to 64
  Captured = 32, ///< heavy ones that read captured tiles which the copy engine can bring
};

/// A row of the table of schedules: for head dims up to `dims`, kinds of kernels, and so many queries.
struct Shape {
  int64_t dims;
  unsigned kinds;
  Queries queries;
  int64_t keys, stages, consumers, producerRegisters, consumerRegisters;
  ConsumerOverlap full, masked;
};

/// What was measured best (docs/rationale/hopper-schedule.md). Two consumers round rows up to less, three share what
/// keys and values cost. What elements take in addition to their logits must fit the registers too: three consumers are
/// for those that take little, and rows of heavy kernels say how many keys a step has at most.
constexpr Shape shapes[] = {
    {64, Plain | Windowed, few, 128, 2, 2, 24, 240, shared, shared},
    {64, Plain | Windowed, every, 128, 2, 3, 32, 160, shared, own},
    {64, Captured, unlessFull, 128, 2, 2, 24, 240, shared, shared},
    {64, Captured, every, 96, 2, 3, 32, 160, shared, shared}, // keys and values cost as much as captured tiles
    {64, Paged, few, 128, 2, 2, 24, 240, shared, shared},
    {64, Paged, every, 64, 4, 3, 32, 160, shared, own}, // room for the producer's pages
    {128, Plain, many, 64, 4, 2, 24, 240, sharedFree, own},
    {128, Plain, every, 64, 4, 3, 32, 160, sharedFree, own},
    {128, Windowed, some, 64, 4, 2, 24, 240, sharedFree, own},
    {128, Windowed, every, 64, 3, 3, 32, 160, sharedFree, own}, // room for the next tile's queries
    {128, Listed, every, 128, 2, 2, 24, 240, shared, shared},   // shorter lists; one consumer
    {128, Paged, some, 128, 2, 2, 24, 240, sharedFree, own},    // fewer fillings of rings (docs/rationale/pages.md)
    {128, Paged, every, 64, 4, 3, 32, 160, sharedFree, own},
    {128, Heavy, every, 128, 2, 2, 24, 240, sharedFree, own},
    {128, Captured, every, 128, 2, 2, 24, 240, shared, shared},
    {256, Plain | Windowed | Listed | Heavy | Paged, every, 64, 2, 2, 24, 240, shared, shared},
    {256, Captured, every, 64, 2, 2, 24, 240, shared, shared},
};

/// Keys that steps of heavy kernels may have.
constexpr int64_t heavyKeys[] = {128, 96, 64, 48, 32, 16};

/// Registers of a consumer for the output, the logits, the weights, and what else elements take. The rest of
/// its 240 goes to addresses, row vectors and what is under way; a window has one more loop to take them from, and
/// what reads tiles from shared memory has addresses. Of three, each has 80 less.
constexpr double registersOfTiles = 200, registersOfWindows = 190, registersOfThree = 142;

/// Buffers of queries, and how the output leaves, for so many consumers and more.
struct Room {
  int64_t queryStages;
  Epilogue epilogue;
  int64_t leastConsumers;
};

/// From the most comfortable on. Three consumers wait longer for the next tile's queries than for room for their
/// output.
constexpr Room rooms[] = {{2, Epilogue::Staged, 1},
                          {2, Epilogue::Slabs, 3},
                          {1, Epilogue::Staged, 1},
                          {1, Epilogue::Slabs, 1},
                          {1, Epilogue::Direct, 1}};

/// Up to how many queries tiles hold several heads of a group: beyond, tiles of one head are more than half full, and
/// gain little.
constexpr int64_t packedQueries = 64, packedQueriesCpAsync = 32;

/// Up to how many queries of ungrouped heads keys are split, and registers of a producer that finds the keys of a part:
/// with less than 48 it would spill them.
constexpr int64_t splitQueries = 16, splitProducerRegisters = 56;

/// Octaves of headroom that the schedules of a kernel have, and those that a spec's own may have.
struct Headroom {
  int64_t usual, most;
  StringRef where; ///< what the limit comes from
};

} // namespace

/// Whether the copy engine brings captured tiles of `kernel`, where they find room.
static bool stagesCaptures(KernelOpInterface kernel) {
  return countCapturedTiles(kernel) > 0 && !needsBlockMask(kernel);
}

/// Which rows of the table `kernel` has.
static Kind kindOf(KernelOpInterface kernel) {
  if (getElementRegisters(kernel) > 0)
    return stagesCaptures(kernel) ? Captured : Heavy;
  if (needsBlockMask(kernel))
    return Listed;
  constexpr int64_t wholePages = 64, smallDims = 64;
  if (kernel.isPaged() && (kernel.getPageRows() % wholePages != 0 || getLargestDims(kernel) <= smallDims))
    return Paged;
  return hasWindow(kernel) ? Windowed : Plain;
}

/// Keys and stages of the steps of a row of the table. Rings of short steps have more stages, for about as many bytes.
static KeyStep selectStep(KernelOpInterface kernel, const Shape &shape) {
  double ofElement = getElementRegisters(kernel);
  if (ofElement == 0)
    return {shape.keys, shape.stages};
  auto fits = [&](int64_t keys) {
    // Of 64 rows a thread has the 128th part; weights are half as wide as logits.
    double output = getLargestDims(kernel) / 2.0, logits = keys / 2.0, weights = keys / 4.0;
    bool hasMoreLoops = hasWindow(kernel) || shape.kinds == Captured;
    double most = shape.consumers > 2 ? registersOfThree : hasMoreLoops ? registersOfWindows : registersOfTiles;
    return keys <= shape.keys && output + logits + weights + ofElement * logits <= most;
  };
  const int64_t *keys = llvm::find_if(heavyKeys, fits);
  int64_t chosen = keys == std::end(heavyKeys) ? heavyKeys[std::size(heavyKeys) - 1] : *keys;
  return {chosen, chosen * 2 <= shape.keys && shape.dims <= 128 ? 2 * shape.stages : shape.stages};
}

/// Octaves that the weight of a row's maximum starts below 1 by (docs/rationale/online-softmax.md). f16 has 15 above 1,
/// and loses digits from 14 below it on. bf16 has range to spare, which values need as well; under dropout its weights
/// must not grow far. Sinks may be far above all logits, whose weights then have none to spare, and scores within
/// limits take all of the range themselves, whatever the schedule says.
static Headroom findHeadroom(KernelOpInterface kernel) {
  constexpr int64_t most = 60, mostOfHalf = 8;
  if (!isa<ForwardOp>(kernel.getOperation()) || findNarrowRange(kernel))
    return {0, most, ""};
  if (kernel.getSinks())
    return {0, 0, " with sinks"};
  if (getOperandType(kernel).isF16())
    return {6, mostOfHalf, " for f16"};
  return kernel.getSeed() ? Headroom{0, 0, " for bf16 under dropout"} : Headroom{40, most, ""};
}

/// Registers of a producer, and of each consumer.
struct RoleRegisters {
  int64_t producer, consumer;
};

/// Those of a row of the table. A producer that finds pages takes 24 or 32 of the consumers, or what one leaves free:
/// with the table's it would spill. Three consumers have them to spare in short steps. What NVRTC makes of a producer
/// takes 16 of two consumers, and three have none to spare (docs/rationale/nvrtc.md).
static RoleRegisters selectRegisters(KernelOpInterface kernel, const Shape &shape, GpuTargetAttr target,
                                     int64_t consumers, int64_t keys) {
  constexpr int64_t shortStep = 64;
  const bool isNvrtc = target.getCuda() && consumers < 3;
  const int64_t taken = consumers != 2 || !kernel.isPaged() ? 8 : 16;
  if (!isNvrtc && (!kernel.isPaged() || (consumers > 2 && keys > shortStep)))
    return {shape.producerRegisters, shape.consumerRegisters};
  if (consumers == 1)
    return {splitProducerRegisters, shape.consumerRegisters};
  return {shape.producerRegisters + taken * consumers, shape.consumerRegisters - taken};
}

/// The schedule of a row of the table, for every number of queries, with so many consumers and heads of a tile.
static ScheduleAttr selectTma(KernelOpInterface kernel, const Shape &shape, GpuTargetAttr target, int64_t consumers,
                              int64_t heads) {
  bool masked = !kernel.getMask().empty();
  int64_t section = getSectionBytes(kernel, target);
  const ConsumerOverlap &overlap = masked ? shape.masked : shape.full;
  int64_t rows = warpgroupRows * consumers;
  // Beyond 128, products take so long that functions are worth turns as well (docs/rationale/hopper-variants.md).
  bool functions = isBoundByFunctions(kernel), wideFunctions = functions && masked && shape.dims > 128;
  bool captures = shape.kinds == Captured && heads == 1;
  bool ownKeys = (overlap.ownKeys || wideFunctions) && consumers > 1 && !needsBlockMask(kernel);
  bool turns =
      overlap.turns && consumers > 1 && (wideFunctions || (!functions && (!hasWindow(kernel) || hasChunks(kernel))));
  KeyStep step = selectStep(kernel, shape);
  RoleRegisters registers = selectRegisters(kernel, shape, target, consumers, step.keys);
  ScheduleAttr schedule;
  // The most comfortable that fits.
  for (int64_t captured : {captures ? captureStages : 0, int64_t(0)})
    for (Room room : rooms) {
      if (consumers < room.leastConsumers)
        continue;
      auto pipeline = PipelineAttr::get(
          target.getContext(), consumers, step.stages, room.queryStages, registers.producer, registers.consumer,
          Rescaling::OnOverflow, ownKeys && captured == 0, turns,
          /*by_row=*/true, room.epilogue,
          /*dynamic=*/true, section, needsBlockMask(kernel), startsEarly(kernel, target), Staging::Tma,
          findHeadroom(kernel).usual, /*logit_stages=*/0, Overlap::InStep,
          /*split_floats=*/false, captured, !needsBlockMask(kernel) && mayShareCapturesOverBatch(kernel));
      schedule = ScheduleAttr::get(target.getContext(), rows, step.keys, warpgroupRows, pipeline, heads);
      if (fitsShared(kernel, schedule, target, /*blocks=*/1))
        return schedule;
    }
  return schedule;
}

/// Whether tiles of few queries go over parts of their keys: those of steps that no list has, and without a window,
/// which may leave too few. Ungrouped heads have tiles enough of their own in most problems; where the type does not
/// say that queries are few, a kernel more to compile would cost more than it gives.
static bool isSplittable(KernelOpInterface kernel, int64_t heads) {
  int64_t rows = kernel.getQueryRows();
  return isa<ForwardOp>(kernel.getOperation()) && !needsBlockMask(kernel) && !hasWindow(kernel) &&
         (heads > 1 || (!ShapedType::isDynamic(rows) && rows <= splitQueries));
}

/// The schedule over as many parts as multiprocessors have blocks for: those with roles one each, of others two
/// (docs/rationale/split-rows.md).
static ScheduleAttr split(ScheduleAttr schedule, GpuTargetAttr target) {
  bool hasRoles = schedule.getPipeline().getStaging() == Staging::Tma;
  return schedule.withSplitBlocks((hasRoles ? 1 : 2) * target.getMultiprocessors());
}

/// The schedule of one warpgroup, whose rows are enough for all queries of so many heads. Keys are split where they can
/// be, so that all multiprocessors read.
static ScheduleAttr selectFew(KernelOpInterface kernel, const Shape &shape, GpuTargetAttr target, int64_t heads) {
  if (!isSplittable(kernel, heads))
    return selectTma(kernel, shape, target, /*consumers=*/1, heads);
  KeyStep step = selectStep(kernel, shape);
  auto pipeline =
      PipelineAttr::get(target.getContext(), /*consumers=*/1, step.stages, /*query_stages=*/1, splitProducerRegisters,
                        shape.consumerRegisters, Rescaling::EachStep,
                        /*own_keys=*/false, /*ping_pong=*/false, /*by_row=*/true, Epilogue::Direct,
                        /*dynamic=*/true, /*section_bytes=*/0, /*block_mask=*/false,
                        /*early=*/target.getEarlyStart(), Staging::Tma, /*headroom=*/0, /*logit_stages=*/0,
                        Overlap::InStep, /*split_floats=*/false, /*capture_stages=*/0, /*batch_inside=*/false);
  return split(ScheduleAttr::get(target.getContext(), warpgroupRows, step.keys, warpgroupRows, pipeline, heads),
               target);
}

/// Up to how many queries `shape` is for.
static int64_t mostQueries(KernelOpInterface kernel, const Shape &shape) {
  if (kernel.getMask().empty())
    return shape.queries.full;
  return isBoundByFunctions(kernel) ? shape.queries.functions : shape.queries.masked;
}

/// The schedules of `kernel` on `target`, from its head dims and its mask (docs/rationale/hopper-schedule.md): one, or
/// one each for short and long sequences.
static SmallVector<ScheduleAttr> selectSchedules(KernelOpInterface kernel, GpuTargetAttr target) {
  int64_t heads = countPackableHeads(kernel, warpgroupRows);
  if (!usesWarpgroups(kernel, target)) {
    ScheduleAttr single = selectWarps(kernel, target), few = selectWarpsOfFew(kernel, target, heads);
    if (isSplittable(kernel, heads))
      few = split(few, target);
    else if (heads == 1)
      return {single};
    int64_t most = heads == 1 ? splitQueries : packedQueriesCpAsync;
    return {few.forQueries(0, most), single.forQueries(most + 1, unlimitedQueries)};
  }
  int64_t dims = std::min(getLargestDims(kernel), std::prev(std::end(shapes))->dims);
  auto find = [&](Kind kind) {
    return llvm::find_if(shapes, [&](const Shape &row) { return dims <= row.dims && (row.kinds & kind) != 0; });
  };
  Kind kind = kindOf(kernel);
  const Shape *shape = find(kind);
  SmallVector<ScheduleAttr> schedules;
  int64_t least = 0;
  const int64_t few = heads > 1 ? warpgroupRows / heads : splitQueries;
  if (heads > 1 || isSplittable(kernel, heads)) {
    // Where memory binds, shorter steps do not pay; but parts want them.
    Kind ofFew = kind == Heavy || isSplittable(kernel, heads) ? kind : Listed;
    schedules.push_back(selectFew(kernel, *find(ofFew), target, heads).forQueries(0, few));
    least = few + 1;
  }
  if (heads > 1) {
    schedules.push_back(selectTma(kernel, *shape, target, shape->consumers, heads).forQueries(few + 1, packedQueries));
    least = packedQueries + 1;
  }
  for (;; ++shape) {
    int64_t most = mostQueries(kernel, *shape);
    ScheduleAttr schedule = selectTma(kernel, *shape, target, shape->consumers, /*heads=*/1);
    if (kind == Captured) {
      const Shape &heavy = *find(Heavy);
      ScheduleAttr other = selectTma(kernel, heavy, target, heavy.consumers, /*heads=*/1);
      schedule = schedule.stagesCaptures() ? schedule.withOtherwise(other) : other;
    }
    schedules.push_back(schedule.forQueries(least, most));
    if (most == unlimitedQueries)
      return schedules;
    least = most + 1;
  }
}

/// Checks the registers of roles, and those of the products of warpgroups: an instruction has its part of all columns
/// at once, and what it is started with as well.
static LogicalResult checkRegisters(KernelOpInterface kernel, ScheduleAttr schedule, GpuTargetAttr target) {
  PipelineAttr pipeline = schedule.getPipeline();
  if (failed(checkRegistersOfRoles(kernel, pipeline, target)))
    return failure();
  int64_t threads = (pipeline.getConsumers() + 1) * warpgroupThreads;
  int64_t atStart = getRegistersAtStart(target, pipeline.getConsumers() + 1);
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

/// Checks that a schedule of the spec's own suits `target`; an error names what does not and the sum that shows it.
static LogicalResult checkSchedule(KernelOpInterface kernel, ScheduleAttr schedule, GpuTargetAttr target) {
  PipelineAttr pipeline = schedule.getPipeline();
  if (!pipeline)
    return kernel.emitError() << "expected the schedule to have a pipeline for " << target.getArch();
  bool cpAsync = pipeline.getStaging() == Staging::CpAsync;
  if (!cpAsync && !usesWarpgroups(kernel, target))
    return kernel.emitError() << "expected staging = cp_async on " << target.getArch()
                              << (!target.getWarpgroupMma() || !target.getTensorCopies() ? ""
                                  : getOperandType(kernel).isF32() ? " for f32"
                                                                   : " for pages of no multiple of 8 rows");
  if (!mayHavePanel(pipeline, schedule.getPanel()) ||
      schedule.getQueryTile() != schedule.getPanel() * pipeline.getConsumers())
    return kernel.emitError() << "expected query_tile to be consumers * panel, and panel to be " << warpgroupRows
                              << " rows, or " << wideRows << " with staging = cp_async, got " << schedule.getQueryTile()
                              << ", " << pipeline.getConsumers() << " and " << schedule.getPanel();
  if (int64_t most = countPackableHeads(kernel, warpgroupRows); most % schedule.getHeads() != 0)
    return kernel.emitError() << "expected heads to divide " << most
                              << ", the heads that tiles can hold together here, got " << schedule.getHeads();
  if (schedule.getKeyTile() % 16 != 0 || schedule.getKeyTile() > 256)
    return kernel.emitError() << "expected key_tile to be a multiple of 16 up to 256, got " << schedule.getKeyTile();
  if (pipeline.getQueryStages() == 0 || pipeline.getOverlap() != Overlap::InStep)
    return kernel.emitError("expected query_stages of 1 or more and overlap = in_step but for gradients");
  if (pipeline.getEarly() && !target.getEarlyStart())
    return kernel.emitError() << "expected no early = true: on " << target.getArch()
                              << " a kernel starts when the one before it has ended";
  constexpr int64_t mostThreads = 1024;
  if (int64_t most = mostThreads / warpgroupThreads - (cpAsync ? 0 : 1); pipeline.getConsumers() > most)
    return kernel.emitError() << "expected at most " << most << " consumers, since a block has up to " << mostThreads
                              << " threads, got " << pipeline.getConsumers();
  if (Headroom headroom = findHeadroom(kernel); pipeline.getHeadroom() > headroom.most)
    return kernel.emitError() << "expected headroom up to " << headroom.most << headroom.where << ", got "
                              << pipeline.getHeadroom();
  if (!cpAsync && failed(checkRegisters(kernel, schedule, target)))
    return failure();
  if (pipeline.getSplitFloats() && !multipliesParts(kernel))
    return kernel.emitError("expected split_floats for exact f32 alone");
  if (pipeline.getCaptureStages() > 0) {
    if (countCapturedTiles(kernel) == 0)
      return kernel.emitError("expected capture_stages = 0: the score reads no tile of 16 bits by query and key");
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
};
} // namespace

void attnc::attn::registerGpuSchedules(DialectRegistry &registry) {
  registry.addExtension(
      +[](MLIRContext *context, AttnDialect *) { GpuTargetAttr::attachInterface<GpuTargetModel>(*context); });
}
