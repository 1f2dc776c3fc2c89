//===- SafetensorsHeaderTest.cpp - Hostile and honest headers --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#include "runtime/Safetensors.h"
#include "runtime/StrictJson.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace attnc::image;
using namespace attnc::runtime;

namespace {

/// A file with `header` and `dataBytes` bytes of data.
std::vector<uint8_t> makeFile(const std::string &header, size_t dataBytes) {
  std::vector<uint8_t> file(8 + header.size() + dataBytes);
  const uint64_t length = header.size();
  std::memcpy(file.data(), &length, 8);
  std::memcpy(file.data() + 8, header.data(), header.size());
  return file;
}

/// The error of parsing such a file, empty for none.
std::string errorOf(const std::string &header, size_t dataBytes) {
  return parseSafetensorsHeader(makeFile(header, dataBytes), "f").message();
}

/// A header of one tensor 'a'.
std::string one(const std::string &dtype, const std::string &shape, const std::string &offsets) {
  return "{\"a\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}}";
}

TEST(SafetensorsHeader, ReadsHonestHeaders) {
  const std::string text = R"( {"b" : {"shape":[2, 3],"dtype":"BF16","data_offsets":[4,16]},
    "__metadata__": {"format":"pt", "\u00e9\n":"\ud83d\ude00"},
    "a":{"dtype":"F32","shape":[],"data_offsets":[0,4]},
    "empty":{"dtype":"I64","shape":[0,7],"data_offsets":[16,16]}}  )";
  const auto file = makeFile(text, 16);
  Result<SafetensorsHeader> header = parseSafetensorsHeader(file, "f");
  ASSERT_TRUE(header) << header.message();
  EXPECT_EQ(header->dataOffset, 8 + text.size());
  ASSERT_EQ(header->entries.size(), 3u);
  EXPECT_EQ(header->entries[0].name, "a");
  EXPECT_EQ(header->entries[0].shape, Dims());
  EXPECT_EQ(header->entries[1].name, "b");
  EXPECT_EQ(header->entries[1].dtype, DType::BF16);
  EXPECT_EQ(header->entries[1].shape, (Dims{2, 3}));
  EXPECT_EQ(header->entries[1].begin, 4u);
  EXPECT_EQ(header->entries[1].end, 16u);
  EXPECT_EQ(header->entries[2].name, "empty");
  EXPECT_EQ(header->metadata.at("format"), "pt");
  EXPECT_EQ(header->metadata.at("\xC3\xA9\n"), "\xF0\x9F\x98\x80");
  EXPECT_EQ(errorOf("{}", 0), "");
}

TEST(SafetensorsHeader, RefusesWrongLengths) {
  std::vector<uint8_t> file(5);
  EXPECT_EQ(parseSafetensorsHeader(file, "f").message(),
            "f: not a safetensors file: it has 5 bytes, expected at least 8");
  EXPECT_FALSE(parseSafetensorsHeader({}, "f"));
  file = makeFile("{}", 0);
  file[0] = 3;
  EXPECT_EQ(parseSafetensorsHeader(file, "f").message(), "f: header of 3 bytes exceeds the file's 10");
  std::memset(file.data(), 0xFF, 8);
  EXPECT_EQ(parseSafetensorsHeader(file, "f").message(),
            "f: header of 18446744073709551615 bytes exceeds the limit of 100000000");
}

TEST(SafetensorsHeader, RefusesWhatIsNotTheFormat) {
  const std::string good = one("F32", "[1]", "[0,4]");
  ASSERT_EQ(errorOf(good, 4), "");
  // Every truncation, and every byte replaced by one that cannot stand there.
  for (size_t length = 0; length < good.size(); ++length)
    EXPECT_NE(errorOf(good.substr(0, length), 4), "") << length;
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = '\x01';
    EXPECT_NE(errorOf(bad, 4), "") << i;
  }
  EXPECT_EQ(errorOf("", 0), "f: malformed header: expected '{' at byte 0");
  for (const char *text : {"[]",
                           "null",
                           "{]",
                           "{,}",
                           "{\"a\"}",
                           "{\"a\":1}",
                           "{\"a\":{}}",
                           "{\"a\":{},}",
                           "{}{}",
                           "{} x",
                           "{a:{}}",
                           "{'a':{}}",
                           "{\"a\":null}",
                           "{\"\\x\":{}}",
                           "{\"\\u12g4\":{}}",
                           "{\"\\ud800\":{}}",
                           "{\"\\udc00\":{}}",
                           "{\"\\ud800\\u0041\":{}}",
                           "{\"\xFF\":{}}",
                           "{\"\xC0\x80\":{}}",
                           "{\"\xED\xA0\x80\":{}}",
                           "{\"__metadata__\":[]}",
                           "{\"__metadata__\":{\"k\":1}}",
                           "{\"__metadata__\":{\"k\":\"v\",\"k\":\"w\"}}",
                           "{\"__metadata__\":{},\"__metadata__\":{}}"})
    EXPECT_NE(errorOf(text, 0), "") << text;
  EXPECT_NE(errorOf(std::string("{}\0", 3), 0), "");
}

TEST(SafetensorsHeader, RefusesDeepNesting) {
  const std::string deep(1'000'000, '[');
  EXPECT_EQ(errorOf(deep, 0), "f: malformed header: expected '{' at byte 0");
  EXPECT_NE(errorOf("{\"a\":" + deep, 0), "");
  EXPECT_NE(errorOf(one("F32", deep, "[0,0]"), 0), "");
  EXPECT_EQ(errorOf("{\"a\":{\"x\":" + deep, 0), "f: tensor 'a': unknown key 'x'");
  std::string objects;
  for (int i = 0; i < 100000; ++i)
    objects += "{\"a\":";
  EXPECT_NE(errorOf(objects, 0), "");
}

TEST(SafetensorsHeader, RefusesBadTensors) {
  EXPECT_EQ(errorOf(one("F8_E4M3", "[1]", "[0,1]"), 1), "f: tensor 'a': unknown dtype 'F8_E4M3'");
  EXPECT_EQ(errorOf(one("F32", "[-1]", "[0,4]"), 4),
            "f: tensor 'a': expected an integer from 0 to 2^63 - 1 at byte 29");
  for (const char *shape : {"[1.0]", "[1e0]", "[01]", "[+1]", "[1,]", "[,1]", "1", "[\"1\"]", "[9223372036854775808]",
                            "[99999999999999999999]", "[[1]]"})
    EXPECT_NE(errorOf(one("F32", shape, "[0,4]"), 4), "") << shape;
  EXPECT_EQ(errorOf(one("F32", "[4294967296,4294967296]", "[0,4]"), 4),
            "f: tensor 'a': shape 4294967296x4294967296 has more than 2^63 - 1 bytes");
  EXPECT_NE(errorOf(one("F32", "[4611686018427387905]", "[0,4]"), 4), "");
  EXPECT_NE(errorOf(one("F32", "[0,9223372036854775807,9223372036854775807]", "[0,0]"), 0), "");
  EXPECT_EQ(errorOf(one("F32", "[2]", "[0,4]"), 4),
            "f: tensor 'a': shape 2 of F32 takes 8 bytes, data_offsets [0, 4] hold 4");
  EXPECT_EQ(errorOf(one("F32", "[2]", "[0,8]"), 4),
            "f: tensor 'a': data_offsets [0, 8] do not lie in the file's 4 bytes of data");
  EXPECT_NE(errorOf(one("F32", "[1]", "[4,0]"), 4), "");
  EXPECT_NE(errorOf(one("F32", "[0]", "[9223372036854775807,9223372036854775807]"), 0), "");
  EXPECT_EQ(errorOf(one("F32", "[1]", "[4]"), 4), "f: tensor 'a': expected 2 data_offsets, got 1");
  EXPECT_NE(errorOf(one("F32", "[1]", "[0,4,4]"), 4), "");
  EXPECT_EQ(errorOf("{\"a\":{\"dtype\":\"F32\",\"shape\":[0]}}", 0),
            "f: tensor 'a': the key 'data_offsets' is missing");
  EXPECT_EQ(errorOf("{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F16\"}}", 0),
            "f: tensor 'a': the key 'dtype' is used twice");
  std::string rank = "[1";
  for (size_t i = 0; i < maxSafetensorsRank; ++i)
    rank += ",1";
  EXPECT_NE(errorOf(one("I8", rank + "]", "[0,1]"), 1), "");
}

/// A header of F32 vectors, each with a name and its offsets.
std::string many(std::initializer_list<std::array<std::string, 3>> tensors) {
  std::string text = "{";
  for (const auto &[name, begin, end] : tensors) {
    const int bytes = std::stoi(end) - std::stoi(begin);
    text += (text.size() > 1 ? ",\"" : "\"") + name + "\":{\"dtype\":\"F32\",\"shape\":[" + std::to_string(bytes / 4) +
            "],\"data_offsets\":[" + begin + "," + end + "]}";
  }
  return text + "}";
}

TEST(SafetensorsHeader, RefusesOverlapsAndGaps) {
  EXPECT_EQ(errorOf(many({{"b", "4", "8"}, {"a", "0", "4"}}), 8), "");
  EXPECT_EQ(errorOf(many({{"a", "0", "4"}, {"a", "4", "8"}}), 8), "f: tensor 'a': the name is used twice");
  EXPECT_EQ(errorOf(many({{"a", "0", "4"}, {"\\u0061", "4", "8"}}), 8), "f: tensor 'a': the name is used twice");
  EXPECT_EQ(errorOf(many({{"a", "0", "8"}, {"b", "4", "12"}}), 12),
            "f: tensor 'b': data starts at byte 4, inside the tensor before it; expected 8");
  EXPECT_EQ(errorOf(many({{"a", "0", "4"}, {"b", "8", "12"}}), 12),
            "f: tensor 'b': data starts at byte 8, after a gap; expected 4");
  EXPECT_NE(errorOf(many({{"a", "0", "8"}, {"b", "0", "8"}}), 8), "");
  EXPECT_NE(errorOf(many({{"a", "0", "8"}, {"b", "4", "4"}}), 8), "");
  EXPECT_EQ(errorOf(many({{"a", "0", "4"}}), 6), "f: the tensors take 4 bytes of data, the file holds 6");
  EXPECT_NE(errorOf("{}", 1), "");
}

TEST(SafetensorsHeader, MessagesStayOnOneLine) {
  const std::string filler(10000, 'x');
  const std::string error = errorOf("{\"\\n\\u001b[31m" + filler + "\":{\"dtype\":\"\\r" + filler + "\"}}", 0);
  EXPECT_LT(error.size(), 300u);
  for (char c : error)
    EXPECT_GE(static_cast<unsigned char>(c), 0x20);
}

TEST(StrictJson, StringsRoundTrip) {
  const std::string value = std::string("q\" b\\ \n\t\x01 \0 ", 13) + "\xC3\xA9\xF0\x9F\x98\x80/";
  ASSERT_TRUE(isUtf8(value));
  std::string text, back;
  appendJsonString(text, value);
  JsonReader reader(text);
  ASSERT_TRUE(reader.readString(back)) << reader.error();
  EXPECT_EQ(back, value);
  EXPECT_TRUE(reader.expectEnd());
}

TEST(StrictJson, Utf8) {
  for (const char *good : {"", "a", "\x7F", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEF\xBF\xBF",
                           "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"})
    EXPECT_TRUE(isUtf8(good)) << good;
  for (const char *bad : {"\x80", "\xC1\xBF", "\xC2", "\xC2\x41", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xE1\x80",
                          "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80"})
    EXPECT_FALSE(isUtf8(bad)) << bad;
}

} // namespace
