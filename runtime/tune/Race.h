//===- Race.h - Measures kernels in turns -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_TUNE_RACE_H
#define ATTNC_RUNTIME_TUNE_RACE_H

#include "runtime/jit/Timing.h"
#include <functional>

namespace attnc::tune {

/// One kernel of a race.
struct Runner {
  jit::Executable *kernel = nullptr;
  std::string fault;   ///< why it left; empty where it is in the race
  bool isLate = false; ///< whether the time was up before it ran
  double seconds = 0;  ///< median of all runs
  double ratio = 1;    ///< median over turns of the first runner's time to this one's
  size_t runs = 0;
};

/// How long to race.
struct RaceOptions {
  int warmUps = 5;
  int iterations = 100; ///< of each runner
  double seconds = 10;  ///< of all
};

/// Runs all in turns, so that what changes meanwhile (heat, clocks, others at work) meets all of them alike. The first
/// is the one that others are compared with, turn by turn.
void race(llvm::MutableArrayRef<Runner> runners, image::Span<const runtime::ArgValue> values,
          const RaceOptions &options, llvm::function_ref<void(double share)> progress);

/// Looks which of `runners` are worth racing: a few runs of each, with the first again and again between them.
/// `prepare` makes the runner of a number ready, or says in it why not, and has run it once. The numbers of the
/// fastest, at most `most` and the first always among them: those that are clearly slower are left out.
std::vector<size_t> selectFastest(llvm::MutableArrayRef<Runner> runners, image::Span<const runtime::ArgValue> values,
                                  const RaceOptions &options, size_t most,
                                  llvm::function_ref<void(size_t number)> prepare,
                                  llvm::function_ref<void(double share)> progress);

} // namespace attnc::tune

#endif // ATTNC_RUNTIME_TUNE_RACE_H
