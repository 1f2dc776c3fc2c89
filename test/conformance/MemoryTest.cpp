//===- MemoryTest.cpp - Memory beyond inputs and outputs --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A kernel takes memory for a tile of each thread, whatever the length of the sequence.
//===----------------------------------------------------------------------===//

#include "runtime/ThreadPool.h"
#include "test/conformance/Runner.h"
#include <fstream>
#include <gtest/gtest.h>

using namespace attnc;
using namespace attnc::conformance;
using runtime::ThreadPool;

namespace {

/// Resets the peak of resident memory; false where the system does not allow it.
bool resetPeakMemory() {
  std::ofstream file("/proc/self/clear_refs");
  file << "5" << std::flush;
  return file.good();
}

/// A line of /proc/self/status, in bytes; 0 where it is not there.
int64_t statusBytes(const std::string &name) {
  std::ifstream file("/proc/self/status");
  std::string word;
  int64_t kibibytes = 0;
  while (file >> word)
    if (word == name + ":" && file >> kibibytes)
      return kibibytes * 1024;
  return 0;
}

/// Bytes of f32 numbers that one tile of queries takes beside one tile of keys: operands, logits, results.
int64_t tileBytes(attn::ScheduleAttr schedule, int64_t dim) {
  int64_t queries = schedule.getQueryTile(), keys = schedule.getKeyTile();
  return 4 * (2 * queries * dim + 2 * keys * dim + queries * keys);
}

class Memory : public testing::Test {
protected:
  void SetUp() override {
    Spec spec;
    spec.queryHeads = spec.keyHeads = 1;
    spec.mask = "%keep = attn.window %i, %j left(1023) right(0)";
    auto compiled = CompiledSpec::compile(spec.toString("f32"), "cpu");
    ASSERT_TRUE(static_cast<bool>(compiled)) << compiled.message();
    kernel = std::move(*compiled);
  }

  /// Runs the kernel at `size` queries and keys; returns the growth of resident memory, or 0 where it is not known.
  int64_t growthAt(int64_t size) {
    Trial trial;
    trial.shape = "B=1,Sq=" + std::to_string(size) + ",Sk=" + std::to_string(size);
    auto inputs = makeInputs(kernel->kernel(), trial);
    auto out = runtime::Tensor::allocate(image::DType::F32, {1, size, 1, 64});
    auto lse = runtime::Tensor::allocate(image::DType::F32, {1, 1, size});
    EXPECT_TRUE(inputs && out && lse);
    out->poison();
    lse->poison();
    bool known = resetPeakMemory();
    int64_t before = statusBytes("VmRSS");
    image::Status status = kernel->run(*inputs, {*out, *lse});
    EXPECT_TRUE(static_cast<bool>(status)) << status.message();
    return known ? statusBytes("VmHWM") - before : 0;
  }

  std::unique_ptr<CompiledSpec> kernel;
};

} // namespace

TEST_F(Memory, ScratchIsAboutATile) {
  for (const image::KernelEntry &entry : kernel->executable().image().entries) {
    // The last is for what the first leaves.
    const image::SizeCondition &when = entry.launches.when;
    auto schedule = kernel->scheduleFor(when.empty() ? 4096 : when.front().min);
    ASSERT_TRUE(static_cast<bool>(schedule)) << schedule.message();
    EXPECT_LE(entry.scratchBytes, 4 * tileBytes(*schedule, 64)) << entry.symbol;
  }
}

TEST_F(Memory, DoesNotGrowWithTheSequence) {
  growthAt(1024);
  int64_t scratch = 0;
  for (const image::KernelEntry &entry : kernel->executable().image().entries)
    scratch = std::max(scratch, entry.scratchBytes);
  int64_t peak = ThreadPool::shared().peakScratchBytes();
  EXPECT_GE(peak, scratch);

  int64_t growth = growthAt(65536);
  EXPECT_EQ(ThreadPool::shared().peakScratchBytes(), peak);
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
  // 65536 keys as bits of one row alone are 8 KiB; all logits in f32 would be 16 GiB.
  EXPECT_LE(growth, int64_t(4) << 20);
#else
  (void)growth;
#endif
}

TEST_F(Memory, ScratchIsThatOfTheThreads) {
  ThreadPool pool(3);
  constexpr int64_t bytes = 4096;
  ASSERT_TRUE(static_cast<bool>(pool.parallelFor(100, bytes, [](int64_t, unsigned, void *) {})));
  EXPECT_LE(pool.peakScratchBytes(), bytes * pool.numWorkers());
}
