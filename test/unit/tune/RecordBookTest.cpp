//===- RecordBookTest.cpp - Tests of where records are found ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "TuneTestSupport.h"
#include <sys/stat.h>
#include <thread>

using namespace attnc;
using namespace attnc::test;
using tune::FoundRecord;
using tune::Record;
using tune::RecordBook;
using tune::RecordStore;
using tune::Source;

namespace {

constexpr llvm::StringLiteral device = "cpu:test, 4 cores";

/// A book over two folders, and what it remarks.
struct BookFixture : testing::Test {
  TemporaryDirectory user, shipped;
  Remarks remarks;
  RecordBook book{user.path(), shipped.path(), remarks.sink()};

  std::vector<FoundRecord> find(const tune::ShapeClass *wanted = nullptr) {
    return book.find(device, "cpu:test", recordedKernel(), wanted);
  }

  static void store(const TemporaryDirectory &folder, const Record &record) {
    EXPECT_TRUE(RecordStore(folder.path()).add({device.str(), {record}}, [](const std::string &) {}));
  }
};

TEST_F(BookFixture, FilesAreNamedForTheirDevices) {
  RecordStore store("/records");
  EXPECT_EQ(store.pathOf(device), "/records/cpu-test-4-cores.json");
  EXPECT_EQ(store.pathOf("NVIDIA H100 80GB HBM3"), "/records/NVIDIA-H100-80GB-HBM3.json");
  EXPECT_EQ(store.pathOf("../../etc/passwd"), "/records/..-..-etc-passwd.json");
}

TEST_F(BookFixture, FoldersMayHaveAnyName) {
  RecordStore store(user.path() + "/100%%%");
  EXPECT_TRUE(store.add({device.str(), {makeRecord(shapeOf(64), 1)}}, [](const std::string &) {}));
  EXPECT_EQ(store.listFiles(), std::vector<std::string>{store.pathOf(device)});
}

TEST_F(BookFixture, SourcesAreAskedInOrder) {
  tune::ShapeClass shape = shapeOf(64);
  EXPECT_TRUE(find().empty());
  EXPECT_EQ(book.getStamp(device), "");
  auto expect = [&](Source source, int64_t number) {
    std::vector<FoundRecord> found = find();
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].source, source);
    EXPECT_EQ(found[0].record.candidates, number);
  };
  std::string stamp = book.getStamp(device);
  auto expectOtherStamp = [&] {
    EXPECT_NE(book.getStamp(device), stamp);
    stamp = book.getStamp(device);
  };
  store(shipped, makeRecord(shape, 1));
  expect(Source::Persistent, 1);
  expectOtherStamp();
  store(user, makeRecord(shape, 2));
  expect(Source::Persistent, 2);
  expectOtherStamp();
  RecordBook(user.path(), "", remarks.sink()).keep(device, makeRecord(shape, 3)); // another process
  expect(Source::Persistent, 3);
  expectOtherStamp();
  book.keep(device, makeRecord(shape, 4));
  expect(Source::Memory, 4);
  expectOtherStamp();
  EXPECT_TRUE(book.addOverlay(makeFile(device.str(), {makeRecord(shape, 5)})));
  expect(Source::Overlay, 5);
  expectOtherStamp();
  // The last overlay is the first to be asked.
  EXPECT_TRUE(book.addOverlay(makeFile(device.str(), {makeRecord(shape, 6)})));
  expect(Source::Overlay, 6);
  EXPECT_EQ(remarks.all().size(), 0u);
}

TEST_F(BookFixture, EachClassOfQueriesHasItsFirstSource) {
  book.keep(device, makeRecord(shapeOf(64), 1));
  store(shipped, makeRecord(shapeOf(64), 2));
  store(shipped, makeRecord(shapeOf(1024), 3));
  std::vector<FoundRecord> found = find();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].record.candidates, 1);
  EXPECT_EQ(found[1].record.candidates, 3);
}

TEST_F(BookFixture, OfSeveralLengthsOfKeysTheWantedIsTaken) {
  for (int64_t keys : {64, 4096, 512})
    book.keep(device, makeRecord(shapeOf(64, keys), static_cast<int>(keys)));
  EXPECT_EQ(find()[0].record.candidates, 4096); // the longest where nobody says
  tune::ShapeClass wanted = shapeOf(64, 500);
  EXPECT_EQ(find(&wanted)[0].record.candidates, 512);
  wanted.heads = tune::SizeRange::around(1000);
  EXPECT_EQ(find(&wanted)[0].record.candidates, 512);
}

TEST_F(BookFixture, OthersAreNotFound) {
  book.keep(device, makeRecord(shapeOf(64)));
  EXPECT_TRUE(book.find("cpu:test, 8 cores", "cpu:test", recordedKernel(), nullptr).empty());
  EXPECT_TRUE(book.find(device, "cpu:other", recordedKernel(), nullptr).empty());
  EXPECT_TRUE(book.find(device, "cpu:test", makeKey(2), nullptr).empty());
}

TEST_F(BookFixture, KernelsAreMentionedOnWhateverDevice) {
  EXPECT_FALSE(book.mentions("cpu:test", recordedKernel()));
  EXPECT_TRUE(RecordStore(shipped.path()).add({"cpu:other, 1 core", {makeRecord(shapeOf(64), 1)}}, remarks.sink()));
  EXPECT_TRUE(book.mentions("cpu:test", recordedKernel()));
  EXPECT_FALSE(book.mentions("nvptx:sm_90a", recordedKernel()));
  EXPECT_FALSE(book.mentions("cpu:test", cache::Digest()));
}

TEST_F(BookFixture, ADamagedFileIsToldOnceAndReplaced) {
  std::string path = RecordStore(user.path()).pathOf(device);
  writeFile(path, "{ \"attnc_records\": 1 }");
  EXPECT_TRUE(find().empty());
  EXPECT_TRUE(find().empty());
  EXPECT_EQ(remarks.count("its records are not used"), 1);
  book.keep(device, makeRecord(shapeOf(64)));
  EXPECT_EQ(remarks.count("its records are lost"), 1);
  EXPECT_TRUE(RecordStore(user.path()).read(device));
}

TEST_F(BookFixture, AFileOfAnotherDeviceIsRefused) {
  writeFile(RecordStore(user.path()).pathOf(device), makeFile("another", {makeRecord(shapeOf(64))}));
  EXPECT_TRUE(find().empty());
  EXPECT_EQ(remarks.count("expected records of 'cpu:test, 4 cores', got those of 'another'"), 1);
}

TEST_F(BookFixture, WhatIsNoFileIsRefused) {
  std::string path = RecordStore(user.path()).pathOf(device);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_TRUE(find().empty());
  EXPECT_EQ(remarks.count("expected a regular file"), 1);
}

TEST_F(BookFixture, AFolderThatCannotBeWrittenCostsTheFileAlone) {
  RecordBook other("/dev/null/records", "", remarks.sink());
  other.keep(device, makeRecord(shapeOf(64)));
  EXPECT_EQ(remarks.count("the record is not kept: '/dev/null/records'"), 1);
  EXPECT_EQ(other.find(device, "cpu:test", recordedKernel(), nullptr).size(), 1u);
}

TEST_F(BookFixture, NothingIsLostWhereSeveralWrite) {
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int number = 0; number < 8; ++number)
    threads.emplace_back([&, number] {
      RecordBook(user.path(), "", remarks.sink()).keep(device, makeRecord(shapeOf(int64_t(1) << number), number));
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(find().size(), 8u);
  EXPECT_EQ(remarks.all().size(), 0u);
  // Nothing else is left in the folder.
  EXPECT_EQ(RecordStore(user.path()).listFiles().size(), 1u);
}

TEST_F(BookFixture, ARecordTakesThePlaceOfItsLike) {
  store(user, makeRecord(shapeOf(64), 1));
  store(user, makeRecord(shapeOf(64), 2));
  EXPECT_EQ(RecordStore(user.path()).read(device)->records.size(), 1u);
  EXPECT_EQ(find()[0].record.candidates, 2);
}

} // namespace
