//===- GpuBackwardSchedule.cpp - Tiles of gradients on a GPU ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "passes/attn/GpuBackwardSchedule.h"
#include "dialect/attn/CapturedGradients.h"
#include "passes/attn/ElementRegisters.h"
#include "passes/attn/GpuKernelTraits.h"
#include "passes/attn/GpuScheduleParts.h"

using namespace mlir;
using namespace attnc::attn;

namespace {

/// Warpgroups that compute, where another loads, and the registers of a thread of either.
constexpr int64_t consumers = 2, producerRegisters = 24, consumerRegisters = 240;

/// Columns of a step of roles, from the most comfortable on. A left operand in shared memory is read once for each
/// product, however few its columns are, which binds below 64.
constexpr int64_t longSteps[] = {128, 96, 64}, shortSteps[] = {48, 32, 16};

/// Columns of a step without roles, from the most comfortable on, and as many as a thread's registers have room for in
/// addition to sums of 64 columns or more.
constexpr int64_t columnsOfWarps[] = {64, 32, 16}, mostColumnsOfWarps = 32;

/// Columns of a step that adds up numbers of columns.
constexpr int64_t columnsOfSums = 128;

/// Columns of a step whose warps have 32 rows each, from the most comfortable on. Of f32 the parts of operands take
/// registers as well.
constexpr int64_t columnsOfWide[] = {64, 32}, columnsOfWideFloats[] = {32, 16}, mostDimsOfWideFloats = 64;

/// Registers of a consumer, or of a thread of a warp with 32 rows, for sums, logits, their gradients, weights, and what
/// elements take. The rest of its 240 goes to addresses and to what is under way.
constexpr double registersOfTiles = 224;

/// The same of a thread of a warp with 32 rows in f32: parts of operands, and weights that are not narrowed, come on
/// top.
constexpr double registersOfWideFloats = 170;

/// The most divisions of a thread in a step. Each is exact, and has a way of its own for numbers that are far from 1:
/// the assembler took six seconds for 192 of them, and more than four minutes for 768.
constexpr int64_t mostDivisions = 256;

/// The most columns of sums that a program of both gradients of keys and values has registers for.
constexpr int64_t mostColumnsOfSums = 256;

/// The largest head dim at which elements, not products, take most of a step of keys' gradients: sums then come late,
/// and consumers take turns. At others, products keep the tensor cores busy as it is (docs/rationale/backward.md).
constexpr int64_t mostDimsOfLateSums = 64;

/// Head dims of which one program computes all three gradients: with larger ones shared memory binds it, and of others
/// the warpgroups' columns are no whole panels. Columns of a step, since with more registers spill.
constexpr int64_t leastDimOfAll = 64, mostDimOfAll = 128, columnsOfAll = 64;

/// Columns of a step, and buffers of the rings of columns: of those that accumulating products read, and of others.
struct Step {
  int64_t columns, stages, logitStages;
  Overlap overlap = Overlap::InStep;
  bool turns = false;
  int64_t captureStages = 0; ///< buffers of captured tiles
};

/// Buffers of both kinds, from the most comfortable on: for long steps, and for others.
struct Stages {
  int64_t all, ofLogits;
};
constexpr Stages roomsOfLong[] = {{2, 2}, {2, 1}}, roomsOfShort[] = {{2, 2}, {2, 1}, {1, 1}};
constexpr Step lateSums = {64, 3, 3, Overlap::SumsLate, true};

/// Tiles and sums of the programs of one backward.
class GradientTiles {
public:
  GradientTiles(BackwardOp op, GpuTargetAttr target) : op(op), target(target) {}

  /// The schedule of `program` by roles, or by warps.
  ScheduleAttr selectRoles(Program program);
  ScheduleAttr selectWarps(Program program, int64_t columns);
  /// The schedule of `program` by warps with 32 rows each, two blocks a multiprocessor; null where that does not fit.
  ScheduleAttr selectWide(Program program);
  /// The schedule with parts of f32 in shared memory where these find room, in steps of fewer columns if need be.
  ScheduleAttr splitFloats(ScheduleAttr schedule);
  /// As many columns as fit for warps, or 0.
  int64_t findColumnsOfWarps();
  /// The gradients of keys and values, in one program or in one each.
  SmallVector<Program> findKeyPrograms();
  /// Whether one program, by roles, may compute the gradients of queries, keys and values.
  bool suitsOneProgram();
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
  bool fitRegisters(Program program, const Step &step, int64_t panel = warpgroupRows);
  ScheduleAttr getRoles(Program program, const Step &step);
  /// Whether a block mask lists the steps of `program` by roles.
  bool listsSteps(Program program) { return program == Program::Dqdkdv && mayListSteps(); }
  /// Whether a step by roles fits registers and shared memory.
  bool fitsRoles(Program program, const Step &step);
  /// Buffers of captured tiles that the copy engine brings, if there is room for them.
  int64_t mostCaptureStages(Program program);

  BackwardOp op;
  GpuTargetAttr target;
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
  if (schedule.getProgram() == Program::Dqdkdv)
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

/// Whether registers hold what a step takes: sums, logits and their gradients, logits once more where derivatives are
/// taken there and not as a slope that weights are multiplied by, weights, twice where products read those of the step
/// before, and of steps of queries a statistic of each column, of which a thread has a quarter. Gradients of queries
/// that come first take what consumers share of them, and both statistics are read ahead of them.
bool GradientTiles::fitRegisters(Program program, const Step &step, int64_t panel) {
  if (countDivisions(op) * step.columns * panel / warpgroupThreads > mostDivisions)
    return false;
  auto count = static_cast<double>(step.columns);
  double sums = countSumColumns(program) / 2.0, logits = program == Program::Dv ? count / 2 : count;
  double weights = step.overlap == Overlap::SumsLate ? count / 2 : count / 4;
  double statistics = tilesKeys(program) ? count / 4 : 0;
  if (step.overlap == Overlap::QueriesFirst)
    statistics += (count + static_cast<double>(keyDim())) / 4;
  if (program != Program::Dv && !op.getDerivative().empty() && !hasSlope(op))
    logits += count / 2;
  // Random numbers are there for weights, and then for their gradients, where weights cannot say by their signs which
  // are dropped.
  if (KernelOpInterface(op).hasDropout() && !op.getDerivative().empty())
    logits += count / 4;
  double ofRows = sums + logits + weights + getElementRegisters(op, step.captureStages > 0) * count / 2;
  bool isWide = panel > warpgroupRows, floats = getOperandType(op).isF32();
  return static_cast<double>(panel) / warpgroupRows * ofRows + statistics <=
         (isWide && floats ? registersOfWideFloats : registersOfTiles);
}

static ScheduleAttr getSchedule(Program program, int64_t rows, int64_t columns, PipelineAttr pipeline,
                                int64_t panel = warpgroupRows) {
  bool ofKeys = tilesKeys(program);
  return ScheduleAttr::get(pipeline.getContext(), ofKeys ? columns : rows, ofKeys ? rows : columns, panel, pipeline,
                           /*heads=*/1, program);
}

ScheduleAttr GradientTiles::getRoles(Program program, const Step &step) {
  bool lists = listsSteps(program);
  auto pipeline = PipelineAttr::get(
      op.getContext(), consumers, step.stages, /*query_stages=*/1, producerRegisters, consumerRegisters,
      Rescaling::EachStep, /*own_keys=*/false, step.turns, /*by_row=*/false, Epilogue::Direct, /*dynamic=*/true,
      getSectionBytes(op, target), lists, /*early=*/false, Staging::Tma, /*headroom=*/0, step.logitStages, step.overlap,
      /*split_floats=*/false, step.captureStages, !lists && mayShareCapturesOverBatch(op));
  return getSchedule(program, consumers * warpgroupRows, step.columns, pipeline);
}

bool GradientTiles::fitsRoles(Program program, const Step &step) {
  return fitRegisters(program, step) &&
         countSharedBytes(getRoles(program, step)) + barrierBytes <= target.getSharedBytes();
}

ScheduleAttr GradientTiles::selectRoles(Program program) {
  ScheduleAttr schedule;
  for (int64_t captured = mostCaptureStages(program); captured >= 0; --captured) {
    auto fits = [&](Step step) {
      step.captureStages = captured;
      schedule = getRoles(program, step);
      return fitsRoles(program, step);
    };
    auto find = [&](ArrayRef<Stages> rooms, ArrayRef<int64_t> steps) {
      for (Stages stages : rooms)
        for (int64_t columns : steps)
          if (fits({columns, stages.all, stages.ofLogits}))
            return true;
      return false;
    };
    bool isLate =
        program == Program::Dkdv && op.getBlocks().empty() && std::max(keyDim(), valueDim()) <= mostDimsOfLateSums;
    bool isAhead = op.getBlocks().empty() || mayListSteps();
    Overlap overlap = isAhead ? Overlap::ScoresAhead : Overlap::InStep;
    bool found = program == Program::Dqdkdv
                     ? (isAhead && fits({columnsOfAll, /*stages=*/3, /*logitStages=*/3, Overlap::QueriesFirst})) ||
                           fits({columnsOfAll, /*stages=*/3, /*logitStages=*/3, overlap}) ||
                           fits({columnsOfAll, /*stages=*/2, /*logitStages=*/2, overlap})
                     : (isLate && fits(lateSums)) || find(roomsOfLong, longSteps) ||
                           (captured == 0 && find(roomsOfShort, shortSteps));
    // The shortest step with one buffer each fits any head dim, if not the registers of any score.
    if (found || captured == 0)
      return schedule;
  }
  llvm_unreachable("without captured tiles there is a schedule");
}

static PipelineAttr getPipelineOfWarps(MLIRContext *context) {
  return PipelineAttr::get(context, /*consumers=*/1, /*stages=*/1, /*query_stages=*/1,
                           /*producer_registers=*/0, /*consumer_registers=*/0, Rescaling::EachStep,
                           /*own_keys=*/false, /*ping_pong=*/false, /*by_row=*/false, Epilogue::Direct,
                           /*dynamic=*/false, /*section_bytes=*/0, /*block_mask=*/false, /*early=*/false,
                           Staging::CpAsync, /*headroom=*/0, /*logit_stages=*/0, Overlap::InStep,
                           /*split_floats=*/false, /*capture_stages=*/0, /*batch_inside=*/false);
}

ScheduleAttr GradientTiles::selectWarps(Program program, int64_t columns) {
  return getSchedule(program, warpgroupRows, columns, getPipelineOfWarps(op.getContext()));
}

ScheduleAttr GradientTiles::selectWide(Program program) {
  constexpr int64_t panel = wideRows, blocks = 2;
  bool floats = getOperandType(op).isF32();
  if (floats && std::max(keyDim(), valueDim()) > mostDimsOfWideFloats)
    return {};
  for (int64_t columns : floats ? ArrayRef<int64_t>(columnsOfWideFloats) : ArrayRef<int64_t>(columnsOfWide)) {
    ScheduleAttr schedule = getSchedule(program, panel, columns, getPipelineOfWarps(op.getContext()), panel);
    if (fitRegisters(program, {columns, /*stages=*/1, /*logitStages=*/1}, panel) &&
        blocks * (countSharedBytes(schedule) + barrierBytes) <= target.getSharedBytes())
      return schedule;
  }
  return {};
}

ScheduleAttr GradientTiles::splitFloats(ScheduleAttr schedule) {
  if (!multipliesParts(op))
    return schedule;
  PipelineAttr pipeline = schedule.getPipeline().withSplitFloats();
  int64_t bytes = countSharedBytes(schedule);
  // Where sums take the most registers that they may, longer steps would spill.
  int64_t most = countSumColumns(schedule.getProgram()) < mostColumnsOfSums ? schedule.getColumns() : 16;
  for (int64_t columns : columnsOfWarps) {
    if (columns > std::min(most, schedule.getColumns()))
      continue;
    ScheduleAttr split = getSchedule(schedule.getProgram(), schedule.getRows(), columns, pipeline, schedule.getPanel());
    if (sharesAsBefore(target, bytes, countSharedBytes(split)))
      return split;
  }
  return schedule;
}

int64_t GradientTiles::findColumnsOfWarps() {
  auto fits = [&](int64_t columns) {
    return (std::max(keyDim(), valueDim()) < 64 || columns <= mostColumnsOfWarps) &&
           countSharedBytes(selectWarps(Program::Dkdv, columns)) + barrierBytes <= target.getSharedBytes();
  };
  const int64_t *columns = llvm::find_if(columnsOfWarps, fits);
  return columns == std::end(columnsOfWarps) ? 0 : *columns;
}

bool GradientTiles::mayListSteps() {
  KernelOpInterface kernel = op;
  bool haveSame = kernel.getQueryHeads() == kernel.getKeyHeads() || !readsCoordinate(kernel, Coordinate::Head);
  return haveSame && !kernel.isPacked() && needsBlockMask(kernel, Coordinate::Query);
}

bool GradientTiles::suitsOneProgram() {
  // What rows of queries add up for captured tensors is the business of a program whose tiles are of queries.
  bool hasRowSums =
      !getCapturedGradients(op, {CapturedForm::Tiles, CapturedForm::QuerySums, CapturedForm::Sums}).empty();
  // Keys that do not exist are masked, and where each step is looked at, data may say that nothing is. Their scores may
  // be no numbers then, or their gradients beyond f16; else they are finite, and times keys of 0.
  bool isNarrow = getOperandType(op).isF16();
  bool leavesOutMasks = !op.getBlocks().empty() && !mayListSteps() && (isNarrow || !op.getScore().empty());
  return !KernelOpInterface(op).isPacked() && !hasRowSums && !leavesOutMasks && !isDeterministic(op) &&
         (keyDim() == leastDimOfAll || keyDim() == mostDimOfAll) && valueDim() <= mostDimOfAll;
}

bool GradientTiles::fitsOneProgram() {
  // Where each step is looked at, the sums pass through branches, which takes registers of its own.
  bool isTight = !op.getBlocks().empty() && !mayListSteps() && keyDim() == mostDimOfAll;
  Step least = {columnsOfAll, /*stages=*/2, /*logitStages=*/2};
  if (isTight || fitRegisters(Program::Dqdkdv, least))
    return !isTight;
  least.captureStages = 1;
  return mostCaptureStages(Program::Dqdkdv) > 0 && fitsRoles(Program::Dqdkdv, least);
}

int64_t GradientTiles::mostCaptureStages(Program program) {
  return listsSteps(program) || countCapturedTiles(op) == 0 ? 0 : captureStages;
}

SmallVector<Program> GradientTiles::findKeyPrograms() {
  if (keyDim() + valueDim() <= mostColumnsOfSums)
    return {Program::Dkdv};
  return {Program::Dk, Program::Dv};
}

SmallVector<ScheduleAttr> attnc::attn::selectBackwardSchedules(BackwardOp op, GpuTargetAttr target) {
  GradientTiles tiles(op, target);
  SmallVector<ScheduleAttr> schedules;
  int64_t columns = tiles.findColumnsOfWarps();
  if (usesWarpgroups(op, target)) {
    if (tiles.suitsOneProgram() && tiles.fitsOneProgram()) {
      schedules = {tiles.selectWarps(Program::Delta, mostColumnsOfWarps), tiles.selectRoles(Program::Dqdkdv),
                   tiles.selectWarps(Program::ConvertDq, mostColumnsOfWarps)};
    } else {
      schedules.push_back(tiles.selectRoles(Program::Dq));
      for (Program program : tiles.findKeyPrograms())
        schedules.push_back(tiles.selectRoles(program));
    }
  } else if (columns == 0) {
    return {};
  } else {
    SmallVector<Program> programs = {Program::Dq};
    llvm::append_range(programs, tiles.findKeyPrograms());
    for (Program program : programs) {
      ScheduleAttr wide = tiles.selectWide(program);
      schedules.push_back(tiles.splitFloats(wide ? wide : tiles.selectWarps(program, columns)));
    }
  }
  for (Program program : getOtherPrograms(op)) {
    // Sinks and sums are few, and take no products: a step takes as long as its loads are under way.
    bool hasProducts = llvm::is_contained({Program::Dbias, Program::Dbuckets, Program::Dscattered}, program);
    int64_t some = hasProducts ? columns : columnsOfSums;
    if (some == 0)
      return {};
    schedules.push_back(tiles.selectWarps(program, some));
  }
  return schedules;
}

/// Checks what the program of all three gradients adds.
static LogicalResult checkOneProgram(BackwardOp op, ScheduleAttr schedule, GradientTiles &tiles) {
  PipelineAttr pipeline = schedule.getPipeline();
  if (!tiles.suitsOneProgram())
    return op.emitError()
           << "expected programs dq and dkdv: dqdkdv is for padded sequences with head dims of " << leastDimOfAll
           << " or " << mostDimOfAll << ", values of at most " << mostDimOfAll
           << ", without gradients that rows of queries sum for captured tensors, without a score or f16 "
           << "where data decides about tiles, and not for " << deterministicAttrName;
  if (pipeline.getStaging() != Staging::Tma || pipeline.getQueryStages() == 0 ||
      !llvm::is_contained({Overlap::InStep, Overlap::ScoresAhead, Overlap::QueriesFirst}, pipeline.getOverlap()))
    return op.emitError("expected staging = tma, query_stages of 1 or more and overlap = in_step, scores_ahead or "
                        "queries_first for program dqdkdv");
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
    return op.emitError() << "expected staging = cp_async for program " << stringifyProgram(schedule.getProgram())
                          << " on " << target.getArch();
  if (pipeline.getOverlap() != Overlap::InStep && !op.getBlocks().empty() && !pipeline.getBlockMask())
    return op.emitError("expected overlap = in_step where data decides about steps and no block_mask lists them");
  if (pipeline.getOverlap() == Overlap::QueriesFirst && schedule.getProgram() != Program::Dqdkdv)
    return op.emitError() << "expected overlap = queries_first for program dqdkdv alone, got it for "
                          << stringifyProgram(schedule.getProgram());
  if (pipeline.getOwnKeys() || pipeline.getRescaling() != Rescaling::EachStep || pipeline.getEarly())
    return op.emitError("expected rescaling = each_step, and neither own_keys nor early for gradients");
  return checkRegistersOfRoles(op, pipeline, target);
}

LogicalResult attnc::attn::checkBackwardSchedule(BackwardOp op, ScheduleAttr schedule, GpuTargetAttr target) {
  GradientTiles tiles(op, target);
  PipelineAttr pipeline = schedule.getPipeline();
  if (!pipeline)
    return op.emitError("expected a pipeline for gradients on a GPU");
  bool hasRoles = pipeline.getStaging() == Staging::Tma;
  if (schedule.getHeads() != 1 || (!hasRoles && pipeline.getSectionBytes() != 0))
    return op.emitError("expected one head a tile and, without roles, no section_bytes for gradients");
  if (pipeline.getBlockMask() && (schedule.getProgram() != Program::Dqdkdv || !tiles.mayListSteps()))
    return op.emitError("expected block_mask for program dqdkdv alone, where data decides about the steps of padded "
                        "sequences, and heads that share keys have the same");
  if (!mayHavePanel(pipeline, schedule.getPanel()) ||
      schedule.getRows() != schedule.getPanel() * pipeline.getConsumers() ||
      (!hasRoles && pipeline.getConsumers() != 1))
    return op.emitError() << "expected tiles of consumers * panel rows for gradients, one consumer without roles, and "
                          << "panels of " << warpgroupRows << ", or " << wideRows << " with staging = cp_async, got "
                          << schedule.getRows() << ", " << pipeline.getConsumers() << " and " << schedule.getPanel();
  if (schedule.getPanel() != warpgroupRows && !isOfProducts(schedule.getProgram()))
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
  if (pipeline.getSplitFloats() && !(multipliesParts(op) && isOfProducts(schedule.getProgram())))
    return op.emitError("expected split_floats for exact f32 alone, in programs dq, dkdv, dk and dv");
  int64_t bytes = tiles.countSharedBytes(schedule) + barrierBytes;
  if (bytes > target.getSharedBytes())
    return op.emitError() << "the schedule needs " << bytes << " bytes of shared memory, but " << target.getArch()
                          << " has " << target.getSharedBytes();
  return success();
}
