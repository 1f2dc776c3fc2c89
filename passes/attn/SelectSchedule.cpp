//===- SelectSchedule.cpp - Tile sizes from the target ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/attn/TargetInterface.h"
#include "passes/attn/CpuSchedule.h"
#include "passes/attn/GpuSchedule.h"
#include "passes/attn/Passes.h"

namespace attnc::attn {
#define GEN_PASS_DEF_ATTNSELECTSCHEDULE
#include "passes/attn/Passes.h.inc"
} // namespace attnc::attn

using namespace mlir;
using namespace attnc::attn;

namespace {
struct SelectSchedule : attnc::attn::impl::AttnSelectScheduleBase<SelectSchedule> {
  void getDependentDialects(DialectRegistry &registry) const override {
    AttnSelectScheduleBase::getDependentDialects(registry);
    registerCpuSchedules(registry);
    registerGpuSchedules(registry);
  }

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
    if (kernel.getSchedules().empty()) {
      SmallVector<ScheduleAttr> schedules = target.selectSchedules(kernel);
      if (schedules.empty())
        return kernel.emitError("has no schedule for this target");
      kernel.setSchedules(schedules);
      skipOthers(kernel);
      return success();
    }
    bool failed = false;
    for (ScheduleAttr schedule : kernel.getSchedules())
      failed |= mlir::failed(target.checkSchedule(kernel, schedule));
    return failure(failed);
  }

  /// Where the type says how many queries there are, the schedules for that many are the only ones.
  static void skipOthers(KernelOpInterface kernel) {
    int64_t rows = kernel.getQueryRows();
    if (ShapedType::isDynamic(rows) || kernel.getSchedules().empty())
      return;
    SmallVector<ScheduleAttr> schedules;
    for (ScheduleAttr schedule : kernel.getSchedules())
      if (schedule.serves(rows))
        schedules.push_back(schedule.forQueries(0, unlimitedQueries));
    kernel.setSchedules(schedules);
  }
};
} // namespace
