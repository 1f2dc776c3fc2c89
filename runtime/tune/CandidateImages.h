//===- CandidateImages.h - Compiles candidates in parallel ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_TUNE_CANDIDATEIMAGES_H
#define ATTNC_RUNTIME_TUNE_CANDIDATEIMAGES_H

#include "codegen/image/KernelImage.h"
#include "runtime/tune/Record.h"

namespace attnc::tune {

/// What all candidates share. Each is compiled in a session of its own, as one is for one thread.
struct CandidateSpec {
  std::string text;  ///< of the spec
  std::string entry; ///< its function
  bool backward = false;
  std::string target; ///< the attribute of the machine, as text
};

/// The image of each of `candidates`, or why it cannot be compiled; compiled by `threads` threads at a time.
std::vector<image::Result<image::KernelImage>> compileCandidates(const CandidateSpec &spec,
                                                                 llvm::ArrayRef<ScheduleTexts> candidates,
                                                                 unsigned threads,
                                                                 llvm::function_ref<void(double share)> progress);

} // namespace attnc::tune

#endif // ATTNC_RUNTIME_TUNE_CANDIDATEIMAGES_H
