//===- RecordStore.cpp - The files of records -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/tune/RecordStore.h"
#include "runtime/WholeFile.h"
#include "runtime/cache/CacheDirectory.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace attnc;
using namespace attnc::tune;
using image::Error;
using image::Result;
using image::Status;

/// How the names of files end.
static constexpr llvm::StringLiteral suffix = ".json";

std::string RecordStore::pathOf(llvm::StringRef device) const {
  constexpr size_t longest = 100;
  std::string name;
  for (char c : device.take_front(longest)) {
    bool plain = llvm::isAlnum(c) || c == '.' || c == '_';
    if (plain || (!name.empty() && name.back() != '-'))
      name += plain ? c : '-';
  }
  return folder + "/" + name + suffix.str();
}

Result<std::optional<RecordList>> tune::readRecordFile(llvm::StringRef path) {
  llvm::sys::fs::file_status status;
  if (std::error_code error = llvm::sys::fs::status(path, status)) {
    if (error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory)
      return std::optional<RecordList>();
    return Error{"'" + path.str() + "': " + error.message()};
  }
  // A pipe would be waited for.
  if (!llvm::sys::fs::is_regular_file(status) || status.getSize() > longestRecordFile)
    return Error{"'" + path.str() + "': expected a regular file of up to " + std::to_string(longestRecordFile) +
                 " bytes"};
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false,
                                          /*IsVolatile=*/true);
  if (!file)
    return Error{"'" + path.str() + "': " + file.getError().message()};
  Result<RecordList> list = readRecords((*file)->getBuffer());
  if (!list)
    return Error{"'" + path.str() + "': " + list.message()};
  return std::optional<RecordList>(std::move(*list));
}

Result<RecordList> RecordStore::read(llvm::StringRef device) const {
  std::string path = pathOf(device);
  Result<std::optional<RecordList>> list = readRecordFile(path);
  if (!list)
    return list.takeError();
  if (!*list)
    return RecordList{device.str(), {}};
  if ((*list)->device != device)
    return Error{"'" + path + "': expected records of '" + device.str() + "', got those of '" + (*list)->device + "'"};
  return std::move(**list);
}

Status RecordStore::add(const RecordList &added, llvm::function_ref<void(const std::string &)> remark) const {
  if (Status status = cache::CacheDirectory(folder).create(); !status)
    return Error{"'" + folder + "': " + status.message()};
  std::string path = pathOf(added.device);
  constexpr std::chrono::milliseconds patience{10'000};
  std::optional<cache::CacheLock> lock = cache::CacheLock::take(path + ".lock", patience, [] {});
  if (!lock)
    return Error{"'" + path + ".lock': another process holds it"};
  Result<RecordList> known = read(added.device);
  if (!known) {
    remark(known.message() + "; its records are lost");
    known = RecordList{added.device, {}};
  }
  for (const Record &record : added.records)
    addRecord(*known, record);
  const std::string text = writeRecords(*known);
  if (Status status = runtime::replaceFile(path, {reinterpret_cast<const uint8_t *>(text.data()), text.size()});
      !status)
    return Error{"'" + path + "': " + status.message()};
  return {};
}

std::vector<std::string> RecordStore::listFiles() const {
  std::vector<std::string> paths;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator file(folder, error), end; !error && file != end; file.increment(error))
    if (llvm::StringRef(file->path()).ends_with(suffix))
      paths.push_back(file->path());
  llvm::sort(paths);
  return paths;
}

std::string RecordStore::getStamp(llvm::StringRef device) const {
  llvm::sys::fs::file_status status;
  std::string path = pathOf(device);
  if (llvm::sys::fs::status(path, status))
    return "";
  return path + " " + std::to_string(status.getSize()) + " " +
         std::to_string(status.getLastModificationTime().time_since_epoch().count());
}
