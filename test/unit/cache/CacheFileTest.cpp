//===- CacheFileTest.cpp - Tests of the content of files -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#include "CacheTestSupport.h"

using namespace attnc;
using namespace attnc::cache;
using namespace attnc::test;
using image::KernelImage;
using image::Result;
using image::Span;

namespace {

TEST(CacheFile, NamesAreReadAsTheyAreWritten) {
  for (FileKind kind : {FileKind::Entry, FileKind::Alias}) {
    std::optional<FileName> name = parseName(nameOf(kind, makeKey(1)));
    ASSERT_TRUE(name);
    EXPECT_EQ(name->kind, kind);
    EXPECT_EQ(name->key, makeKey(1));
  }
  const std::string good = nameOf(FileKind::Entry, makeKey(1));
  for (const std::string &bad : {std::string(), std::string("clock"), std::string("a.kernel"), good + ".lock",
                                 good + "x", "x" + good, good.substr(0, 64)})
    EXPECT_FALSE(parseName(bad)) << bad;
}

TEST(CacheFile, HoldsAnImage) {
  Result<KernelImage> image = unpackEntry(makeKey(1), packEntry(makeKey(1), makeImage(1)));
  ASSERT_TRUE(image) << image.message();
  EXPECT_EQ(image->name, "kernel1");
  EXPECT_EQ(image->bytes, makeImage(1).bytes);
}

TEST(CacheFile, RefusesEveryFlippedByteAndEveryLength) {
  const Bytes good = packEntry(makeKey(1), makeImage(1));
  for (size_t i = 0; i < good.size(); ++i) {
    Bytes bad = good;
    bad[i] ^= 0x10;
    EXPECT_FALSE(unpackEntry(makeKey(1), bad)) << "byte " << i;
    EXPECT_FALSE(unpackEntry(makeKey(1), Span<const uint8_t>(good.data(), i))) << "length " << i;
  }
  Bytes longer = good;
  longer.push_back(0);
  EXPECT_FALSE(unpackEntry(makeKey(1), longer));
}

TEST(CacheFile, RefusesForeignFiles) {
  EXPECT_EQ(unpackEntry(makeKey(2), packEntry(makeKey(1), makeImage(1))).message(),
            "the file of another key: " + toHex(makeKey(1)));
  EXPECT_EQ(unpackEntry(makeKey(1), packAlias(makeKey(1), {})).message(), "a file of another kind: expected 1, got 2");
  EXPECT_EQ(unpackEntry(makeKey(1), image::serialize(makeImage(1))).message(),
            "not a file of a kernel cache: wrong magic number");
}

TEST(CacheFile, TellsOtherVersionsFromDamage) {
  const FileName name{FileKind::Entry, makeKey(1)};
  Bytes other = packEntry(name.key, makeImage(1));
  other[8] = 99;
  EXPECT_EQ(unpackEntry(name.key, other).message(), "a file of version 99, expected 1");
  EXPECT_TRUE(checkWhole(name, other));
  other.back() ^= 1;
  EXPECT_EQ(checkWhole(name, other).message(), "damaged: content does not match its hash");
}

TEST(CacheFile, HoldsAliases) {
  const AliasTarget targets[] = {{makeKey(2), makeKey(3)}, {makeKey(4), makeKey(5)}};
  Result<std::vector<AliasTarget>> read = unpackAlias(makeKey(1), packAlias(makeKey(1), targets));
  ASSERT_TRUE(read) << read.message();
  ASSERT_EQ(read->size(), 2u);
  EXPECT_EQ((*read)[1].build, makeKey(4));
  EXPECT_EQ((*read)[1].key, makeKey(5));
}

TEST(CacheFile, ArchivesHoldFiles) {
  std::vector<ArchivedFile> files = {{{FileKind::Entry, makeKey(1)}, packEntry(makeKey(1), makeImage(1))},
                                     {{FileKind::Alias, makeKey(2)}, packAlias(makeKey(2), {})}};
  const Bytes good = packArchive(files);
  Result<std::vector<ArchivedFile>> read = unpackArchive(good);
  ASSERT_TRUE(read) << read.message();
  ASSERT_EQ(read->size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ((*read)[i].name.kind, files[i].name.kind);
    EXPECT_EQ((*read)[i].name.key, files[i].name.key);
    EXPECT_EQ((*read)[i].content, files[i].content);
  }
  for (size_t i = 0; i < good.size(); ++i) {
    Bytes bad = good;
    bad[i] ^= 1;
    EXPECT_FALSE(unpackArchive(bad)) << "byte " << i;
    EXPECT_FALSE(unpackArchive(Span<const uint8_t>(good.data(), i))) << "length " << i;
  }
}

} // namespace
