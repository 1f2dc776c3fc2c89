//===- Pairing.cpp - Two programs measured side by side ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "test/bench/Pairing.h"
#include <algorithm>
#include <chrono>

using namespace attnc;
using namespace attnc::bench;

double bench::median(std::vector<double> values) {
  if (values.empty())
    return 0;
  std::sort(values.begin(), values.end());
  size_t middle = values.size() / 2;
  return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

static double timeOf(image::FunctionRef<void()> run) {
  using Clock = std::chrono::steady_clock;
  auto start = Clock::now();
  run();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double Pairs::run(image::FunctionRef<void()> ours, image::FunctionRef<void()> theirs) {
  double our = 0, their = 0;
  if (size() % 2 == 0) {
    our = timeOf(ours);
    their = timeOf(theirs);
  } else {
    their = timeOf(theirs);
    our = timeOf(ours);
  }
  ourTimes.push_back(our);
  theirTimes.push_back(their);
  return our;
}

double Pairs::ratio() const {
  std::vector<double> ratios;
  ratios.reserve(size());
  for (size_t n = 0; n < size(); ++n)
    ratios.push_back(theirTimes[n] / ourTimes[n]);
  return median(std::move(ratios));
}
