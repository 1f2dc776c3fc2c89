//===- GradientTiles.cpp - What tiles of gradients take of a GPU *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/gpu/GradientTiles.h"
#include "codegen/gpu/GpuKernelTraits.h"
#include "codegen/gpu/GpuScheduleParts.h"
#include "dialect/attn/CapturedGradients.h"
#include "dialect/attn/LaunchSizes.h"
#include "dialect/attn/PipelineFields.h"
#include "passes/attn/ElementRegisters.h"
#include "passes/attn/QuerySums.h"
#include "passes/attn/ScoreRange.h"

using namespace mlir;
using namespace attnc::attn;
using namespace attnc::gpu;

/// Lengths of steps with parts of f32 in shared memory, in order of preference, and the longest where sums take
/// the most registers that they may: more would spill.
static constexpr int64_t columnsOfParts[] = {64, 32, 16}, mostColumnsBesideSums = 16;

/// The most divisions of a thread in a step. Each is exact, and has a way of its own for numbers that are far from 1:
/// the assembler took six seconds for 192 of them, and more than four minutes for 768.
static constexpr int64_t mostDivisions = 256;

/// The most columns of sums that a program of both gradients of keys and values has registers for.
static constexpr int64_t mostColumnsOfSums = 256;

/// Tiles that warps share: a buffer is written while others still read the one before, or weights and gradients.
static constexpr int64_t sharedTilesOfWarps = 2;

int64_t GradientTiles::keyDim() { return getDims(op.getQuery()); }

int64_t GradientTiles::valueDim() { return getDims(op.getValue()); }

/// Whether tiles of `program` have sums of gradients of values.
static bool sumsValues(Program program) {
  return llvm::is_contained({Program::Dkdv, Program::Dv, Program::Dqdkdv}, program);
}

/// Columns of the sums that a row of a tile has.
int64_t GradientTiles::countSumColumns(Program program) {
  int64_t ofKeys = program == Program::Dv ? 0 : keyDim();
  return ofKeys + (sumsValues(program) ? valueDim() : 0);
}

int64_t GradientTiles::countStoredRowBytes(ScheduleAttr schedule) {
  Epilogue epilogue = schedule.getPipeline().getEpilogue();
  if (epilogue == Epilogue::Direct)
    return 0;
  auto of = [&](int64_t dim) {
    return getSharedRowBytes(op, epilogue == Epilogue::Slabs ? std::min<int64_t>(64, dim) : dim);
  };
  const Program program = schedule.getProgram();
  int64_t ofKeys = llvm::is_contained({Program::Dv, Program::Dbias}, program) ? 0 : of(keyDim());
  return ofKeys + (sumsValues(program) ? of(valueDim()) : 0);
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
  // Gradients of logits that consumers share, and what a step adds to those of queries; or weights that they share.
  int64_t shared = 0;
  const int64_t sharedTile = schedule.getRows() * getSharedRowBytes(op, schedule.getColumns());
  bool sumsQueries = schedule.getProgram() == Program::Dqdkdv;
  if (sumsQueries && pipeline.getStaging() == Staging::CpAsync) {
    shared = sharedTilesOfWarps * sharedTile;
  } else if (sumsQueries || pipeline.getReducerRegisters() > 0) {
    int64_t ofQueries = sumsQueries ? schedule.getColumns() * keyDim() * static_cast<int64_t>(sizeof(float)) : 0;
    shared = std::min<int64_t>(all, 2) * sharedTile + ofQueries;
  }
  int64_t parts =
      pipeline.getSplitFloats() ? getSharedRowBytesOfParts(keyDim()) + getSharedRowBytesOfParts(valueDim()) : 0;
  // Of each column its LSE and delta, in whole pieces of 128 bytes.
  int64_t statistics =
      tilesKeys(schedule.getProgram()) ? all * 2 * llvm::alignTo(schedule.getColumns() * sizeof(float), 128) : 0;
  // As they lie in memory: of keys by queries, rows and columns change places.
  int64_t captured = pipeline.getCaptureStages() * countCapturedTiles(op) *
                     std::max(schedule.getRows() * getSharedRowBytes(op, schedule.getColumns()),
                              schedule.getColumns() * getSharedRowBytes(op, schedule.getRows()));
  return rows * schedule.getRows() + (columns() + parts) * schedule.getColumns() + shared + statistics + captured +
         schedule.getRows() * countStoredRowBytes(schedule);
}

/// Whether the derivative of the score reads the logit, as that of a sum does not.
static bool readsLogits(BackwardOp op) { return !op.getDerivative().getArgument(1).use_empty(); }

/// Sums, logits and their gradients, logits once more where derivatives are taken there and not as a slope that weights
/// are multiplied by, weights, twice where products read those of the step before, and of steps of queries a statistic
/// of each column, of which a thread has a quarter. Gradients of queries that come first take what consumers share of
/// them, and both statistics are read ahead of them. Warpgroups that have the same rows have some of the columns each.
bool GradientTiles::fitsRegisters(EntryAttr entry, Program program, TileStep step, int64_t captureStages) {
  ScheduleAttr schedule = entry.getSchedule();
  PipelineAttr pipeline = schedule.getPipeline();
  const int64_t rows = schedule.getRows(), consumers = pipeline.getConsumers();
  bool splitsSums = program == Program::Dkdv && pipeline.getReducerRegisters() > 0;
  if (splitsSums && !maySplitSums())
    return false;
  if (countDivisions(op) * step.columns * rows / (warpgroupThreads * consumers) > mostDivisions)
    return false;
  RegisterCostsAttr costs = (pipeline.getStaging() == Staging::Tma ? byRoles : byWarps).getCosts();
  auto count = static_cast<double>(step.columns);
  double sums =
      static_cast<double>(program == Program::Dbias ? step.columns * pipeline.getSums() : countSumColumns(program)) / 2;
  // A tile that is shared has the next step's logits too, and its gradients are no operands of products.
  double logits = program == Program::Dv ? count / 2 : program == Program::Dbias ? 1.5 * count : count;
  if (splitsSums) {
    // Consumers have those of values and the logits, the reducer those of keys and the gradients of weights.
    sums = static_cast<double>(std::max(keyDim(), valueDim())) / 2;
    logits = count * 3 / 4;
  }
  double weights = program == Program::Dbias ? 0 : pipeline.getOverlap() == Overlap::SumsLate ? count / 2 : count / 4;
  auto parts = static_cast<double>(consumers * schedule.getPanel()) / static_cast<double>(rows);
  double statistics = tilesKeys(program) ? count / 4 / parts : 0;
  if (pipeline.getOverlap() == Overlap::QueriesFirst)
    statistics += (count + static_cast<double>(keyDim())) / 4;
  if (program != Program::Dv && !op.getDerivative().empty() && !hasSlope(op) && readsLogits(op))
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
  fields.captureStages = captureStages;
  // Tiles that heads or batch entries share come in one order.
  if (program != Program::Dbias) {
    // Tiles of one head that add in an order keep apart where tiles of other heads start in between.
    bool keepsOrder = program == Program::Dqdkdv && isDeterministic(op);
    fields.sectionBytes = keepsOrder ? getL2BytesOfSection(target) : getSectionBytes(op, target);
    fields.blockMask = listsSteps(program);
    fields.batchInside = !fields.blockMask && mayShareCapturesOverBatch(op);
  }
  return schedule.withPipeline(fields.get(op.getContext()));
}

ScheduleAttr GradientTiles::getWarps(EntryAttr entry, Program program, TileStep step) {
  ScheduleAttr schedule = entry.getSchedule(program, step);
  if (program != Program::Dqdkdv)
    return schedule;
  PipelineFields fields(schedule.getPipeline());
  fields.sectionBytes = getSectionBytes(op, target);
  return schedule.withPipeline(fields.get(op.getContext()));
}

bool GradientTiles::fitsRoles(EntryAttr entry, Program program, TileStep step, int64_t captureStages) {
  // What a tile holds sums of is brought for all of them.
  if (program == Program::Dbias && captureStages > 0 && captureStages < entry.getSchedule().getPipeline().getSums())
    return false;
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
      schedules.push_back(getWarps(entry, program, *fitting));
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
    return mayAddUpQueries(op, mayListSteps(), /*keepsOrder=*/true) &&
           (keyDim() == oneProgramMinDim || keyDim() == oneProgramMaxDim) && valueDim() <= oneProgramMaxDim;
  auto isDealt = [](int64_t dim) {
    return llvm::isPowerOf2_64(dim) && dim >= oneProgramMinDim && dim <= oneProgramMaxDimByWarps;
  };
  bool hasNarrowTiles = cast<RankedTensorType>(op.getQuery().getType()).getElementTypeBitWidth() == 16;
  // Sums of a key's row would be those of some columns.
  bool hasKeySums = !getCapturedGradients(op, {CapturedForm::KeySums}).empty();
  return mayAddUpQueries(op, /*listsSteps=*/false, /*keepsOrder=*/false) && hasNarrowTiles && isDealt(keyDim()) &&
         isDealt(valueDim()) && !hasKeySums;
}

bool GradientTiles::fitsOneProgram() {
  constexpr Program program = Program::Dqdkdv;
  SmallVector<EntryAttr> entries = byRoles.find(program);
  if (entries.empty())
    return false;
  // Where each step is looked at, the sums pass through branches, which takes registers of its own.
  if (!mayOverlap(program) && keyDim() == oneProgramMaxDim)
    return false;
  EntryAttr least = entries.back();
  TileStep step = least.listSteps().back();
  if (fitsRegisters(least, program, step, /*captureStages=*/0))
    return true;
  bool mayStage =
      !listsSteps(program) && countCapturedTiles(op) > 0 && least.getSchedule().getPipeline().getCaptureStages() > 0;
  return mayStage && fitsRoles(least, program, step, /*captureStages=*/1);
}

bool GradientTiles::maySplitSums() {
  if (!getCapturedGradients(op, {CapturedForm::KeySums}).empty())
    return false;
  Region &derivative = op.getDerivative();
  if (derivative.empty())
    return true;
  // Weights say by their signs what dropout keeps, unless a slope has signs of its own.
  if (KernelOpInterface(op).hasDropout())
    return false;
  // Nothing of the score is there either: its gradient is that of the logit.
  if (!hasSlope(op))
    return derivative.front().getTerminator()->getOperand(0) == derivative.getArgument(0);
  // They are handed over in 16 bits, of which f16 holds up to twice the largest weight.
  if (!cast<RankedTensorType>(op.getQuery().getType()).getElementType().isF16())
    return true;
  ScoreRange slopes = findSlopeRange(derivative);
  constexpr double most = 1.5;
  return slopes.low >= -most && slopes.high <= most;
}

SmallVector<Program> GradientTiles::findKeyPrograms(Staging staging) {
  if (keyDim() + valueDim() <= mostColumnsOfSums)
    return {Program::Dkdv};
  if (staging == Staging::Tma)
    for (EntryAttr entry : byRoles.find(Program::Dkdv))
      if (entry.getSchedule().getPipeline().getReducerRegisters() > 0 && mayOverlapAs(entry, Program::Dkdv) &&
          llvm::any_of(entry.listSteps(),
                       [&](TileStep step) { return fitsRoles(entry, Program::Dkdv, step, /*captureStages=*/0); }))
        return {Program::Dkdv};
  return {Program::Dk, Program::Dv};
}
