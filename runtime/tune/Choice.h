//===- Choice.h - Which schedules a kernel is compiled with -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_TUNE_CHOICE_H
#define ATTNC_RUNTIME_TUNE_CHOICE_H

#include "runtime/tune/RecordBook.h"
#include "runtime/tune/Subject.h"

namespace attnc::tune {

/// Where schedules may come from that nobody has given.
struct Policy {
  bool records = true;    ///< of overlays, of this process, of files
  bool autotune = false;  ///< where there is no record of the sizes
  bool heuristics = true; ///< at last; else it is an error that there is nothing else

  /// "auto", "records", "autotune" or "heuristics"; an error names them.
  static image::Result<Policy> parse(llvm::StringRef name);
};

/// What a kernel is asked for with.
struct ChoiceRequest {
  RecordBook *book = nullptr; ///< null for no records
  std::string device;         ///< as records call it; empty where it is not known
  Policy policy;
  std::optional<ShapeClass> shape; ///< of the launches that count most, where somebody says
  /// Tunes at the sizes of `shape`, and keeps the record in the book. Null where that cannot be done.
  std::function<image::Status()> tune;
  /// What to do with a line for people.
  std::function<void(const std::string &)> remark;
};

/// What was chosen.
struct Choice {
  Source source = Source::Heuristics;
  std::vector<FoundRecord> records; ///< that are followed, in the order of their queries
  std::string why;                  ///< one line
};

/// Chooses the schedules of `kernel` for `target`, and attaches those that records say. Where those of a target's own
/// are best, none are attached. An error where the policy allows nothing that there is.
image::Result<Choice> chooseSchedules(jit::Session &session, attn::KernelFunction &kernel, mlir::Attribute target,
                                      const ChoiceRequest &request);

/// What a record says of one program of a kernel.
struct RecordedSchedules {
  ShapeClass shape;
  llvm::SmallVector<attn::ScheduleAttr> schedules; ///< in order; none where the target's own are the best
};

/// `defaults`, which are for launches of all sizes, with what `records`, in the order of their queries, say about
/// theirs. A record is for the queries of its class, and for longer sequences up to where the next record begins or the
/// defaults change; of other sizes, for those that the default has which it was faster than.
llvm::SmallVector<attn::ScheduleAttr> mergeSchedules(llvm::ArrayRef<attn::ScheduleAttr> defaults,
                                                     llvm::ArrayRef<RecordedSchedules> records);

} // namespace attnc::tune

#endif // ATTNC_RUNTIME_TUNE_CHOICE_H
