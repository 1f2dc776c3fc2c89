//===- Bench.cpp - attnc bench ----------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/explain/LoweredKernel.h"
#include "runtime/explain/PeakRates.h"
#include "runtime/explain/Work.h"
#include "runtime/jit/CompileTarget.h"
#include "runtime/jit/Timing.h"
#include "tools/attnc/Commands.h"
#include "tools/attnc/HostCost.h"
#include "tools/attnc/Launch.h"
#include "tools/attnc/ProgressBar.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include <chrono>

using namespace attnc;
using namespace attnc::cli;
using image::Result;
using Clock = std::chrono::steady_clock;

/// How long and how often a kernel is run.
static constexpr double secondsToMeasure = 2;
static constexpr int fewestRuns = 5, mostRuns = 1000;

/// Runs `launch` until the time is up.
static Result<jit::Timing> measure(Launch &launch) {
  Result<std::unique_ptr<jit::Measurement>> measurement = launch.kernel->measure(launch.joinArguments(launch.outputs));
  if (!measurement)
    return measurement.takeError();
  jit::Timing timing(std::move(*measurement));
  if (image::Status status = timing.warmUp(); !status)
    return status.takeError();
  ProgressBar bar;
  Clock::time_point start = Clock::now();
  for (double elapsed = 0; timing.count() < fewestRuns || (elapsed < secondsToMeasure && timing.count() < mostRuns);) {
    Result<double> batch = timing.addBatch(mostRuns - static_cast<int>(timing.count()));
    if (!batch)
      return batch.takeError();
    elapsed = std::chrono::duration<double>(Clock::now() - start).count();
    bar.show(elapsed / secondsToMeasure * std::min(1.0, static_cast<double>(timing.count()) / fewestRuns));
  }
  return timing;
}

/// What the mask leaves to do, from the bounds that the compiler derives.
static Result<explain::Work> findWork(const Launch &launch) {
  // A schedule of the command line is for the machine that runs it; the reference has none.
  Result<mlir::Attribute> machine = jit::findMachine(&launch.spec.session->context(), launch.spec.target->name);
  if (!machine)
    return machine.takeError();
  Result<explain::LoweredKernel> lowered =
      explain::LoweredKernel::get(*launch.spec.session, launch.spec.kernel, *machine);
  if (!lowered)
    return lowered.takeError();
  Result<std::vector<explain::MaskWork>> masks = explain::measureMasks(lowered->kernel, launch.inputs);
  if (!masks)
    return masks.takeError();
  return explain::countWork(lowered->kernel, launch.shapes, *masks);
}

static ExitCode run(const llvm::opt::InputArgList &args) {
  Result<Launch> launch = Launch::draw(args, /*computeSaved=*/false);
  if (!launch)
    return fail(launch.takeError());
  Result<explain::Work> work = findWork(*launch);
  if (!work)
    return fail(work.takeError());
  double peak = explain::measureFlopRate();
  Result<jit::Timing> timing = measure(*launch);
  if (!timing)
    return fail(timing.takeError());

  // Where launches return before their work is done.
  std::optional<double> hostSeconds;
  if (launch->spec.target->isDevice) {
    Result<double> cost =
        measureHostCost(launch->kernel->image(), launch->joinArguments(launch->outputs), timing->median());
    if (!cost)
      return fail(cost.takeError());
    hostSeconds = *cost;
  }

  double median = timing->median(), low = timing->quantile(0.1), high = timing->quantile(0.9);
  double rate = work->flops / median;
  llvm::StringRef name = launch->spec.kernel.function.getName(), target = launch->spec.target->name;
  std::string sizes = launch->shapes.toString();
  llvm::raw_ostream &os = llvm::outs();
  if (args.hasArg(OPT_json)) {
    llvm::json::Object object{{"spec", name},
                              {"target", target},
                              {"shape", sizes},
                              {"runs", static_cast<int64_t>(timing->count())},
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
                     1e3 * low, 1e3 * high, timing->count(), 1e3 * launch->loadSeconds)
     << llvm::format("rate     %.3f TFLOP/s on ", rate / 1e12) << explain::printScaled(work->flops)
     << "FLOP of kept pairs, " << llvm::format("%.1f%% of the peak of %.3f TFLOP/s\n", 100 * rate / peak, peak / 1e12);
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
