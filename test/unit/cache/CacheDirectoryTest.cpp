//===- CacheDirectoryTest.cpp - Tests of the files of a cache --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#include "CacheTestSupport.h"

#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

using namespace attnc;
using namespace attnc::cache;
using namespace attnc::test;
using image::Result;

namespace {

constexpr int64_t second = 1'000'000'000;

FileName entry(int number) { return {FileKind::Entry, makeKey(number)}; }

/// Sets the time of a file, as a clock that is wrong would.
void setTime(const std::string &path, int64_t stamp) {
  const timespec times[2] = {{0, UTIME_OMIT}, {stamp / second, stamp % second}};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0) << path;
}

/// The files of `directory`, by whether they are there.
std::vector<bool> present(const CacheDirectory &directory, int count) {
  std::vector<bool> there;
  there.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i)
    there.push_back(static_cast<bool>(directory.read(entry(i))));
  return there;
}

TEST(CacheDirectory, ReadsWhatItWrites) {
  TemporaryDirectory root;
  CacheDirectory directory(root / "a/b/c");
  ASSERT_TRUE(directory.create());
  ASSERT_TRUE(directory.create());
  struct stat info = {};
  ASSERT_EQ(::stat(directory.path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  const Bytes content = {1, 2, 3};
  EXPECT_FALSE(directory.read(entry(1)));
  ASSERT_TRUE(directory.write(entry(1), content));
  Result<Bytes> read = directory.read(entry(1));
  ASSERT_TRUE(read) << read.message();
  EXPECT_EQ(*read, content);
  directory.remove(entry(1));
  EXPECT_FALSE(directory.read(entry(1)));
}

TEST(CacheDirectory, SaysWhetherItCanBeWritten) {
  TemporaryDirectory root;
  writeFile(root / "file", "");
  EXPECT_TRUE(CacheDirectory(root.path()).checkWritable());
  EXPECT_TRUE(CacheDirectory(root / "a/b/c").checkWritable());
  EXPECT_FALSE(std::filesystem::exists(root / "a"));
  for (const char *path : {"file", "file/a/b"})
    EXPECT_EQ(CacheDirectory(root / path).checkWritable().message(), "Not a directory") << path;
  std::filesystem::permissions(root.path(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  // Who may do all may do this.
  if (::geteuid() != 0)
    for (const char *path : {".", "a/b"})
      EXPECT_EQ(CacheDirectory(root / path).checkWritable().message(), "Permission denied") << path;
  std::filesystem::permissions(root.path(), std::filesystem::perms::owner_all);
}

TEST(CacheDirectory, ReadsRegularFilesOnly) {
  TemporaryDirectory root;
  CacheDirectory directory(root.path());
  ASSERT_EQ(::mkfifo(directory.pathOf(entry(1)).c_str(), 0600), 0);
  ASSERT_EQ(::mkdir(directory.pathOf(entry(2)).c_str(), 0700), 0);
  std::filesystem::create_symlink("/etc/passwd", directory.pathOf(entry(3)));
  for (int i : {1, 2, 3})
    EXPECT_FALSE(directory.read(entry(i))) << i;
}

TEST(CacheDirectory, DropsTheLeastRecentlyUsed) {
  TemporaryDirectory root;
  CacheDirectory directory(root.path());
  for (int i = 0; i < 4; ++i)
    ASSERT_TRUE(directory.write(entry(i), Bytes(100)));
  directory.touch(entry(0));
  directory.shrink(250);
  EXPECT_EQ(present(directory, 4), (std::vector<bool>{true, false, false, true}));
}

TEST(CacheDirectory, KeepsItsOrderWhenTheClockIsSetBack) {
  TemporaryDirectory root;
  CacheDirectory directory(root.path());
  ASSERT_TRUE(directory.write(entry(0), Bytes(100)));
  ASSERT_TRUE(directory.write(entry(1), Bytes(100)));
  // Both were written a year from now, as far as this clock can tell.
  Result<std::vector<StoredFile>> files = directory.list();
  ASSERT_TRUE(files);
  const int64_t year = second * 365 * 24 * 3600;
  for (const StoredFile &file : *files)
    setTime(directory.pathOf(file.name), file.lastUse + year);
  setTime(root / "clock", files->back().lastUse + year);
  // What is used now is used after them.
  ASSERT_TRUE(directory.write(entry(2), Bytes(100)));
  directory.touch(entry(0));
  directory.shrink(200);
  EXPECT_EQ(present(directory, 3), (std::vector<bool>{true, false, true}));
}

TEST(CacheDirectory, LeavesOthersFilesAlone) {
  TemporaryDirectory root;
  CacheDirectory directory(root.path());
  for (const char *name : {"notes.txt", "x.kernel", "x.lock", ".attnc-1-2"})
    writeFile(root / name, "mine");
  ASSERT_TRUE(directory.write(entry(0), Bytes(100)));
  directory.shrink(0);
  EXPECT_FALSE(directory.read(entry(0)));
  for (const char *name : {"notes.txt", "x.kernel", "x.lock", ".attnc-1-2"})
    EXPECT_EQ(readFile(root / name), "mine") << name;
}

TEST(CacheDirectory, RemovesWhatDeadProcessesLeft) {
  TemporaryDirectory root;
  CacheDirectory directory(root.path());
  const std::string lockPath = directory.pathOf(entry(1)) + ".lock", heldPath = directory.pathOf(entry(2)) + ".lock";
  writeFile(root / ".attnc-1-2.tmp", "half of a file");
  writeFile(lockPath, "");
  std::optional<CacheLock> held = directory.lock(entry(2), std::chrono::milliseconds(0), [] {});
  ASSERT_TRUE(held);
  directory.shrink(1 << 20);
  EXPECT_FALSE(std::filesystem::exists(root / ".attnc-1-2.tmp"));
  EXPECT_FALSE(std::filesystem::exists(lockPath));
  EXPECT_TRUE(std::filesystem::exists(heldPath));
  held.reset();
  EXPECT_FALSE(std::filesystem::exists(heldPath));
}

TEST(CacheLock, WaitsNoLongerThanItIsTold) {
  TemporaryDirectory root;
  CacheDirectory directory(root.path());
  std::optional<CacheLock> first = directory.lock(entry(1), std::chrono::milliseconds(0), [] {});
  ASSERT_TRUE(first);
  int told = 0;
  EXPECT_FALSE(directory.lock(entry(1), std::chrono::milliseconds(20), [&] { ++told; }));
  EXPECT_EQ(told, 1);
  first.reset();
  EXPECT_TRUE(directory.lock(entry(1), std::chrono::milliseconds(0), [] {}));
}

} // namespace
