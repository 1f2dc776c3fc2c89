//===- AttnToTile.cpp - Tile programs of kernels ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/attn-to-tile/BackwardPrograms.h"
#include "passes/attn-to-tile/ForwardWriter.h"
#include "passes/attn-to-tile/Passes.h"

namespace attnc::attn {
#define GEN_PASS_DEF_ATTNTOTILE
#include "passes/attn-to-tile/Passes.h.inc"
} // namespace attnc::attn

using namespace mlir;
using namespace attnc;
using namespace attnc::attn;

/// Programs in the order in which they run: they read what those before them leave. Schedules may stand in any.
static void sortByProgram(SmallVectorImpl<ScheduleAttr> &schedules) {
  static constexpr Program order[] = {Program::Forward,        Program::Combine,    Program::Delta, Program::Dq,
                                      Program::Dqdkdv,         Program::Dkdv,       Program::Dk,    Program::Dv,
                                      Program::Dsinks,         Program::ConvertDq,  Program::Dbias, Program::Dbuckets,
                                      Program::ClearScattered, Program::Dscattered, Program::Dsums};
  auto placeOf = [](ScheduleAttr schedule) { return llvm::find(order, schedule.getProgram()); };
  llvm::stable_sort(schedules, [&](ScheduleAttr a, ScheduleAttr b) { return placeOf(a) < placeOf(b); });
}

/// The program that runs before that of `kernel`, where its schedule wants one.
static void writeBlockMask(ModuleOp module, const KernelFunction &function, KernelOpInterface kernel,
                           ScheduleAttr schedule, StringRef name) {
  if (!hasBlockMask(kernel, schedule))
    return;
  TileBuilder b(module, function, kernel, schedule, name, ProgramKind::BlockMask);
  b.buildGeometry();
  b.buildBlockMask();
  b.finish();
}

/// The programs of captured tensors that `schedule` is of, one for each.
static void writeCapturedGradients(ModuleOp module, const KernelFunction &function, BackwardOp op,
                                   ScheduleAttr schedule, StringRef name, StringRef from) {
  SmallVector<CapturedForm> forms;
  switch (schedule.getProgram()) {
  case Program::Dbias:
    forms = {CapturedForm::SharedTiles};
    break;
  case Program::Dbuckets:
    forms = {CapturedForm::Buckets};
    break;
  case Program::ClearScattered:
    forms = {CapturedForm::Scattered};
    break;
  default:
    forms = {CapturedForm::QuerySums, CapturedForm::KeySums, CapturedForm::Sums, CapturedForm::Buckets,
             CapturedForm::Scattered};
  }
  for (const CapturedGradient &captured : getCapturedGradients(op, forms)) {
    std::string program =
        (name + "_" + stringifyProgram(schedule.getProgram()) + "_" + Twine(captured.number) + from).str();
    TileBuilder b(module, function, op, schedule, program, ProgramKind::Kernel, captured);
    writeCapturedGradient(b, op, captured);
  }
}

/// The programs of a backward that `schedule` is of; `from` ends their names.
static void writeGradient(ModuleOp module, const KernelFunction &function, BackwardOp op, ScheduleAttr schedule,
                          StringRef name, StringRef from) {
  if (llvm::is_contained({Program::Dbias, Program::Dbuckets, Program::ClearScattered, Program::Dsums},
                         schedule.getProgram()))
    return writeCapturedGradients(module, function, op, schedule, name, from);
  std::string program = (name + "_" + stringifyProgram(schedule.getProgram())).str();
  writeBlockMask(module, function, op, schedule, program + "_block_mask" + from.str());
  if (schedule.stagesCaptures()) {
    writeGradient(module, function, op, schedule.getWithoutBoxes(), name, (from + "_without_boxes").str());
    module.lookupSymbol<tile::ProgramOp>(program + from.str() + "_without_boxes").setWithoutBoxes(true);
  }
  TileBuilder b(module, function, op, schedule, program + from.str());
  switch (schedule.getProgram()) {
  case Program::Dq:
    return writeQueryGradient(b, op);
  case Program::Dkdv:
    return writeKeyGradients(b, op, /*ofKeys=*/true, /*ofValues=*/true);
  case Program::Dk:
    return writeKeyGradients(b, op, /*ofKeys=*/true, /*ofValues=*/false);
  case Program::Dv:
    return writeKeyGradients(b, op, /*ofKeys=*/false, /*ofValues=*/true);
  case Program::Delta:
    return writeStatistics(b, op);
  case Program::Dqdkdv:
    return writeKeyGradients(b, op, /*ofKeys=*/true, /*ofValues=*/true, /*ofQueries=*/true);
  case Program::ConvertDq:
    return writeConvertedSums(b, op);
  case Program::Dsinks:
    return writeSinkGradients(b, op);
  case Program::Dscattered:
    return writeScattered(b, op);
  case Program::Forward:
  case Program::Combine:
  case Program::Dbias:
  case Program::Dbuckets:
  case Program::ClearScattered:
  case Program::Dsums:
    llvm_unreachable("programs of forward and of captured tensors are written elsewhere");
  }
}

/// What names of programs end with.
static std::string endOfName(ScheduleAttr schedule) {
  return schedule.isUniversal() ? "" : "_from_" + std::to_string(schedule.getLeastQueries());
}

/// Those of `schedules` for launches whose captured tensors the copy engine cannot take. Neighbours that are alike are
/// one.
static SmallVector<ScheduleAttr> getWithoutBoxes(ArrayRef<ScheduleAttr> schedules) {
  SmallVector<ScheduleAttr> others;
  for (ScheduleAttr schedule : schedules) {
    if (!schedule.stagesCaptures())
      continue;
    ScheduleAttr other = schedule.getWithoutBoxes();
    if (!others.empty() && others.back().getMostQueries() + 1 == other.getLeastQueries() &&
        others.back().forQueries(0, unlimitedQueries) == other.forQueries(0, unlimitedQueries))
      others.back() = other.forQueries(others.back().getLeastQueries(), other.getMostQueries());
    else
      others.push_back(other);
  }
  return others;
}

namespace {
struct ToTile : attnc::attn::impl::AttnToTileBase<ToTile> {
  void runOnOperation() override {
    for (auto spec : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
      FailureOr<KernelFunction> function = KernelFunction::get(spec);
      if (failed(function))
        return signalPassFailure();
      for (auto [number, kernel] : llvm::enumerate(function->kernels)) {
        // A kernel whose results nobody wants is none.
        if (kernel->use_empty())
          continue;
        SmallVector<ScheduleAttr> schedules = kernel.getSchedules();
        if (schedules.empty()) {
          kernel.emitError("expected a schedule; run attn-select-schedule first");
          return signalPassFailure();
        }
        sortByProgram(schedules);
        std::string name = spec.getName().str();
        if (function->kernels.size() > 1)
          name += "_" + std::to_string(number);
        bool isForward = !isa<BackwardOp>(kernel.getOperation());
        for (ScheduleAttr schedule : isForward ? getWithoutBoxes(schedules) : SmallVector<ScheduleAttr>()) {
          std::string program = name + "_tile_without_boxes" + endOfName(schedule);
          ForwardWriter(getOperation(), *function, kernel, schedule, program).write();
          getOperation().lookupSymbol<tile::ProgramOp>(program).setWithoutBoxes(true);
        }
        for (ScheduleAttr schedule : schedules) {
          std::string from = endOfName(schedule);
          if (auto backward = dyn_cast<BackwardOp>(kernel.getOperation())) {
            writeGradient(getOperation(), *function, backward, schedule, name, from);
            continue;
          }
          writeBlockMask(getOperation(), *function, kernel, schedule, name + "_block_mask" + from);
          ForwardWriter(getOperation(), *function, kernel, schedule, name + "_tile" + from).write();
          if (schedule.isSplit())
            ForwardWriter(getOperation(), *function, kernel, schedule.getCombining(), name + "_combine" + from)
                .writeCombining();
        }
      }
      spec.erase();
    }
  }
};
} // namespace
