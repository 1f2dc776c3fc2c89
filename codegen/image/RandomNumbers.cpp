//===- RandomNumbers.cpp - Counter-based random numbers ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Philox4x32-10 and the distributions made from it.
//===----------------------------------------------------------------------===//

#include "codegen/image/RandomNumbers.h"

#include <cmath>

namespace attnc::image {
namespace {

/// The lower 32 bits.
uint32_t low(uint64_t value) { return static_cast<uint32_t>(value); }

/// The upper 32 bits.
uint32_t high(uint64_t value) { return static_cast<uint32_t>(value >> 32); }

/// The random words that belong to one number of one stream.
std::array<uint32_t, 4> words(uint64_t seed, uint64_t stream, uint64_t index) {
  return philox4x32({low(index), high(index), low(stream), high(stream)}, {low(seed), high(seed)});
}

/// The upper 53 bits of two words as an integer.
double bits53(uint32_t upper, uint32_t lower) { return static_cast<double>((uint64_t{upper} << 32 | lower) >> 11); }

} // namespace

std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = uint64_t{0xD2511F53} * counter[0];
    const uint64_t product1 = uint64_t{0xCD9E8D57} * counter[2];
    counter = {high(product1) ^ counter[1] ^ key[0], low(product1), high(product0) ^ counter[3] ^ key[1],
               low(product0)};
    key[0] += 0x9E3779B9; // the golden ratio
    key[1] += 0xBB67AE85; // sqrt(3) - 1
  }
  return counter;
}

double uniformAt(uint64_t seed, uint64_t stream, uint64_t index) {
  const std::array<uint32_t, 4> random = words(seed, stream, index);
  return bits53(random[0], random[1]) * 0x1p-53;
}

double normalAt(uint64_t seed, uint64_t stream, uint64_t index) {
  // Box-Muller. The radius takes a number in (0, 1], for the logarithm of 0
  // would be infinite.
  const std::array<uint32_t, 4> random = words(seed, stream, index);
  const double radius = (bits53(random[0], random[1]) + 1) * 0x1p-53;
  const double angle = bits53(random[2], random[3]) * 0x1p-53;
  constexpr double twoPi = 6.283185307179586476925286766559;
  return std::sqrt(-2 * std::log(radius)) * std::cos(twoPi * angle);
}

} // namespace attnc::image
