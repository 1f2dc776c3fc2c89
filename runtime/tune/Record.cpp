//===- Record.cpp - What a tuner found out ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/tune/Record.h"
#include "runtime/jit/SpecDiagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include <cmath>

using namespace attnc;
using namespace attnc::tune;
using image::Error;
using image::Result;

/// Changes with the form of files.
static constexpr int64_t formatVersion = 1;

static llvm::json::Value toJson(const SizeRange &range) { return llvm::json::Array{range.min, range.max}; }

static llvm::json::Value toJson(const ScheduleTexts &texts) {
  llvm::json::Array schedules;
  for (const std::vector<std::string> &list : texts)
    schedules.push_back(llvm::json::Array(list));
  return schedules;
}

static llvm::json::Value toJson(const Record &record) {
  llvm::json::Object object{{"kernel", cache::toHex(record.kernel)},
                            {"target", record.target},
                            {"shape", llvm::json::Object{{"queries", toJson(record.shape.queries)},
                                                         {"keys", toJson(record.shape.keys)},
                                                         {"heads", toJson(record.shape.heads)}}},
                            {"schedules", toJson(record.schedules)},
                            {"name", record.name},
                            {"sizes", record.sizes},
                            {"default_s", record.defaultSeconds},
                            {"best_s", record.bestSeconds},
                            {"candidates", record.candidates},
                            {"build", record.build}};
  if (!record.beaten.empty())
    object["beaten"] = toJson(record.beaten);
  return object;
}

/// The digest of records, whatever the layout of their text.
static std::string digestOf(const llvm::json::Value &records) {
  std::string text = llvm::formatv("{0}", records).str();
  return cache::toHex(cache::blake3({reinterpret_cast<const uint8_t *>(text.data()), text.size()}));
}

std::string tune::writeRecords(const RecordList &list) {
  llvm::json::Array array;
  for (const Record &record : list.records)
    array.push_back(toJson(record));
  llvm::json::Value records(std::move(array));
  std::string digest = digestOf(records);
  llvm::json::Object file{{"attnc_records", formatVersion},
                          {"device", list.device},
                          {"digest", std::move(digest)},
                          {"records", std::move(records)}};
  return llvm::formatv("{0:2}\n", llvm::json::Value(std::move(file))).str();
}

namespace {

/// Reads the members of one object. The first that is not as it should be is its fault.
class ObjectReader {
public:
  ObjectReader(const llvm::json::Object *object, std::string place) : object(object), place(std::move(place)) {
    if (!object)
      fault = this->place + ": expected an object";
  }

  std::string readText(llvm::StringRef name) {
    const llvm::json::Value *value = get(name);
    std::optional<llvm::StringRef> text = value ? value->getAsString() : std::nullopt;
    if (!text || text->size() > longestRecordText)
      complain(name, "a text of up to " + std::to_string(longestRecordText) + " characters");
    return text ? text->str() : "";
  }

  int64_t readCount(llvm::StringRef name) {
    const llvm::json::Value *value = get(name);
    std::optional<int64_t> count = value ? value->getAsInteger() : std::nullopt;
    if (!count || *count < 0)
      complain(name, "an integer of 0 or more");
    return count.value_or(0);
  }

  double readSeconds(llvm::StringRef name) {
    const llvm::json::Value *value = get(name);
    std::optional<double> seconds = value ? value->getAsNumber() : std::nullopt;
    if (!seconds || !std::isfinite(*seconds) || *seconds < 0)
      complain(name, "a number of 0 or more");
    return seconds.value_or(0);
  }

  SizeRange readRange(llvm::StringRef name) {
    const llvm::json::Value *value = get(name);
    const llvm::json::Array *ends = value ? value->getAsArray() : nullptr;
    std::optional<int64_t> least, most;
    if (ends && ends->size() == 2) {
      least = (*ends)[0].getAsInteger();
      most = (*ends)[1].getAsInteger();
    }
    if (!least || !most || *least < 0 || *least > *most)
      complain(name, "[least, most], sizes in order");
    return {least.value_or(0), most.value_or(0)};
  }

  cache::Digest readDigest(llvm::StringRef name) {
    std::optional<cache::Digest> digest = cache::parseDigest(readText(name));
    if (!digest)
      complain(name, "64 hexadecimal digits");
    return digest.value_or(cache::Digest());
  }

  ScheduleTexts readSchedules(llvm::StringRef name) {
    constexpr size_t mostLists = 64;
    ScheduleTexts schedules;
    const llvm::json::Value *value = get(name);
    const llvm::json::Array *lists = value ? value->getAsArray() : nullptr;
    bool good = lists && lists->size() <= mostLists;
    for (size_t i = 0; good && i < lists->size(); ++i) {
      const llvm::json::Array *list = (*lists)[i].getAsArray();
      good = list && list->size() <= mostLists;
      std::vector<std::string> texts;
      for (size_t j = 0; good && j < list->size(); ++j) {
        std::optional<llvm::StringRef> text = (*list)[j].getAsString();
        good = text && text->size() <= longestRecordText;
        if (good)
          texts.push_back(text->str());
      }
      schedules.push_back(std::move(texts));
    }
    if (!good)
      complain(name, "a list of schedules for each kernel");
    return schedules;
  }

  bool has(llvm::StringRef name) const { return get(name) != nullptr; }

  ObjectReader readObject(llvm::StringRef name) {
    const llvm::json::Value *value = get(name);
    return ObjectReader(value ? value->getAsObject() : nullptr, place + ", '" + name.str() + "'");
  }

  /// Takes on the fault of a part.
  void take(const ObjectReader &part) {
    if (fault.empty())
      fault = part.fault;
  }

  const std::string &getFault() const { return fault; }

private:
  const llvm::json::Value *get(llvm::StringRef name) const { return object ? object->get(name) : nullptr; }

  void complain(llvm::StringRef name, const std::string &expected) {
    if (fault.empty())
      fault = place + ": expected '" + name.str() + "' to be " + expected;
  }

  const llvm::json::Object *object;
  std::string place, fault;
};

} // namespace

static Result<Record> readRecord(const llvm::json::Value &value, size_t number) {
  ObjectReader reader(value.getAsObject(), "record " + std::to_string(number));
  Record record;
  record.kernel = reader.readDigest("kernel");
  record.target = reader.readText("target");
  ObjectReader shape = reader.readObject("shape");
  record.shape = {shape.readRange("queries"), shape.readRange("keys"), shape.readRange("heads")};
  reader.take(shape);
  record.schedules = reader.readSchedules("schedules");
  if (reader.has("beaten"))
    record.beaten = reader.readSchedules("beaten");
  record.name = reader.readText("name");
  record.sizes = reader.readText("sizes");
  record.defaultSeconds = reader.readSeconds("default_s");
  record.bestSeconds = reader.readSeconds("best_s");
  record.candidates = reader.readCount("candidates");
  record.build = reader.readText("build");
  if (!reader.getFault().empty())
    return Error{reader.getFault()};
  return record;
}

/// Whether brackets nest no deeper than those of records: the parser recurses.
static bool isShallow(llvm::StringRef text) {
  constexpr int deepest = 16;
  int depth = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (inString) {
      i += c == '\\';
      inString = c != '"';
    } else if (c == '"') {
      inString = true;
    } else if (c == '[' || c == '{') {
      if (++depth > deepest)
        return false;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return true;
}

Result<RecordList> tune::readRecords(llvm::StringRef text) {
  if (text.size() > longestRecordFile)
    return Error{"expected at most " + std::to_string(longestRecordFile) + " bytes of records, got " +
                 std::to_string(text.size())};
  if (!isShallow(text))
    return Error{"not a file of records: brackets are nested too deeply"};
  llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(text);
  if (!parsed)
    return Error{"not a file of records: " + jit::makePrintable(llvm::toString(parsed.takeError()))};
  const llvm::json::Object *file = parsed->getAsObject();
  std::optional<int64_t> version = file ? file->getInteger("attnc_records") : std::nullopt;
  if (!version)
    return Error{"not a file of records: expected an object with 'attnc_records'"};
  if (*version != formatVersion)
    return Error{"records of version " + std::to_string(*version) + ", expected " + std::to_string(formatVersion)};
  std::optional<llvm::StringRef> device = file->getString("device"), digest = file->getString("digest");
  const llvm::json::Value *records = file->get("records");
  if (!device || device->empty() || device->size() > longestRecordText || !digest || !records || !records->getAsArray())
    return Error{"expected 'device' and 'digest' to be texts, and 'records' a list"};
  if (records->getAsArray()->size() > mostRecords)
    return Error{"expected at most " + std::to_string(mostRecords) + " records, got " +
                 std::to_string(records->getAsArray()->size())};
  if (std::string found = digestOf(*records); found != *digest)
    return Error{"damaged or edited: the digest of the records is " + found.substr(0, 12) + "..., expected " +
                 jit::makePrintable(digest->substr(0, 12)) + "..."};
  RecordList list{device->str(), {}};
  for (const auto &[number, value] : llvm::enumerate(*records->getAsArray())) {
    Result<Record> record = readRecord(value, number + 1);
    if (!record)
      return record.takeError();
    list.records.push_back(std::move(*record));
  }
  return list;
}

void tune::addRecord(RecordList &list, Record record) {
  llvm::erase_if(list.records, [&](const Record &other) { return other.isOfSame(record); });
  list.records.push_back(std::move(record));
  if (list.records.size() > mostRecords)
    list.records.erase(list.records.begin());
}
