//===- PlainSoftmax.cpp - A softmax of one row, vectorised ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "test/bench/PlainSoftmax.h"
#include <cmath>
#include <cstring>

using namespace attnc;

namespace {

/// Lanes of one SIMD register of this machine.
#ifdef __AVX512F__
constexpr int64_t lanes = 16;
#else
constexpr int64_t lanes = 8;
#endif

using Floats = float __attribute__((vector_size(lanes * sizeof(float))));
using Ints = int32_t __attribute__((vector_size(lanes * sizeof(int32_t))));

} // namespace

/// Reads and writes vectors that need not be aligned.
static inline Floats load(const float *from) {
  Floats value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}
static inline void store(float *to, Floats value) { std::memcpy(to, &value, sizeof(value)); }

/// e^x for x <= 0: x = n ln 2 + r with |r| <= ln 2 / 2, a polynomial for e^r, n into the exponent. 0 below -87.
static inline Floats exp(Floats x) {
  const Floats log2e = Floats{} + 1.44269504f;
  Floats clamped = x < -87.0f ? Floats{} - 87.0f : x;
  Floats n = __builtin_elementwise_rint(clamped * log2e);
  Floats r = clamped - n * 0.693359375f; // ln 2 in two parts (Cephes, expf)
  r = r + n * 2.12194440e-4f;
  Floats p = Floats{} + 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  Ints exponent = (__builtin_convertvector(n, Ints) + 127) << 23;
  return x < -87.0f ? Floats{} : p * reinterpret_cast<Floats>(exponent);
}

static float reduceMax(Floats value) { return __builtin_reduce_max(value); }

static float reduceSum(Floats value) {
  float sum = 0;
  for (int64_t lane = 0; lane < lanes; ++lane)
    sum += value[lane];
  return sum;
}

void bench::softmaxRow(float *row, int64_t size) {
  int64_t whole = size / lanes * lanes;
  Floats maxima = Floats{} - INFINITY;
  for (int64_t j = 0; j < whole; j += lanes)
    maxima = __builtin_elementwise_max(maxima, load(row + j));
  float maximum = reduceMax(maxima);
  for (int64_t j = whole; j < size; ++j)
    maximum = std::fmax(maximum, row[j]);

  // Two sums hide the latency of the addition.
  Floats sums[2] = {};
  for (int64_t j = 0; j < whole; j += lanes) {
    Floats weight = exp(load(row + j) - maximum);
    sums[(j / lanes) % 2] += weight;
    store(row + j, weight);
  }
  float sum = reduceSum(sums[0] + sums[1]);
  for (int64_t j = whole; j < size; ++j)
    sum += row[j] = std::exp(row[j] - maximum);

  float inverse = 1 / sum;
  for (int64_t j = 0; j < whole; j += lanes)
    store(row + j, load(row + j) * inverse);
  for (int64_t j = whole; j < size; ++j)
    row[j] *= inverse;
}
