//===- CacheArchiveTest.cpp - Tests of caches that travel ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#include "runtime/cache/CacheArchive.h"
#include "CacheTestSupport.h"

#include <filesystem>

using namespace attnc;
using namespace attnc::cache;
using namespace attnc::test;
using image::Result;

namespace {

CacheOptions optionsFor(const std::string &directory) {
  CacheOptions options;
  options.directory = directory;
  return options;
}

TEST(CacheArchive, CarriesKernelsAndAliases) {
  TemporaryDirectory root;
  KernelCache first(optionsFor(root / "first")), second(optionsFor(root / "second"));
  first.put(makeKey(1), makeImage(1));
  first.put(makeKey(2), makeImage(2));
  first.addAlias(makeKey(10), {makeKey(20), makeKey(1)});
  writeFile(first.files()->pathOf({FileKind::Entry, makeKey(3)}), "damaged");
  second.addAlias(makeKey(10), {makeKey(21), makeKey(5)});

  ArchiveCounts sent;
  Result<Bytes> archive = exportArchive(*first.files(), sent);
  ASSERT_TRUE(archive) << archive.message();
  EXPECT_EQ(sent.kernels, 2u);
  EXPECT_EQ(sent.aliases, 1u);
  EXPECT_EQ(sent.leftOut, 1u);
  Result<ArchiveCounts> came = importArchive(*second.files(), *archive);
  ASSERT_TRUE(came) << came.message();
  EXPECT_EQ(came->kernels, 2u);
  EXPECT_EQ(came->aliases, 1u);

  std::optional<CachedImage> found = second.find(makeKey(2));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->image->name, "kernel2");
  EXPECT_EQ(found->origin, Origin::Disk);
  EXPECT_EQ(second.findAliases(makeKey(10)), (std::vector<Digest>{makeKey(1), makeKey(5)}));
}

TEST(CacheArchive, AddsNothingOfADamagedArchive) {
  TemporaryDirectory root;
  KernelCache first(optionsFor(root / "first"));
  first.put(makeKey(1), makeImage(1));
  ArchiveCounts counts;
  Result<Bytes> archive = exportArchive(*first.files(), counts);
  ASSERT_TRUE(archive);
  archive->back() ^= 1;
  CacheDirectory second(root / "second");
  EXPECT_EQ(importArchive(second, *archive).message(), "damaged: content does not match its hash");
  EXPECT_FALSE(std::filesystem::exists(second.path()));
}

} // namespace
