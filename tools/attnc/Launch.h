//===- Launch.h - A kernel and the arguments of one launch ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_TOOLS_ATTNC_LAUNCH_H
#define ATTNC_TOOLS_ATTNC_LAUNCH_H

#include "runtime/jit/Judge.h"
#include "tools/attnc/Spec.h"
#include "tools/attnc/UserRecords.h"

namespace attnc::cli {

/// A kernel that is ready to run, and the arguments of one launch.
struct Launch {
  Spec spec;
  jit::Shapes shapes;
  std::vector<runtime::ArgValue> inputs;
  std::vector<runtime::Tensor> outputs;    ///< poisoned until `run`
  std::unique_ptr<jit::Executable> kernel; ///< lives in the session of `spec`
  double loadSeconds = 0;                  ///< that making it ready took
  jit::RandomOptions drawn = {};           ///< how `draw` drew the inputs

  /// Makes `spec` ready to run on `inputs`, and room for results of `shapes`. Images come from `source`, with the
  /// schedules that `records` say, where those are given.
  static image::Result<Launch> prepare(Spec spec, jit::Shapes shapes, std::vector<runtime::ArgValue> inputs,
                                       jit::ImageSource source, const UserRecords *records);

  /// The spec of a command line, on random inputs of the sizes that it gives: what --shape, --dim, --seed and
  /// --scale-values say, and `computeSaved` as in `jit::RandomOptions`. It is compiled anew: what is judged and
  /// measured is this compiler.
  static image::Result<Launch> draw(const llvm::opt::InputArgList &args, bool computeSaved = true);

  /// Draws the inputs anew, by another seed, and runs the kernel on them.
  image::Status runOnOthers(uint64_t seed);

  /// Runs the kernel once, into `outputs`.
  image::Status run() { return runInto(outputs); }

  /// The arguments of a run into `results`.
  std::vector<runtime::ArgValue> joinArguments(image::Span<const runtime::Tensor> results) const;

  /// Runs the kernel once, into `results`.
  image::Status runInto(image::Span<const runtime::Tensor> results);

  /// Judges `outputs` against the reference. `rows` as in `jit::judgeAgainstReference`.
  image::Result<std::vector<jit::Judgement>> judge(const std::vector<int64_t> &rows = {}) const;
};

/// Prints a line for each result; whether all are right.
bool report(const std::vector<jit::Judgement> &judgements);

} // namespace attnc::cli

#endif // ATTNC_TOOLS_ATTNC_LAUNCH_H
