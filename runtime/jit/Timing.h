//===- Timing.h - What runs of a kernel take --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_JIT_TIMING_H
#define ATTNC_RUNTIME_JIT_TIMING_H

#include "runtime/jit/Executable.h"

namespace attnc::jit {

/// Runs a kernel in batches, and keeps what each run took.
class Timing {
public:
  explicit Timing(std::unique_ptr<Measurement> measurement) : measurement(std::move(measurement)) {}

  /// One run that is not counted: it touches the memory, and starts the threads.
  image::Status warmUp();

  /// Counts runs, at most `most`, that are queued together: a GPU works them off without waiting for the host. As many
  /// as take about `secondsOfBatch`. The median of their seconds.
  image::Result<double> addBatch(int most);

  /// How many runs were counted.
  size_t count() const { return seconds.size(); }

  /// The seconds of a run that `share` of all runs are as short as; there must be some.
  double quantile(double share) const;
  double median() const { return quantile(0.5); }

  /// What the last run took.
  double lastSeconds() const { return last; }

private:
  static constexpr double secondsOfBatch = 0.02;

  std::unique_ptr<Measurement> measurement;
  std::vector<double> seconds;
  double last = 0;
};

/// The value at `share` of `values`, of which there are some.
double quantile(std::vector<double> values, double share);

} // namespace attnc::jit

#endif // ATTNC_RUNTIME_JIT_TIMING_H
