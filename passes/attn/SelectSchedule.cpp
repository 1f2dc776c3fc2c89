//===- SelectSchedule.cpp - Tile sizes from the target ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/attn/AttnOps.h"
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
  void runOnOperation() override {
    bool failed = false;
    getOperation()->walk([&](KernelOpInterface kernel) {
      auto module = kernel->getParentOfType<ModuleOp>();
      dropOthers(kernel);
      SmallVector<ScheduleAttr> given = kernel.getSchedules();
      if (auto gpu = module ? module->getAttrOfType<GpuTargetAttr>("attn.target") : GpuTargetAttr()) {
        if (given.empty()) {
          kernel.setSchedules(selectGpuSchedules(kernel, gpu));
          return dropOthers(kernel);
        }
        for (ScheduleAttr schedule : given)
          failed |= mlir::failed(checkGpuSchedule(kernel, schedule, gpu));
        return;
      }
      auto target = module ? module->getAttrOfType<CpuTargetAttr>("attn.target") : CpuTargetAttr();
      if (!target) {
        kernel.emitError("expected the module to carry attn.target; attnc sets it from --target");
        failed = true;
        return;
      }
      if (given.empty())
        return kernel.setSchedules(select(kernel, target));
      for (ScheduleAttr schedule : given)
        failed |= mlir::failed(check(kernel, schedule, target));
    });
    if (failed)
      signalPassFailure();
  }

  /// Where the type says how many queries there are, the schedule for that many is the only one.
  static void dropOthers(KernelOpInterface kernel) {
    if (int64_t rows = kernel.getQueryRows(); !ShapedType::isDynamic(rows))
      if (ScheduleAttr schedule = kernel.getScheduleFor(rows))
        kernel.setSchedules(schedule.forQueries(0, unlimitedQueries));
  }

  /// Lanes of f32 in one SIMD register.
  static int64_t lanes(CpuTargetAttr target) { return target.getVectorBits() / 32; }

  /// Three registers of query rows beside four keys (eight with 32 registers) fill the register file with accumulators
  /// and leave one for each operand. Panels of queries share a staged key tile: as many as leave half of the L2 cache
  /// to the keys and values, but not so many that a causal mask's diagonal costs more than staging does
  /// (docs/rationale/cpu-kernel.md).
  static ScheduleAttr select(KernelOpInterface kernel, CpuTargetAttr target) {
    constexpr int64_t mostRows = 240, keyTile = 64;
    int64_t panel = 3 * lanes(target);
    int64_t dims = kernel.getHeadDim();
    if (Value value = kernel.getValueOrNull())
      dims += cast<RankedTensorType>(value.getType()).getShape().back();
    int64_t rows = std::min(mostRows, target.getL2Bytes() / 2 / (dims * 4));
    int64_t queryTile = panel * std::max<int64_t>(1, rows / panel);
    return ScheduleAttr::get(target.getContext(), queryTile, keyTile, panel);
  }

  /// The largest tiles of a spec's own schedule: far past what caches hold, and well before the time that code for them
  /// takes or the memory that they take shows.
  static constexpr int64_t mostQueries = 65536, mostKeys = 4096;

  /// A spec's own schedule must suit the registers.
  static LogicalResult check(KernelOpInterface kernel, ScheduleAttr schedule, CpuTargetAttr target) {
    if (schedule.getHeads() != 1)
      return kernel.emitError() << "expected one head a tile on a CPU, got " << schedule.getHeads();
    int64_t w = lanes(target);
    if (schedule.getPanel() % w != 0 || schedule.getPanel() > 3 * w)
      return kernel.emitError() << "expected the schedule's panel to be " << w << ", " << 2 * w << " or " << 3 * w
                                << " rows for " << target.getVectorBits() << "-bit registers, got "
                                << schedule.getPanel();
    if (schedule.getKeyTile() % 8 != 0 || schedule.getKeyTile() > mostKeys)
      return kernel.emitError() << "expected the schedule's key_tile to be a multiple of 8 up to " << mostKeys
                                << ", got " << schedule.getKeyTile();
    if (schedule.getQueryTile() > mostQueries)
      return kernel.emitError() << "expected the schedule's query_tile to be at most " << mostQueries << ", got "
                                << schedule.getQueryTile();
    return success();
  }
};
} // namespace
