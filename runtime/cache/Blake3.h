//===- Blake3.h - Names for content ----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// BLAKE3 ("BLAKE3: one function, fast everywhere", 2020), the plain hash of it:
// what a key is made by. Two contents with one digest are not to be found, so a
// digest stands for its content.
//
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_CACHE_BLAKE3_H
#define ATTNC_RUNTIME_CACHE_BLAKE3_H

#include "codegen/image/Span.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace attnc::cache {

/// 256 bits that stand for a content.
using Digest = std::array<uint8_t, 32>;

/// The BLAKE3 of `bytes`.
Digest blake3(image::Span<const uint8_t> bytes);

/// `digest` in 64 hexadecimal digits, in lower case.
std::string toHex(const Digest &digest);

/// The digest that `text` writes as `toHex` does; nothing where it is none.
std::optional<Digest> parseDigest(std::string_view text);

} // namespace attnc::cache

#endif // ATTNC_RUNTIME_CACHE_BLAKE3_H
