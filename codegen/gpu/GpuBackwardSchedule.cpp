//===- GpuBackwardSchedule.cpp - Tiles of gradients on a GPU ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/gpu/GpuBackwardSchedule.h"
#include "codegen/gpu/GpuKernelTraits.h"
#include "codegen/gpu/GpuScheduleParts.h"
#include "codegen/gpu/GradientTiles.h"
#include "dialect/attn/CapturedGradients.h"

using namespace mlir;
using namespace attnc::attn;
using namespace attnc::gpu;

/// Whether warps of `program` may have 32 rows each: it adds up products, all rows of which it keeps.
static bool isOfProducts(Program program) {
  return llvm::is_contained({Program::Dq, Program::Dkdv, Program::Dk, Program::Dv}, program);
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
  auto addOneProgram = [&](ArrayRef<ScheduleAttr> ofAll) {
    add(tiles.selectWarps(Program::Delta));
    add(ofAll);
    add(tiles.selectWarps(Program::ConvertDq));
  };
  if (usesWarpgroups(op, target)) {
    if (tiles.suitsOneProgram(Staging::Tma) && tiles.fitsOneProgram()) {
      addOneProgram(tiles.selectRoles(Program::Dqdkdv));
    } else {
      add(tiles.selectRoles(Program::Dq));
      for (Program program : tiles.findKeyPrograms(Staging::Tma))
        add(tiles.selectRoles(program));
    }
  }
  // Where no table knows of roles, warps serve as well.
  if (schedules.empty() || !hasAll) {
    schedules.clear();
    hasAll = true;
    SmallVector<ScheduleAttr> ofAll;
    if (tiles.suitsOneProgram(Staging::CpAsync))
      ofAll = tiles.selectWarps(Program::Dqdkdv);
    SmallVector<Program> programs;
    if (ofAll.empty()) {
      programs.push_back(Program::Dq);
      llvm::append_range(programs, tiles.findKeyPrograms(Staging::CpAsync));
    } else {
      addOneProgram(ofAll);
    }
    for (Program program : programs) {
      SmallVector<ScheduleAttr> ofProgram = tiles.selectWarps(program);
      for (ScheduleAttr &schedule : ofProgram)
        schedule = tiles.splitFloats(schedule);
      add(ofProgram);
    }
  }
  for (Program program : getOtherPrograms(op)) {
    SmallVector<ScheduleAttr> ofProgram;
    if (program == Program::Dbias && usesWarpgroups(op, target))
      ofProgram = tiles.selectRoles(program);
    add(ofProgram.empty() ? tiles.selectWarps(program) : ofProgram);
  }
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
  if (schedule.getColumns() != oneProgramColumns || consumers > 2 || !mayHavePanel(pipeline, panel) ||
      (!sharesRows && !hasOwnRows))
    return op.emitError() << "expected steps of " << oneProgramColumns
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
           << "expected programs dq and dkdv: dqdkdv is for padded sequences with head dims of " << oneProgramMinDim
           << " or " << oneProgramMaxDim << ", values of at most " << oneProgramMaxDim
           << ", without gradients that rows of queries sum for captured tensors, without a score or f16 "
           << "where data decides about tiles, and for " << deterministicAttrName
           << " with a mask whose first and last queries rise with the keys";
  // Blocks take tiles in the order of their numbers then, whatever order they start in.
  if (isDeterministic(op) && !pipeline.getDynamic())
    return op.emitError() << "expected dynamic = true for program dqdkdv with " << deterministicAttrName;
  bool mayHaveLogitsAhead = pipeline.getReducerRegisters() > 0 && pipeline.getOverlap() == Overlap::LogitsAhead;
  if (pipeline.getQueryStages() == 0 ||
      (!mayHaveLogitsAhead &&
       !llvm::is_contained({Overlap::InStep, Overlap::ScoresAhead, Overlap::QueriesFirst}, pipeline.getOverlap())))
    return op.emitError("expected #attn.roles, query_stages of 1 or more and overlap = in_step, scores_ahead, "
                        "queries_first or, with reducer_registers, logits_ahead for program dqdkdv");
  if (schedule.getColumns() != oneProgramColumns || pipeline.getConsumers() > 2)
    return op.emitError() << "expected steps of " << oneProgramColumns
                          << " queries and one or two consumers for program "
                          << "dqdkdv, got " << schedule.getColumns() << " and " << pipeline.getConsumers();
  return success();
}

/// Checks what a pipeline with roles adds for tiles that heads or batch entries share.
static LogicalResult checkSharedTiles(BackwardOp op, PipelineAttr pipeline) {
  if (pipeline.getOverlap() != Overlap::InStep || pipeline.getLogitStages() != 0)
    return op.emitError("expected overlap = in_step and no logit_stages for program dbias");
  if (pipeline.getSums() > 1 && pipeline.getStages() < 2)
    return op.emitError("expected 2 stages or more with sums: products of a step start before those of the one before "
                        "are awaited");
  if (pipeline.getCaptureStages() > 0 && pipeline.getCaptureStages() < pipeline.getSums())
    return op.emitError() << "expected capture_stages for all sums of program dbias, " << pipeline.getSums() << ", got "
                          << pipeline.getCaptureStages();
  return success();
}

/// Checks what a reducer adds.
static LogicalResult checkReducer(BackwardOp op, ScheduleAttr schedule, GradientTiles &tiles) {
  PipelineAttr pipeline = schedule.getPipeline();
  if (schedule.getProgram() == Program::Dqdkdv)
    return success();
  if (schedule.getProgram() != Program::Dkdv)
    return op.emitError() << "expected reducer_registers only for programs dqdkdv and dkdv, got them for "
                          << stringifyProgram(schedule.getProgram());
  if (pipeline.getConsumers() != 1)
    return op.emitError()
           << "expected one consumer with reducer_registers for program dkdv, whose reducer has the same "
           << "rows, got " << pipeline.getConsumers();
  if (!tiles.maySplitSums())
    return op.emitError(
        "expected no reducer_registers for program dkdv: gradients of keys take more of the logits than "
        "weights in 16 bits");
  if (pipeline.getPingPong())
    return op.emitError("expected no ping_pong with reducer_registers for program dkdv: one consumer has no turns");
  return success();
}

/// Checks what a pipeline with roles adds.
static LogicalResult checkRoles(BackwardOp op, ScheduleAttr schedule, GpuTargetAttr target, GradientTiles &tiles) {
  PipelineAttr pipeline = schedule.getPipeline();
  bool isOfWarps = schedule.getProgram() != Program::Dbias &&
                   (llvm::is_contained(getOtherPrograms(op), schedule.getProgram()) ||
                    llvm::is_contained({Program::Delta, Program::ConvertDq}, schedule.getProgram()));
  if (!usesWarpgroups(op, target) || isOfWarps)
    return op.emitError() << "expected #attn.warps for program " << stringifyProgram(schedule.getProgram()) << " on "
                          << target.getArch();
  if (pipeline.getOverlap() != Overlap::InStep && !op.getBlocks().empty() && !pipeline.getBlockMask())
    return op.emitError("expected overlap = in_step where data decides about steps and no block_mask lists them");
  if (pipeline.getOverlap() == Overlap::QueriesFirst && schedule.getProgram() != Program::Dqdkdv)
    return op.emitError() << "expected overlap = queries_first only for program dqdkdv, got it for "
                          << stringifyProgram(schedule.getProgram());
  if (pipeline.getReducerRegisters() > 0 && failed(checkReducer(op, schedule, tiles)))
    return failure();
  if (pipeline.getSums() > 1 && schedule.getProgram() != Program::Dbias)
    return op.emitError() << "expected sums = 1 for program " << stringifyProgram(schedule.getProgram()) << ", got "
                          << pipeline.getSums();
  if (schedule.getProgram() == Program::Dbias && failed(checkSharedTiles(op, pipeline)))
    return failure();
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
  bool isOneProgramByWarps = !hasRoles && schedule.getProgram() == Program::Dqdkdv;
  if (schedule.getHeads() != 1)
    return op.emitError() << "expected heads = 1 for gradients, got " << schedule.getHeads();
  if (!hasRoles && !isOneProgramByWarps && pipeline.getSectionBytes() != 0)
    return op.emitError() << "expected section_bytes in #attn.warps only for program dqdkdv, got it for "
                          << stringifyProgram(schedule.getProgram());
  if (pipeline.getBlockMask() && (schedule.getProgram() != Program::Dqdkdv || !tiles.mayListSteps()))
    return op.emitError("expected block_mask only for program dqdkdv, where data decides about the steps of padded "
                        "sequences, and heads that share keys have the same");
  if (!isOneProgramByWarps && (!mayHavePanel(pipeline, schedule.getPanel()) ||
                               schedule.getRows() != schedule.getPanel() * pipeline.getConsumers() ||
                               (!hasRoles && pipeline.getConsumers() != 1)))
    return op.emitError() << "expected tiles of consumers * panel rows for gradients, one consumer without roles, and "
                          << "panels of " << warpgroupRows << ", or " << wideRows << " with #attn.warps, got "
                          << schedule.getRows() << ", " << pipeline.getConsumers() << " and " << schedule.getPanel();
  if (!isOneProgramByWarps && schedule.getPanel() != warpgroupRows && !isOfProducts(schedule.getProgram()))
    return op.emitError() << "expected panels of " << warpgroupRows << " rows for program "
                          << stringifyProgram(schedule.getProgram()) << ", got " << schedule.getPanel();
  if (schedule.getColumns() % 16 != 0 || schedule.getColumns() > 128)
    return op.emitError() << "expected steps of a multiple of 16 columns up to 128 for gradients, got "
                          << schedule.getColumns();
  if (hasRoles && failed(checkRoles(op, schedule, target, tiles)))
    return failure();
  if (schedule.getProgram() == Program::Dqdkdv && failed(checkOneProgram(op, schedule, tiles)))
    return failure();
  if (schedule.stagesCaptures() && (countCapturedTiles(op) == 0 || pipeline.getBlockMask()))
    return op.emitError(
        "expected capture_stages without block_mask, and where scores read tiles of 16 bits by query and key");
  if (schedule.stagesCaptures() && failed(checkBackwardSchedule(op, schedule.getWithoutBoxes(), target)))
    return failure();
  if (!hasRoles && pipeline.getRowsInRegisters() && !isOneProgramByWarps)
    return op.emitError() << "expected rows_in_registers only for program dqdkdv, got it for "
                          << stringifyProgram(schedule.getProgram());
  if (pipeline.getWeightsAhead())
    return op.emitError("expected no weights_ahead for gradients");
  if (pipeline.getSplitFloats() && !(multipliesParts(op) && isOfProducts(schedule.getProgram())))
    return op.emitError("expected split_floats for exact f32 alone, in programs dq, dkdv, dk and dv");
  int64_t bytes = tiles.countSharedBytes(schedule) + barrierBytes;
  if (bytes > target.getSharedBytes())
    return op.emitError() << "the schedule needs " << bytes << " bytes of shared memory, but " << target.getArch()
                          << " has " << target.getSharedBytes();
  return success();
}
