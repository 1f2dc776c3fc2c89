//===- CApiTest.cpp - Tests of the C API ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/capi/CApi.h"
#include "../cache/CacheTestSupport.h"
#include "FakeDriver.h"
#include "runtime/cache/CacheKey.h"
#include "runtime/capi/Compiler.h"
#include "runtime/capi/Dlpack.h"
#include <gtest/gtest.h>

using namespace attnc::image;
using namespace attnc::runtime;
using namespace attnc::capi;
using namespace attnc::test;
using attnc::cache::CacheOptions;
using attnc::cache::KernelCache;

namespace {

/// x[N, 64] in bf16, c in f32, y[N, 64]; blocks of 128 threads for 16 rows each.
class CApi : public ::testing::Test {
protected:
  void SetUp() override {
    KernelImage image;
    image.name = "twice";
    image.target = "nvptx:sm_90a";
    image.symbols = {"N"};
    image.args.resize(3);
    const char *names[] = {"x", "c", "y"};
    for (size_t i : {0, 1, 2})
      image.args[i].name = names[i];
    for (size_t i : {0, 2}) {
      image.args[i].dtype = DType::BF16;
      image.args[i].dims = {{-1, 0}, {64}};
      image.args[i].unitInnerStride = true;
    }
    image.args[1].kind = ArgKind::Scalar;
    image.args[2].role = ArgRole::Output;
    KernelEntry entry;
    entry.symbol = "twice_entry";
    entry.grid = GridRule::combine(GridRule::Op::CeilDiv, GridRule::symbol(0), GridRule::constant(16));
    entry.threads = 128;
    entry.sharedBytes = 1000;
    entry.takesCounter = true;
    image.entries = {entry};
    image.bytes = {0x7F, 'E', 'L', 'F', 0};
    bytes = serialize(image);
    fake.onLaunch = [this](void **parameters) {
      const auto *block = static_cast<const int64_t *>(parameters[0]);
      slots.assign(block, block + 11);
    };
    auto loaded = attnc::capi::loadKernel(fake.device(), bytes);
    ASSERT_TRUE(loaded) << loaded.message();
    kernel = *loaded;
    fake.clear();
  }

  void TearDown() override { attnc_kernel_destroy(kernel); }

  /// A tensor of `rows` rows.
  attnc_value tensor(uint64_t address, int32_t dtype = ATTNC_BF16) {
    attnc_value value = {};
    value.kind = ATTNC_TENSOR;
    value.as.tensor = {address, dtype, 2, sizes, nullptr};
    return value;
  }

  static attnc_value real(double number) {
    attnc_value value = {};
    value.kind = ATTNC_REAL;
    value.as.real = number;
    return value;
  }

  /// Launches; the message of the error, empty where there is none.
  std::string launch(const std::vector<attnc_value> &values) {
    attnc_launch_options options = {};
    options.struct_size = sizeof(options);
    options.values = values.data();
    options.num_values = values.size();
    options.value_size = sizeof(attnc_value);
    options.stream = reinterpret_cast<void *>(0x77);
    return take(attnc_kernel_launch(kernel, &options));
  }

  static std::string take(attnc_error *error) {
    std::string message = attnc_error_message(error);
    attnc_error_destroy(error);
    return message;
  }

  FakeDriver fake;
  std::vector<uint8_t> bytes;
  std::vector<int64_t> slots;
  int64_t sizes[2] = {40, 64};
  attnc_kernel *kernel = nullptr;
};

TEST_F(CApi, Launches) {
  EXPECT_EQ(launch({tensor(0x10000), real(2), tensor(0x20000)}), "");
  ASSERT_EQ(fake.launches.size(), 1u);
  EXPECT_EQ(fake.launches[0].function, "twice_entry");
  EXPECT_EQ(fake.launches[0].grid, 3u);
  EXPECT_EQ(fake.launches[0].stream, reinterpret_cast<attnc::cuda::StreamHandle>(0x77));
  EXPECT_EQ(slots, (std::vector<int64_t>{0x10000, 40, 64, 64, 1, 0x40000000, 0x20000, 40, 64, 64, 1}));
}

TEST_F(CApi, TakesStrides) {
  const int64_t strides[2] = {128, 1};
  attnc_value x = tensor(0x10000);
  x.as.tensor.strides = strides;
  EXPECT_EQ(launch({x, real(2), tensor(0x20000)}), "");
  EXPECT_EQ(slots[3], 128);
}

TEST_F(CApi, RemembersLaunchesByAllOfTheirValues) {
  const int64_t strides[2] = {128, 1};
  attnc_value strided = tensor(0x10000);
  strided.as.tensor.strides = strides;
  // Twice in turn: each launch is as it was.
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(launch({tensor(0x10000), real(2), tensor(0x20000)}), "");
    EXPECT_EQ(slots, (std::vector<int64_t>{0x10000, 40, 64, 64, 1, 0x40000000, 0x20000, 40, 64, 64, 1}));
    EXPECT_EQ(launch({tensor(0x30000), real(2), tensor(0x20000)}), "");
    EXPECT_EQ(slots[0], 0x30000);
    EXPECT_EQ(launch({strided, real(2), tensor(0x20000)}), "");
    EXPECT_EQ(slots[3], 128);
    EXPECT_EQ(launch({tensor(0x10000), real(3), tensor(0x20000)}), "");
    EXPECT_EQ(slots[5], 0x40400000);
    // The caller's sizes are read at each launch.
    sizes[0] = 33;
    EXPECT_EQ(launch({tensor(0x10000), real(2), tensor(0x20000)}), "");
    EXPECT_EQ(slots[1], 33);
    sizes[0] = 40;
    EXPECT_NE(launch({tensor(0x10000, ATTNC_F32), real(2), tensor(0x20000)}), "");
  }
  EXPECT_EQ(fake.launches.size(), 10u);
}

TEST_F(CApi, RemembersMoreLaunchesThanItKeeps) {
  for (int i = 0; i < 2; ++i)
    for (uint64_t address = 0x10000; address < 0x1010000; address += 0x10000) {
      EXPECT_EQ(launch({tensor(address), real(2), tensor(0x4000000)}), "");
      EXPECT_EQ(slots[0], static_cast<int64_t>(address));
    }
}

TEST_F(CApi, RefusesWhatDoesNotFit) {
  EXPECT_EQ(launch({tensor(0x10000, ATTNC_F32), real(2), tensor(0x20000)}),
            "argument 'x': expected element type bf16, got f32");
  EXPECT_EQ(launch({tensor(0x10000, 99), real(2), tensor(0x20000)}), "argument 'x': unknown element type 99");
  attnc_value odd = tensor(0x20000);
  odd.kind = 7;
  EXPECT_EQ(launch({tensor(0x10000), real(2), odd}), "argument 'y': unknown kind of value 7");
  odd = tensor(0x20000);
  odd.as.tensor.rank = 17;
  EXPECT_EQ(launch({tensor(0x10000), real(2), odd}), "argument 'y': expected a rank from 0 to 16, got 17");
  odd.as.tensor.rank = 2;
  odd.as.tensor.sizes = nullptr;
  EXPECT_EQ(launch({tensor(0x10000), real(2), odd}), "argument 'y': expected sizes, got null");
  EXPECT_NE(launch({tensor(0x10000)}), "");
  // None is read where there cannot be so many.
  std::vector<attnc_value> values = {tensor(0x10000), real(2), tensor(0x20000)};
  attnc_launch_options options = {};
  options.struct_size = sizeof(options);
  options.values = values.data();
  options.value_size = sizeof(attnc_value);
  for (size_t count : {size_t{1} << 40, SIZE_MAX}) {
    options.num_values = count;
    const std::string message = "kernel 'twice': expected 3 arguments, got " + std::to_string(count);
    EXPECT_EQ(take(attnc_kernel_launch(kernel, &options)), message);
    uint64_t bytes = 0;
    EXPECT_EQ(take(attnc_kernel_get_workspace(kernel, &options, &bytes)), message);
  }
  EXPECT_TRUE(fake.launches.empty());
}

TEST_F(CApi, TellsItsWorkspace) {
  std::vector<attnc_value> values = {tensor(0x10000), real(2), tensor(0x20000)};
  attnc_launch_options options = {};
  options.struct_size = sizeof(options);
  options.values = values.data();
  options.num_values = values.size();
  options.value_size = sizeof(attnc_value);
  uint64_t size = 1;
  EXPECT_EQ(take(attnc_kernel_get_workspace(kernel, &options, &size)), "");
  EXPECT_EQ(size, 0u);
  options.num_values = 1;
  EXPECT_NE(take(attnc_kernel_get_workspace(kernel, &options, &size)), "");
  EXPECT_NE(take(attnc_kernel_get_workspace(kernel, &options, nullptr)), "");
}

TEST_F(CApi, ReadsStructuresOfOtherVersions) {
  attnc_launch_options options = {};
  EXPECT_EQ(take(attnc_kernel_launch(kernel, &options)),
            "expected struct_size of attnc_launch_options to be its size, got 0");
  EXPECT_EQ(take(attnc_kernel_launch(kernel, nullptr)), "expected an attnc_launch_options, got null");

  // An older caller's info ends before the names; what lies behind stays as it is.
  attnc_kernel_info info = {};
  info.struct_size = offsetof(attnc_kernel_info, target);
  EXPECT_EQ(take(attnc_kernel_get_info(kernel, &info)), "");
  EXPECT_STREQ(info.name, "twice");
  EXPECT_EQ(info.target, nullptr);
  EXPECT_EQ(info.struct_size, offsetof(attnc_kernel_info, target));
}

TEST_F(CApi, TellsWhatAKernelIs) {
  attnc_kernel_info info = {};
  info.struct_size = sizeof(info);
  ASSERT_EQ(take(attnc_kernel_get_info(kernel, &info)), "");
  EXPECT_STREQ(info.target, "nvptx:sm_90a");
  EXPECT_EQ(info.num_arguments, 3u);
  EXPECT_EQ(info.num_entries, 1u);
  EXPECT_GT(info.resident_bytes, 0u);
  EXPECT_EQ(info.registers, 168);
  EXPECT_EQ(info.shared_bytes, 1000);
  EXPECT_EQ(info.threads, 128);

  attnc_argument_info argument = {};
  argument.struct_size = sizeof(argument);
  ASSERT_EQ(take(attnc_kernel_get_argument(kernel, 2, &argument)), "");
  EXPECT_STREQ(argument.name, "y");
  EXPECT_EQ(argument.is_tensor, 1);
  EXPECT_EQ(argument.is_output, 1);
  EXPECT_EQ(argument.dtype, ATTNC_BF16);
  EXPECT_EQ(argument.rank, 2);
  EXPECT_EQ(take(attnc_kernel_get_argument(kernel, 3, &argument)), "expected an argument below 3, got 3");

  attnc_dimension_info dimension = {};
  dimension.struct_size = sizeof(dimension);
  ASSERT_EQ(take(attnc_kernel_get_dimension(kernel, 2, 0, &dimension)), "");
  EXPECT_EQ(dimension.size, -1);
  EXPECT_STREQ(dimension.symbol, "N");
  EXPECT_EQ(dimension.extra, 0);
  EXPECT_EQ(dimension.broadcast, 0);
  ASSERT_EQ(take(attnc_kernel_get_dimension(kernel, 2, 1, &dimension)), "");
  EXPECT_EQ(dimension.size, 64);
  EXPECT_EQ(dimension.symbol, nullptr);
  EXPECT_EQ(take(attnc_kernel_get_dimension(kernel, 2, 2, &dimension)),
            "argument 'y': expected a dimension below 2, got 2");
  EXPECT_EQ(take(attnc_kernel_get_dimension(kernel, 1, 0, &dimension)),
            "argument 'c': expected a dimension below 0, got 0");
  EXPECT_EQ(take(attnc_kernel_get_dimension(kernel, 3, 0, &dimension)), "expected an argument below 3, got 3");
}

TEST_F(CApi, TakesTensorsOfDlpack) {
  DLTensor x = {reinterpret_cast<void *>(0x10000), dlpack::cuda, 0, 2, dlpack::bfloat, 16, 1, sizes, nullptr, 0x100};
  attnc_value described = {};
  described.kind = ATTNC_DLPACK;
  described.as.dlpack = &x;
  EXPECT_EQ(launch({described, real(2), tensor(0x20000)}), "");
  EXPECT_EQ(slots, (std::vector<int64_t>{0x10100, 40, 64, 64, 1, 0x40000000, 0x20000, 40, 64, 64, 1}));
  // It is the same launch as that of a plain tensor.
  fake.clear();
  EXPECT_EQ(launch({tensor(0x10100), real(2), tensor(0x20000)}), "");
  EXPECT_EQ(slots[0], 0x10100);
  x.device_id = 1;
  EXPECT_EQ(launch({described, real(2), tensor(0x20000)}),
            "argument 'x': expected a tensor on GPU 0 (DLPack device 2), got one on device 2, number 1");
  x.device_id = 0;
  x.type_lanes = 2;
  EXPECT_EQ(launch({described, real(2), tensor(0x20000)}),
            "argument 'x': no kernel has elements of DLPack's type (4, 16, 2)");
}

TEST_F(CApi, FindsKernelsWithoutACompiler) {
  EXPECT_EQ(attnc_has_compiler(), 0);
  TemporaryDirectory root;
  CacheOptions options;
  options.directory = root.path();
  KernelCache shipped(options);
  KernelImage image = *deserialize(bytes);
  CompileRequest request{std::make_shared<SpecSource>(SpecSource{"text", "spec.mlir", ""}),
                         "nvptx",
                         "",
                         false,
                         fake.device(),
                         /*shape=*/""};

  Compiled none = findWithoutCompiler(request, shipped);
  ASSERT_TRUE(none.fault);
  EXPECT_EQ(none.fault->kind, ATTNC_ERROR_COMPILER);
  EXPECT_EQ(none.fault->message, "this library holds no compiler, and the kernel cache '" + root.path() +
                                     "' has no kernel of spec 'spec.mlir' for nvptx:sm_90a, nvptx:sm_90; 'attnc cache "
                                     "import --help' says how kernels come there");

  // Of any build, for all GPUs of this kind, then for this very one.
  shipped.put(makeKey(1), image);
  shipped.addAlias(attnc::cache::keyOf({"text", "", "nvptx:sm_90a", "", ""}), {makeKey(10), makeKey(1)});
  Compiled general = findWithoutCompiler(request, shipped);
  ASSERT_FALSE(general.fault);
  EXPECT_EQ(general.image.image->name, "twice");
  image.name = "thrice";
  shipped.put(makeKey(2), image);
  const std::string machine = attnc::capi::describeMachine(fake.device()->facts());
  shipped.addAlias(attnc::cache::keyOf({"text", "", "nvptx", machine, ""}), {makeKey(11), makeKey(2)});
  EXPECT_EQ(findWithoutCompiler(request, shipped).image.image->name, "thrice");
  request.target = "nvptx:sm_90a";
  EXPECT_EQ(findWithoutCompiler(request, shipped).image.image->name, "twice");
  request.backward = true;
  EXPECT_TRUE(findWithoutCompiler(request, shipped).fault);
  request.backward = false;
  request.schedule = "another";
  EXPECT_TRUE(findWithoutCompiler(request, shipped).fault);
}

TEST_F(CApi, WithoutACompilerNothingIsCompiled) {
  attnc_context_options options = {};
  options.struct_size = sizeof(options);
  options.use_cache = -1;
  attnc_context *context = nullptr;
  ASSERT_EQ(take(attnc_context_create(&options, &context)), "");
  attnc_spec_options source = {};
  source.struct_size = sizeof(source);
  source.text = "anything";
  source.text_bytes = 8;
  attnc_spec *spec = nullptr;
  ASSERT_EQ(take(attnc_spec_create(context, &source, &spec)), "");
  attnc_compile_options wish = {};
  wish.struct_size = sizeof(wish);
  wish.target = "cpu";
  attnc_kernel *compiled = nullptr;
  EXPECT_EQ(take(attnc_compile(context, spec, &wish, &compiled)),
            "expected a GPU as the target, got 'cpu': this library runs kernels on GPUs alone, libattnc runs them on "
            "CPUs too");
  attnc_spec_destroy(spec);
  attnc_context_destroy(context);
}

TEST_F(CApi, RefusesForeignImages) {
  bytes[bytes.size() / 2] ^= 1;
  auto loaded = attnc::capi::loadKernel(fake.device(), bytes);
  EXPECT_FALSE(loaded);
}

} // namespace
