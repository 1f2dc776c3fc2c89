//===- CpuLaunchTest.cpp - Tests of running kernels ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The "kernel" squares the elements of x into y, then sums tiles of y into z.

#include "runtime/CpuLaunch.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace attnc::image;
using namespace attnc::runtime;

namespace {

constexpr int64_t tile = 16;
constexpr int64_t scratchBytes = tile * sizeof(float);

/// One tile of y = x * x, by way of the scratch memory. Slots: x at 0 to 2, y at
/// 3 to 5, z at 6 to 8.
void square(const int64_t *arguments, int64_t index, void *scratch) {
  const auto *x = reinterpret_cast<const float *>(arguments[0]);
  auto *y = reinterpret_cast<float *>(arguments[3]);
  auto *squares = static_cast<float *>(scratch);
  const int64_t begin = index * tile, end = std::min(begin + tile, arguments[1]);
  for (int64_t i = begin; i < end; ++i)
    squares[i - begin] = x[i * arguments[2]] * x[i * arguments[2]];
  for (int64_t i = begin; i < end; ++i)
    y[i * arguments[5]] = squares[i - begin];
}

/// The sum of all of y, which must be done.
void sum(const int64_t *arguments, int64_t, void *) {
  const auto *y = reinterpret_cast<const float *>(arguments[3]);
  float total = 0;
  for (int64_t i = 0; i < arguments[4]; ++i)
    total += y[i * arguments[5]];
  *reinterpret_cast<float *>(arguments[6]) = total;
}

KernelImage makeImage() {
  KernelImage image;
  image.name = "squares";
  image.symbols = {"N"};
  ArgSpec x, y, z;
  x.name = "x";
  x.dims = {{-1, 0, false}};
  y = x;
  y.name = "y";
  y.role = z.role = ArgRole::Output;
  z.name = "z";
  z.dims = {{1, -1, false}};
  image.args = {x, y, z};
  image.entries = {
      {"square", GridRule::combine(GridRule::Op::CeilDiv, GridRule::symbol(0), GridRule::constant(tile)), scratchBytes},
      {"sum", GridRule::constant(1), 0}};
  return image;
}

TEST(CpuLaunch, RunsEntriesInOrderOverAllTiles) {
  const KernelImage image = makeImage();
  ThreadPool pool(4);
  for (int64_t n : {1, 15, 16, 17, 1000, 0}) {
    Tensor x = *Tensor::allocate(DType::F32, {n}), y = *Tensor::allocate(DType::F32, {n});
    Tensor z = *Tensor::allocate(DType::F32, {1});
    for (int64_t i = 0; i < n; ++i)
      x.storeLinear(i, static_cast<double>(i % 7));
    y.poison();
    z.poison();
    Result<BoundArguments> bound = bindArguments(image, {x, y, z});
    ASSERT_TRUE(bound) << bound.message();
    Status status = runCpu(image, {square, sum}, *bound, pool);
    ASSERT_TRUE(status) << status.message();
    double expected = 0;
    for (int64_t i = 0; i < n; ++i) {
      EXPECT_EQ(y.loadLinear(i), static_cast<double>((i % 7) * (i % 7)));
      expected += y.loadLinear(i);
    }
    EXPECT_EQ(z.loadLinear(0), expected);
  }
  EXPECT_EQ(pool.peakScratchBytes(), 4 * scratchBytes) << "O(threads x tile)";
}

TEST(CpuLaunch, LeavesOutEntriesForOtherSizes) {
  KernelImage image = makeImage();
  image.entries.push_back(image.entries[0]);
  image.entries[0].launches.when = {{GridRule::symbol(0), 0, 99}};
  image.entries[0].scratchBytes = INT64_MAX; // which is not to be had
  image.entries[2].launches.unless = {image.entries[0].launches.when};
  ThreadPool pool(2);
  Tensor z = *Tensor::allocate(DType::F32, {1});
  const auto run = [&](int64_t n) {
    Tensor x = *Tensor::allocate(DType::F32, {n}), y = *Tensor::allocate(DType::F32, {n});
    x.fill(3);
    y.fill(-1);
    Result<BoundArguments> bound = bindArguments(image, {x, y, z});
    EXPECT_TRUE(bound) << bound.message();
    Status status = runCpu(image, {square, sum, square}, *bound, pool);
    return status ? y.loadLinear(n - 1) : -2;
  };
  EXPECT_EQ(run(99), -2);
  EXPECT_EQ(run(100), 9);
  EXPECT_EQ(z.loadLinear(0), -100) << "before the squares, as the order says";
}

TEST(CpuLaunch, RunsNothingWhenAGridHasNoValue) {
  KernelImage image = makeImage();
  image.entries[1].grid = GridRule::combine(GridRule::Op::Mul, GridRule::symbol(0), GridRule::constant(INT64_MAX));
  Tensor x = *Tensor::allocate(DType::F32, {2}), y = *Tensor::allocate(DType::F32, {2});
  y.fill(-1);
  ThreadPool pool(2);
  Result<BoundArguments> bound = bindArguments(image, {x, y, *Tensor::allocate(DType::F32, {1})});
  ASSERT_TRUE(bound);
  EXPECT_EQ(runCpu(image, {square, sum}, *bound, pool).message(),
            "kernel 'squares': no number of tiles for entry 'sum': N * 9223372036854775807");
  EXPECT_EQ(y.loadLinear(0), -1);
}

TEST(CpuLaunch, RunsNothingWithoutScratch) {
  KernelImage image = makeImage();
  image.entries[1].scratchBytes = INT64_MAX;
  Tensor x = *Tensor::allocate(DType::F32, {2}), y = *Tensor::allocate(DType::F32, {2});
  y.fill(-1);
  ThreadPool pool(2);
  Result<BoundArguments> bound = bindArguments(image, {x, y, *Tensor::allocate(DType::F32, {1})});
  ASSERT_TRUE(bound);
  EXPECT_EQ(runCpu(image, {square, sum}, *bound, pool).message(),
            "kernel 'squares': out of memory: scratch of 9223372036854775807 bytes for each of 2 "
            "workers");
  EXPECT_EQ(y.loadLinear(0), -1);
}

} // namespace
