//===- CacheKey.h - What a cached kernel goes by ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Keys are digests of static facts: what a kernel was compiled from, for and by.
// Batch, lengths and all other values of a launch never enter them.
//
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_CACHE_CACHEKEY_H
#define ATTNC_RUNTIME_CACHE_CACHEKEY_H

#include "runtime/cache/Blake3.h"

#include <vector>

namespace attnc::cache {

/// Collects facts, and gives their digest. Facts carry their lengths: no two
/// lists of them have the same bytes.
class KeyBuilder {
public:
  /// A key of one kind: "kernel", "text". Keys of two kinds are never equal.
  explicit KeyBuilder(std::string_view kind) { add(kind); }

  /// Adds a fact.
  KeyBuilder &add(std::string_view fact);

  /// The digest of all facts so far.
  Digest digest() const { return blake3(bytes); }

private:
  std::vector<uint8_t> bytes;
};

/// What is asked for, as it was written. It stands for a kernel's key without the
/// compiler that would compute that.
struct TextRequest {
  std::string_view text;        ///< the whole spec, text or bytecode
  std::string_view entry;       ///< the function; empty for the only one
  std::string_view target;      ///< "cpu", "nvptx:sm_90a"
  std::string_view machine;     ///< what the compiler is told of the machine at hand; empty where it is told nothing
  std::string_view schedule;    ///< in place of the spec's own; empty for that
  bool backward = false;        ///< whether it is the gradients that are asked for
  std::string_view choice = {}; ///< what records say about schedules, or `anyChoice`; empty where they say nothing
};

/// The choice of a request that takes whatever records have chosen: of one without a compiler, which reads no records.
inline constexpr std::string_view anyChoice = "any";

/// The key of a request.
Digest keyOf(const TextRequest &request);

} // namespace attnc::cache

#endif // ATTNC_RUNTIME_CACHE_CACHEKEY_H
