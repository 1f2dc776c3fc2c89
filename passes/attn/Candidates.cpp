//===- Candidates.cpp - Schedules to try for a kernel -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "passes/attn/Candidates.h"
#include "dialect/attn/TargetInterface.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/SetVector.h"
#include <cmath>

using namespace mlir;
using namespace attnc::attn;

/// How far two sizes lie apart, in octaves, and one step more where they differ at all.
static double distance(int64_t a, int64_t b) {
  if (a == b)
    return 0;
  return 1 + std::abs(std::log2(static_cast<double>(std::max<int64_t>(a, 1))) -
                      std::log2(static_cast<double>(std::max<int64_t>(b, 1))));
}

/// How much a schedule differs from another of the same kernel and machine.
static double distance(ScheduleAttr a, ScheduleAttr b) {
  double sum = distance(a.getRows(), b.getRows()) + distance(a.getColumns(), b.getColumns()) +
               distance(a.getPanel(), b.getPanel());
  PipelineAttr p = a.getPipeline(), q = b.getPipeline();
  if (!p || !q)
    return sum;
  auto differs = [](auto left, auto right) { return left == right ? 0.0 : 1.0; };
  return sum + distance(p.getStages(), q.getStages()) + distance(p.countLogitStages(), q.countLogitStages()) +
         distance(p.getQueryStages(), q.getQueryStages()) + differs(p.getOwnKeys(), q.getOwnKeys()) +
         differs(p.getPingPong(), q.getPingPong()) + differs(p.getEpilogue(), q.getEpilogue()) +
         differs(p.getRescaling(), q.getRescaling()) + differs(p.getOverlap(), q.getOverlap()) +
         differs(p.getSplitFloats(), q.getSplitFloats());
}

SmallVector<ScheduleAttr> attnc::attn::listCandidates(KernelOpInterface kernel, ScheduleAttr base) {
  auto target = kernel->getParentOfType<ModuleOp>()->getAttrOfType<TargetInterface>(targetAttrName);
  base = base.forAllSizes();
  // What does not suit is left out, not told.
  ScopedDiagnosticHandler silent(kernel.getContext(), [](Diagnostic &) { return success(); });
  llvm::SmallSetVector<ScheduleAttr, 32> listed;
  for (ScheduleAttr schedule : target.enumerateSchedules(kernel, base))
    if (schedule && schedule != base && !listed.contains(schedule) && succeeded(target.checkSchedule(kernel, schedule)))
      listed.insert(schedule);
  // Of those that are as near, in the order of the target.
  SmallVector<std::tuple<double, size_t, ScheduleAttr>> ranked;
  for (ScheduleAttr schedule : listed)
    ranked.push_back({distance(schedule, base), ranked.size(), schedule});
  llvm::sort(ranked, [](const auto &a, const auto &b) {
    return std::tie(std::get<0>(a), std::get<1>(a)) < std::tie(std::get<0>(b), std::get<1>(b));
  });
  SmallVector<ScheduleAttr> candidates{base};
  for (const auto &[far, place, schedule] : ranked)
    candidates.push_back(schedule);
  return candidates;
}
