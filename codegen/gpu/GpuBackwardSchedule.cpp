//===- GpuBackwardSchedule.cpp - Tiles of gradients on a GPU ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/gpu/GpuBackwardSchedule.h"
#include "codegen/gpu/GpuKernelTraits.h"
#include "codegen/gpu/GpuScheduleParts.h"
#include "codegen/gpu/ScheduleTables.h"
#include "dialect/attn/CapturedGradients.h"
#include "dialect/attn/LaunchSizes.h"
#include "dialect/attn/PipelineFields.h"
#include "passes/attn/ElementRegisters.h"
#include "passes/attn/QuerySums.h"

using namespace mlir;
using namespace attnc::attn;
using namespace attnc::gpu;

namespace {

/// Lengths of steps with parts of f32 in shared memory, in order of preference, and the longest where sums take
/// the most registers that they may: more would spill.
constexpr int64_t columnsOfParts[] = {64, 32, 16}, mostColumnsBesideSums = 16;

/// The most divisions of a thread in a step. Each is exact, and has a way of its own for numbers that are far from 1:
/// the assembler took six seconds for 192 of them, and more than four minutes for 768.
constexpr int64_t mostDivisions = 256;

/// The most columns of sums that a program of both gradients of keys and values has registers for.
constexpr int64_t mostColumnsOfSums = 256;

/// Head dims of which one program computes all three gradients: with larger ones shared memory binds it, and of others
/// the warpgroups' columns are no whole panels. Columns of a step: consumers share them.
constexpr int64_t minDimOfAll = 64, maxDimOfAll = 128, columnsOfAll = 64;

/// The largest of which one program by warps does, of powers of two: warps have a power of two of a panel's pieces.
constexpr int64_t maxDimOfAllByWarps = 256;

/// Tiles that warps share: a buffer is written while others still read the one before, or weights and gradients.
constexpr int64_t sharedTilesOfWarps = 2;

/// Tiles and sums of the programs of one backward.
class GradientTiles {
public:
  GradientTiles(BackwardOp op, GpuTargetAttr target)
      : op(op), target(target), byRoles(op, target, Staging::Tma), byWarps(op, target, Staging::CpAsync) {}

  /// The schedules of `program` by roles; none where no table has entries for it.
  SmallVector<ScheduleAttr> selectRoles(Program program);
  /// The schedules of `program` by warps; none where there is no room for any.
  SmallVector<ScheduleAttr> selectWarps(Program program);
  /// The schedule with parts of f32 in shared memory where these find room, in steps of fewer columns if need be.
  ScheduleAttr splitFloats(ScheduleAttr schedule);
  /// The gradients of keys and values, in one program or in one each.
  SmallVector<Program> findKeyPrograms();
  /// Whether one program may compute the gradients of queries, keys and values: by roles, or by warps.
  bool suitsOneProgram(Staging staging);
  /// Whether a block mask may list its steps, where data decides about them: the heads of a group have the same.
  bool mayListSteps();
  /// Whether registers hold what a step of that takes. It has no shorter steps, as others have.
  bool fitsOneProgram();
  /// Bytes of shared memory that tiles take by `schedule`.
  int64_t countSharedBytes(ScheduleAttr schedule);

private:
  int64_t keyDim() { return getDims(op.getQuery()); }
  int64_t valueDim() { return getDims(op.getValue()); }
  int64_t countSumColumns(Program program);
  /// Whether registers hold what a step of `entry` takes for `program`.
  bool fitsRegisters(EntryAttr entry, Program program, TileStep step, int64_t captureStages);
  /// The schedule of `entry` by roles, with so many buffers of captured tiles.
  ScheduleAttr getRoles(EntryAttr entry, Program program, TileStep step, int64_t captureStages);
  /// Whether a block mask lists the steps of `program` by roles.
  bool listsSteps(Program program) { return program == Program::Dqdkdv && mayListSteps(); }
  /// The same as `schedule`, by roles, with another for launches whose captured tensors threads load, where `entries`
  /// have one that holds those in registers.
  ScheduleAttr addOtherwise(ScheduleAttr schedule, ArrayRef<EntryAttr> entries, Program program);
  /// Whether a step by roles fits registers and shared memory.
  bool fitsRoles(EntryAttr entry, Program program, TileStep step, int64_t captureStages);
  /// Whether a step by warps does.
  bool fitsWarps(EntryAttr entry, Program program, TileStep step);
  /// Whether products of `program` may overlap with other steps.
  bool mayOverlap(Program program) { return op.getBlocks().empty() || listsSteps(program); }
  /// Whether steps of `program` may overlap as `entry` says.
  bool mayOverlapAs(EntryAttr entry, Program program) {
    return entry.getSchedule().getPipeline().getOverlap() == Overlap::InStep || mayOverlap(program);
  }

  BackwardOp op;
  GpuTargetAttr target;
  ScheduleTables byRoles, byWarps;
};

} // namespace

/// Whether warps of `program` may have 32 rows each: it adds up products, all rows of which it keeps.
static bool isOfProducts(Program program) {
  return llvm::is_contained({Program::Dq, Program::Dkdv, Program::Dk, Program::Dv}, program);
}

/// Columns of the sums that a row of a tile has.
int64_t GradientTiles::countSumColumns(Program program) {
  int64_t ofKeys = program == Program::Dv ? 0 : keyDim();
  bool hasValues = llvm::is_contained({Program::Dkdv, Program::Dv, Program::Dqdkdv}, program);
  return ofKeys + (hasValues ? valueDim() : 0);
}

int64_t GradientTiles::countSharedBytes(ScheduleAttr schedule) {
  int64_t key = getSharedRowBytes(op, keyDim()), value = getSharedRowBytes(op, valueDim());
  PipelineAttr pipeline = schedule.getPipeline();
  int64_t all = pipeline.getStages(), ofLogits = pipeline.countLogitStages();
  int64_t rows = pipeline.getQueryStages() * (schedule.getProgram() == Program::Dv ? key : key + value);
  // Of a row of a column operand, in all stages.
  auto columns = [&]() -> int64_t {
    switch (schedule.getProgram()) {
    case Program::Dq:
    case Program::Dk:
      return all * key + ofLogits * value;
    case Program::Dv:
      return ofLogits * key + all * value;
    default:
      return all * (key + value);
    }
  };
  // Gradients of logits that consumers share, and what a step adds to those of queries.
  int64_t shared = 0;
  if (schedule.getProgram() == Program::Dqdkdv && pipeline.getStaging() == Staging::CpAsync)
    shared = sharedTilesOfWarps * schedule.getRows() * getSharedRowBytes(op, schedule.getColumns());
  else if (schedule.getProgram() == Program::Dqdkdv)
    shared = std::min<int64_t>(all, 2) * schedule.getRows() * getSharedRowBytes(op, schedule.getColumns()) +
             schedule.getColumns() * keyDim() * static_cast<int64_t>(sizeof(float));
  int64_t parts =
      pipeline.getSplitFloats() ? getSharedRowBytesOfParts(keyDim()) + getSharedRowBytesOfParts(valueDim()) : 0;
  // Of each column its LSE and delta, in whole pieces of 128 bytes.
  int64_t statistics =
      tilesKeys(schedule.getProgram()) ? all * 2 * llvm::alignTo(schedule.getColumns() * sizeof(float), 128) : 0;
  // As they lie in memory: of keys by queries, rows and columns change places.
  int64_t captured = pipeline.getCaptureStages() * countCapturedTiles(op) *
                     std::max(schedule.getRows() * getSharedRowBytes(op, schedule.getColumns()),
                              schedule.getColumns() * getSharedRowBytes(op, schedule.getRows()));
  return rows * schedule.getRows() + (columns() + parts) * schedule.getColumns() + shared + statistics + captured;
}

/// Sums, logits and their gradients, logits once more where derivatives are taken there and not as a slope that weights
/// are multiplied by, weights, twice where products read those of the step before, and of steps of queries a statistic
/// of each column, of which a thread has a quarter. Gradients of queries that come first take what consumers share of
/// them, and both statistics are read ahead of them. Warpgroups that have the same rows have some of the columns each.
bool GradientTiles::fitsRegisters(EntryAttr entry, Program program, TileStep step, int64_t captureStages) {
  ScheduleAttr schedule = entry.getSchedule();
  PipelineAttr pipeline = schedule.getPipeline();
  const int64_t rows = schedule.getRows(), consumers = pipeline.getConsumers();
  if (countDivisions(op) * step.columns * rows / (warpgroupThreads * consumers) > mostDivisions)
    return false;
  RegisterCostsAttr costs = (pipeline.getStaging() == Staging::Tma ? byRoles : byWarps).getCosts();
  auto count = static_cast<double>(step.columns);
  double sums = static_cast<double>(countSumColumns(program)) / 2, logits = program == Program::Dv ? count / 2 : count;
  double weights = pipeline.getOverlap() == Overlap::SumsLate ? count / 2 : count / 4;
  auto parts = static_cast<double>(consumers * schedule.getPanel()) / static_cast<double>(rows);
  double statistics = tilesKeys(program) ? count / 4 / parts : 0;
  if (pipeline.getOverlap() == Overlap::QueriesFirst)
    statistics += (count + static_cast<double>(keyDim())) / 4;
  if (program != Program::Dv && !op.getDerivative().empty() && !hasSlope(op))
    logits += count / 2;
  // Random numbers are there for weights, and then for their gradients, where weights cannot say by their signs which
  // are dropped.
  if (KernelOpInterface(op).hasDropout() && !op.getDerivative().empty())
    logits += count / 4;
  // Keys and values, of 16 bits, as left operands.
  double operands = pipeline.getRowsInRegisters() ? static_cast<double>(keyDim() + valueDim()) / 4 : 0;
  double ofRows = sums + operands + logits + weights + getElementRegisters(op, costs, captureStages > 0) * count / 2;
  auto share = static_cast<double>(rows) / static_cast<double>(warpgroupRows * consumers);
  return share * ofRows + statistics <= static_cast<double>(entry.getRegisters());
}

ScheduleAttr GradientTiles::getRoles(EntryAttr entry, Program program, TileStep step, int64_t captureStages) {
  ScheduleAttr schedule = entry.getSchedule(program, step);
  PipelineFields fields(schedule.getPipeline());
  fields.sectionBytes = getSectionBytes(op, target);
  fields.blockMask = listsSteps(program);
  fields.captureStages = captureStages;
  fields.batchInside = !fields.blockMask && mayShareCapturesOverBatch(op);
  return schedule.withPipeline(fields.get(op.getContext()));
}

bool GradientTiles::fitsRoles(EntryAttr entry, Program program, TileStep step, int64_t captureStages) {
  return fitsRegisters(entry, program, step, captureStages) &&
         countSharedBytes(getRoles(entry, program, step, captureStages)) + barrierBytes <= target.getSharedBytes();
}

ScheduleAttr GradientTiles::addOtherwise(ScheduleAttr schedule, ArrayRef<EntryAttr> entries, Program program) {
  if (!schedule.stagesCaptures())
    return schedule;
  for (EntryAttr entry : entries) {
    if (!mayOverlapAs(entry, program))
      continue;
    for (TileStep step : entry.listSteps())
      if (fitsRoles(entry, program, step, /*captureStages=*/0)) {
        ScheduleAttr other = getRoles(entry, program, step, /*captureStages=*/0).forSizes(schedule.getWhen());
        return other == schedule.getWithoutBoxes() ? schedule : schedule.withOtherwise(other);
      }
  }
  return schedule;
}

SmallVector<ScheduleAttr> GradientTiles::selectRoles(Program program) {
  SmallVector<ScheduleAttr> schedules;
  ScheduleAttr last;
  OpenSizes open(op.getContext());
  SmallVector<EntryAttr> entries = byRoles.find(program);
  int64_t mostCaptured = 0;
  if (!listsSteps(program) && countCapturedTiles(op) > 0)
    for (EntryAttr entry : entries)
      mostCaptured = std::max(mostCaptured, entry.getSchedule().getPipeline().getCaptureStages());
  for (int64_t captured = mostCaptured; captured >= 0; --captured)
    for (EntryAttr entry : entries) {
      if (entry.getSchedule().getPipeline().getCaptureStages() < captured || !mayOverlapAs(entry, program))
        continue;
      for (TileStep step : entry.listSteps()) {
        ScheduleAttr schedule = getRoles(entry, program, step, captured);
        if (fitsRoles(entry, program, step, captured)) {
          if (open.take(schedule.getWhen()))
            schedules.push_back(addOtherwise(schedule, entries, program));
          break;
        }
        last = schedule;
      }
      if (open.empty())
        return schedules;
    }
  // The shortest step with one buffer each fits any head dim, if not the registers of any score.
  if (last)
    schedules.push_back(last.forAllSizes());
  return schedules;
}

/// What all programs take of shared memory is that of the one that takes the most. Where warps have 16 rows each,
/// several blocks share a multiprocessor if they can, and registers hold the steps of the table.
bool GradientTiles::fitsWarps(EntryAttr entry, Program program, TileStep step) {
  bool isAlone = entry.getSchedule().getPanel() > warpgroupRows || program == Program::Dqdkdv;
  if (entry.getRegisters() != unlimited && !fitsRegisters(entry, program, step, /*captureStages=*/0))
    return false;
  ScheduleAttr counted = entry.getSchedule(isAlone ? program : Program::Dkdv, step);
  return entry.getBlocks() * (countSharedBytes(counted) + barrierBytes) <= target.getSharedBytes();
}

SmallVector<ScheduleAttr> GradientTiles::selectWarps(Program program) {
  SmallVector<ScheduleAttr> schedules;
  OpenSizes open(op.getContext());
  for (EntryAttr entry : byWarps.find(program)) {
    SmallVector<TileStep> steps = entry.listSteps();
    // Where there is nothing to choose from, loads bind, not room.
    const TileStep *fitting = llvm::find_if(
        steps, [&](TileStep step) { return entry.getSteps().empty() || fitsWarps(entry, program, step); });
    if (fitting != steps.end() && open.take(entry.getSchedule().getWhen()))
      schedules.push_back(entry.getSchedule(program, *fitting));
    if (open.empty())
      break;
  }
  return schedules;
}

ScheduleAttr GradientTiles::splitFloats(ScheduleAttr schedule) {
  if (!multipliesParts(op))
    return schedule;
  PipelineAttr pipeline = schedule.getPipeline().withSplitFloats();
  int64_t bytes = countSharedBytes(schedule);
  bool isFull = countSumColumns(schedule.getProgram()) >= mostColumnsOfSums;
  int64_t most = isFull ? std::min(schedule.getColumns(), mostColumnsBesideSums) : schedule.getColumns();
  for (int64_t columns : columnsOfParts) {
    if (columns > most)
      continue;
    bool ofKeys = schedule.tilesKeys();
    auto split =
        ScheduleAttr::get(op.getContext(), ofKeys ? columns : schedule.getRows(), ofKeys ? schedule.getRows() : columns,
                          schedule.getPanel(), pipeline, /*heads=*/1, schedule.getProgram())
            .forSizes(schedule.getWhen());
    if (sharesAsBefore(target, bytes, countSharedBytes(split)))
      return split;
  }
  return schedule;
}

bool GradientTiles::mayListSteps() {
  KernelOpInterface kernel = op;
  bool haveSame = kernel.getQueryHeads() == kernel.getKeyHeads() || !readsCoordinate(kernel, Coordinate::Head);
  return haveSame && !kernel.isPacked() && needsBlockMask(kernel, Coordinate::Query);
}

bool GradientTiles::suitsOneProgram(Staging staging) {
  if (staging == Staging::Tma)
    return mayAddUpQueries(op, mayListSteps()) && (keyDim() == minDimOfAll || keyDim() == maxDimOfAll) &&
           valueDim() <= maxDimOfAll;
  auto isDealt = [](int64_t dim) {
    return llvm::isPowerOf2_64(dim) && dim >= minDimOfAll && dim <= maxDimOfAllByWarps;
  };
  bool hasNarrowTiles = cast<RankedTensorType>(op.getQuery().getType()).getElementTypeBitWidth() == 16;
  // Sums of a key's row would be those of some columns.
  bool hasKeySums = !getCapturedGradients(op, {CapturedForm::KeySums}).empty();
  return mayAddUpQueries(op, /*listsSteps=*/false) && hasNarrowTiles && isDealt(keyDim()) && isDealt(valueDim()) &&
         !hasKeySums;
}

bool GradientTiles::fitsOneProgram() {
  constexpr Program program = Program::Dqdkdv;
  SmallVector<EntryAttr> entries = byRoles.find(program);
  if (entries.empty())
    return false;
  // Where each step is looked at, the sums pass through branches, which takes registers of its own.
  if (!mayOverlap(program) && keyDim() == maxDimOfAll)
    return false;
  EntryAttr least = entries.back();
  TileStep step = least.listSteps().back();
  if (fitsRegisters(least, program, step, /*captureStages=*/0))
    return true;
  bool mayStage =
      !listsSteps(program) && countCapturedTiles(op) > 0 && least.getSchedule().getPipeline().getCaptureStages() > 0;
  return mayStage && fitsRoles(least, program, step, /*captureStages=*/1);
}

SmallVector<Program> GradientTiles::findKeyPrograms() {
  if (keyDim() + valueDim() <= mostColumnsOfSums)
    return {Program::Dkdv};
  return {Program::Dk, Program::Dv};
}

/// The same as `schedule` of a kernel that starts while the one before it ends.
static ScheduleAttr startEarly(ScheduleAttr schedule) {
  ScheduleAttr early = schedule.withPipeline(schedule.getPipeline().withEarlyStart());
  auto other = cast_or_null<ScheduleAttr>(schedule.getOtherwise());
  return other ? early.withOtherwise(startEarly(other)) : early;
}

SmallVector<ScheduleAttr> attnc::gpu::selectBackwardSchedules(BackwardOp op, GpuTargetAttr target) {
  GradientTiles tiles(op, target);
  SmallVector<ScheduleAttr> schedules;
  bool hasAll = true; // whether each program so far has schedules
  auto add = [&](ArrayRef<ScheduleAttr> ofProgram) {
    hasAll &= !ofProgram.empty();
    llvm::append_range(schedules, ofProgram);
  };
  if (usesWarpgroups(op, target)) {
    if (tiles.suitsOneProgram(Staging::Tma) && tiles.fitsOneProgram()) {
      add(tiles.selectWarps(Program::Delta));
      add(tiles.selectRoles(Program::Dqdkdv));
      add(tiles.selectWarps(Program::ConvertDq));
    } else {
      add(tiles.selectRoles(Program::Dq));
      for (Program program : tiles.findKeyPrograms())
        add(tiles.selectRoles(program));
    }
  }
  // Where no table knows of roles, warps serve as well.
  if (schedules.empty() || !hasAll) {
    schedules.clear();
    hasAll = true;
    SmallVector<ScheduleAttr> ofAll;
    if (tiles.suitsOneProgram(Staging::CpAsync))
      for (ScheduleAttr schedule : tiles.selectWarps(Program::Dqdkdv)) {
        PipelineFields fields(schedule.getPipeline());
        fields.sectionBytes = getSectionBytes(op, target);
        ofAll.push_back(schedule.withPipeline(fields.get(op.getContext())));
      }
    SmallVector<Program> programs;
    if (ofAll.empty()) {
      programs.push_back(Program::Dq);
      llvm::append_range(programs, tiles.findKeyPrograms());
    } else {
      add(tiles.selectWarps(Program::Delta));
      add(ofAll);
      add(tiles.selectWarps(Program::ConvertDq));
    }
    for (Program program : programs) {
      SmallVector<ScheduleAttr> ofProgram = tiles.selectWarps(program);
      for (ScheduleAttr &schedule : ofProgram)
        schedule = tiles.splitFloats(schedule);
      add(ofProgram);
    }
  }
  for (Program program : getOtherPrograms(op))
    add(tiles.selectWarps(program));
  // All but the first read what those before them leave, and start while these end.
  for (ScheduleAttr &schedule : schedules)
    if (target.getEarlyStart() && !llvm::is_contained({Program::Delta, Program::Dq}, schedule.getProgram()))
      schedule = startEarly(schedule);
  return hasAll ? schedules : SmallVector<ScheduleAttr>();
}

/// Checks what the program of all three gradients adds, where warps compute it.
static LogicalResult checkOneProgramByWarps(BackwardOp op, ScheduleAttr schedule, GradientTiles &tiles) {
  PipelineAttr pipeline = schedule.getPipeline();
  if (!tiles.suitsOneProgram(Staging::CpAsync))
    return op.emitError()
           << "expected programs dq and dkdv: dqdkdv by #attn.warps is for padded sequences of 16 bits with "
           << "head dims of 64, 128 and 256, without gradients that rows sum for captured tensors, without "
           << "a score or f16 where data decides about tiles, and not for " << deterministicAttrName;
  const int64_t panel = schedule.getPanel(), consumers = pipeline.getConsumers(), rows = schedule.getRows();
  bool sharesRows = consumers > 1 && (rows == panel || 2 * rows == panel),
       hasOwnRows = panel == warpgroupRows && rows == panel * consumers;
  if (schedule.getColumns() != columnsOfAll || consumers > 2 || !mayHavePanel(pipeline, panel) ||
      (!sharesRows && !hasOwnRows))
    return op.emitError() << "expected steps of " << columnsOfAll
                          << " queries for program dqdkdv by #attn.warps, one or "
                          << "two consumers, and tiles of a panel of " << warpgroupRows
                          << " rows for each of them, or of "
                          << "one panel for both, or half of one, got " << schedule.getColumns() << ", " << consumers
                          << ", " << rows << " rows and panels of " << panel;
  if (sharesRows && pipeline.getRowsInRegisters())
    return op.emitError("expected rows_in_registers where each warpgroup has rows of its own");
  return success();
}

/// Checks what the program of all three gradients adds.
static LogicalResult checkOneProgram(BackwardOp op, ScheduleAttr schedule, GradientTiles &tiles) {
  PipelineAttr pipeline = schedule.getPipeline();
  if (pipeline.getStaging() == Staging::CpAsync)
    return checkOneProgramByWarps(op, schedule, tiles);
  if (!tiles.suitsOneProgram(Staging::Tma))
    return op.emitError()
           << "expected programs dq and dkdv: dqdkdv is for padded sequences with head dims of " << minDimOfAll
           << " or " << maxDimOfAll << ", values of at most " << maxDimOfAll
           << ", without gradients that rows of queries sum for captured tensors, without a score or f16 "
           << "where data decides about tiles, and not for " << deterministicAttrName;
  bool mayHaveLogitsAhead = pipeline.getReducerRegisters() > 0 && pipeline.getOverlap() == Overlap::LogitsAhead;
  if (pipeline.getQueryStages() == 0 ||
      (!mayHaveLogitsAhead &&
       !llvm::is_contained({Overlap::InStep, Overlap::ScoresAhead, Overlap::QueriesFirst}, pipeline.getOverlap())))
    return op.emitError("expected #attn.roles, query_stages of 1 or more and overlap = in_step, scores_ahead, "
                        "queries_first or, with reducer_registers, logits_ahead for program dqdkdv");
  if (schedule.getColumns() != columnsOfAll || pipeline.getConsumers() > 2)
    return op.emitError() << "expected steps of " << columnsOfAll << " queries and one or two consumers for program "
                          << "dqdkdv, got " << schedule.getColumns() << " and " << pipeline.getConsumers();
  return success();
}

/// Checks what a pipeline with roles adds.
static LogicalResult checkRoles(BackwardOp op, ScheduleAttr schedule, GpuTargetAttr target) {
  PipelineAttr pipeline = schedule.getPipeline();
  bool isOfWarps = llvm::is_contained(getOtherPrograms(op), schedule.getProgram()) ||
                   llvm::is_contained({Program::Delta, Program::ConvertDq}, schedule.getProgram());
  if (!usesWarpgroups(op, target) || isOfWarps)
    return op.emitError() << "expected #attn.warps for program " << stringifyProgram(schedule.getProgram()) << " on "
                          << target.getArch();
  if (pipeline.getOverlap() != Overlap::InStep && !op.getBlocks().empty() && !pipeline.getBlockMask())
    return op.emitError("expected overlap = in_step where data decides about steps and no block_mask lists them");
  if (pipeline.getOverlap() == Overlap::QueriesFirst && schedule.getProgram() != Program::Dqdkdv)
    return op.emitError() << "expected overlap = queries_first for program dqdkdv alone, got it for "
                          << stringifyProgram(schedule.getProgram());
  if (pipeline.getReducerRegisters() > 0 && schedule.getProgram() != Program::Dqdkdv)
    return op.emitError() << "expected reducer_registers for program dqdkdv alone, got them for "
                          << stringifyProgram(schedule.getProgram());
  if (pipeline.getOwnKeys() || pipeline.getRescaling() != Rescaling::EachStep)
    return op.emitError("expected rescaling = each_step, and no own_keys for gradients");
  return checkRegistersOfRoles(op, pipeline, target);
}

LogicalResult attnc::gpu::checkBackwardSchedule(BackwardOp op, ScheduleAttr schedule, GpuTargetAttr target) {
  GradientTiles tiles(op, target);
  PipelineAttr pipeline = schedule.getPipeline();
  if (!pipeline)
    return op.emitError("expected a pipeline for gradients on a GPU");
  bool hasRoles = pipeline.getStaging() == Staging::Tma;
  bool isOfWarpsAndAll = !hasRoles && schedule.getProgram() == Program::Dqdkdv;
  if (schedule.getHeads() != 1 || (!hasRoles && !isOfWarpsAndAll && pipeline.getSectionBytes() != 0))
    return op.emitError("expected one head a tile and, without roles, section_bytes for dqdkdv alone of gradients");
  if (pipeline.getBlockMask() && (schedule.getProgram() != Program::Dqdkdv || !tiles.mayListSteps()))
    return op.emitError("expected block_mask for program dqdkdv alone, where data decides about the steps of padded "
                        "sequences, and heads that share keys have the same");
  if (!isOfWarpsAndAll && (!mayHavePanel(pipeline, schedule.getPanel()) ||
                           schedule.getRows() != schedule.getPanel() * pipeline.getConsumers() ||
                           (!hasRoles && pipeline.getConsumers() != 1)))
    return op.emitError() << "expected tiles of consumers * panel rows for gradients, one consumer without roles, and "
                          << "panels of " << warpgroupRows << ", or " << wideRows << " with #attn.warps, got "
                          << schedule.getRows() << ", " << pipeline.getConsumers() << " and " << schedule.getPanel();
  if (!isOfWarpsAndAll && schedule.getPanel() != warpgroupRows && !isOfProducts(schedule.getProgram()))
    return op.emitError() << "expected panels of " << warpgroupRows << " rows for program "
                          << stringifyProgram(schedule.getProgram()) << ", got " << schedule.getPanel();
  if (schedule.getColumns() % 16 != 0 || schedule.getColumns() > 128)
    return op.emitError() << "expected steps of a multiple of 16 columns up to 128 for gradients, got "
                          << schedule.getColumns();
  if (hasRoles && failed(checkRoles(op, schedule, target)))
    return failure();
  if (schedule.getProgram() == Program::Dqdkdv && failed(checkOneProgram(op, schedule, tiles)))
    return failure();
  if (schedule.stagesCaptures() && (countCapturedTiles(op) == 0 || pipeline.getBlockMask()))
    return op.emitError(
        "expected capture_stages without block_mask, and where scores read tiles of 16 bits by query and key");
  if (schedule.stagesCaptures() && failed(checkBackwardSchedule(op, schedule.getWithoutBoxes(), target)))
    return failure();
  if (!hasRoles && pipeline.getRowsInRegisters() && !isOfWarpsAndAll)
    return op.emitError() << "expected rows_in_registers for program dqdkdv alone, got it for "
                          << stringifyProgram(schedule.getProgram());
  if (pipeline.getSplitFloats() && !(multipliesParts(op) && isOfProducts(schedule.getProgram())))
    return op.emitError("expected split_floats for exact f32 alone, in programs dq, dkdv, dk and dv");
  int64_t bytes = tiles.countSharedBytes(schedule) + barrierBytes;
  if (bytes > target.getSharedBytes())
    return op.emitError() << "the schedule needs " << bytes << " bytes of shared memory, but " << target.getArch()
                          << " has " << target.getSharedBytes();
  return success();
}
