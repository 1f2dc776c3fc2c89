//===- ShortPower.cpp - Powers of 2 by multiply-adds ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/tile/ShortPower.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/bit.h"
#include <cmath>
#include <cstdint>

using namespace attnc;

float tile::findShortPower(float x) {
  constexpr unsigned mantissaBits = 23;
  float inside = std::fmax(x, leastShortExponent);
  float shifted = inside + wholeNumberShift;
  float fraction = inside - (shifted - wholeNumberShift);
  float power = shortPowerCoefficients.front();
  for (float coefficient : llvm::ArrayRef(shortPowerCoefficients).drop_front())
    power = std::fma(power, fraction, coefficient);
  return llvm::bit_cast<float>(llvm::bit_cast<uint32_t>(power) + (llvm::bit_cast<uint32_t>(shifted) << mantissaBits));
}
