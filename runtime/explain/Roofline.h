//===- Roofline.h - What limits a kernel on a machine -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_EXPLAIN_ROOFLINE_H
#define ATTNC_RUNTIME_EXPLAIN_ROOFLINE_H

#include "runtime/explain/PeakRates.h"
#include "runtime/explain/Work.h"

namespace attnc::explain {

/// The least time that each part of a machine needs for a kernel, were the others infinitely fast (Williams, Waterman
/// and Patterson 2009, with exponentials as a third limit).
struct Roofline {
  double flopSeconds = 0, exponentialSeconds = 0, byteSeconds = 0;

  Roofline(const Work &work, const PeakRates &peak);

  /// The least time: that of the part that binds.
  double seconds() const;

  /// The part that binds: "multiply-add units", "exponentials" or "memory".
  llvm::StringRef bound() const;
};

} // namespace attnc::explain

#endif // ATTNC_RUNTIME_EXPLAIN_ROOFLINE_H
