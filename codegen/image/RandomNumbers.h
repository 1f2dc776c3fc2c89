//===- RandomNumbers.h - Counter-based random numbers -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy
// as 1, 2, 3", SC 2011): a number is a function of a key and a counter, with no
// state, so that inputs are the same everywhere.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_IMAGE_RANDOMNUMBERS_H
#define ATTNC_CODEGEN_IMAGE_RANDOMNUMBERS_H

#include <array>
#include <cstdint>

namespace attnc::image {

/// Four random words for `counter` under `key`.
std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

/// The `index`-th number of `stream`, uniform in [0, 1), a multiple of 2^-53.
double uniformAt(uint64_t seed, uint64_t stream, uint64_t index);

/// The `index`-th number of `stream`, normal with mean 0 and variance 1.
double normalAt(uint64_t seed, uint64_t stream, uint64_t index);

} // namespace attnc::image

#endif // ATTNC_CODEGEN_IMAGE_RANDOMNUMBERS_H
