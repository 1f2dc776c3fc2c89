//===- UserRecords.h - Schedules that were found by tuning ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_TOOLS_ATTNC_USERRECORDS_H
#define ATTNC_TOOLS_ATTNC_USERRECORDS_H

#include "runtime/tune/Choice.h"
#include "runtime/tune/Tuner.h"
#include "tools/attnc/Spec.h"

namespace attnc::cli {

/// The folder of the user's records; empty where there are no files.
std::string findUserRecords();

/// Tells the user something.
void remark(const std::string &text);

/// The records of the user, and what the command line says of them.
class UserRecords {
public:
  /// Opens what --records, --policy and --device say, in addition to the user's files and those that came with attnc.
  static image::Result<UserRecords> open(const llvm::opt::InputArgList &args);

  tune::RecordBook &book() { return *records; }

  /// What records call the machine `target`; empty where it is not known. Where `kernel` need not run on it (`isHere`),
  /// no driver is asked unless there are records of that kernel on some device.
  std::string findDevice(const attn::KernelFunction &kernel, mlir::Attribute target, bool isHere) const;

  /// Chooses the schedules of `kernel` and attaches them. `shapes` are those that count, if any; `isHere` is as above.
  image::Result<tune::Choice> choose(jit::Session &session, attn::KernelFunction &kernel, mlir::Attribute target,
                                     const jit::Shapes *shapes, bool isHere = false) const;

  /// The same for the kernel of `spec`, which is about to run at `shapes` and may be tuned for that, and its image from
  /// `source`. The kernel is as it was afterwards.
  image::Result<image::KernelImage> compile(const Spec &spec, const jit::Shapes &shapes, mlir::Attribute target,
                                            jit::ImageSource source) const;

private:
  /// What is asked of the records for `kernel`.
  tune::ChoiceRequest makeRequest(const attn::KernelFunction &kernel, mlir::Attribute target, const jit::Shapes *shapes,
                                  bool isHere) const;

  std::unique_ptr<tune::RecordBook> records;
  tune::Policy policy;
  std::string device; ///< that --device names
};

} // namespace attnc::cli

#endif // ATTNC_TOOLS_ATTNC_USERRECORDS_H
