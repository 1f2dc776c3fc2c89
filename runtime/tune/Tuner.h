//===- Tuner.h - Finds the fastest schedules by trying ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_TUNE_TUNER_H
#define ATTNC_RUNTIME_TUNE_TUNER_H

#include "runtime/jit/Target.h"
#include "runtime/tune/Record.h"
#include <functional>

namespace attnc::tune {

/// How to tune.
struct TuneOptions {
  int warmUps = 5;               ///< runs of a candidate that are not counted
  int iterations = 100;          ///< runs that are counted of those that come last
  double seconds = 60;           ///< that measuring may take in all; compiling and checking are not counted
  int64_t mostCandidates = 64;   ///< that are tried for each program
  unsigned threads = 0;          ///< that compile; 0 for as many as there are cores
  uint64_t seed = 0;             ///< of the inputs
  bool validateBackward = false; ///< whether gradients from what forward saves are compared as well
  /// Told how much of what is done. May be null.
  std::function<void(double share, const std::string &what)> progress;
  /// What to do with a line for people. May be null.
  std::function<void(const std::string &)> remark;
};

/// How to tune where somebody waits for the kernel: less thoroughly.
inline TuneOptions makeAutotuneOptions() {
  TuneOptions options;
  options.seconds = 10;
  options.mostCandidates = 16;
  return options;
}

/// Makes a kernel ready to run, from images that the source gives.
using Loader = std::function<image::Result<std::unique_ptr<jit::Executable>>(
    jit::Session &, const attn::KernelFunction &, jit::ImageSource)>;

/// What to tune.
struct TuneSubject {
  jit::Session &session;
  attn::KernelFunction &kernel; ///< of `session`
  std::string entry;            ///< the function of the spec that `kernel` is, or is the backward of
  bool backward = false;        ///< whether it is the backward
  jit::Shapes shapes;
  Loader load;
};

/// How a candidate did.
struct Trial {
  std::string program; ///< "forward", "dq", ...
  std::string schedule;
  std::string fault;  ///< why it was skipped; empty where it was measured
  double seconds = 0; ///< median
  double ratio = 0;   ///< of the first candidate's time to this one's
  size_t runs = 0;    ///< that were counted
  bool isChosen = false;
};

/// What came of tuning.
struct Tuning {
  Record record; ///< without the compiler's build
  std::vector<Trial> trials;
};

/// Tries the schedules that the target offers in the place of its own: compiles them in parallel, skips those that fail
/// or give other results, and measures the others in turns. Spec's own schedules are an error, as is a target without
/// schedules.
image::Result<Tuning> tune(TuneSubject subject, const TuneOptions &options);

} // namespace attnc::tune

#endif // ATTNC_RUNTIME_TUNE_TUNER_H
