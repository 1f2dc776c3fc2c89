//===- SelectSchedule.cpp - Tile sizes from the target ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/attn/LaunchSizes.h"
#include "dialect/attn/TargetInterface.h"
#include "passes/attn/Passes.h"

namespace attnc::attn {
#define GEN_PASS_DEF_ATTNSELECTSCHEDULE
#include "passes/attn/Passes.h.inc"
} // namespace attnc::attn

using namespace mlir;
using namespace attnc::attn;

namespace {
struct SelectSchedule : attnc::attn::impl::AttnSelectScheduleBase<SelectSchedule> {
  void runOnOperation() override {
    bool failed = false;
    getOperation()->walk([&](KernelOpInterface kernel) { failed |= mlir::failed(schedule(kernel)); });
    if (failed)
      signalPassFailure();
  }

  static LogicalResult schedule(KernelOpInterface kernel) {
    auto module = kernel->getParentOfType<ModuleOp>();
    auto target = module ? module->getAttrOfType<TargetInterface>(targetAttrName) : TargetInterface();
    if (!target)
      return kernel.emitError() << "expected the module to carry " << targetAttrName << "; attnc sets it from --target";
    skipOthers(kernel);
    if (failed(checkTables(kernel->getParentOp())))
      return failure();
    if (kernel.getSchedules().empty()) {
      SmallVector<ScheduleAttr> schedules = target.selectSchedules(kernel);
      if (schedules.empty())
        return kernel.emitError("has no schedule for this target");
      kernel.setSchedules(schedules);
      skipOthers(kernel);
      // What comes of the target's own tables suits it.
      return kernel->getParentOp()->hasAttr(scheduleTablesAttrName) ? check(kernel, target) : success();
    }
    return check(kernel, target);
  }

  /// Checks the schedules that `kernel` has.
  static LogicalResult check(KernelOpInterface kernel, TargetInterface target) {
    bool failed = false;
    for (ScheduleAttr schedule : kernel.getSchedules())
      failed |= mlir::failed(target.checkSchedule(kernel, schedule));
    return failure(failed);
  }

  /// Checks that what `function` brings along are tables.
  static LogicalResult checkTables(Operation *function) {
    Attribute tables = function->getAttr(scheduleTablesAttrName);
    auto listed = dyn_cast_or_null<ArrayAttr>(tables);
    if (tables && (!listed || !llvm::all_of(listed, llvm::IsaPred<ScheduleTableAttr>)))
      return function->emitOpError() << "expected " << scheduleTablesAttrName
                                     << " to be an array of #attn.schedule_table<...>";
    return success();
  }

  /// Keeps the schedules that there are launches for, by the sizes that types fix.
  static void skipOthers(KernelOpInterface kernel) {
    if (SmallVector<ScheduleAttr> schedules = kernel.getSchedules(); !schedules.empty())
      kernel.setSchedules(keepServing(schedules, getStaticSizes(kernel)));
  }
};
} // namespace
