//===- RecordStore.h - The files of records ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A folder with one file for each device, which several processes read and write. A file is written next to the old one
// and renamed, by one process at a time.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_TUNE_RECORDSTORE_H
#define ATTNC_RUNTIME_TUNE_RECORDSTORE_H

#include "runtime/tune/Record.h"

namespace attnc::tune {

/// Reads the file of records at `path`. Nothing where there is no file; what is no regular file, or is too large, is an
/// error.
image::Result<std::optional<RecordList>> readRecordFile(llvm::StringRef path);

/// The records in one folder. Threads may use it at the same time.
class RecordStore {
public:
  /// The folder at `path`, which need not be there.
  explicit RecordStore(std::string path) : folder(std::move(path)) {}

  const std::string &path() const { return folder; }

  /// The file of `device`: "cpu:znver3, 16 cores" in "cpu-znver3-16-cores.json".
  std::string pathOf(llvm::StringRef device) const;

  /// The records of `device`, of which there may be none; an error where its file is damaged or another device's.
  image::Result<RecordList> read(llvm::StringRef device) const;

  /// Adds records to those of a device. A file that is damaged is replaced, which `remark` is told.
  image::Status add(const RecordList &added, llvm::function_ref<void(const std::string &)> remark) const;

  /// The paths of all files, sorted.
  std::vector<std::string> listFiles() const;

  /// What changes with the file of `device`: empty where there is none.
  std::string getStamp(llvm::StringRef device) const;

private:
  std::string folder;
};

} // namespace attnc::tune

#endif // ATTNC_RUNTIME_TUNE_RECORDSTORE_H
