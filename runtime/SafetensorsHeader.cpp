//===- SafetensorsHeader.cpp - Checked safetensors headers -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Parses a header and checks each of its claims against the file.
//
//===----------------------------------------------------------------------===//

#include "runtime/Safetensors.h"
#include "runtime/StrictJson.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <tuple>

using attnc::image::DType;
using attnc::image::Error;
using attnc::image::parseSafetensorsDType;
using attnc::image::Result;
using attnc::image::Span;

namespace attnc::runtime {
namespace {

/// Parses one header. Every function returns false after it has set `error`.
class HeaderParser {
public:
  HeaderParser(std::string_view text, uint64_t dataBytes, std::string_view fileName)
      : json(text), dataBytes(dataBytes), fileName(fileName) {}

  /// Parses the whole header.
  bool parse(SafetensorsHeader &header);

  /// What is wrong, in one line.
  std::string error;

private:
  /// The file is at fault as a whole.
  bool fail(const std::string &reason) {
    error = std::string(fileName) + ": " + reason;
    return false;
  }

  /// The tensor called `name` is at fault.
  bool fail(const std::string &name, const std::string &reason) {
    return fail("tensor " + quoted(name) + ": " + reason);
  }

  bool parseMetadata(std::map<std::string, std::string> &metadata);
  bool parseTensor(SafetensorsEntry &entry);
  bool checkTensor(const SafetensorsEntry &entry);
  bool checkCover(std::vector<SafetensorsEntry> &entries);

  JsonReader json;
  uint64_t dataBytes;
  std::string_view fileName;
};

bool HeaderParser::parse(SafetensorsHeader &header) {
  std::set<std::string> names;
  if (!json.expect('{'))
    return fail("malformed header: " + json.error());
  if (!json.consume('}')) {
    do {
      SafetensorsEntry entry;
      if (!json.readString(entry.name) || !json.expect(':'))
        return fail("malformed header: " + json.error());
      if (!names.insert(entry.name).second)
        return fail(entry.name, "the name is used twice");
      if (entry.name == "__metadata__") {
        if (!parseMetadata(header.metadata))
          return false;
        continue;
      }
      if (!parseTensor(entry))
        return false;
      header.entries.push_back(std::move(entry));
    } while (json.consume(','));
    if (!json.expect('}'))
      return fail("malformed header: " + json.error());
  }
  if (!json.expectEnd())
    return fail("malformed header: " + json.error());
  return checkCover(header.entries);
}

bool HeaderParser::parseMetadata(std::map<std::string, std::string> &metadata) {
  const std::string prefix = "malformed __metadata__: ";
  if (!json.expect('{'))
    return fail(prefix + json.error());
  if (json.consume('}'))
    return true;
  do {
    std::string key, value;
    if (!json.readString(key) || !json.expect(':') || !json.readString(value))
      return fail(prefix + json.error());
    if (!metadata.emplace(key, std::move(value)).second)
      return fail(prefix + "the key " + quoted(key) + " is used twice");
  } while (json.consume(','));
  return json.expect('}') || fail(prefix + json.error());
}

bool HeaderParser::parseTensor(SafetensorsEntry &entry) {
  const std::string &name = entry.name;
  std::set<std::string> keys;
  if (!json.expect('{'))
    return fail(name, json.error());
  do {
    std::string key;
    bool read = json.readString(key) && json.expect(':');
    if (read && !keys.insert(key).second)
      return fail(name, "the key " + quoted(key) + " is used twice");
    if (read && key == "dtype") {
      std::string dtypeName;
      read = json.readString(dtypeName);
      const auto dtype = parseSafetensorsDType(dtypeName);
      if (read && !dtype)
        return fail(name, "unknown dtype " + quoted(dtypeName));
      entry.dtype = dtype.value_or(DType::F32);
    } else if (read && key == "shape") {
      read = json.readIntegers(maxSafetensorsRank, [&](int64_t size) { entry.shape.push_back(size); });
    } else if (read && key == "data_offsets") {
      std::vector<int64_t> offsets;
      read = json.readIntegers(2, [&](int64_t offset) { offsets.push_back(offset); });
      if (read && offsets.size() != 2)
        return fail(name, "expected 2 data_offsets, got " + std::to_string(offsets.size()));
      if (read)
        std::tie(entry.begin, entry.end) = std::pair(offsets[0], offsets[1]);
    } else if (read) {
      return fail(name, "unknown key " + quoted(key));
    }
    if (!read)
      return fail(name, json.error());
  } while (json.consume(','));
  if (!json.expect('}'))
    return fail(name, json.error());
  for (const char *key : {"dtype", "shape", "data_offsets"})
    if (!keys.count(key))
      return fail(name, "the key '" + std::string(key) + "' is missing");
  return checkTensor(entry);
}

bool HeaderParser::checkTensor(const SafetensorsEntry &entry) {
  const std::string offsets = "[" + std::to_string(entry.begin) + ", " + std::to_string(entry.end) + "]";
  if (entry.begin > entry.end || entry.end > dataBytes)
    return fail(entry.name, "data_offsets " + offsets + " do not lie in the file's " + std::to_string(dataBytes) +
                                " bytes of data");
  const std::optional<int64_t> count = countElements(entry.shape);
  int64_t bytes = 0;
  if (!count || __builtin_mul_overflow(*count, byteSize(entry.dtype), &bytes))
    return fail(entry.name, "shape " + shapeString(entry.shape) + " has more than 2^63 - 1 bytes");
  if (static_cast<uint64_t>(bytes) != entry.end - entry.begin)
    return fail(entry.name, "shape " + shapeString(entry.shape) + " of " + std::string(safetensorsName(entry.dtype)) +
                                " takes " + std::to_string(bytes) + " bytes, data_offsets " + offsets + " hold " +
                                std::to_string(entry.end - entry.begin));
  return true;
}

bool HeaderParser::checkCover(std::vector<SafetensorsEntry> &entries) {
  std::sort(entries.begin(), entries.end(), [](const SafetensorsEntry &a, const SafetensorsEntry &b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  uint64_t covered = 0;
  for (const SafetensorsEntry &entry : entries) {
    if (entry.begin != covered)
      return fail(entry.name, "data starts at byte " + std::to_string(entry.begin) +
                                  (entry.begin < covered ? ", inside the tensor before it" : ", after a gap") +
                                  "; expected " + std::to_string(covered));
    covered = entry.end;
  }
  return covered == dataBytes || fail("the tensors take " + std::to_string(covered) +
                                      " bytes of data, the file holds " + std::to_string(dataBytes));
}

} // namespace

Result<SafetensorsHeader> parseSafetensorsHeader(Span<const uint8_t> file, std::string_view fileName) {
  uint64_t length = 0;
  const std::string prefix = std::string(fileName) + ": ";
  if (file.size() < sizeof(length))
    return Error{prefix + "not a safetensors file: it has " + std::to_string(file.size()) +
                 " bytes, expected at least 8"};
  std::memcpy(&length, file.data(), sizeof(length));
  if (length > maxSafetensorsHeaderBytes)
    return Error{prefix + "header of " + std::to_string(length) + " bytes exceeds the limit of " +
                 std::to_string(maxSafetensorsHeaderBytes)};
  if (length > file.size() - sizeof(length))
    return Error{prefix + "header of " + std::to_string(length) + " bytes exceeds the file's " +
                 std::to_string(file.size())};

  SafetensorsHeader header;
  header.dataOffset = sizeof(length) + length;
  const auto *text = reinterpret_cast<const char *>(file.data());
  HeaderParser parser(std::string_view(text + sizeof(length), length), file.size() - header.dataOffset, fileName);
  if (!parser.parse(header))
    return Error{std::move(parser.error)};
  return header;
}

} // namespace attnc::runtime
