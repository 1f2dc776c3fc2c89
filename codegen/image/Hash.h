//===- Hash.h - Content hash -----------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// XXH64 (xxHash specification 0.1.1): fast, well mixed, the same on every
// machine. It finds damage, not forgery.
//
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_IMAGE_HASH_H
#define ATTNC_CODEGEN_IMAGE_HASH_H

#include "codegen/image/Span.h"

#include <cstdint>

namespace attnc::image {

/// The XXH64 of `bytes` with seed 0.
uint64_t hash64(Span<const uint8_t> bytes);

} // namespace attnc::image

#endif // ATTNC_CODEGEN_IMAGE_HASH_H
