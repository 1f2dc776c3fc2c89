//===- CacheKey.cpp - What a cached kernel goes by -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

#include "runtime/cache/CacheKey.h"

using namespace attnc;
using namespace attnc::cache;

KeyBuilder &KeyBuilder::add(std::string_view fact) {
  const auto length = static_cast<uint64_t>(fact.size());
  for (int byte = 0; byte < 8; ++byte)
    bytes.push_back(static_cast<uint8_t>(length >> (8 * byte)));
  bytes.insert(bytes.end(), fact.begin(), fact.end());
  return *this;
}

Digest cache::keyOf(const TextRequest &request) {
  KeyBuilder builder("text");
  for (std::string_view fact : {request.text, request.entry, request.target, request.machine, request.schedule})
    builder.add(fact);
  return builder.add(request.backward ? "backward" : "").add(request.choice).digest();
}
