//===- SharedMemoryTest.cpp - What tiles take of memory ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Schedules are chosen before there are tile programs, by what these will take of shared memory. Here both are asked:
// the check of a schedule, and `tile-allocate-shared`, which lays the buffers out.
//===----------------------------------------------------------------------===//

#include "codegen/gpu/GpuScheduleParts.h"
#include "codegen/target/NvidiaGpu.h"
#include "dialect/attn/AttnOps.h"
#include "dialect/attn/TargetInterface.h"
#include "dialect/tile/TileOps.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Pipelines.h"
#include "runtime/jit/Compile.h"
#include "test/unit/jit/JitTestSupport.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MemoryBuffer.h"
#include <filesystem>

using namespace attnc;
using namespace attnc::attn;
using namespace attnc::test;

/// `gpu` with `bytes` of shared memory a block.
static GpuTargetAttr withShared(GpuTargetAttr gpu, int64_t bytes) {
  return GpuTargetAttr::get(gpu.getContext(), gpu.getArch(), gpu.getPtx(), gpu.getMultiprocessors(), bytes,
                            gpu.getRegisters(), gpu.getL2Bytes(), gpu.getWarpgroupMma(), gpu.getTensorCopies(),
                            gpu.getEarlyStart(), gpu.getCuda(), gpu.getMachine());
}

/// The least shared memory that the check of `schedule` wants of a GPU like `gpu`, which takes it.
static int64_t askedFor(KernelOpInterface kernel, ScheduleAttr schedule, GpuTargetAttr gpu) {
  mlir::ScopedDiagnosticHandler quiet(gpu.getContext(), [](mlir::Diagnostic &) { return mlir::success(); });
  auto takes = [&](int64_t bytes) {
    return succeeded(
        mlir::cast<TargetInterface>(mlir::Attribute(withShared(gpu, bytes))).checkSchedule(kernel, schedule));
  };
  int64_t low = 0, high = gpu.getSharedBytes();
  EXPECT_TRUE(takes(high));
  while (high - low > 1) {
    int64_t middle = (low + high) / 2;
    (takes(middle) ? high : low) = middle;
  }
  return high;
}

/// Compares both for the default schedules of a kernel. What differs by schedules of a kernel is told apart by their
/// pipelines, which programs carry.
static void compare(OpenSpec &spec, const KernelFunction &function, llvm::StringRef arch) {
  GpuTargetAttr gpu = target::getNvidiaGpu(&spec.session.context(), arch);
  auto module = jit::lowerToAttn(spec.session, function, gpu);
  ASSERT_TRUE(static_cast<bool>(module)) << spec.diagnostics;
  bool isForward = true;
  llvm::MapVector<PipelineAttr, int64_t> asked, taken;
  (**module)->walk([&](KernelOpInterface kernel) {
    isForward &= !mlir::isa<BackwardOp>(kernel.getOperation());
    for (ScheduleAttr schedule : kernel.getSchedules()) {
      int64_t &most = asked[schedule.getPipeline()];
      most = std::max(most, askedFor(kernel, schedule, gpu));
    }
  });
  mlir::PassManager pm(&spec.session.context());
  buildTilePipeline(pm);
  ASSERT_TRUE(succeeded(pm.run(**module))) << spec.diagnostics;
  (**module)->walk([&](tile::ProgramOp program) {
    if (PipelineAttr pipeline = program.getPipelineAttr(); pipeline && asked.contains(pipeline)) {
      int64_t &most = taken[pipeline];
      most = std::max<int64_t>(most, program.getSharedBytes().value_or(0));
    }
  });
  EXPECT_FALSE(taken.empty());
  for (auto [pipeline, bytes] : taken) {
    EXPECT_LE(bytes, asked[pipeline]) << "a program takes more than its schedule was checked for";
    // Barriers count by what they take at most. Gradients may take less: programs around the one of all gradients have
    // hardly any tiles in shared memory, and not each has both statistics of its rows.
    if (isForward)
      EXPECT_LE(asked[pipeline], bytes + attnc::gpu::barrierBytes)
          << "a schedule is refused for memory that nothing takes";
  }
}

TEST(SharedMemory, SchedulesAskForWhatProgramsTake) {
  for (const auto &entry : std::filesystem::directory_iterator(ATTNC_EXAMPLES)) {
    if (entry.path().extension() != ".mlir")
      continue;
    auto text = llvm::MemoryBuffer::getFile(entry.path().string());
    ASSERT_TRUE(static_cast<bool>(text));
    OpenSpec spec((*text)->getBuffer().str());
    for (llvm::StringRef arch : {"sm_90a", "sm_80"}) {
      SCOPED_TRACE(entry.path().filename().string() + " for " + arch.str());
      compare(spec, spec.kernel, arch);
    }
    auto gradients = spec.session.deriveBackward(spec.kernel);
    if (!gradients)
      continue; // such as weights, which have none
    for (llvm::StringRef arch : {"sm_90a", "sm_80"}) {
      SCOPED_TRACE("gradients of " + entry.path().filename().string() + " for " + arch.str());
      compare(spec, *gradients, arch);
    }
  }
}
