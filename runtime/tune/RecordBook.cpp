//===- RecordBook.cpp - All records that a program knows --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/tune/RecordBook.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <dlfcn.h>
#include <tuple>

using namespace attnc;
using namespace attnc::tune;
using image::Result;
using image::Status;

llvm::StringRef tune::getName(Source source) {
  switch (source) {
  case Source::Override:
    return "override";
  case Source::Overlay:
    return "overlay";
  case Source::Memory:
    return "memory";
  case Source::Persistent:
    return "persistent";
  case Source::Autotune:
    return "autotune";
  case Source::Heuristics:
    return "heuristics";
  }
  llvm_unreachable("all sources are named above");
}

/// A store in `folder`, if that has a name.
static std::optional<RecordStore> makeStore(std::string folder) {
  return folder.empty() ? std::nullopt : std::optional<RecordStore>(std::move(folder));
}

RecordBook::RecordBook(std::string userFolder, std::string shippedFolder,
                       std::function<void(const std::string &)> remark)
    : user(makeStore(std::move(userFolder))), shipped(makeStore(std::move(shippedFolder))), remark(std::move(remark)) {}

/// What changes with the records in memory: a digest of what is added.
static std::string extendStamp(const std::string &stamp, llvm::StringRef added) {
  std::string text = stamp + added.str();
  return cache::toHex(cache::blake3({reinterpret_cast<const uint8_t *>(text.data()), text.size()}));
}

Status RecordBook::addOverlay(llvm::StringRef text) {
  Result<RecordList> list = readRecords(text);
  if (!list)
    return list.takeError();
  std::lock_guard<std::mutex> lock(mutex);
  memoryStamp = extendStamp(memoryStamp, text);
  overlays.push_back(std::move(*list));
  return {};
}

bool RecordBook::keep(llvm::StringRef device, const Record &record) {
  RecordList added{device.str(), {record}};
  {
    std::lock_guard<std::mutex> lock(mutex);
    memoryStamp = extendStamp(memoryStamp, writeRecords(added));
    auto list = llvm::find_if(tuned, [&](const RecordList &known) { return known.device == device; });
    if (list == tuned.end())
      tuned.push_back(std::move(added));
    else
      addRecord(*list, record);
  }
  if (!user)
    return true;
  Status status = user->add(RecordList{device.str(), {record}}, remark);
  if (!status)
    remark("the record is not kept: " + status.message());
  return static_cast<bool>(status);
}

const RecordList &RecordBook::read(const RecordStore &store, llvm::StringRef device,
                                   std::vector<std::string> &complaints) {
  ReadFile &file = files[store.pathOf(device)];
  std::string stamp = store.getStamp(device);
  if (stamp == file.stamp)
    return file.list;
  file.stamp = stamp;
  Result<RecordList> list = store.read(device);
  if (!list)
    complaints.push_back(list.message() + "; its records are not used");
  file.list = list ? std::move(*list) : RecordList();
  return file.list;
}

std::vector<FoundRecord> RecordBook::find(llvm::StringRef device, llvm::StringRef target, const cache::Digest &kernel,
                                          const ShapeClass *wanted) {
  std::vector<FoundRecord> found;
  /// Whether `a` is to be used before `b`, of one source and one class of queries.
  auto isBetter = [&](const Record &a, const Record &b) {
    auto rank = [&](const Record &record) {
      bool fits = wanted && record.shape == *wanted;
      bool fitsKeys = wanted && record.shape.keys == wanted->keys;
      return std::make_tuple(fits, fitsKeys, record.shape.keys.max, record.shape.heads.max);
    };
    return rank(a) >= rank(b);
  };
  auto look = [&](const RecordList &list, Source source, const std::string &place) {
    std::vector<FoundRecord> here;
    for (const Record &record : list.records) {
      if (list.device != device || record.target != target || record.kernel != kernel)
        continue;
      auto same = [&](const FoundRecord &other) { return other.record.shape.queries == record.shape.queries; };
      if (llvm::any_of(found, same))
        continue;
      auto rival = llvm::find_if(here, same);
      if (rival == here.end())
        here.push_back({record, source, place});
      else if (isBetter(record, rival->record))
        rival->record = record;
    }
    llvm::append_range(found, here);
  };
  std::vector<std::string> complaints;
  std::unique_lock<std::mutex> lock(mutex);
  for (const RecordList &list : llvm::reverse(overlays))
    look(list, Source::Overlay, "");
  for (const RecordList &list : tuned)
    look(list, Source::Memory, "");
  for (const std::optional<RecordStore> *store : {&user, &shipped})
    if (*store)
      look(read(**store, device, complaints), Source::Persistent, (*store)->pathOf(device));
  lock.unlock();
  llvm::for_each(complaints, remark);
  llvm::sort(found, [](const FoundRecord &a, const FoundRecord &b) {
    return a.record.shape.queries.min < b.record.shape.queries.min;
  });
  return found;
}

bool RecordBook::mentions(llvm::StringRef target, const cache::Digest &kernel) {
  auto isIn = [&](const RecordList &list) {
    return llvm::any_of(list.records,
                        [&](const Record &record) { return record.target == target && record.kernel == kernel; });
  };
  std::lock_guard<std::mutex> lock(mutex);
  if (llvm::any_of(overlays, isIn) || llvm::any_of(tuned, isIn))
    return true;
  for (const std::optional<RecordStore> *store : {&user, &shipped})
    if (*store)
      for (const std::string &path : (*store)->listFiles())
        if (Result<std::optional<RecordList>> list = readRecordFile(path); list && *list && isIn(**list))
          return true;
  return false;
}

std::string RecordBook::getStamp(llvm::StringRef device) {
  std::lock_guard<std::mutex> lock(mutex);
  std::string stamp = memoryStamp;
  for (const std::optional<RecordStore> *store : {&user, &shipped})
    if (*store)
      stamp += (*store)->getStamp(device);
  return stamp;
}

std::string RecordBook::describePlaces(llvm::StringRef device) const {
  std::string text;
  for (const std::optional<RecordStore> *store : {&user, &shipped})
    if (*store)
      text += (text.empty() ? "" : " and ") + (*store)->pathOf(device);
  return text.empty() ? "memory (no files are read)" : text;
}

std::string tune::findShippedRecords() {
  Dl_info info = {};
  if (!::dladdr(reinterpret_cast<const void *>(&findShippedRecords), &info) || !info.dli_fname)
    return "";
  llvm::SmallString<256> path;
  // A program that was found by PATH may be known by its bare name.
  if (llvm::sys::fs::real_path(info.dli_fname, path))
    path = llvm::sys::fs::getMainExecutable(nullptr, reinterpret_cast<void *>(&findShippedRecords));
  llvm::StringRef prefix = llvm::sys::path::parent_path(llvm::sys::path::parent_path(path));
  // Libraries may lie in lib/x86_64-linux-gnu.
  for (int level = 0; level < 2 && !prefix.empty(); ++level, prefix = llvm::sys::path::parent_path(prefix)) {
    llvm::SmallString<256> folder(prefix);
    llvm::sys::path::append(folder, "share", "attnc", "records");
    if (llvm::sys::fs::is_directory(folder))
      return folder.str().str();
  }
  return "";
}
