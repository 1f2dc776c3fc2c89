//===- KernelCacheTest.cpp - Tests of kernels compiled once ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#include "CacheTestSupport.h"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

using namespace attnc;
using namespace attnc::cache;
using namespace attnc::test;
using image::Error;
using image::KernelImage;
using image::Result;

namespace {

class KernelCacheTest : public ::testing::Test {
protected:
  CacheOptions options() {
    CacheOptions options;
    options.directory = root / "cache";
    options.remark = remarks.sink();
    return options;
  }

  /// The origin of the image of key `number`, made where it is not here.
  Origin get(KernelCache &cache, int number) {
    Result<CachedImage> image = cache.getOrMake(makeKey(number), [&] {
      ++made;
      return Result<KernelImage>(makeImage(number));
    });
    EXPECT_TRUE(image) << image.message();
    EXPECT_EQ(image->image->name, "kernel" + std::to_string(number));
    return image->origin;
  }

  std::string pathOf(int number) { return CacheDirectory(root / "cache").pathOf({FileKind::Entry, makeKey(number)}); }

  TemporaryDirectory root;
  Remarks remarks;
  std::atomic<int> made = 0;
};

TEST_F(KernelCacheTest, RemembersInMemoryAndOnDisk) {
  KernelCache first(options());
  EXPECT_EQ(get(first, 1), Origin::Compiler);
  EXPECT_EQ(get(first, 1), Origin::Memory);
  KernelCache second(options());
  EXPECT_EQ(get(second, 1), Origin::Disk);
  EXPECT_EQ(get(second, 1), Origin::Memory);
  EXPECT_EQ(made, 1);
  EXPECT_EQ(remarks.all(), std::vector<std::string>());
}

TEST_F(KernelCacheTest, WorksWithoutADirectory) {
  KernelCache cache({});
  EXPECT_EQ(cache.files(), nullptr);
  EXPECT_EQ(get(cache, 1), Origin::Compiler);
  EXPECT_EQ(get(cache, 1), Origin::Memory);
  cache.addAlias(makeKey(1), {});
  EXPECT_EQ(cache.findAliases(makeKey(1)).size(), 0u);
}

TEST_F(KernelCacheTest, MemoryIsBounded) {
  CacheOptions small;
  small.maxMemoryBytes = 3 * static_cast<int64_t>(sizeof(KernelImage) + 100);
  KernelCache cache(small);
  for (int i = 0; i < 4; ++i)
    get(cache, i);
  EXPECT_FALSE(cache.find(makeKey(0)));
  EXPECT_TRUE(cache.find(makeKey(1)));
  get(cache, 4);
  EXPECT_TRUE(cache.find(makeKey(1)));
  EXPECT_FALSE(cache.find(makeKey(2)));
}

TEST_F(KernelCacheTest, FilesAreBounded) {
  CacheOptions small = options();
  small.maxBytes = 2000;
  KernelCache cache(small);
  for (int i = 0; i < 20; ++i)
    get(cache, i);
  int64_t total = 0;
  Result<std::vector<StoredFile>> files = cache.files()->list();
  ASSERT_TRUE(files);
  for (const StoredFile &file : *files)
    total += file.bytes;
  EXPECT_LE(total, 2000);
  EXPECT_GT(total, 1000);
  KernelCache again(options());
  EXPECT_TRUE(again.find(makeKey(19)));
  EXPECT_FALSE(again.find(makeKey(0)));
}

TEST_F(KernelCacheTest, MakesAnewWhatIsDamaged) {
  KernelCache first(options());
  for (int i = 0; i < 5; ++i)
    get(first, i);
  std::string content = readFile(pathOf(0)), foreign = readFile(pathOf(4));
  writeFile(pathOf(0), content.substr(0, content.size() / 2));
  content[content.size() / 2] ^= 1;
  writeFile(pathOf(1), content);
  writeFile(pathOf(2), "something else altogether, which is as long as a preamble, and then some");
  writeFile(pathOf(3), foreign);
  for (int round = 0; round < 2; ++round) {
    KernelCache second(options());
    for (int i = 0; i < 5; ++i)
      EXPECT_EQ(get(second, i), round == 0 && i < 4 ? Origin::Compiler : Origin::Disk) << i;
  }
  EXPECT_EQ(remarks.count("the kernel cache drops '"), 4);
  EXPECT_EQ(remarks.all().size(), 4u);
}

TEST_F(KernelCacheTest, AnErrorIsNotRemembered) {
  KernelCache cache(options());
  Result<CachedImage> image =
      cache.getOrMake(makeKey(1), [] { return Result<KernelImage>(Error{"no such instruction"}); });
  EXPECT_FALSE(image);
  EXPECT_EQ(image.message(), "no such instruction");
  EXPECT_EQ(get(cache, 1), Origin::Compiler);
}

TEST_F(KernelCacheTest, ThreadsMakeAKeyOnce) {
  KernelCache cache(options());
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      for (int number = 0; number < 3; ++number) {
        Result<CachedImage> image = cache.getOrMake(makeKey(number), [&] {
          ++made;
          std::this_thread::sleep_for(std::chrono::milliseconds(20));
          return Result<KernelImage>(makeImage(number));
        });
        EXPECT_TRUE(image);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(made, 3);
}

TEST_F(KernelCacheTest, ADirectoryThatCannotBeMadeIsToldOnce) {
  writeFile(root / "file", "");
  CacheOptions bad = options();
  bad.directory = root / "file/cache";
  KernelCache cache(bad);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(get(cache, i), Origin::Compiler);
  EXPECT_EQ(get(cache, 0), Origin::Memory);
  EXPECT_EQ(remarks.all(),
            (std::vector<std::string>{"the kernel cache cannot be used: '" + bad.directory + "': Not a directory"}));
}

TEST_F(KernelCacheTest, ADirectoryThatIsRemovedIsToldOnce) {
  KernelCache cache(options());
  get(cache, 1);
  std::filesystem::remove_all(root / "cache");
  for (int i = 2; i < 5; ++i)
    EXPECT_EQ(get(cache, i), Origin::Compiler);
  EXPECT_EQ(remarks.count("the kernel cache cannot be written"), 1);
  EXPECT_EQ(remarks.all().size(), 1u);
}

TEST_F(KernelCacheTest, AliasesAreOfABuild) {
  KernelCache cache(options());
  cache.addAlias(makeKey(1), {makeKey(10), makeKey(2)});
  cache.addAlias(makeKey(1), {makeKey(11), makeKey(3)});
  EXPECT_EQ(cache.findAlias(makeKey(1), makeKey(10)), makeKey(2));
  EXPECT_EQ(cache.findAlias(makeKey(1), makeKey(11)), makeKey(3));
  EXPECT_EQ(cache.findAlias(makeKey(1), makeKey(12)), std::nullopt);
  EXPECT_EQ(cache.findAliases(makeKey(1)), (std::vector<Digest>{makeKey(3), makeKey(2)}));
  // A build has one key, and the oldest builds are forgotten.
  for (int build = 0; build < 20; ++build)
    cache.addAlias(makeKey(1), {makeKey(100 + build), makeKey(200 + build)});
  EXPECT_EQ(cache.findAliases(makeKey(1)).size(), mostBuilds);
  EXPECT_EQ(cache.findAlias(makeKey(1), makeKey(119)), makeKey(219));
  EXPECT_EQ(cache.findAlias(makeKey(1), makeKey(10)), std::nullopt);
}

TEST_F(KernelCacheTest, MemoryAnswersAtOnce) {
  KernelCache cache(options());
  for (int i = 0; i < 100; ++i)
    get(cache, i);
  const Digest key = makeKey(50);
  using Clock = std::chrono::steady_clock;
  std::chrono::nanoseconds best = std::chrono::hours(1);
  for (int round = 0; round < 100; ++round) {
    Clock::time_point start = Clock::now();
    for (int i = 0; i < 100; ++i)
      ASSERT_TRUE(cache.find(key));
    best = std::min<std::chrono::nanoseconds>(best, (Clock::now() - start) / 100);
  }
  RecordProperty("nanoseconds", std::to_string(best.count()));
  // The goal is 1 us; machines that run tests are busy, and sanitizers slow.
  EXPECT_LT(best, std::chrono::microseconds(100));
}

} // namespace
