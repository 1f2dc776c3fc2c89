//===- HashTest.cpp - Tests of the content hash ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#include "codegen/image/Hash.h"

#include <gtest/gtest.h>
#include <set>
#include <string_view>

using namespace attnc::image;

namespace {

uint64_t hashText(std::string_view text) {
  return hash64({reinterpret_cast<const uint8_t *>(text.data()), text.size()});
}

TEST(Hash, MatchesPublishedVectors) {
  EXPECT_EQ(hashText(""), 0xEF46DB3751D8E999u);
  EXPECT_EQ(hashText("a"), 0xD24EC4F1A98C6E5Bu);
  EXPECT_EQ(hashText("abc"), 0x44BC2CF5AD770999u);
  // 39 bytes: passes through the lanes, a word and single bytes.
  EXPECT_EQ(hashText("Nobody inspects the spammish repetition"), 0xFBCEA83C8A378BF1u);
}

TEST(Hash, EveryByteAndLengthCounts) {
  std::vector<uint8_t> bytes(100);
  std::set<uint64_t> hashes = {hash64(bytes)};
  for (uint8_t &byte : bytes) {
    byte ^= 1;
    EXPECT_TRUE(hashes.insert(hash64(bytes)).second);
    byte ^= 1;
  }
  for (size_t length = 0; length < bytes.size(); ++length)
    EXPECT_TRUE(hashes.insert(hash64(Span<const uint8_t>(bytes.data(), length))).second);
}

} // namespace
