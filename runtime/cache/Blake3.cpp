//===- Blake3.cpp - Names for content --------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Names are those of the paper. Keys have a few kilobytes: nothing here is done
// by SIMD.
//
//===----------------------------------------------------------------------===//

#include "runtime/cache/Blake3.h"

#include <algorithm>
#include <cstring>

using namespace attnc;
using namespace attnc::cache;
using image::Span;

namespace {

/// A chaining value, and the key of the plain hash.
using Words = std::array<uint32_t, 8>;
constexpr Words initial = {0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A,
                           0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19};

constexpr size_t blockBytes = 64, chunkBytes = 1024;
constexpr uint32_t chunkStart = 1, chunkEnd = 2, parent = 4, root = 8;

using Block = std::array<uint32_t, 16>;
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words are read as they lie");

uint32_t rotateRight(uint32_t value, int bits) { return (value >> bits) | (value << (32 - bits)); }

void mix(Block &state, size_t a, size_t b, size_t c, size_t d, uint32_t x, uint32_t y) {
  state[a] += state[b] + x;
  state[d] = rotateRight(state[d] ^ state[a], 16);
  state[c] += state[d];
  state[b] = rotateRight(state[b] ^ state[c], 12);
  state[a] += state[b] + y;
  state[d] = rotateRight(state[d] ^ state[a], 8);
  state[c] += state[d];
  state[b] = rotateRight(state[b] ^ state[c], 7);
}

/// The last compression of a node of the tree, not done yet: whether the node is
/// the root shows later.
struct Node {
  Words chaining;
  Block block;
  uint64_t counter;
  uint32_t length, flags;

  Words compress(uint32_t more = 0) const {
    Block state = {};
    std::copy(chaining.begin(), chaining.end(), state.begin());
    std::copy_n(initial.begin(), 4, state.begin() + 8);
    state[12] = static_cast<uint32_t>(counter);
    state[13] = static_cast<uint32_t>(counter >> 32);
    state[14] = length;
    state[15] = flags | more;
    Block words = block;
    for (int round = 0; round < 7; ++round) {
      for (size_t i = 0; i < 4; ++i) // columns
        mix(state, i, i + 4, i + 8, i + 12, words[2 * i], words[2 * i + 1]);
      for (size_t i = 0; i < 4; ++i) // diagonals
        mix(state, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4, words[8 + 2 * i], words[9 + 2 * i]);
      constexpr size_t order[] = {2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8};
      Block permuted = {};
      for (size_t i = 0; i < 16; ++i)
        permuted[i] = words[order[i]];
      words = permuted;
    }
    Words result = {};
    for (size_t i = 0; i < 8; ++i)
      result[i] = state[i] ^ state[i + 8];
    return result;
  }
};

} // namespace

/// A leaf: up to 1024 bytes.
static Node hashChunk(Span<const uint8_t> bytes, uint64_t counter) {
  Node node = {initial, {}, counter, 0, chunkStart};
  for (;;) {
    const size_t length = std::min(bytes.size(), blockBytes);
    node.block = {};
    if (length > 0)
      std::memcpy(node.block.data(), bytes.data(), length);
    node.length = static_cast<uint32_t>(length);
    bytes = bytes.slice(length, bytes.size() - length);
    if (bytes.empty())
      break;
    node.chaining = node.compress();
    node.flags = 0;
  }
  node.flags |= chunkEnd;
  return node;
}

/// The tree over `bytes`, whose first chunk is the `counter`-th of all.
static Node hashTree(Span<const uint8_t> bytes, uint64_t counter) {
  if (bytes.size() <= chunkBytes)
    return hashChunk(bytes, counter);
  // The left side is the largest full tree that leaves something to the right.
  size_t left = chunkBytes;
  while (2 * left < bytes.size())
    left *= 2;
  Words first = hashTree(bytes.slice(0, left), counter).compress();
  Words second = hashTree(bytes.slice(left, bytes.size() - left), counter + left / chunkBytes).compress();
  Node node = {initial, {}, 0, blockBytes, parent};
  std::copy(first.begin(), first.end(), node.block.begin());
  std::copy(second.begin(), second.end(), node.block.begin() + 8);
  return node;
}

Digest cache::blake3(Span<const uint8_t> bytes) {
  const Words words = hashTree(bytes, 0).compress(root);
  Digest digest = {};
  std::memcpy(digest.data(), words.data(), digest.size());
  return digest;
}

std::string cache::toHex(const Digest &digest) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (uint8_t byte : digest) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

std::optional<Digest> cache::parseDigest(std::string_view text) {
  Digest digest = {};
  if (text.size() != 2 * digest.size())
    return std::nullopt;
  for (size_t i = 0; i < text.size(); ++i) {
    const char digit = text[i];
    const bool isNumber = digit >= '0' && digit <= '9';
    if (!isNumber && (digit < 'a' || digit > 'f'))
      return std::nullopt;
    const auto value = static_cast<uint8_t>(isNumber ? digit - '0' : digit - 'a' + 10);
    digest[i / 2] = static_cast<uint8_t>(digest[i / 2] << 4 | value);
  }
  return digest;
}
