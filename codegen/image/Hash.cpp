//===- Hash.cpp - Content hash ---------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// XXH64 as its specification describes it; names follow that text.
//
//===----------------------------------------------------------------------===//

#include "codegen/image/Hash.h"

#include <cstring>

namespace attnc::image {
namespace {

constexpr uint64_t prime1 = 0x9E3779B185EBCA87;
constexpr uint64_t prime2 = 0xC2B2AE3D27D4EB4F;
constexpr uint64_t prime3 = 0x165667B19E3779F9;
constexpr uint64_t prime4 = 0x85EBCA77C2B2AE63;
constexpr uint64_t prime5 = 0x27D4EB2F165667C5;

uint64_t rotateLeft(uint64_t value, int bits) { return (value << bits) | (value >> (64 - bits)); }

/// Reads a little-endian word; the runtime supports little-endian hosts only.
template <typename Word>
uint64_t read(const uint8_t *bytes) {
  Word word;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

uint64_t round(uint64_t accumulator, uint64_t lane) { return rotateLeft(accumulator + lane * prime2, 31) * prime1; }

uint64_t mergeRound(uint64_t hash, uint64_t accumulator) { return (hash ^ round(0, accumulator)) * prime1 + prime4; }

} // namespace

uint64_t hash64(Span<const uint8_t> bytes) {
  const uint8_t *cursor = bytes.begin();
  size_t left = bytes.size();
  uint64_t hash = prime5;
  if (left >= 32) {
    uint64_t lanes[4] = {prime1 + prime2, prime2, 0, 0 - prime1};
    for (; left >= 32; left -= 32)
      for (uint64_t &lane : lanes) {
        lane = round(lane, read<uint64_t>(cursor));
        cursor += 8;
      }
    hash = rotateLeft(lanes[0], 1) + rotateLeft(lanes[1], 7) + rotateLeft(lanes[2], 12) + rotateLeft(lanes[3], 18);
    for (uint64_t lane : lanes)
      hash = mergeRound(hash, lane);
  }
  hash += bytes.size();

  for (; left >= 8; left -= 8, cursor += 8)
    hash = rotateLeft(hash ^ round(0, read<uint64_t>(cursor)), 27) * prime1 + prime4;
  if (left >= 4) {
    hash = rotateLeft(hash ^ read<uint32_t>(cursor) * prime1, 23) * prime2 + prime3;
    left -= 4;
    cursor += 4;
  }
  for (; left > 0; --left, ++cursor)
    hash = rotateLeft(hash ^ *cursor * prime5, 11) * prime1;

  hash = (hash ^ (hash >> 33)) * prime2;
  hash = (hash ^ (hash >> 29)) * prime3;
  return hash ^ (hash >> 32);
}

} // namespace attnc::image
