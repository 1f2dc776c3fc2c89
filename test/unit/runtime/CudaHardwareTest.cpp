//===- CudaHardwareTest.cpp - Tests on a GPU -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// What a fake driver cannot show: that the driver takes our declarations, and a
// kernel its parameters, by the contract of `KernelEntry`. Skipped where no GPU
// is.

#include "runtime/cuda/Event.h"
#include "runtime/cuda/GpuLaunch.h"
#include "runtime/cuda/Staging.h"

#include <gtest/gtest.h>

using namespace attnc::cuda;
using namespace attnc::image;
using namespace attnc::runtime;

namespace {

/// y = 2 x, for x[N] and y[N] in f32: blocks of 128 threads take tiles of 128 elements from the counter, and the one
/// that finds no tile last sets it to 0.
constexpr const char *twicePtx = R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry twice_entry(.param .align 8 .b8 args[48], .param .u64 tiles, .param .u64 counter) {
  .reg .pred %p<6>;
  .reg .b32 %r<12>;
  .reg .b64 %rd<20>;
  .reg .f32 %f<3>;
  .shared .align 4 .b32 next;
  ld.param.u64 %rd1, [args];
  ld.param.u64 %rd2, [args+8];
  ld.param.u64 %rd3, [args+24];
  ld.param.u64 %rd4, [tiles];
  ld.param.u64 %rd5, [counter];
  cvta.to.global.u64 %rd1, %rd1;
  cvta.to.global.u64 %rd3, %rd3;
  cvta.to.global.u64 %rd5, %rd5;
  mov.u32 %r1, %tid.x;
  mov.u32 %r8, %nctaid.x;
  setp.eq.u32 %p1, %r1, 0;
LOOP:
  bar.sync 0;
  @!%p1 bra FETCHED;
  atom.global.add.u32 %r2, [%rd5], 1;
  st.shared.u32 [next], %r2;
FETCHED:
  bar.sync 0;
  ld.shared.u32 %r3, [next];
  cvt.u64.u32 %rd6, %r3;
  setp.ge.u64 %p2, %rd6, %rd4;
  @%p2 bra DONE;
  shl.b64 %rd7, %rd6, 7;
  cvt.u64.u32 %rd8, %r1;
  add.u64 %rd9, %rd7, %rd8;
  setp.ge.u64 %p3, %rd9, %rd2;
  @%p3 bra LOOP;
  shl.b64 %rd10, %rd9, 2;
  add.u64 %rd11, %rd1, %rd10;
  add.u64 %rd12, %rd3, %rd10;
  ld.global.f32 %f1, [%rd11];
  add.f32 %f2, %f1, %f1;
  st.global.f32 [%rd12], %f2;
  bra LOOP;
DONE:
  cvt.u64.u32 %rd13, %r8;
  add.u64 %rd14, %rd4, %rd13;
  add.u64 %rd15, %rd6, 1;
  setp.eq.u64 %p4, %rd15, %rd14;
  and.pred %p5, %p4, %p1;
  @%p5 st.global.u32 [%rd5], 0;
  ret;
}
)";

/// y[1, 8, 16] = a box of x[1, 6, 16] in f32, by a tensor map: one block, whose last two rows lie outside of x.
constexpr const char *boxPtx = R"(.version 8.0
.target sm_90
.address_size 64
.extern .shared .align 128 .b8 memory[];
.visible .entry box_entry(.param .align 8 .b8 args[112], .param .align 64 .b8 map[128], .param .u64 tiles) {
  .reg .pred %p<3>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<8>;
  .reg .f32 %f<2>;
  ld.param.u64 %rd1, [args+56];
  cvta.to.global.u64 %rd1, %rd1;
  mov.b64 %rd2, map;
  cvta.param.u64 %rd3, %rd2;
  mov.u32 %r1, memory;
  add.u32 %r2, %r1, 512;
  mov.u32 %r3, %tid.x;
  mov.u32 %r4, 0;
  setp.ne.u32 %p1, %r3, 0;
  @%p1 bra READY;
  mbarrier.init.shared.b64 [%r2], 1;
  fence.mbarrier_init.release.cluster;
  fence.proxy.async;
  mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 512;
  cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd3, {%r4, %r4, %r4}], [%r2];
READY:
  bar.sync 0;
WAIT:
  mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0;
  @!%p2 bra WAIT;
  shl.b32 %r5, %r3, 2;
  add.u32 %r6, %r1, %r5;
  ld.shared.f32 %f1, [%r6];
  cvt.u64.u32 %rd4, %r5;
  add.u64 %rd5, %rd1, %rd4;
  st.global.f32 [%rd5], %f1;
  ret;
}
)";

/// Argument `name` of dimensions `dims`.
ArgSpec makeArg(const char *name, ArgRole role, std::vector<DimSpec> dims) {
  ArgSpec arg;
  arg.name = name;
  arg.role = role;
  arg.dims = std::move(dims);
  return arg;
}

/// 0, 1, 2, ...
Tensor count(Span<const int64_t> shape) {
  Tensor tensor = *Tensor::allocate(DType::F32, shape);
  for (int64_t i = 0; i < tensor.numElements(); ++i)
    tensor.storeLinear(i, static_cast<double>(i));
  return tensor;
}

class CudaHardware : public ::testing::Test {
protected:
  void SetUp() override {
    Result<DeviceRef> opened = Device::openFirst();
    if (!opened)
      GTEST_SKIP() << opened.message();
    device = *opened;
  }

  /// Loads `text` with the facts of `image`.
  std::unique_ptr<GpuLaunch> load(KernelImage image, const std::string &text) {
    image.bytes.assign(text.begin(), text.end());
    auto launch = GpuLaunch::load(device, image);
    EXPECT_TRUE(launch) << launch.message();
    return launch ? std::move(*launch) : nullptr;
  }

  /// Runs on host tensors.
  Status run(GpuLaunch &launch, Span<const ArgValue> values) {
    Result<Staging> staging = Staging::copy(device, launch.image(), values);
    if (!staging)
      return staging.takeError();
    if (Status status = launch.launch(staging->arguments(), nullptr); !status)
      return status;
    if (Status status = device->synchronize("run a test"); !status)
      return status;
    return staging->copyBack();
  }

  DeviceRef device;
};

TEST_F(CudaHardware, CountsTilesOnAllMultiprocessors) {
  KernelImage image;
  image.name = "twice";
  image.symbols = {"N"};
  image.args = {makeArg("x", ArgRole::Input, {{-1, 0}}), makeArg("y", ArgRole::Output, {{-1, 0}})};
  KernelEntry entry = {"twice_entry",
                       GridRule::combine(GridRule::Op::CeilDiv, GridRule::symbol(0), GridRule::constant(128))};
  entry.threads = 128;
  entry.persistent = true;
  entry.blocksPerMultiprocessor = 2;
  entry.takesCounter = true;
  image.entries = {entry};
  auto launch = load(image, twicePtx);
  ASSERT_TRUE(launch);
  EXPECT_GT(launch->functions()[0].registers, 0);
  for (int64_t n : {1, 128, 1000000, 0, 1000, 1000000}) {
    Tensor x = count({n}), y = *Tensor::allocate(DType::F32, {n});
    y.poison();
    Status status = run(*launch, {x, y});
    ASSERT_TRUE(status) << status.message();
    for (int64_t i = 0; i < n; ++i)
      ASSERT_EQ(y.loadLinear(i), 2 * x.loadLinear(i)) << i << " of " << n;
  }
}

/// The image of a kernel that copies a box of x to y, with these tensor maps.
static KernelImage makeBoxImage(std::vector<TensorMapSpec> maps) {
  KernelImage image;
  image.name = "box";
  image.args = {makeArg("x", ArgRole::Input, {{-1}, {-1}, {16}}), makeArg("y", ArgRole::Output, {{1}, {8}, {16}})};
  KernelEntry entry = {"box_entry", GridRule::constant(1)};
  entry.threads = 128;
  entry.sharedBytes = 1024;
  entry.tensorMaps = std::move(maps);
  image.entries = {entry};
  return image;
}

TEST_F(CudaHardware, CopiesBoxesByTensorMaps) {
  if (device->facts().major < 9)
    GTEST_SKIP() << device->facts().toString();
  auto launch = load(makeBoxImage({{0, {1, 8, 16}, 0}}), boxPtx);
  ASSERT_TRUE(launch);
  for (int64_t rows : {6, 8, 0, 100}) {
    Tensor x = count({1, rows, 16}), y = *Tensor::allocate(DType::F32, {1, 8, 16});
    y.poison();
    Status status = run(*launch, {x, y});
    ASSERT_TRUE(status) << status.message();
    for (int64_t i = 0; i < 128; ++i)
      ASSERT_EQ(y.loadLinear(i), i < rows * 16 ? static_cast<double>(i) : 0) << i << " of " << rows << " rows";
  }
}

TEST_F(CudaHardware, CopiesBoxesOfCopies) {
  if (device->facts().major < 9)
    GTEST_SKIP() << device->facts().toString();
  // The result has a map as well, which the kernel does not use: so it is copied too.
  std::string text = boxPtx;
  const std::string map = ".param .align 64 .b8 map[128]";
  text.replace(text.find(map), map.size(), map + ", .param .align 64 .b8 unused[128]");
  auto launch = load(makeBoxImage({{0, {1, 8, 16}, 0}, {1, {1, 8, 16}, 0}}), text);
  ASSERT_TRUE(launch);
  Tensor memory = count({1000});
  for (int64_t stride : {17, -18, 0})
    for (int64_t rows : {1, 6, 8, 50}) {
      const int64_t first = stride < 0 ? 980 : 3;
      const float *data = memory.data<float>();
      Tensor x = Tensor::stridedView(const_cast<float *>(data) + first, DType::F32, {1, rows, 16}, {0, stride, 1});
      Tensor all = *Tensor::allocate(DType::F32, {200});
      all.fill(-1);
      Tensor y = Tensor::stridedView(all.data<float>() + 1, DType::F32, {1, 8, 16}, {200, 19, 1});
      Status status = run(*launch, {x, y});
      ASSERT_TRUE(status) << status.message();
      for (int64_t row = 0; row < 8; ++row)
        for (int64_t d = 0; d < 16; ++d)
          ASSERT_EQ(all.loadLinear(1 + row * 19 + d), row < rows ? first + row * stride + d : 0)
              << row << ", " << d << " at stride " << stride;
      EXPECT_EQ(all.loadLinear(0), -1);
      EXPECT_EQ(all.loadLinear(1 + 16), -1);
    }
}

TEST_F(CudaHardware, TellsWhatTheAssemblerSaid) {
  const std::string text = ".version 7.0\n.target sm_80\n.address_size 64\nnonsense\n";
  auto module =
      Module::load(device, Span<const uint8_t>(reinterpret_cast<const uint8_t *>(text.data()), text.size()), "forward");
  ASSERT_FALSE(module);
  EXPECT_NE(module.message().find("CUDA_ERROR_INVALID_PTX"), std::string::npos) << module.message();
  EXPECT_NE(module.message().find("ptxas"), std::string::npos) << module.message();
}

TEST_F(CudaHardware, MeasuresTime) {
  Event begin = *Event::create(device), end = *Event::create(device);
  ASSERT_TRUE(begin.record(nullptr));
  ASSERT_TRUE(end.record(nullptr));
  ASSERT_TRUE(end.wait());
  Result<double> seconds = end.secondsSince(begin);
  ASSERT_TRUE(seconds) << seconds.message();
  EXPECT_GE(*seconds, 0);
  EXPECT_LT(*seconds, 1);
}

} // namespace
