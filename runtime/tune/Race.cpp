//===- Race.cpp - Measures kernels in turns ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/tune/Race.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include <chrono>
#include <numeric>

using namespace attnc;
using namespace attnc::tune;
using image::Result;
using image::Span;
using image::Status;
using jit::Timing;
using runtime::ArgValue;
using Clock = std::chrono::steady_clock;

static double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Puts a runner's arguments in place, and warms it up. Null where it fails, and leaves.
static std::unique_ptr<Timing> start(Runner &runner, Span<const ArgValue> values, int warmUps, double seconds) {
  Result<std::unique_ptr<jit::Measurement>> measurement = runner.kernel->measure(values);
  if (!measurement) {
    runner.fault = measurement.message();
    return nullptr;
  }
  auto timing = std::make_unique<Timing>(std::move(*measurement));
  Clock::time_point begin = Clock::now();
  for (int run = 0; run < warmUps && (run == 0 || secondsSince(begin) < seconds); ++run)
    if (Status status = timing->warmUp(); !status) {
      runner.fault = status.message();
      return nullptr;
    }
  return timing;
}

void tune::race(llvm::MutableArrayRef<Runner> runners, Span<const ArgValue> values, const RaceOptions &options,
                llvm::function_ref<void(double share)> progress) {
  constexpr int fewestTurns = 3;
  const double warmSeconds = options.seconds / 8 / static_cast<double>(runners.size());
  std::vector<std::unique_ptr<Timing>> timings;
  for (Runner &runner : runners)
    timings.push_back(start(runner, values, options.warmUps, warmSeconds));
  if (!timings[0])
    return;
  std::vector<std::vector<double>> ratios(runners.size());
  Clock::time_point begin = Clock::now();
  for (int turn = 0; turn < fewestTurns || secondsSince(begin) < options.seconds; ++turn) {
    // There and back, so that what changes steadily is the same for all; and each turn from another runner on.
    std::vector<size_t> order(runners.size());
    std::iota(order.begin(), order.end(), size_t(0));
    std::rotate(order.begin(), order.begin() + static_cast<ptrdiff_t>(turn % runners.size()), order.end());
    order.insert(order.end(), order.rbegin(), order.rend());
    std::vector<double> sums(runners.size());
    std::vector<int> batches(runners.size());
    for (size_t index : order) {
      int left = timings[index] ? options.iterations - static_cast<int>(timings[index]->count()) : 0;
      if (left <= 0)
        continue;
      // Some turns are needed for a comparison, however short runs are.
      Result<double> median = timings[index]->addBatch(std::min(left, std::max(options.iterations / 20, 1)));
      if (median) {
        sums[index] += *median;
        ++batches[index];
      } else {
        runners[index].fault = median.message();
        timings[index].reset();
      }
    }
    if (!timings[0] || llvm::all_of(batches, [](int count) { return count == 0; }))
      break;
    for (size_t index = 0; index < runners.size(); ++index)
      if (batches[index] > 0 && batches[index] == batches[0] && sums[index] > 0)
        ratios[index].push_back(sums[0] / sums[index]);
    progress(std::max(secondsSince(begin) / options.seconds,
                      static_cast<double>(timings[0]->count()) / std::max(options.iterations, 1)));
  }
  for (size_t index = 0; index < runners.size(); ++index)
    if (timings[index] && timings[index]->count() && !ratios[index].empty()) {
      runners[index].seconds = timings[index]->median();
      runners[index].runs = timings[index]->count();
      runners[index].ratio = jit::quantile(ratios[index], 0.5);
    } else if (runners[index].fault.empty()) {
      runners[index].isLate = true;
    }
}

namespace {

/// A first look at runners, one after the other.
class Look {
public:
  Look(Span<const ArgValue> values, const RaceOptions &options, double slice)
      : values(values), options(options), slice(slice) {}

  /// Runs `runner` a few times, and less often where one run is hopeless or long.
  void operator()(Runner &runner) {
    constexpr int runsOfEach = 7;
    // It has run once.
    int warmUps = firstSeconds > slice / 4 ? 0 : options.warmUps;
    std::unique_ptr<Timing> timing = start(runner, values, warmUps, slice / 2);
    if (!timing)
      return;
    Clock::time_point begin = Clock::now();
    for (int wanted = std::min(runsOfEach, options.iterations);
         static_cast<int>(timing->count()) < wanted && (timing->count() == 0 || secondsSince(begin) < slice / 2);) {
      bool isHopeless = firstSeconds > 0 && timing->lastSeconds() > 2 * firstSeconds;
      if (isHopeless && timing->count() > 0)
        break;
      Result<double> batch =
          timing->addBatch(isHopeless || timing->count() == 0 ? 1 : wanted - static_cast<int>(timing->count()));
      if (!batch) {
        runner.fault = batch.message();
        return;
      }
    }
    runner.seconds = timing->median();
    runner.runs = timing->count();
  }

  /// Looks at the runner that others are compared with.
  void lookAtFirst(Runner &runner) {
    (*this)(runner);
    firstSeconds = runner.seconds;
  }

  /// What a run of it took.
  double firstSeconds = 0;

private:
  Span<const ArgValue> values;
  const RaceOptions &options;
  double slice; ///< seconds for each
};

} // namespace

std::vector<size_t> tune::selectFastest(llvm::MutableArrayRef<Runner> runners, Span<const ArgValue> values,
                                        const RaceOptions &options, size_t most,
                                        llvm::function_ref<void(size_t number)> prepare,
                                        llvm::function_ref<void(double share)> progress) {
  constexpr size_t between = 8;         // runners from one look at the first to the next
  constexpr double clearlySlower = 0.9; // of the best ratio
  Look look(values, options, options.seconds / static_cast<double>(runners.size()));
  double spent = 0; // on runs: to check results takes as long on a host as they are large
  prepare(0);
  std::vector<size_t> fastest;
  for (size_t index = 0; index < runners.size() && runners[0].fault.empty(); ++index) {
    Clock::time_point begin = Clock::now();
    if (index % between == 0)
      look.lookAtFirst(runners[0]);
    spent += secondsSince(begin);
    Runner &runner = runners[index];
    runner.isLate = index > 0 && spent > options.seconds;
    if (index > 0 && !runner.isLate) {
      prepare(index);
      begin = Clock::now();
      if (runner.fault.empty())
        look(runner);
      spent += secondsSince(begin);
      if (runner.fault.empty()) {
        runner.ratio = look.firstSeconds / std::max(runner.seconds, 1e-12);
        fastest.push_back(index);
      }
    }
    progress(static_cast<double>(index + 1) / static_cast<double>(runners.size()));
  }
  if (!runners[0].fault.empty())
    return {};
  llvm::sort(fastest, [&](size_t a, size_t b) { return runners[a].ratio > runners[b].ratio; });
  double best = fastest.empty() ? 1 : std::max(1.0, runners[fastest.front()].ratio);
  llvm::erase_if(fastest, [&](size_t index) { return runners[index].ratio < clearlySlower * best; });
  fastest.resize(std::min(fastest.size(), most - 1));
  fastest.insert(fastest.begin(), 0);
  return fastest;
}
