//===- Bench.cpp - attnc bench ----------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/jit/CompileTarget.h"
#include "tools/attnc/Commands.h"
#include "tools/attnc/HostCost.h"
#include "tools/attnc/Launch.h"
#include "tools/attnc/PeakRates.h"
#include "tools/attnc/Work.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Process.h"
#include <chrono>
#include <cmath>

using namespace attnc;
using namespace attnc::cli;
using runtime::Result;
using Clock = std::chrono::steady_clock;

/// How long and how often a kernel is run.
static constexpr double secondsToMeasure = 2;
static constexpr int fewestRuns = 5, mostRuns = 1000;

/// How long runs are queued together: a GPU works them off without waiting for the host.
static constexpr double secondsOfBatch = 0.02;

static double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Draws how far a measurement is, on a terminal and from the second second on.
static void showProgress(double share, double elapsed) {
  if (elapsed < 1 || !llvm::sys::Process::StandardErrIsDisplayed())
    return;
  constexpr int width = 40;
  int done = static_cast<int>(std::min(share, 1.0) * width);
  llvm::errs() << "\r[" << std::string(static_cast<size_t>(done), '#')
               << std::string(static_cast<size_t>(width - done), ' ')
               << llvm::format("] %3.0f%%", 100 * std::min(share, 1.0));
}

/// Runs `launch` until the time is up; the seconds of each run, sorted.
static Result<std::vector<double>> measure(Launch &launch) {
  Result<std::unique_ptr<jit::Measurement>> measurement = launch.kernel->measure(launch.joinArguments(launch.outputs));
  if (!measurement)
    return measurement.takeError();
  // The first run touches the memory and starts the threads.
  Result<std::vector<double>> first = (*measurement)->time(1);
  if (!first)
    return first.takeError();
  double last = first->back();
  std::vector<double> seconds;
  Clock::time_point start = Clock::now();
  for (double elapsed = 0; seconds.size() < fewestRuns || (elapsed < secondsToMeasure && seconds.size() < mostRuns);) {
    auto left = static_cast<double>(mostRuns) - static_cast<double>(seconds.size());
    Result<std::vector<double>> batch =
        (*measurement)->time(static_cast<int>(std::clamp(secondsOfBatch / last, 1.0, std::min(left, 100.0))));
    if (!batch)
      return batch.takeError();
    seconds.insert(seconds.end(), batch->begin(), batch->end());
    last = batch->back();
    elapsed = secondsSince(start);
    showProgress(std::max(elapsed / secondsToMeasure, 0.0) *
                     std::min(1.0, static_cast<double>(seconds.size()) / fewestRuns),
                 elapsed);
  }
  if (secondsSince(start) >= 1 && llvm::sys::Process::StandardErrIsDisplayed())
    llvm::errs() << "\r\033[K";
  llvm::sort(seconds);
  return seconds;
}

/// What the mask leaves to do, from the bounds that the compiler derives.
static Result<Work> findWork(const Launch &launch) {
  // A schedule of the command line is for the machine that runs it; the reference has none.
  llvm::StringRef target = launch.spec.target->name;
  Result<mlir::Attribute> machine =
      jit::parseTargetAttr(&launch.spec.session->context(), target == "reference" ? "cpu" : target);
  if (!machine)
    return machine.takeError();
  Result<LoweredSpec> lowered = LoweredSpec::get(launch.spec, *machine);
  if (!lowered)
    return lowered.takeError();
  Result<std::vector<MaskWork>> masks = measureMasks(lowered->kernel, launch.inputs);
  if (!masks)
    return masks.takeError();
  return countWork(lowered->kernel, launch.shapes, *masks);
}

/// The value at `share` of sorted `values`.
static double quantile(const std::vector<double> &values, double share) {
  return values[std::lround(share * static_cast<double>(values.size() - 1))];
}

static ExitCode run(const llvm::opt::InputArgList &args) {
  Result<Launch> launch = Launch::draw(args, /*computeSaved=*/false);
  if (!launch)
    return fail(launch.takeError());
  Result<Work> work = findWork(*launch);
  if (!work)
    return fail(work.takeError());
  double peak = measureFlopRate();
  Result<std::vector<double>> seconds = measure(*launch);
  if (!seconds)
    return fail(seconds.takeError());

  // Where launches return before their work is done.
  std::optional<double> hostSeconds;
  if (llvm::StringRef(launch->spec.target->name).starts_with("nv")) {
    Result<double> cost = measureHostCost(launch->kernel->image(), launch->joinArguments(launch->outputs));
    if (!cost)
      return fail(cost.takeError());
    hostSeconds = *cost;
  }

  double median = quantile(*seconds, 0.5), low = quantile(*seconds, 0.1), high = quantile(*seconds, 0.9);
  double rate = work->flops / median;
  llvm::StringRef name = launch->spec.kernel.function.getName(), target = launch->spec.target->name;
  std::string sizes = launch->shapes.toString();
  llvm::raw_ostream &os = llvm::outs();
  if (args.hasArg(OPT_json)) {
    llvm::json::Object object{{"spec", name},
                              {"target", target},
                              {"shape", sizes},
                              {"runs", static_cast<int64_t>(seconds->size())},
                              {"median_s", median},
                              {"p10_s", low},
                              {"p90_s", high},
                              {"compile_s", launch->loadSeconds},
                              {"flop", work->flops},
                              {"bytes", work->bytes},
                              {"flop_per_s", rate},
                              {"peak_flop_per_s", peak},
                              {"share_of_peak", rate / peak}};
    if (hostSeconds)
      object["host_s"] = *hostSeconds;
    os << llvm::formatv("{0:2}", llvm::json::Value(std::move(object))) << '\n';
    return ExitCode::Success;
  }
  os << '@' << name << " on " << target << ", " << sizes << '\n'
     << llvm::format("median   %.4g ms, 10%% to 90%% %.4g to %.4g ms, %zu runs, compiled in %.0f ms\n", 1e3 * median,
                     1e3 * low, 1e3 * high, seconds->size(), 1e3 * launch->loadSeconds)
     << llvm::format("rate     %.3f TFLOP/s on ", rate / 1e12) << printScaled(work->flops) << "FLOP of kept pairs, "
     << llvm::format("%.1f%% of the peak of %.3f TFLOP/s\n", 100 * rate / peak, peak / 1e12);
  if (hostSeconds)
    os << llvm::format("launch   %.2f us of the host\n", 1e6 * *hostSeconds);
  return ExitCode::Success;
}

const Command cli::benchCommand = {
    "bench",
    BenchCommand,
    "SPEC --shape B=1,Sq=4096,Sk=4096 [options]",
    "Measure a kernel",
    "Runs a kernel on random inputs for about two seconds and prints the median time, the spread, and the rate on the\n"
    "FLOPs that the mask leaves: work that is skipped counts for nothing. The peak is what this machine reaches with\n"
    "f32 multiply-adds on all cores, measured at the start. On a GPU it also tells what one launch takes of the "
    "host's\n"
    "time, by the C API. The kernel is compiled anew, whatever the cache holds. With --backward, what forward would\n"
    "have given is random too.\n",
    "  attnc bench llama3.mlir --shape B=1,Sq=4096,Sk=4096\n"
    "  attnc bench mistral.mlir --shape B=1,Sq=16384,Sk=16384 --json\n",
    /*takes=*/"spec",
    run,
};
