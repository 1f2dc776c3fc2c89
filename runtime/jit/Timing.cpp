//===- Timing.cpp - What runs of a kernel take ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/jit/Timing.h"
#include <algorithm>
#include <cmath>

using namespace attnc;
using namespace attnc::jit;
using image::Result;
using image::Status;

double jit::quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(std::lround(share * static_cast<double>(values.size() - 1)))];
}

Status Timing::warmUp() {
  Result<std::vector<double>> run = measurement->time(1);
  if (!run)
    return run.takeError();
  last = run->back();
  return {};
}

Result<double> Timing::addBatch(int most) {
  constexpr int mostTogether = 100;
  double wanted = secondsOfBatch / std::max(last, 1e-9);
  int runs = static_cast<int>(std::clamp(wanted, 1.0, static_cast<double>(std::clamp(most, 1, mostTogether))));
  Result<std::vector<double>> batch = measurement->time(runs);
  if (!batch)
    return batch.takeError();
  seconds.insert(seconds.end(), batch->begin(), batch->end());
  last = batch->back();
  return jit::quantile(*batch, 0.5);
}

double Timing::quantile(double share) const { return jit::quantile(seconds, share); }
