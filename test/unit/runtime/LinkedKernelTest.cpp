//===- LinkedKernelTest.cpp - Tests of kernels of shared objects *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// What a shared object hands to the library, here with functions of the test's. The "kernel" multiplies x by c into y.
//===----------------------------------------------------------------------===//

#include "runtime/capi/LinkedKernel.h"
#include "Sanitizers.h"
#include "runtime/capi/CApi.h"
#include "runtime/capi/CpuFeatures.h"
#include "runtime/capi/Dlpack.h"
#include "runtime/capi/TvmFfi.h"
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace attnc::image;
using namespace attnc::runtime;
using namespace attnc::capi;
using attnc::test::isThreadSanitized;

// The header is for C++ as well.
ATTNC_DECLARE_KERNEL(scaled);
static_assert(std::is_same_v<decltype(&scaled_launch), attnc_error *(*)(const attnc_launch_options *)>);

namespace {

/// Slots: x at 0 to 2, c at 3, y at 4 to 6.
void scale(const int64_t *arguments, int64_t index, void *) {
  float factor = 0;
  std::memcpy(&factor, &arguments[3], sizeof(factor));
  reinterpret_cast<float *>(arguments[4])[index * arguments[6]] =
      factor * reinterpret_cast<const float *>(arguments[0])[index * arguments[2]];
}

class LinkedKernel : public ::testing::Test {
protected:
  void SetUp() override {
    KernelImage image;
    image.name = "scaled";
    image.target = "cpu:test";
    image.symbols = {"N"};
    image.args.resize(3);
    const char *names[] = {"x", "c", "y"};
    for (size_t i : {0, 1, 2})
      image.args[i].name = names[i];
    for (size_t i : {0, 2})
      image.args[i].dims = {{-1, 0}};
    image.args[1].kind = ArgKind::Scalar;
    image.args[2].role = ArgRole::Output;
    KernelEntry entry;
    entry.symbol = "scaled_entry";
    entry.grid = GridRule::symbol(0);
    image.entries = {entry};
    image.bytes = {0x7F, 'E', 'L', 'F', 0};
    bytes = serialize(image);
    linked.struct_size = sizeof(linked);
    linked.image = bytes.data();
    linked.image_bytes = bytes.size();
    linked.entries = entries;
    linked.num_entries = 1;
    linked.features = "";
  }

  void TearDown() override { attnc_linked_unload(&linked); }

  static DLTensor makeTensor(std::vector<float> &values, int64_t *size) {
    return {values.data(), dlpack::cpu, 0, 1, dlpack::floating, 32, 1, size, nullptr, 0};
  }

  /// A call by TVM FFI of x, c and y.
  int call(std::vector<TvmFfiAny> args) { return call(std::move(args), result); }

  /// The same with a result of the caller's, for calls at once.
  int call(std::vector<TvmFfiAny> args, TvmFfiAny &result) {
    return attnc_linked_call(&linked, args.data(), static_cast<int32_t>(args.size()), &result);
  }

  static TvmFfiAny pointer(const void *to, int32_t type = TensorPointer) {
    TvmFfiAny value = {type, 0, {}};
    value.pointer = to;
    return value;
  }

  static TvmFfiAny real(double number) {
    TvmFfiAny value = {Real, 0, {}};
    value.real = number;
    return value;
  }

  static std::string take(attnc_error *error) {
    std::string message = attnc_error_message(error);
    attnc_error_destroy(error);
    return message;
  }

  const void *entries[1] = {reinterpret_cast<const void *>(scale)};
  std::vector<uint8_t> bytes;
  attnc_linked_kernel linked = {};
  TvmFfiAny result = {Integer, 0, {17}};

  int64_t size = 3;
  std::vector<float> in = {1, 2, 3}, out = {0, 0, 0};
  DLTensor x = makeTensor(in, &size), y = makeTensor(out, &size);
};

TEST_F(LinkedKernel, Launches) {
  attnc_value values[3] = {};
  values[0].kind = values[2].kind = ATTNC_DLPACK;
  values[0].as.dlpack = &x;
  values[1].kind = ATTNC_REAL;
  values[1].as.real = 2;
  values[2].as.dlpack = &y;
  attnc_launch_options options = {};
  options.struct_size = sizeof(options);
  options.values = values;
  options.num_values = 3;
  options.value_size = sizeof(attnc_value);
  EXPECT_EQ(attnc_linked_launch(&linked, &options), nullptr);
  EXPECT_EQ(out, (std::vector<float>{2, 4, 6}));
  options.num_values = 2;
  EXPECT_EQ(take(attnc_linked_launch(&linked, &options)), "kernel 'scaled': expected 3 arguments, got 2");
  // None is read where there cannot be so many: not on a CPU, nor to find out which GPU it is for.
  options.num_values = SIZE_MAX;
  const std::string message = "kernel 'scaled': expected 3 arguments, got " + std::to_string(SIZE_MAX);
  EXPECT_EQ(take(attnc_linked_launch(&linked, &options)), message);
  attnc_linked_kernel onGpu = linked;
  onGpu.entries = nullptr;
  onGpu.state = nullptr;
  EXPECT_EQ(take(attnc_linked_launch(&onGpu, &options)), message);
  attnc_linked_unload(&onGpu);
  options.struct_size = 0;
  EXPECT_EQ(take(attnc_linked_launch(&linked, &options)),
            "expected struct_size of attnc_launch_options to be its size, got 0");
}

TEST_F(LinkedKernel, GivesItsKernel) {
  attnc_kernel *kernel = nullptr;
  ASSERT_EQ(attnc_linked_get_kernel(&linked, -1, &kernel), nullptr);
  attnc_kernel_info info = {};
  info.struct_size = sizeof(info);
  ASSERT_EQ(attnc_kernel_get_info(kernel, &info), nullptr);
  EXPECT_STREQ(info.name, "scaled");
  EXPECT_EQ(info.num_arguments, 3u);
  attnc_kernel_destroy(kernel);
  EXPECT_EQ(take(attnc_linked_get_kernel(&linked, -1, nullptr)), "expected a place for the kernel, got null");
}

TEST_F(LinkedKernel, IsCalledByTvmFfi) {
  EXPECT_EQ(call({pointer(&x), real(2), pointer(&y)}), 0);
  EXPECT_EQ(out, (std::vector<float>{2, 4, 6}));
  EXPECT_EQ(result.type, None);
  EXPECT_EQ(result.integer, 0);
  // Tensors that are objects, and an integer in the place of a real number.
  struct Object {
    uint64_t count;
    int32_t type;
    uint32_t padding;
    void (*end)(void *, int);
    DLTensor tensor;
  } object = {1, TensorObject, 0, nullptr, y};
  TvmFfiAny three = {Integer, 0, {3}};
  EXPECT_EQ(call({pointer(&x), three, pointer(&object, TensorObject)}), 0);
  EXPECT_EQ(out, (std::vector<float>{3, 6, 9}));
}

TEST_F(LinkedKernel, RefusesCallsByTvmFfi) {
  // There is no TVM FFI here to hear why.
  EXPECT_EQ(call({}), -1);
  EXPECT_EQ(call({pointer(&x), real(2)}), -1);
  EXPECT_EQ(call({pointer(&x), real(2), pointer(&y), pointer(&y)}), -1);
  EXPECT_EQ(call({pointer(&x), pointer(nullptr, None), pointer(&y)}), -1);
  EXPECT_EQ(call({pointer(&x), pointer(&x), pointer(&y)}), -1);
  EXPECT_EQ(call({real(1), real(2), pointer(&y)}), -1);
  EXPECT_EQ(call({pointer(nullptr), real(2), pointer(&y)}), -1);
  EXPECT_EQ(call({pointer(nullptr, TensorObject), real(2), pointer(&y)}), -1);
  EXPECT_EQ(call({pointer("x", RawString), real(2), pointer(&y)}), -1);
  EXPECT_EQ(attnc_linked_call(&linked, nullptr, -1, nullptr), -1);
  EXPECT_EQ(result.type, Integer) << "untouched";
  EXPECT_EQ(out, (std::vector<float>{0, 0, 0}));
}

TEST_F(LinkedKernel, NamesWhatTvmFfiGives) {
  Result<KernelImage> image = deserialize(bytes);
  ASSERT_TRUE(image);
  const auto read = [&](std::vector<TvmFfiAny> args) {
    std::vector<attnc_value> values;
    return readTvmFfi(*image, args, values).message();
  };
  EXPECT_EQ(read({pointer(&x)}), "kernel 'scaled': expected 3 arguments (x, c, y), got 1");
  EXPECT_EQ(read({pointer(&x), real(1), pointer(nullptr, None)}), "argument 'y': expected a tensor, got None");
  EXPECT_EQ(read({pointer(&x), pointer("2", SmallString), pointer(&y)}),
            "argument 'c': expected an int or a float, got a string");
  EXPECT_EQ(read({pointer(&x, 71), real(1), pointer(&y)}),
            "argument 'x': expected a tensor, got a value of TVM FFI's type 71");
  EXPECT_EQ(read({pointer(&x), real(1), pointer(&y)}), "");
}

TEST_F(LinkedKernel, FindsTheGpuOfTensors) {
  DLTensor there = x;
  there.device_type = dlpack::cuda;
  there.device_id = 3;
  EXPECT_EQ(findTvmFfiDevice({}), -1);
  EXPECT_EQ(findTvmFfiDevice({pointer(&x), real(1), pointer(nullptr)}), -1);
  EXPECT_EQ(findTvmFfiDevice({real(1), pointer(&x), pointer(&there)}), 3);
}

TEST_F(LinkedKernel, LoadsOnceForAllThreads) {
  std::vector<std::thread> threads;
  threads.reserve(8);
  std::atomic<int> right{0};
  for (int thread = 0; thread < 8; ++thread)
    threads.emplace_back([&] {
      std::vector<float> mine(3);
      DLTensor own = makeTensor(mine, &size);
      TvmFfiAny none = {};
      right += call({pointer(&x), real(2), pointer(&own)}, none) == 0 && mine == std::vector<float>{2, 4, 6};
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(right, 8);
  EXPECT_NE(linked.state, nullptr);
}

TEST_F(LinkedKernel, IsLoadedAgainByForkedChildren) {
  if (isThreadSanitized)
    GTEST_SKIP() << "ThreadSanitizer ends children that start threads";
  ASSERT_EQ(call({pointer(&x), real(2), pointer(&y)}), 0);
  void *parents = linked.state;
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(60);
    bool right = call({pointer(&x), real(5), pointer(&y)}) == 0 && out == std::vector<float>{5, 10, 15};
    right &= linked.state != parents;
    attnc_linked_unload(&linked);
    _exit(right ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(LinkedKernel, IsUnloadedAndLoadedAgain) {
  attnc_linked_unload(&linked);
  ASSERT_EQ(call({pointer(&x), real(2), pointer(&y)}), 0);
  attnc_linked_unload(&linked);
  EXPECT_EQ(linked.state, nullptr);
  EXPECT_EQ(call({pointer(&x), real(4), pointer(&y)}), 0);
  EXPECT_EQ(out, (std::vector<float>{4, 8, 12}));
}

TEST_F(LinkedKernel, RefusesWhatDoesNotFit) {
  attnc_kernel *kernel = nullptr;
  linked.num_entries = 0;
  EXPECT_EQ(take(attnc_linked_get_kernel(&linked, -1, &kernel)),
            "kernel 'scaled': expected 1 functions in the shared object, got 0");
  attnc_linked_unload(&linked);
  linked.image_bytes = 10;
  EXPECT_NE(take(attnc_linked_get_kernel(&linked, -1, &kernel)), "");
  EXPECT_EQ(kernel, nullptr);
}

#if defined(__x86_64__)
TEST_F(LinkedKernel, RefusesOtherCpus) {
  EXPECT_EQ(findMissingFeature(""), "");
  EXPECT_EQ(findMissingFeature("-avx512fp16,-gfni,+sse3,+cx8,+"), "");
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512fp16"))
    GTEST_SKIP() << "this CPU has all that kernels may be compiled for";
  EXPECT_EQ(findMissingFeature("+sse3,+avx512fp16"), "avx512fp16");
  linked.features = "+sse3,+avx512fp16";
  attnc_kernel *kernel = nullptr;
  EXPECT_EQ(take(attnc_linked_get_kernel(&linked, -1, &kernel)),
            "kernel 'scaled' was compiled for cpu:test: this CPU has no avx512fp16");
}
#endif

} // namespace
