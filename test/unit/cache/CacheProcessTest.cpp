//===- CacheProcessTest.cpp - Tests of caches that are shared --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Processes that share a cache, that are killed, and that find no room. They are
// forked before any thread is started.
//
//===----------------------------------------------------------------------===//

#include "CacheTestSupport.h"

#include <atomic>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace attnc;
using namespace attnc::cache;
using namespace attnc::test;
using image::KernelImage;
using image::Result;
using std::chrono::milliseconds;

namespace {

class CacheProcess : public ::testing::Test {
protected:
  CacheOptions options() {
    CacheOptions options;
    options.directory = root / "cache";
    options.remark = remarks.sink();
    return options;
  }

  /// The image of key 1, whose making takes a while and leaves a byte in a file that all processes share.
  Result<CachedImage> get(KernelCache &cache, milliseconds duration = milliseconds(0), int number = 1,
                          size_t size = 100) {
    return cache.getOrMake(makeKey(number), [&, number, size] {
      int log = ::open((root / "compiles").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
      EXPECT_EQ(::write(log, "x", 1), 1);
      ::close(log);
      std::this_thread::sleep_for(duration);
      return Result<KernelImage>(makeImage(number, size));
    });
  }

  /// How often something was made, in all processes.
  size_t compiles() { return readFile(root / "compiles").size(); }

  /// Waits up to ten seconds until `holds` does; whether it did.
  static bool waitUntil(const std::function<bool()> &holds) {
    for (int i = 0; i < 10'000; ++i) {
      if (holds())
        return true;
      std::this_thread::sleep_for(milliseconds(1));
    }
    return false;
  }

  /// Waits until a process makes something. It holds the lock then; the lock's file is there before that.
  bool waitForMaker() {
    return waitUntil([&] { return std::filesystem::exists(root / "compiles") && compiles() > 0; });
  }

  /// Waits until somebody writes a file.
  bool waitForWriter() {
    return waitUntil([&] {
      std::error_code error;
      for (const auto &entry : std::filesystem::directory_iterator(root / "cache", error))
        if (entry.path().extension() == ".tmp")
          return true;
      return false;
    });
  }

  /// Where other users may look, as they may not in the temporary directory of a run of tests.
  TemporaryDirectory root{"/tmp"};
  Remarks remarks;
};

TEST_F(CacheProcess, OneOfManyCompiles) {
  std::vector<pid_t> processes;
  processes.reserve(8);
  for (int p = 0; p < 8; ++p)
    processes.push_back(start([&] {
      KernelCache cache(options());
      std::vector<std::thread> threads;
      threads.reserve(8);
      for (int t = 0; t < 8; ++t)
        threads.emplace_back([&] {
          Result<CachedImage> image = get(cache, milliseconds(100));
          EXPECT_TRUE(image) << image.message();
          EXPECT_EQ(image->image->bytes, makeImage(1).bytes);
        });
      for (std::thread &thread : threads)
        thread.join();
    }));
  for (pid_t process : processes)
    EXPECT_TRUE(finish(process));
  EXPECT_EQ(compiles(), 1u);
}

TEST_F(CacheProcess, TheOthersSayThatTheyWait) {
  pid_t other = start([&] {
    KernelCache cache(options());
    EXPECT_TRUE(get(cache, milliseconds(200)));
  });
  ASSERT_TRUE(waitForMaker());
  KernelCache cache(options());
  Result<CachedImage> image = get(cache);
  ASSERT_TRUE(image);
  EXPECT_EQ(image->origin, Origin::Disk);
  EXPECT_EQ(remarks.all(),
            (std::vector<std::string>{"waiting for another process, which is compiling the same kernel"}));
  EXPECT_TRUE(finish(other));
  EXPECT_EQ(compiles(), 1u);
}

TEST_F(CacheProcess, OneThatIsKilledHoldsNobodyUp) {
  pid_t other = start([&] {
    KernelCache cache(options());
    (void)get(cache, milliseconds(60'000));
  });
  ASSERT_TRUE(waitForMaker());
  ::kill(other, SIGKILL);
  ::waitpid(other, nullptr, 0);
  KernelCache cache(options());
  Result<CachedImage> image = get(cache);
  ASSERT_TRUE(image);
  EXPECT_EQ(image->origin, Origin::Compiler);
  EXPECT_EQ(compiles(), 2u);
  EXPECT_EQ(remarks.all(), std::vector<std::string>());
}

TEST_F(CacheProcess, OneThatNeverEndsIsNotWaitedForForEver) {
  pid_t other = start([&] {
    KernelCache cache(options());
    (void)get(cache, milliseconds(60'000));
  });
  ASSERT_TRUE(waitForMaker());
  CacheOptions impatient = options();
  impatient.patience = milliseconds(20);
  KernelCache cache(impatient);
  Result<CachedImage> image = get(cache);
  ASSERT_TRUE(image);
  EXPECT_EQ(image->origin, Origin::Compiler);
  ::kill(other, SIGKILL);
  ::waitpid(other, nullptr, 0);
}

TEST_F(CacheProcess, OneThatIsKilledWhileItWritesLeavesNothing) {
  constexpr size_t size = 1 << 26;
  int killed = 0;
  for (int round = 0; round < 5; ++round) {
    pid_t other = start([&] {
      KernelCache cache(options());
      (void)get(cache, milliseconds(0), 1, size);
    });
    EXPECT_TRUE(waitForWriter());
    ::kill(other, SIGKILL);
    ::waitpid(other, nullptr, 0);
    KernelCache cache(options());
    std::optional<CachedImage> found = cache.find(makeKey(1));
    if (!found) {
      ++killed;
      continue;
    }
    // It was done before it was killed: what is there is whole.
    EXPECT_EQ(found->image->bytes.size(), size);
    cache.files()->remove({FileKind::Entry, makeKey(1)});
  }
  RecordProperty("killed", killed);
  KernelCache cache(options());
  EXPECT_TRUE(get(cache, milliseconds(0), 2));
  EXPECT_TRUE(cache.find(makeKey(2)));
  for (const auto &entry : std::filesystem::directory_iterator(root / "cache"))
    EXPECT_NE(entry.path().extension(), ".tmp") << entry.path();
  EXPECT_EQ(remarks.all(), std::vector<std::string>());
}

TEST_F(CacheProcess, ReadsADirectoryThatItMayNotWrite) {
  {
    KernelCache cache(options());
    ASSERT_TRUE(get(cache));
  }
  for (const std::string &path : {root.path(), root / "cache"})
    ASSERT_EQ(::chmod(path.c_str(), 0755), 0);
  ASSERT_EQ(::chmod((root / "compiles").c_str(), 0666), 0);
  ASSERT_EQ(::chmod((root / "cache").c_str(), 0555), 0);
  EXPECT_TRUE(finish(start([&] {
    // What root may not write is on media that cannot be written; somebody else stands for that.
    if (::geteuid() == 0)
      EXPECT_EQ(::setresuid(65534, 65534, 65534), 0);
    KernelCache cache(options());
    Result<CachedImage> image = get(cache);
    ASSERT_TRUE(image);
    EXPECT_EQ(image->origin, Origin::Disk);
    for (int number : {2, 3})
      EXPECT_TRUE(get(cache, milliseconds(0), number));
    EXPECT_EQ(remarks.all(), (std::vector<std::string>{"the kernel cache cannot be written: '" + (root / "cache") +
                                                       "': Permission denied"}));
  })));
  ASSERT_EQ(::chmod((root / "cache").c_str(), 0755), 0);
}

TEST_F(CacheProcess, GoesOnWithAFullDisk) {
  EXPECT_TRUE(finish(start([&] {
    ASSERT_EQ(::mkdir((root / "cache").c_str(), 0700), 0);
    std::string why = "No space left on device";
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", (root / "cache").c_str(), "tmpfs", 0, "size=64k") != 0) {
      why = "File too large";
      rlimit limit = {16 << 10, RLIM_INFINITY};
      ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
    }
    KernelCache cache(options());
    for (int number : {1, 2, 3}) {
      Result<CachedImage> image = get(cache, milliseconds(0), number, number == 3 ? 1000 : 200'000);
      EXPECT_TRUE(image) << image.message();
    }
    EXPECT_EQ(remarks.all(),
              (std::vector<std::string>{"the kernel cache cannot be written: '" + (root / "cache") + "': " + why}));
    // What there is room for is kept, and nothing else is left.
    Result<std::vector<StoredFile>> files = cache.files()->list();
    ASSERT_TRUE(files);
    ASSERT_EQ(files->size(), 1u);
    EXPECT_EQ(files->front().name.key, makeKey(3));
  })));
}

} // namespace
