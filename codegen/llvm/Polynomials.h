//===- Polynomials.h - Coefficients of functions ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// What targets write functions of f32 out with. Interpolated at Chebyshev nodes; how they are summed is each target's.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_LLVM_POLYNOMIALS_H
#define ATTNC_CODEGEN_LLVM_POLYNOMIALS_H

#include <array>

namespace attnc::codegen {

/// 2^f - 1 = c0 f + c1 f^2 + ... for |f| <= 1/2, of degree 6: the constant term is held at 1 (relative error of 2^f:
/// 1e-8 before rounding).
inline constexpr std::array<float, 6> exp2Coefficients = {0.6931471824645996f,    0.24022650718688965f,
                                                          0.055503569543361664f,  0.009618083015084267f,
                                                          0.0013390863314270973f, 0.00015453163359779865f};

/// Below this, |x| is small enough for the polynomial of tanh; from here on a quotient of exponentials is as exact.
inline constexpr float tanhBorder = 0.55f;
/// tanh x = x + x^3 (c0 + c1 x^2 + ...) for |x| < `tanhBorder` (relative error 6e-9 before rounding).
inline constexpr std::array<float, 5> tanhCoefficients = {
    -0.3333333134651184f, 0.13333113491535187f, -0.05390942841768265f, 0.021309388801455498f, -0.00661022774875164f};

} // namespace attnc::codegen

#endif // ATTNC_CODEGEN_LLVM_POLYNOMIALS_H
