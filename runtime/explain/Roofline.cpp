//===- Roofline.cpp - What limits a kernel on a machine ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/explain/Roofline.h"
#include <algorithm>

using namespace attnc;
using namespace attnc::explain;

/// How long `amount` takes at `rate`; no time where the rate is not known.
static double secondsFor(double amount, double rate) { return rate > 0 ? amount / rate : 0; }

Roofline::Roofline(const Work &work, const PeakRates &peak)
    : flopSeconds(secondsFor(work.flops, peak.flops)),
      exponentialSeconds(secondsFor(work.exponentials, peak.exponentials)),
      byteSeconds(secondsFor(work.bytes, peak.bytes)) {}

double Roofline::seconds() const { return std::max({flopSeconds, exponentialSeconds, byteSeconds}); }

llvm::StringRef Roofline::bound() const {
  if (byteSeconds >= seconds())
    return "memory";
  return flopSeconds >= seconds() ? "multiply-add units" : "exponentials";
}
