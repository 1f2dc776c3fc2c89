//===- Record.h - What a tuner found out ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Records are JSON that people read and machines check: a file holds those of one device, with a digest of them all.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_TUNE_RECORD_H
#define ATTNC_RUNTIME_TUNE_RECORD_H

#include "codegen/image/Error.h"
#include "runtime/cache/Blake3.h"
#include "runtime/tune/ShapeClass.h"

namespace attnc::tune {

/// The schedules of the kernels of one function, as text: a list for each kernel. A kernel whose list is empty has the
/// target's own.
using ScheduleTexts = std::vector<std::vector<std::string>>;

/// Which schedules one function had best on one device, at sizes of one class.
struct Record {
  cache::Digest kernel = {}; ///< of what the function says (Subject.h)
  std::string target;        ///< what made the code: "cpu:znver3", "nvptx:sm_90a"
  ShapeClass shape;
  ScheduleTexts schedules; ///< each for all numbers of queries; see `isDefaultBest`
  ScheduleTexts beaten;    ///< the target's own, which they were measured against; empty where that is not known

  // For people.
  std::string name;          ///< of the function
  std::string sizes;         ///< at which it was measured: "B=1, Sq=1024, Sk=1024"
  double defaultSeconds = 0; ///< median with the target's own schedules
  double bestSeconds = 0;    ///< median with `schedules`
  int64_t candidates = 0;    ///< that were measured
  std::string build;         ///< of the compiler

  /// Whether nothing that was tried is faster than the target's own schedules.
  bool isDefaultBest() const {
    return llvm::all_of(schedules, [](const std::vector<std::string> &list) { return list.empty(); });
  }

  /// Whether `other` is of the same kernel, target and class, and so takes the place of this.
  bool isOfSame(const Record &other) const {
    return kernel == other.kernel && target == other.target && shape == other.shape;
  }
};

/// The records of one device.
struct RecordList {
  std::string device;
  std::vector<Record> records; ///< the newest last
};

/// The most bytes of a file of records, the most records that it holds, and the most characters of a text in it.
inline constexpr size_t longestRecordFile = size_t(1) << 26, mostRecords = 16384, longestRecordText = 4096;

/// `list` as the text of a file.
std::string writeRecords(const RecordList &list);

/// The records that `text` holds. An error says what is wrong with it, where, and what was expected.
image::Result<RecordList> readRecords(llvm::StringRef text);

/// Adds `record` to `list`, in the place of one of the same kernel, target and class; the oldest goes where there are
/// too many.
void addRecord(RecordList &list, Record record);

} // namespace attnc::tune

#endif // ATTNC_RUNTIME_TUNE_RECORD_H
