//===- PeakRate.cpp - What the CPU can do at most ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "tools/attnc/PeakRate.h"
#include "runtime/ThreadPool.h"
#include <algorithm>
#include <chrono>
#include <cstdint>

namespace {

/// Vectors as the compiler knows them, without intrinsics.
using Wide = float __attribute__((vector_size(64)));
using Narrow = float __attribute__((vector_size(32)));

/// Independent sums: enough to hide the latency of a multiply-add on two ports, few enough to stay in registers.
constexpr int64_t chains = 12;

/// Multiply-adds of every chain in one call.
constexpr int64_t rounds = 50000;

} // namespace

/// Runs `rounds` multiply-adds on each of `chains` vectors; the result keeps them alive. Inlined into functions for one
/// instruction set each.
template <typename Vector>
[[gnu::always_inline]] static inline float spin(float seed) {
  Vector sums[chains], factor, addend;
  for (unsigned lane = 0; lane < sizeof(Vector) / sizeof(float); ++lane) {
    factor[lane] = 0.999F;
    addend[lane] = seed;
  }
  for (Vector &sum : sums)
    sum = addend;
  for (int64_t round = 0; round < rounds; ++round) {
#pragma clang loop unroll(full)
    for (Vector &sum : sums)
      sum = __builtin_elementwise_fma(sum, factor, addend);
  }
  Vector total = sums[0];
  for (int64_t chain = 1; chain < chains; ++chain)
    total += sums[chain];
  return total[0];
}

#if defined(__x86_64__)
[[gnu::target("avx512f"), gnu::noinline]] static float spinWide(float seed) { return spin<Wide>(seed); }
[[gnu::target("avx2,fma"), gnu::noinline]] static float spinNarrow(float seed) { return spin<Narrow>(seed); }
#endif
static float spinPlain(float seed) { return spin<Narrow>(seed); }

double attnc::cli::measurePeakRate() {
  float (*body)(float) = spinPlain;
  int64_t lanes = sizeof(Narrow) / sizeof(float);
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) {
    body = spinWide;
    lanes = sizeof(Wide) / sizeof(float);
  } else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    body = spinNarrow;
  }
#endif
  using Clock = std::chrono::steady_clock;
  runtime::ThreadPool &pool = runtime::ThreadPool::shared();
  int64_t tasks = pool.numWorkers();
  volatile float sink = 0;
  double best = 0;
  Clock::time_point start = Clock::now();
  do {
    Clock::time_point begin = Clock::now();
    pool.parallelFor(tasks, [&](int64_t task, unsigned) { sink = body(1.0F + static_cast<float>(task)); });
    double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    best = std::max(best, static_cast<double>(2 * tasks * lanes * chains * rounds) / seconds);
  } while (Clock::now() - start < std::chrono::milliseconds(50));
  return best;
}
