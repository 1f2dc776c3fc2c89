//===- CudaLaunchTest.cpp - Tests of launches on GPUs ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#include "CudaLaunchFixture.h"

#include <algorithm>
#include <set>

using namespace attnc::cuda;
using namespace attnc::image;
using namespace attnc::runtime;
using attnc::test::CudaLaunch;

namespace {

TEST_F(CudaLaunch, PassesWhatTheKernelExpects) {
  auto launch = load();
  EXPECT_EQ(launch->functions()[0].registers, 168);
  Status status = launch->launch(values(2, 300, 500), stream);
  ASSERT_TRUE(status) << status.message();
  ASSERT_EQ(fake.launches.size(), 1u);
  EXPECT_EQ(fake.launches[0].function, "forward_entry");
  EXPECT_EQ(fake.launches[0].block, 384u);
  EXPECT_EQ(fake.launches[0].sharedBytes, 200000u);
  EXPECT_EQ(fake.launches[0].stream, stream);
  EXPECT_EQ(slots[0], 0x10000);
  EXPECT_EQ(slots[2], 300);
  EXPECT_EQ(slots[4], 300 * 64);
  EXPECT_EQ(maps, (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(tiles, 6);
  ASSERT_NE(counter, 0u);
  EXPECT_EQ(*reinterpret_cast<const uint32_t *>(counter), 0u);
}

TEST_F(CudaLaunch, IsOneCallOfTheDriver) {
  // What a graph captures, and what a launch costs: the driver is asked for nothing else.
  auto launch = load();
  ASSERT_TRUE(launch->launch(values(2, 300, 500), stream));
  EXPECT_EQ(fake.calls,
            (std::vector<std::string>{"cuTensorMapEncodeTiled", "cuTensorMapEncodeTiled", "cuLaunchKernelEx"}));
  fake.clear();
  ASSERT_TRUE(launch->launch(values(2, 300, 500), stream));
  EXPECT_EQ(fake.calls, std::vector<std::string>{"cuLaunchKernelEx"});
  EXPECT_EQ(maps, (std::vector<uint64_t>{1, 2})) << "the maps that were encoded before";
}

TEST_F(CudaLaunch, StartsEarlyBehindItsOwn) {
  // Only what runs behind another function of the same launch: what a caller's stream did before is waited for.
  image.entries[0].early = true;
  auto alone = load();
  ASSERT_TRUE(alone->launch(values(2, 300, 500), stream));
  ASSERT_EQ(fake.launches.size(), 1u);
  EXPECT_FALSE(fake.launches[0].early);

  KernelEntry blockMask = image.entries[0];
  blockMask.symbol = "block_mask_entry";
  blockMask.early = false;
  image.entries.insert(image.entries.begin(), blockMask);
  auto both = load();
  ASSERT_TRUE(both->launch(values(2, 300, 500), stream));
  ASSERT_EQ(fake.launches.size(), 2u);
  EXPECT_FALSE(fake.launches[0].early);
  EXPECT_EQ(fake.launches[1].function, "forward_entry");
  EXPECT_TRUE(fake.launches[1].early);
  EXPECT_EQ(fake.launches[1].block, 384u);
  EXPECT_EQ(fake.launches[1].sharedBytes, 200000u);
  EXPECT_EQ(fake.launches[1].stream, stream);
}

TEST_F(CudaLaunch, StartsInTurnOnOlderDrivers) {
  fake.version = 12020;
  KernelEntry blockMask = image.entries[0];
  image.entries[0].early = true;
  image.entries.insert(image.entries.begin(), blockMask);
  auto launch = load();
  ASSERT_TRUE(launch->launch(values(2, 300, 500), stream));
  ASSERT_EQ(fake.launches.size(), 2u);
  EXPECT_FALSE(fake.launches[1].early);
  EXPECT_EQ(fake.calls.back(), "cuLaunchKernelEx");
}

TEST_F(CudaLaunch, PreparesOnceForManyLaunches) {
  auto launch = load();
  const std::vector<ArgValue> given = values(2, 300, 500);
  auto arguments = bindArguments(image, given, MemorySpace::Device);
  ASSERT_TRUE(arguments);
  auto prepared = launch->prepare(*arguments);
  ASSERT_TRUE(prepared);
  EXPECT_EQ(fake.calls.size(), 2u) << "two tensors are mapped";
  EXPECT_EQ(prepared->workspaceBytes, 0);
  for (int i = 0; i < 3; ++i) {
    fake.clear();
    ASSERT_TRUE(launch->launch(*prepared, stream));
    EXPECT_EQ(fake.calls, std::vector<std::string>{"cuLaunchKernelEx"});
    EXPECT_EQ(maps, (std::vector<uint64_t>{1, 2}));
    EXPECT_EQ(slots[2], 300);
    EXPECT_EQ(tiles, 6);
  }
}

TEST_F(CudaLaunch, FollowsTheGridRule) {
  auto launch = load();
  const auto grid = [&](int64_t b, int64_t sq) {
    fake.clear();
    Status status = launch->launch(values(b, sq, 16), stream);
    EXPECT_TRUE(status) << status.message();
    return fake.launches.empty() ? -1 : static_cast<int64_t>(fake.launches[0].grid);
  };
  EXPECT_EQ(grid(131, 100), 131);
  EXPECT_EQ(grid(132, 100), 132);
  EXPECT_EQ(grid(10, 10000), 132);
  EXPECT_EQ(tiles, 790) << "blocks that stay are told of all tiles";
  EXPECT_EQ(grid(10, 0), -1) << "no tiles, no launch";
  EXPECT_TRUE(fake.calls.empty()) << "and no maps";
  EXPECT_EQ(grid(0, 10), -1);

  image.entries[0].blocksPerMultiprocessor = 2;
  launch = load();
  EXPECT_EQ(grid(10, 10000), 264);
  image.entries[0].persistent = false;
  launch = load();
  EXPECT_EQ(grid(10, 10000), 790);
  EXPECT_EQ(tiles, 790);
}

TEST_F(CudaLaunch, RefusesGridsThatCannotBe) {
  image.entries[0].persistent = false;
  image.entries[0].grid = GridRule::combine(GridRule::Op::Mul, GridRule::symbol(1), GridRule::constant(1 << 30));
  auto launch = load();
  EXPECT_EQ(launch->launch(values(1, 2, 16), stream).message(),
            "kernel 'forward': expected at most 2147483647 tiles for entry 'forward_entry', got 2147483648");
  // Blocks that stay count them all the same.
  image.entries[0].persistent = true;
  launch = load();
  EXPECT_EQ(launch->launch(values(1, 2, 16), stream).message(),
            "kernel 'forward': expected at most 2147483647 tiles for entry 'forward_entry', got 2147483648");
  image.entries[0].grid = GridRule::combine(GridRule::Op::Mul, GridRule::symbol(1), GridRule::constant(INT64_MAX));
  launch = load();
  EXPECT_EQ(launch->launch(values(1, 2, 16), stream).message(),
            "kernel 'forward': no number of tiles for entry 'forward_entry': Sq * 9223372036854775807");
  EXPECT_TRUE(fake.launches.empty());
}

TEST_F(CudaLaunch, GivesEachLaunchItsCounter) {
  auto launch = load();
  std::set<DeviceAddress> counters;
  for (uint32_t i = 0; i < GpuLaunch::numCounters; ++i) {
    ASSERT_TRUE(launch->launch(values(1, 128, 16), stream));
    counters.insert(counter);
    EXPECT_EQ(*reinterpret_cast<const uint32_t *>(counter), 0u);
  }
  EXPECT_EQ(counters.size(), GpuLaunch::numCounters);
  EXPECT_EQ(*counters.rbegin() - *counters.begin(), (GpuLaunch::numCounters - 1) * 4);
  ASSERT_TRUE(launch->launch(values(1, 128, 16), stream));
  EXPECT_EQ(counter, *counters.begin()) << "round and round";
}

TEST_F(CudaLaunch, RunsEntriesInOrder) {
  image.entries.push_back(image.entries[0]);
  image.entries[1].symbol = "combine";
  image.entries[1].tensorMaps = {{Out, {1, 64, 64}, 128}};
  auto launch = load();
  fake.onLaunch = nullptr;
  ASSERT_TRUE(launch->launch(values(2, 300, 500), stream));
  ASSERT_EQ(fake.launches.size(), 2u);
  EXPECT_EQ(fake.launches[0].function, "forward_entry");
  EXPECT_EQ(fake.launches[1].function, "combine");
  EXPECT_EQ(fake.encoded[2].address, reinterpret_cast<void *>(0x40000000000));
}

TEST_F(CudaLaunch, ChoosesEntriesBySize) {
  // Short sequences by one entry, long ones by the other, each with tensor maps of its own.
  KernelEntry &first = image.entries[0];
  KernelEntry second = first;
  first.symbol = "short_entry";
  first.launches.when = {{GridRule::symbol(1), 0, 1023}};
  first.tensorMaps = {{Out, {1, 64, 64}, 128}};
  second.symbol = "long_entry";
  second.launches.when = {{GridRule::symbol(1), 1024}};
  // What is not launched is not looked at either.
  second.grid = GridRule::combine(GridRule::Op::CeilDiv, GridRule::constant(1 << 20),
                                  GridRule::combine(GridRule::Op::CeilDiv, GridRule::symbol(2), GridRule::symbol(2)));
  image.entries.push_back(second);
  auto launch = load();
  fake.onLaunch = nullptr;
  using Strings = std::vector<std::string>;
  const auto launched = [&](int64_t sq, int64_t sk) {
    fake.clear();
    Status status = launch->launch(values(2, sq, sk), stream);
    EXPECT_TRUE(status) << status.message();
    Strings names;
    for (const auto &one : fake.launches)
      names.push_back(one.function);
    return names;
  };
  EXPECT_EQ(launched(1, 0), Strings{"short_entry"});
  EXPECT_EQ(fake.calls, (Strings{"cuTensorMapEncodeTiled", "cuLaunchKernelEx"}));
  EXPECT_EQ(fake.encoded.back().address, reinterpret_cast<void *>(0x40000000000));
  EXPECT_EQ(launched(1023, 16), Strings{"short_entry"});
  EXPECT_EQ(launched(1024, 16), Strings{"long_entry"});
  EXPECT_EQ(fake.calls, (Strings{"cuTensorMapEncodeTiled", "cuTensorMapEncodeTiled", "cuLaunchKernelEx"}));
  EXPECT_EQ(fake.encoded[0].address, reinterpret_cast<void *>(0x10000));
  EXPECT_EQ(launched(int64_t(1) << 20, 16), Strings{"long_entry"});
  EXPECT_EQ(launched(0, 16), Strings());

  // By the mean of packed sequences: here of two.
  for (KernelEntry &entry : image.entries)
    entry.launches.when[0].size = GridRule::combine(GridRule::Op::CeilDiv, GridRule::symbol(1), GridRule::symbol(0));
  launch = load();
  EXPECT_EQ(launched(2046, 16), Strings{"short_entry"});
  EXPECT_EQ(launched(2047, 16), Strings{"long_entry"});

  // The first whose condition holds, of several sizes.
  image.entries[0].launches.when = {{GridRule::symbol(1), 0, 99}, {GridRule::symbol(2), 512}};
  image.entries[1].launches = {{{GridRule::symbol(1), 0, 199}}, {image.entries[0].launches.when}};
  KernelEntry last = image.entries[1];
  last.symbol = "last_entry";
  last.launches = {{}, {image.entries[0].launches.when, image.entries[1].launches.when}};
  image.entries.push_back(last);
  launch = load();
  EXPECT_EQ(launched(99, 512), Strings{"short_entry"});
  EXPECT_EQ(launched(99, 511), Strings{"long_entry"});
  EXPECT_EQ(launched(199, 512), Strings{"long_entry"});
  EXPECT_EQ(launched(200, 512), Strings{"last_entry"});
}

TEST_F(CudaLaunch, ChoosesEntriesByBoxes) {
  // Of the keys: what the copy unit can take as it is by the one, all else by the other.
  KernelEntry &first = image.entries[0];
  KernelEntry second = first;
  first.symbol = "boxes_entry";
  first.boxes = BoxRule{{{K, 1}}, true};
  second.symbol = "other_entry";
  second.boxes = BoxRule{{{K, 1}}, false};
  second.tensorMaps = {{Q, {1, 128, 64}, 128}};
  image.entries.push_back(second);
  image.args[K].dims[1] = {-1, 2, true};
  auto launch = load();
  fake.onLaunch = nullptr;
  const auto launched = [&](uint64_t address, std::vector<int64_t> shape, std::vector<int64_t> strides) {
    fake.clear();
    std::vector<ArgValue> given = values(2, 100, 16);
    given[K] = Tensor::deviceView(address, DType::BF16, shape, strides);
    Status status = launch->launch(given, stream);
    EXPECT_TRUE(status) << status.message();
    EXPECT_EQ(fake.launches.size(), 1u);
    return fake.launches.empty() ? std::string() : fake.launches[0].function;
  };
  EXPECT_EQ(launched(0x20000, {2, 16, 64}, {1024, 64, 1}), "boxes_entry");
  EXPECT_EQ(launched(0x20000, {1, 16, 64}, {3, 64, 1}), "boxes_entry") << "a stride that takes no step";
  EXPECT_EQ(launched(0x20000, {2, 16, 64}, {1024, 72, 1}), "boxes_entry");
  EXPECT_EQ(launched(0x20008, {2, 16, 64}, {1024, 64, 1}), "other_entry") << "an address between units";
  EXPECT_EQ(launched(0x20000, {2, 16, 64}, {1024, 65, 1}), "other_entry") << "rows between units";
  EXPECT_EQ(launched(0x20000, {2, 16, 64}, {0, 64, 1}), "other_entry") << "an expanded dimension";
  EXPECT_EQ(launched(0x20000, {2, 16, 64}, {1024, -64, 1}), "other_entry") << "rows backwards";
  EXPECT_EQ(launched(0x20000, {2, 16, 64}, {2048, 128, 2}), "other_entry") << "columns with gaps";
  EXPECT_EQ(launched(0x20000, {2, 1, 64}, {64, 64, 1}), "other_entry") << "one row for all";
}

TEST_F(CudaLaunch, HandsWorkspacesOn) {
  image.workspaces = {"statistics", "sums"};
  KernelEntry &first = image.entries[0];
  first.workspaces = {{0, GridRule::symbol(0), GridRule::symbol(1)}};
  KernelEntry second = first;
  second.symbol = "other_entry";
  second.launches.when = {{GridRule::symbol(1), 128}};
  second.workspaces = {{1, GridRule::symbol(0), GridRule::constant(1000)}, first.workspaces[0]};
  image.entries.push_back(second);
  auto launch = load();
  using Numbers = std::vector<int64_t>;
  std::vector<Numbers> given;
  fake.onLaunch = [&](void **parameters) {
    const auto *block = static_cast<const int64_t *>(parameters[5]); // block, two maps, tiles, counter
    given.emplace_back(block, block + (given.size() % 2 == 0 ? 3 : 6));
  };

  // The caller's: nothing is allocated.
  ASSERT_TRUE(launch->launch(values(2, 128, 16), stream, 0x7000));
  EXPECT_EQ(given, (std::vector<Numbers>{{0x7000, 2, 128}, {0x7400, 2, 1000, 0x7000, 2, 128}}));
  EXPECT_EQ(std::count(fake.calls.begin(), fake.calls.end(), "cuMemAllocAsync"), 0);

  // One that copies of pieces cannot use.
  EXPECT_EQ(launch->launch(values(2, 128, 16), stream, 0x7008).message(),
            "kernel 'forward': expected a workspace at a multiple of 16 bytes, got one 8 bytes past one");
  EXPECT_EQ(given.size(), 2u);

  // The device's own: as much as the entries that run need, in the order of the stream.
  given.clear();
  fake.clear();
  ASSERT_TRUE(launch->launch(values(2, 100, 16), stream));
  ASSERT_EQ(given.size(), 1u);
  EXPECT_NE(given[0][0], 0);
  EXPECT_EQ(fake.calls.back(), "cuCtxPopCurrent_v2");
  EXPECT_EQ(fake.calls[fake.calls.size() - 2], "cuMemFreeAsync");
  EXPECT_EQ(fake.memory.count(static_cast<DeviceAddress>(given[0][0])), 0u);
  fake.failures["cuMemAllocAsync"] = 2;
  EXPECT_EQ(launch->launch(values(2, 100, 16), stream).message(),
            "cannot allocate a workspace of 896 bytes for kernel 'forward' in the order of the stream: "
            "cuMemAllocAsync: CUDA_ERROR_OUT_OF_MEMORY (out of memory)");
  EXPECT_EQ(given.size(), 1u);
}

TEST_F(CudaLaunch, FindsItsContext) {
  auto launch = load();
  ASSERT_TRUE(launch->launch(values(1, 128, 16), stream));
  // None is current, or that of another GPU, whose default stream a null stream would be.
  for (DriverResult result : {driverInvalidContext, driverInvalidHandle}) {
    fake.clear();
    fake.failures["cuLaunchKernelEx"] = result;
    ASSERT_TRUE(launch->launch(values(1, 128, 16), stream));
    EXPECT_EQ(fake.calls, (std::vector<std::string>{"cuLaunchKernelEx", "cuCtxPushCurrent_v2", "cuLaunchKernelEx",
                                                    "cuCtxPopCurrent_v2"}));
  }
  fake.failures["cuLaunchKernelEx"] = 2;
  EXPECT_EQ(launch->launch(values(1, 128, 16), stream).message(),
            "cannot launch entry 'forward_entry' of kernel 'forward' with 1 tiles, blocks of 384 threads and 200000 "
            "bytes of shared memory: cuLaunchKernelEx: CUDA_ERROR_OUT_OF_MEMORY (out of memory)");
}

TEST_F(CudaLaunch, SaysThatItsGpuIsLost) {
  // After a fault in any kernel, every call of the context fails with that fault. What is there can still be given
  // back.
  const auto lost = [&](DriverResult result) {
    for (const char *call :
         {"cuLaunchKernelEx", "cuMemAlloc_v2", "cuMemAllocAsync", "cuMemFree_v2", "cuMemFreeAsync", "cuMemcpyHtoD_v2",
          "cuMemcpyDtoH_v2", "cuMemsetD8_v2", "cuModuleLoadDataEx", "cuModuleUnload", "cuFuncSetAttribute",
          "cuStreamSynchronize", "cuEventCreate", "cuEventRecord", "cuEventSynchronize", "cuEventDestroy_v2",
          "cuDevicePrimaryCtxRelease_v2", "cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2"})
      fake.failures[call] = result;
  };
  const std::vector<std::pair<DriverResult, std::string>> faults = {
      {700, "CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)"},
      {719, "CUDA_ERROR_LAUNCH_FAILED (unspecified launch failure)"},
      {999, "error 999"}};
  for (const auto &[result, text] : faults) {
    fake.failures.clear();
    auto launch = load();
    ASSERT_TRUE(launch->launch(values(1, 128, 16), stream));
    DeviceBuffer buffer = *DeviceBuffer::allocate(fake.device(), 8);
    lost(result);
    for (int again = 0; again < 2; ++again)
      EXPECT_EQ(
          launch->launch(values(1, 128, 16), stream).message(),
          "cannot launch entry 'forward_entry' of kernel 'forward' with 1 tiles, blocks of 384 threads and 200000 "
          "bytes of shared memory: cuLaunchKernelEx: " +
              text);
    char copy[8];
    EXPECT_NE(buffer.copyTo(copy).message().find(text), std::string::npos) << buffer.copyTo(copy).message();
    auto other = GpuLaunch::load(fake.device(), image);
    ASSERT_FALSE(other);
    EXPECT_NE(other.message().find(text), std::string::npos) << other.message();
  }
}

TEST_F(CudaLaunch, ServesDriversWithoutTheNewerCall) {
  fake.withoutLaunchEx();
  auto launch = load();
  ASSERT_TRUE(launch->launch(values(2, 300, 500), stream));
  EXPECT_EQ(fake.calls.back(), "cuLaunchKernel");
  EXPECT_EQ(slots[2], 300);
  fake.failures["cuLaunchKernel"] = 2;
  EXPECT_NE(launch->launch(values(2, 300, 500), stream).message().find("shared memory: cuLaunchKernel: "),
            std::string::npos);
}

TEST_F(CudaLaunch, TakesTensorsOfTheDeviceOnly) {
  auto launch = load();
  std::vector<ArgValue> mixed = values(1, 128, 16);
  mixed[K] = *Tensor::allocate(DType::BF16, {1, 16, 64});
  EXPECT_EQ(launch->launch(mixed, stream).message(),
            "argument 'k': expected memory of the device, got memory of the host");
  EXPECT_EQ(bindArguments(image, values(1, 128, 16)).message(),
            "argument 'q': expected memory of the host, got memory of the device");
  // Shapes are checked as ever; the content of lengths lies where a launch does not read.
  mixed[K] = device(0x20000, DType::BF16, {3, 16, 64});
  EXPECT_EQ(launch->launch(mixed, stream).message(),
            "argument 'k': expected dimension 0 (B) to be 1 as in argument 'q', got 3");
  EXPECT_TRUE(fake.calls.empty());
}

TEST_F(CudaLaunch, SaysWhatCannotBeLoaded) {
  const auto message = [&](auto change) {
    KernelImage other = image;
    change(other);
    return GpuLaunch::load(fake.device(), other).message();
  };
  EXPECT_EQ(message([](KernelImage &other) { other.entries = {{"cpu_entry", GridRule::constant(1)}}; }),
            "kernel 'forward' cannot be loaded: entry 'cpu_entry' is not for a GPU");
  EXPECT_EQ(message([](KernelImage &other) { other.entries[0].tensorMaps.resize(17, other.entries[0].tensorMaps[0]); }),
            "image 'forward', entry 'forward_entry': expected at most 16 tensor maps, got 17");
  // Of one entry: however many entries there are.
  EXPECT_EQ(message([](KernelImage &other) { other.entries.resize(40, other.entries[0]); }), "");
  EXPECT_EQ(message([](KernelImage &other) { other.entries[0].threads = -1; }),
            "image 'forward', entry 'forward_entry': expected blocks of at most 1024 threads, got -1");
  fake.major = 8;
  EXPECT_EQ(message([](KernelImage &) {}).substr(0, 97),
            "kernel 'forward' cannot be loaded: it copies tensors by maps, which needs a GPU of sm_90 or later");
}

TEST_F(CudaLaunch, IsLessOptimizedByADriverThatSpills) {
  fake.spilledBytes = 12;
  load();
  EXPECT_EQ(fake.levels, std::vector<int>()) << "machine code is what it is";
  const std::string text = ".version 8.3";
  image.bytes.assign(text.begin(), text.end());
  load();
  EXPECT_EQ(fake.levels, (std::vector<int>{4, 1}));
  EXPECT_EQ(fake.code, text);
  fake.spilledBytes = 5000;
  fake.levels.clear();
  load();
  EXPECT_EQ(fake.levels, (std::vector<int>{4, 1, 0}));
  fake.spilledBytes = 0;
  fake.levels.clear();
  load();
  EXPECT_EQ(fake.levels, std::vector<int>{4});
}

TEST_F(CudaLaunch, AsksForNoMemoryItDoesNotNeed) {
  image.entries[0].takesCounter = false;
  image.entries[0].tensorMaps.clear();
  auto launch = load();
  ASSERT_TRUE(launch->launch(values(1, 128, 16), stream));
  EXPECT_TRUE(fake.memory.empty());
  EXPECT_EQ(tiles, 1);
}

} // namespace
