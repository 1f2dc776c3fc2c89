//===- ShortPower.h - Powers of 2 by multiply-adds --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// 2^x for x < 127: x = n + f with n whole and |f| <= 1/2. 2^f is 1 + f p(f), with p of degree 3, the best one for the
// relative error, which is 2.9e-6 (found by iteratively reweighted least squares); n is added to its exponent. Degree 2
// would be off by 1.0e-4, as much as an LSE may be in all, and where a row has one key its LSE is off by what its
// weight is. Code generation writes these steps out, and the simulator takes them.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_DIALECT_TILE_SHORTPOWER_H
#define ATTNC_DIALECT_TILE_SHORTPOWER_H

#include <array>

namespace attnc::tile {

/// 2^f from the highest power of f down.
inline constexpr std::array<float, 5> shortPowerCoefficients = {0.00958286412f, 0.0559064299f, 0.240240991f,
                                                                0.693124175f, 1.0f};
/// Below this exponent the power is 0.
inline constexpr float leastShortExponent = -127;
/// 1.5 * 2^23: added to a number, it rounds that to a whole one and leaves it in the low bits.
inline constexpr float wholeNumberShift = 12582912.0f;

/// 2^x, step by step as a thread computes it; anything from x = 127 on, and for NaN.
float findShortPower(float x);

} // namespace attnc::tile

#endif // ATTNC_DIALECT_TILE_SHORTPOWER_H
