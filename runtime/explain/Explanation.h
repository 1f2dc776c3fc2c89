//===- Explanation.h - What the compiler decided, and why -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_EXPLAIN_EXPLANATION_H
#define ATTNC_RUNTIME_EXPLAIN_EXPLANATION_H

#include "runtime/cache/CacheKey.h"
#include "runtime/explain/LoweredKernel.h"
#include "runtime/explain/MaskMap.h"
#include "runtime/explain/PeakRates.h"
#include "runtime/jit/Shapes.h"
#include "runtime/tune/Choice.h"

namespace attnc::explain {

/// What is to be explained.
struct Subject {
  jit::Session &session;
  const attn::KernelFunction &kernel; ///< with the schedules that were chosen for it
  mlir::Attribute machine;            ///< what it is compiled for
  std::string target;                 ///< what people call that
  tune::Choice choice;                ///< where the schedules come from
  image::Result<jit::Shapes> shapes;  ///< of a launch, where somebody says; else what they would have to say
  uint64_t seed = 0;                  ///< of the random inputs that masks are looked at with
  /// The key of its image. None where no image of it is kept, whatever the cache.
  std::optional<cache::Digest> key = {};
  std::string cacheDirectory = {}; ///< where images are kept; empty for nowhere
  std::string cacheComplaint = {}; ///< why nowhere, where nobody asked for that
};

/// What the compiler decided for a kernel, for people to read.
class Explanation {
public:
  /// Runs the passes that decide what, and looks at masks where sizes are known. Faults of the spec are `reported()`.
  static image::Result<Explanation> get(Subject subject);

  /// Prints it, with pictures of at most `columns` characters to the line. Labels are bold and tiles have colours where
  /// `os` shows them.
  void print(llvm::raw_ostream &os, unsigned columns) const;

  /// Draws the tiles that the mask of the first operation keeps, as SVG. Nothing where no sizes are known.
  void drawSvg(llvm::raw_ostream &os) const;

private:
  Explanation(Subject subject, LoweredKernel lowered, image::KernelImage image)
      : subject(std::move(subject)), lowered(std::move(lowered)), image(std::move(image)) {}

  Subject subject;
  LoweredKernel lowered;
  image::KernelImage image;      ///< without code
  std::vector<MaskWork> masks;   ///< of the operations; none where no sizes are known
  std::optional<PeakRates> peak; ///< of the machine that this is, where it is the one
};

} // namespace attnc::explain

#endif // ATTNC_RUNTIME_EXPLAIN_EXPLANATION_H
