//===- Blake3Test.cpp - Tests of names for content -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#include "runtime/cache/CacheKey.h"

#include <gtest/gtest.h>
#include <set>

using namespace attnc::cache;

namespace {

/// The published test vectors hash the bytes 0, 1, ..., 250, 0, 1, ...
std::string hashCounting(size_t length) {
  std::vector<uint8_t> bytes(length);
  for (size_t i = 0; i < length; ++i)
    bytes[i] = static_cast<uint8_t>(i % 251);
  return toHex(blake3(bytes)).substr(0, 32);
}

TEST(Blake3, MatchesPublishedVectors) {
  EXPECT_EQ(toHex(blake3({})), "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262");
  EXPECT_EQ(hashCounting(1), "2d3adedff11b61f14c886e35afa03673");
  EXPECT_EQ(hashCounting(1024), "42214739f095a406f3fc83deb889744a");
  EXPECT_EQ(hashCounting(1025), "d00278ae47eb27b34faecf67b4fe263f");
  EXPECT_EQ(hashCounting(2049), "5f4d72f40d7a5f82b15ca2b2e44b1de3");
  EXPECT_EQ(hashCounting(31744), "62b6960e1a44bcc1eb1a611a8d6235b6");
}

TEST(Blake3, IsWrittenAndRead) {
  Digest digest = blake3({});
  EXPECT_EQ(parseDigest(toHex(digest)), digest);
  std::string text = toHex(digest);
  EXPECT_FALSE(parseDigest(text.substr(1)));
  EXPECT_FALSE(parseDigest(text + "0"));
  text[5] = 'A';
  EXPECT_FALSE(parseDigest(text));
}

TEST(CacheKey, FactsAreKeptApart) {
  std::set<Digest> keys = {KeyBuilder("a").add("bc").digest(), KeyBuilder("ab").add("c").digest(),
                           KeyBuilder("a").add("b").add("c").digest(), KeyBuilder("abc").digest(),
                           KeyBuilder("a").add("bc").add("").digest()};
  EXPECT_EQ(keys.size(), 5u);
}

TEST(CacheKey, EveryPartOfARequestCounts) {
  std::set<Digest> keys = {keyOf({"x", "", "", "", ""}),
                           keyOf({"", "x", "", "", ""}),
                           keyOf({"", "", "x", "", ""}),
                           keyOf({"", "", "", "x", ""}),
                           keyOf({"", "", "", "", "x"}),
                           keyOf({"", "", "", "", "", true}),
                           keyOf({"", "", "", "", "", false, "x"}),
                           keyOf({})};
  EXPECT_EQ(keys.size(), 8u);
}

} // namespace
