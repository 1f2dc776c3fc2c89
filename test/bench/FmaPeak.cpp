//===- FmaPeak.cpp - What the cores can multiply and add --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "test/bench/FmaPeak.h"
#include "runtime/ThreadPool.h"
#include <algorithm>
#include <chrono>

using namespace attnc;
using runtime::ThreadPool;

namespace {

#ifdef __AVX512F__
constexpr int64_t lanes = 16;
#else
constexpr int64_t lanes = 8;
#endif

using Floats = float __attribute__((vector_size(lanes * sizeof(float))));

/// Chains of dependent multiply-adds at once: more than two units of latency 4 or 5 need, few enough for 16 registers.
constexpr int64_t chains = 12;

} // namespace

/// Runs `rounds` multiply-adds in every chain.
[[gnu::noinline]] static float multiplyAndAdd(int64_t rounds, float factor, float term) {
  Floats sums[chains] = {}, factors = Floats{} + factor, terms = Floats{} + term;
  for (int64_t round = 0; round < rounds; ++round) {
#pragma clang loop unroll(full)
    for (Floats &sum : sums)
      sum = sum * factors + terms;
    // Keeps the rounds apart; the values stay in registers.
    for (Floats &sum : sums)
      asm volatile("" : "+v"(sum));
  }
  Floats total = {};
  for (const Floats &sum : sums)
    total += sum;
  return total[0];
}

double bench::measureFmaPeak() {
  using Clock = std::chrono::steady_clock;
  constexpr int64_t rounds = 20'000'000;
  ThreadPool &pool = ThreadPool::shared();
  int64_t workers = pool.numWorkers();
  double best = 0;
  for (int repeat = 0; repeat < 5; ++repeat) {
    auto start = Clock::now();
    pool.parallelFor(workers, [](int64_t, unsigned) {
      volatile float sink = multiplyAndAdd(rounds, 0.999f, 1e-3f);
      (void)sink;
    });
    std::chrono::duration<double> seconds = Clock::now() - start;
    best = std::max(best, 2.0 * static_cast<double>(rounds * chains * lanes * workers) / seconds.count());
  }
  return best;
}
