//===- Pairing.h - Two programs measured side by side -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A machine's speed drifts with its clock and its neighbours. Runs of both programs alternate, so that drift hits both,
// and the ratio is the median of the ratios of pairs.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_TEST_BENCH_PAIRING_H
#define ATTNC_TEST_BENCH_PAIRING_H

#include "codegen/image/Span.h"
#include <vector>

namespace attnc::bench {

/// The middle of `values`, the mean of the two middle ones where their number is even; 0 for none.
double median(std::vector<double> values);

/// The times of pairs of runs, in seconds.
class Pairs {
public:
  /// Runs both once, the first in odd pairs second; returns the time of `ours`.
  double run(image::FunctionRef<void()> ours, image::FunctionRef<void()> theirs);

  /// How many pairs there are.
  size_t size() const { return ourTimes.size(); }

  /// Median times.
  double ours() const { return median(ourTimes); }
  double theirs() const { return median(theirTimes); }

  /// How many times as fast `ours` is: the median over pairs of their time by ours.
  double ratio() const;

private:
  std::vector<double> ourTimes, theirTimes;
};

} // namespace attnc::bench

#endif // ATTNC_TEST_BENCH_PAIRING_H
