//===- PeakRates.cpp - What this CPU can do at most -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/explain/PeakRates.h"
#include "runtime/ThreadPool.h"
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <unistd.h>

using namespace attnc;
using namespace attnc::explain;

namespace {

/// Registers as the compiler knows them, without intrinsics, and their lanes as integers.
struct Wide {
  using Floats = float __attribute__((vector_size(64)));
  using Words = int32_t __attribute__((vector_size(64)));
};
struct Narrow {
  using Floats = float __attribute__((vector_size(32)));
  using Words = int32_t __attribute__((vector_size(32)));
};

template <typename Vector>
constexpr int64_t lanes = sizeof(typename Vector::Floats) / sizeof(float);

/// Independent sums: enough to hide the latency of a multiply-add on two ports, few enough to stay in registers.
constexpr int64_t chains = 12;

/// Multiply-adds of every chain in one call.
constexpr int64_t rounds = 50000;

/// Exponentials are taken of so many registers at once, so often in one call.
constexpr int64_t exponentialChains = 4, exponentialRounds = 20000;

} // namespace

/// Runs `rounds` multiply-adds on each of `chains` vectors; the result keeps them alive. Inlined, as all that follows,
/// into functions for one instruction set each.
template <typename Vector>
[[gnu::always_inline]] static inline float multiplyAdd(float seed) {
  using Floats = typename Vector::Floats;
  Floats sums[chains], factor = Floats{} + 0.999F, addend = Floats{} + seed;
  for (Floats &sum : sums)
    sum = addend;
  for (int64_t round = 0; round < rounds; ++round) {
#pragma clang loop unroll(full)
    for (Floats &sum : sums)
      sum = __builtin_elementwise_fma(sum, factor, addend);
  }
  Floats total = sums[0];
  for (int64_t chain = 1; chain < chains; ++chain)
    total += sums[chain];
  return total[0];
}

/// Adds e^x to `sum` by the steps that codegen/cpu/ExpandMath.cpp writes: what counts is their number, not the last
/// bit. By reference, for vectors of 64 bytes are passed in another way where there is AVX-512.
template <typename Vector>
[[gnu::always_inline]] static inline void addExponential(const typename Vector::Floats &x,
                                                         typename Vector::Floats &sum) {
  using Floats = typename Vector::Floats;
  using Words = typename Vector::Words;
  const Floats zero = {};
  Floats shifted = __builtin_elementwise_fma(x, zero + 1.44269504F, zero + 12582912.0F);
  Floats whole = shifted - 12582912.0F;
  Floats fraction = __builtin_elementwise_fma(whole, zero - 0.693145752F, x);
  fraction = __builtin_elementwise_fma(whole, zero - 1.42860682e-6F, fraction);
  Floats power = zero + 1.39336428e-3F;
#pragma clang loop unroll(full)
  for (float coefficient : {8.36914964e-3F, 0.0416664667F, 0.166665047F, 0.5F, 1.0F, 1.0F})
    power = __builtin_elementwise_fma(power, fraction, zero + coefficient);
  auto scaled = reinterpret_cast<Floats>(reinterpret_cast<Words>(power) + (reinterpret_cast<Words>(shifted) << 23));
  scaled = x < zero - 87.3F ? zero : scaled;
  sum += x > zero + 88.7228317F ? zero + __builtin_inff() : scaled;
}

/// Sums `exponentialRounds` exponentials in each lane of `exponentialChains` vectors.
template <typename Vector>
[[gnu::always_inline]] static inline float exponentiate(float seed) {
  using Floats = typename Vector::Floats;
  Floats sums[exponentialChains], x = Floats{} - seed;
  for (Floats &sum : sums)
    sum = Floats{};
  for (int64_t round = 0; round < exponentialRounds; ++round) {
#pragma clang loop unroll(full)
    for (Floats &sum : sums) {
      addExponential<Vector>(x, sum);
      x -= 1e-4F;
    }
  }
  return (sums[0] + sums[1] + sums[2] + sums[3])[0];
}

/// Reads `count` numbers, a multiple of 64.
template <typename Vector>
[[gnu::always_inline]] static inline float readAll(const float *data, int64_t count) {
  using Floats = typename Vector::Floats;
  Floats sums[4];
  for (Floats &sum : sums)
    sum = Floats{};
  for (int64_t n = 0; n < count; n += 4 * lanes<Vector>) {
#pragma clang loop unroll(full)
    for (int64_t part = 0; part < 4; ++part) {
      Floats read;
      std::memcpy(&read, data + n + part * lanes<Vector>, sizeof(read));
      sums[part] += read;
    }
  }
  return (sums[0] + sums[1] + sums[2] + sums[3])[0];
}

namespace {

/// The loops for one instruction set.
struct Loops {
  int64_t lanes;
  float (*multiplyAdd)(float seed);
  float (*exponentiate)(float seed);
  float (*readAll)(const float *data, int64_t count);
};

} // namespace

#if defined(__x86_64__)
[[gnu::target("avx512f"), gnu::noinline]] static float multiplyAddWide(float x) { return multiplyAdd<Wide>(x); }
[[gnu::target("avx512f"), gnu::noinline]] static float exponentiateWide(float x) { return exponentiate<Wide>(x); }
[[gnu::target("avx512f"), gnu::noinline]] static float readAllWide(const float *data, int64_t count) {
  return readAll<Wide>(data, count);
}
[[gnu::target("avx2,fma"), gnu::noinline]] static float multiplyAddNarrow(float x) { return multiplyAdd<Narrow>(x); }
[[gnu::target("avx2,fma"), gnu::noinline]] static float exponentiateNarrow(float x) { return exponentiate<Narrow>(x); }
[[gnu::target("avx2,fma"), gnu::noinline]] static float readAllNarrow(const float *data, int64_t count) {
  return readAll<Narrow>(data, count);
}
#endif
static float multiplyAddPlain(float x) { return multiplyAdd<Narrow>(x); }
static float exponentiatePlain(float x) { return exponentiate<Narrow>(x); }
static float readAllPlain(const float *data, int64_t count) { return readAll<Narrow>(data, count); }

/// The loops that this CPU runs fastest.
static Loops chooseLoops() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f"))
    return {lanes<Wide>, multiplyAddWide, exponentiateWide, readAllWide};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return {lanes<Narrow>, multiplyAddNarrow, exponentiateNarrow, readAllNarrow};
#endif
  return {lanes<Narrow>, multiplyAddPlain, exponentiatePlain, readAllPlain};
}

/// The greatest rate seen in about 50 ms, where `body` runs once on each core at a time and does `amount` in it.
static double measureRate(double amount, image::FunctionRef<float(int64_t task)> body) {
  using Clock = std::chrono::steady_clock;
  runtime::ThreadPool &pool = runtime::ThreadPool::shared();
  int64_t tasks = pool.numWorkers();
  double best = 0;
  Clock::time_point start = Clock::now();
  do {
    Clock::time_point begin = Clock::now();
    pool.parallelFor(tasks, [&](int64_t task, unsigned) { [[maybe_unused]] volatile float sink = body(task); });
    double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    best = std::max(best, static_cast<double>(tasks) * amount / seconds);
  } while (Clock::now() - start < std::chrono::milliseconds(50));
  return best;
}

double explain::measureFlopRate() {
  Loops loops = chooseLoops();
  return measureRate(static_cast<double>(2 * loops.lanes * chains * rounds),
                     [&](int64_t task) { return loops.multiplyAdd(1.0F + static_cast<float>(task)); });
}

/// Bytes that one core reads: with those of the others, more than the last cache holds.
static int64_t bytesToRead(int64_t cores) {
  constexpr int64_t least = 64 << 20, most = 256 << 20;
  int64_t cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
  return std::clamp(4 * cache, least, most) / cores / 256 * 256;
}

/// Bytes that all cores together read from memory in a second; 0 where there is too little of it.
static double measureByteRate(const Loops &loops) {
  runtime::ThreadPool &pool = runtime::ThreadPool::shared();
  int64_t cores = pool.numWorkers(), bytes = bytesToRead(cores), count = bytes / static_cast<int64_t>(sizeof(float));
  std::unique_ptr<float[]> memory(new (std::nothrow) float[static_cast<size_t>(cores * count)]);
  if (!memory)
    return 0;
  // Pages that nobody has written are all the same one, which the caches hold.
  pool.parallelFor(cores, [&](int64_t task, unsigned) { std::fill_n(memory.get() + task * count, count, 1.0F); });
  return measureRate(static_cast<double>(bytes),
                     [&](int64_t task) { return loops.readAll(memory.get() + task * count, count); });
}

PeakRates explain::measurePeakRates() {
  Loops loops = chooseLoops();
  double exponentials = static_cast<double>(loops.lanes * exponentialChains * exponentialRounds);
  return {measureFlopRate(),
          measureRate(exponentials, [&](int64_t task) { return loops.exponentiate(static_cast<float>(task)); }),
          measureByteRate(loops)};
}
