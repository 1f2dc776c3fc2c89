//===- AttnToTile.cpp - Tile programs of kernels ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/attn/LaunchSizes.h"
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
                                   ScheduleAttr schedule, StringRef name, StringRef end, bool withoutBoxes = false) {
  if (schedule.stagesCaptures())
    writeCapturedGradients(module, function, op, schedule.getWithoutBoxes(), name, (end + "_without_boxes").str(),
                           /*withoutBoxes=*/true);
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
        (name + "_" + stringifyProgram(schedule.getProgram()) + "_" + Twine(captured.number) + end).str();
    TileBuilder b(module, function, op, schedule, program, ProgramKind::Kernel, captured);
    writeCapturedGradient(b, op, captured);
    if (withoutBoxes)
      module.lookupSymbol<tile::ProgramOp>(program).setWithoutBoxes(true);
  }
}

/// The programs of a backward that `schedule` is of; `end` ends their names.
static void writeGradient(ModuleOp module, const KernelFunction &function, BackwardOp op, ScheduleAttr schedule,
                          StringRef name, StringRef end) {
  if (llvm::is_contained({Program::Dbias, Program::Dbuckets, Program::ClearScattered, Program::Dsums},
                         schedule.getProgram()))
    return writeCapturedGradients(module, function, op, schedule, name, end);
  std::string program = (name + "_" + stringifyProgram(schedule.getProgram())).str();
  writeBlockMask(module, function, op, schedule, program + "_block_mask" + end.str());
  if (schedule.stagesCaptures()) {
    writeGradient(module, function, op, schedule.getWithoutBoxes(), name, (end + "_without_boxes").str());
    module.lookupSymbol<tile::ProgramOp>(program + end.str() + "_without_boxes").setWithoutBoxes(true);
  }
  TileBuilder b(module, function, op, schedule, program + end.str());
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

/// What names of programs end with: "_queries_to_99".
static std::string endOfName(ScheduleAttr schedule) {
  std::string end;
  for (char c : schedule.getWhen().toString())
    if (c != ',')
      end += c == ' ' ? '_' : c;
  return end.empty() ? end : "_" + end;
}

namespace {

/// A schedule, and those of its program that launches look at first.
struct Alternative {
  ScheduleAttr schedule;
  SmallVector<ScheduleAttr> before;
};

} // namespace

/// The alternatives of `schedules`, of any programs.
static SmallVector<Alternative> getAlternatives(ArrayRef<ScheduleAttr> schedules) {
  SmallVector<Alternative> alternatives;
  for (ScheduleAttr schedule : schedules) {
    SmallVector<ScheduleAttr> before;
    for (const Alternative &alternative : alternatives)
      if (alternative.schedule.getProgram() == schedule.getProgram())
        before.push_back(alternative.schedule);
    alternatives.push_back({schedule, std::move(before)});
  }
  return alternatives;
}

/// Those of `alternatives` for launches whose captured tensors the copy engine cannot take. Neighbours that are alike
/// are one.
static SmallVector<Alternative> getWithoutBoxes(ArrayRef<Alternative> alternatives) {
  SmallVector<Alternative> others;
  bool follows = false; // whether the last of `others` stands for the alternative before
  for (const Alternative &alternative : alternatives) {
    if (!alternative.schedule.stagesCaptures()) {
      follows = false;
      continue;
    }
    ScheduleAttr other = alternative.schedule.getWithoutBoxes();
    if (ScheduleAttr both = follows ? uniteAlike(others.back().schedule, other) : ScheduleAttr())
      others.back().schedule = both;
    else
      others.push_back({other, alternative.before});
    follows = true;
  }
  return others;
}

/// Says of the programs that follow `last` for which launches they are.
static void setConditions(Operation *last, const Alternative &alternative) {
  SizesAttr when = alternative.schedule.getWhen();
  SmallVector<Attribute> unless;
  for (auto [place, schedule] : llvm::enumerate(alternative.before)) {
    SizesAttr other = schedule.getWhen();
    auto isWider = [&](ScheduleAttr later) { return later.getWhen().contains(other); };
    if (other.intersect(when) && llvm::none_of(ArrayRef(alternative.before).drop_front(place + 1), isWider))
      unless.push_back(other);
  }
  for (Operation &op : llvm::make_range(std::next(last->getIterator()), last->getBlock()->end())) {
    auto program = cast<tile::ProgramOp>(op);
    if (!when.isUniversal())
      program.setWhenAttr(when);
    if (!unless.empty())
      program.setUnlessAttr(ArrayAttr::get(when.getContext(), unless));
    if (when.isUniversal() && unless.empty())
      program.removeLaunchSizesAttr();
  }
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
        SmallVector<Alternative> alternatives = getAlternatives(schedules);
        for (const Alternative &alternative : isForward ? getWithoutBoxes(alternatives) : SmallVector<Alternative>()) {
          Operation *last = &getOperation().getBody()->back();
          std::string program = name + "_tile_without_boxes" + endOfName(alternative.schedule);
          ForwardWriter(getOperation(), *function, kernel, alternative.schedule, program).write();
          getOperation().lookupSymbol<tile::ProgramOp>(program).setWithoutBoxes(true);
          setConditions(last, alternative);
        }
        for (const Alternative &alternative : alternatives) {
          Operation *last = &getOperation().getBody()->back();
          writePrograms(*function, kernel, alternative.schedule, name);
          setConditions(last, alternative);
        }
      }
      spec.erase();
    }
  }

  /// Writes the programs of a schedule of `kernel`.
  void writePrograms(const KernelFunction &function, KernelOpInterface kernel, ScheduleAttr schedule, StringRef name) {
    std::string end = endOfName(schedule);
    if (auto backward = dyn_cast<BackwardOp>(kernel.getOperation())) {
      writeGradient(getOperation(), function, backward, schedule, name.str(), end);
      return;
    }
    auto nameOf = [&](StringRef part) { return (name + part + end).str(); };
    writeBlockMask(getOperation(), function, kernel, schedule, nameOf("_block_mask"));
    ForwardWriter(getOperation(), function, kernel, schedule, nameOf("_tile")).write();
    if (schedule.isSplit())
      ForwardWriter(getOperation(), function, kernel, schedule.getCombining(), nameOf("_combine")).writeCombining();
  }
};
} // namespace
