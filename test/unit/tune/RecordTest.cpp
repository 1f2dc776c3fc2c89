//===- RecordTest.cpp - Tests of records and their files --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "TuneTestSupport.h"

using namespace attnc;
using namespace attnc::test;
using image::Result;
using tune::Record;
using tune::RecordList;
using tune::SizeRange;

namespace {

TEST(SizeRange, GoesByOctaves) {
  auto check = [](int64_t size, int64_t least, int64_t most) {
    SizeRange range = SizeRange::around(size);
    EXPECT_EQ(range.min, least) << size;
    EXPECT_EQ(range.max, most) << size;
    EXPECT_TRUE(range.contains(size)) << size;
  };
  check(0, 0, 1);
  check(1, 0, 1);
  check(2, 2, 2);
  check(3, 3, 4);
  check(1024, 513, 1024);
  check(1025, 1025, 2048);
  check(std::numeric_limits<int64_t>::max(), (int64_t(1) << 62), std::numeric_limits<int64_t>::max());
}

TEST(ShapeClass, IsThatOfALaunch) {
  OpenSpec padded(paddedSpec());
  EXPECT_EQ(tune::ShapeClass::of(padded.kernel, shapesOf(padded.kernel, "B=5,Sq=100,Sk=1000")).toString(),
            "65 to 128 queries, 513 to 1024 keys, 9 to 16 heads");
  // Of packed sequences it is the mean.
  OpenSpec packed(packedSpec());
  EXPECT_EQ(tune::ShapeClass::of(packed.kernel, shapesOf(packed.kernel, "B=4,Tq=400,Tk=4000")).toString(),
            "65 to 128 queries, 513 to 1024 keys, 5 to 8 heads");
}

TEST(Record, IsReadAsItWasWritten) {
  Record record = makeRecord(shapeOf(1000), 7, "#attn.schedule<query_tile = 8, key_tile = 8, panel = 8>");
  record.beaten = {{"#attn.schedule<query_tile = 16, key_tile = 8, panel = 8>"}};
  Result<RecordList> read = tune::readRecords(makeFile("some device", {record, makeRecord(shapeOf(3))}));
  ASSERT_TRUE(read) << read.message();
  EXPECT_EQ(read->device, "some device");
  ASSERT_EQ(read->records.size(), 2u);
  const Record &same = read->records[0];
  EXPECT_TRUE(same.isOfSame(record));
  EXPECT_EQ(same.schedules, record.schedules);
  EXPECT_EQ(same.beaten, record.beaten);
  EXPECT_TRUE(read->records[1].beaten.empty());
  EXPECT_EQ(same.name, record.name);
  EXPECT_EQ(same.sizes, record.sizes);
  EXPECT_EQ(same.defaultSeconds, record.defaultSeconds);
  EXPECT_EQ(same.bestSeconds, record.bestSeconds);
  EXPECT_EQ(same.candidates, 7);
  EXPECT_EQ(same.build, "test");
  EXPECT_FALSE(same.isDefaultBest());
  EXPECT_TRUE(read->records[1].isDefaultBest());
}

/// What is said about a file that is as `makeFile` gives it but for one replacement.
std::string faultOf(llvm::StringRef from, llvm::StringRef to) {
  std::string text = makeFile("device", {makeRecord(shapeOf(1000))});
  size_t place = text.find(from.str());
  EXPECT_NE(place, std::string::npos) << from.str();
  text.replace(place, from.size(), to.str());
  Result<RecordList> read = tune::readRecords(text);
  return read ? "" : read.message();
}

TEST(Record, SaysWhatIsWrongWithAFile) {
  EXPECT_EQ(faultOf("\"attnc_records\": 1", "\"attnc_records\":  1"), ""); // layout is not content
  EXPECT_EQ(faultOf("\"attnc_records\": 1", "\"attnc_records\": 2"), "records of version 2, expected 1");
  EXPECT_EQ(faultOf("\"attnc_records\"", "\"other\""),
            "not a file of records: expected an object with 'attnc_records'");
  EXPECT_EQ(faultOf("\"device\": \"device\"", "\"device\": 3"),
            "expected 'device' and 'digest' to be texts, and 'records' a list");
  EXPECT_EQ(faultOf("0.002", "0.003").substr(0, 18), "damaged or edited:");
  EXPECT_EQ(faultOf("{", "").substr(0, 23), "not a file of records: ");
}

/// What is said about a record that is whole, but whose number or text `set` has changed.
std::string faultOf(llvm::function_ref<void(Record &)> set) {
  Record record = makeRecord(shapeOf(1000));
  set(record);
  Result<RecordList> read = tune::readRecords(makeFile("device", {makeRecord(shapeOf(3)), record}));
  return read ? "" : read.message();
}

TEST(Record, SaysWhatIsWrongWithARecord) {
  EXPECT_EQ(faultOf([](Record &record) { record.shape.queries = {5, 4}; }),
            "record 2, 'shape': expected 'queries' to be [least, most], sizes in order");
  EXPECT_EQ(faultOf([](Record &record) { record.shape.keys = {-1, 4}; }),
            "record 2, 'shape': expected 'keys' to be [least, most], sizes in order");
  EXPECT_EQ(faultOf([](Record &record) { record.candidates = -1; }),
            "record 2: expected 'candidates' to be an integer of 0 or more");
  EXPECT_EQ(faultOf([](Record &record) { record.bestSeconds = -1; }),
            "record 2: expected 'best_s' to be a number of 0 or more");
  EXPECT_EQ(faultOf([](Record &record) { record.name = std::string(5000, 'x'); }),
            "record 2: expected 'name' to be a text of up to 4096 characters");
  EXPECT_EQ(faultOf([](Record &record) { record.schedules.resize(65); }),
            "record 2: expected 'schedules' to be a list of schedules for each kernel");
}

TEST(Record, RefusesDeepBrackets) {
  std::string text(100000, '[');
  Result<RecordList> read = tune::readRecords(text);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.message(), "not a file of records: brackets are nested too deeply");
}

/// Whatever becomes of a file's bytes, it is refused or read, and never both wrong and taken.
TEST(Record, SurvivesFlippedAndTruncatedBytes) {
  const std::string whole =
      makeFile("device", {makeRecord(shapeOf(1000), 1, "#attn.schedule<query_tile = 8, key_tile = 8, panel = 8>")});
  Result<RecordList> original = tune::readRecords(whole);
  ASSERT_TRUE(original);
  size_t refused = 0;
  for (size_t place = 0; place < whole.size(); ++place) {
    if (place + 1 < whole.size()) // all but the last newline
      EXPECT_FALSE(tune::readRecords(llvm::StringRef(whole).take_front(place))) << place;
    for (char flip : {'\x01', '\x10', '\x80'}) {
      std::string text = whole;
      text[place] = static_cast<char>(text[place] ^ flip);
      Result<RecordList> read = tune::readRecords(text);
      if (!read) {
        ++refused;
        continue;
      }
      // What the digest does not cover: the device's name, and blanks.
      ASSERT_EQ(read->records.size(), 1u) << place;
      EXPECT_TRUE(read->records[0].isOfSame(original->records[0])) << place;
      EXPECT_EQ(read->records[0].schedules, original->records[0].schedules) << place;
    }
  }
  EXPECT_GT(refused, whole.size());
}

} // namespace
