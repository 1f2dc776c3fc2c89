//===- RecordBook.h - All records that a program knows ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_TUNE_RECORDBOOK_H
#define ATTNC_RUNTIME_TUNE_RECORDBOOK_H

#include "runtime/tune/RecordStore.h"
#include <functional>
#include <map>
#include <mutex>

namespace attnc::tune {

/// Where schedules come from, in the order in which they are looked for.
enum class Source {
  Override,   ///< the spec, or the caller of the compilation
  Overlay,    ///< records that the program was given
  Memory,     ///< what this process has tuned
  Persistent, ///< the user's files, and then those that came with attnc
  Autotune,   ///< tuned for this very compilation
  Heuristics, ///< the target's own choice
};

/// The name of a source: "overlay".
llvm::StringRef getName(Source source);

/// A record, and where it was found.
struct FoundRecord {
  Record record;
  Source source = Source::Persistent;
  std::string place; ///< a file, or empty
};

/// The records of overlays, of this process and of files. Threads may use it at the same time.
class RecordBook {
public:
  /// `userFolder` and `shippedFolder` are those of files; empty for none. `remark` is told what is wrong with files.
  RecordBook(std::string userFolder, std::string shippedFolder, std::function<void(const std::string &)> remark);

  /// Adds the records of `text`, which go before all others.
  image::Status addOverlay(llvm::StringRef text);

  /// Keeps what was found out about `device`: in memory, and in the user's files where there are some. False where
  /// those refuse it, which a remark says.
  bool keep(llvm::StringRef device, const Record &record);

  /// The records of `kernel` on `device` for `target`, the first source's of each class of queries. Of records of one
  /// source that differ in keys and heads only, the one whose class is `wanted`, else that of the most keys and heads.
  std::vector<FoundRecord> find(llvm::StringRef device, llvm::StringRef target, const cache::Digest &kernel,
                                const ShapeClass *wanted);

  /// Whether there is a record of `kernel` for `target`, on whatever device.
  bool mentions(llvm::StringRef target, const cache::Digest &kernel);

  /// What changes whenever `find` may give something else for `device`; empty where there are no records of it.
  std::string getStamp(llvm::StringRef device);

  /// Where records of `device` are looked for, for messages.
  std::string describePlaces(llvm::StringRef device) const;

private:
  /// A file as it was when it was last read.
  struct ReadFile {
    std::string stamp;
    RecordList list;
  };

  /// The records of the file of `device` in `store`. What is wrong with it is added to `complaints`, which become
  /// remarks once `mutex` is free: who is told of them may come here.
  const RecordList &read(const RecordStore &store, llvm::StringRef device, std::vector<std::string> &complaints);

  std::optional<RecordStore> user, shipped;
  std::function<void(const std::string &)> remark;

  std::mutex mutex; ///< of all below
  std::vector<RecordList> overlays, tuned;
  std::map<std::string, ReadFile> files; ///< by path
  std::string memoryStamp;
};

/// The folder of the records that came with the program or library that holds this function: share/attnc/records
/// next to its bin or lib. Empty where there is none.
std::string findShippedRecords();

} // namespace attnc::tune

#endif // ATTNC_RUNTIME_TUNE_RECORDBOOK_H
