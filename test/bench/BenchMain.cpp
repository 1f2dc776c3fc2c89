//===- BenchMain.cpp - attnc beside plain attention -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
//   attnc-bench [--markdown FILE] [arguments of Google Benchmark]
//
//===----------------------------------------------------------------------===//

#include "test/bench/AttncKernel.h"
#include "test/bench/PlainAttention.h"
#include "test/bench/Report.h"
#include "llvm/ADT/StringRef.h"
#include <benchmark/benchmark.h>
#include <cstdio>

using namespace attnc;
using namespace attnc::bench;

namespace {

/// What the run of all benchmarks collects.
struct Collection {
  Environment environment;
  std::vector<Row> rows;
};

} // namespace

/// Whether both programs compute the same, to f32's accuracy.
static bool agree(const AttncKernel &kernel, const PlainAttention &plain, const Operands &operands) {
  Operands other = operands;
  auto out = runtime::Tensor::allocate(image::DType::F32, operands.out.shape());
  if (!out || !kernel.run(operands))
    return false;
  other.out = std::move(*out);
  plain.run(other);
  return greatestDifference(operands.out, other.out) < 1e-4;
}

/// One benchmark: an iteration is one pair of runs, its time that of attnc.
static void measure(benchmark::State &state, const Workload &workload, Collection &collection) {
  auto kernel = AttncKernel::make(workload);
  if (!kernel)
    return state.SkipWithError(("compiling: " + kernel.message()).c_str());
  auto plain = PlainAttention::make(workload);
  auto operands = Operands::make(workload);
  if (!plain || !operands)
    return state.SkipWithError("not enough memory");
  if (!agree(*kernel, *plain, *operands))
    return state.SkipWithError("attnc and plain attention disagree");

  Row row{workload, {}};
  for (auto _ : state)
    state.SetIterationTime(row.times.run([&] { (void)kernel->run(*operands); }, [&] { plain->run(*operands); }));
  state.counters["plain_ms"] = row.times.theirs() * 1e3;
  state.counters["ratio"] = row.times.ratio();
  state.counters["GFLOP/s"] = row.gflops();
  state.counters["peak%"] = 100 * row.gflops() * 1e9 / collection.environment.fmaPeak;
  state.counters["compile_ms"] = kernel->compileSeconds * 1e3;
  // Of repetitions the last counts.
  if (!collection.rows.empty() && collection.rows.back().workload.name() == workload.name())
    collection.rows.pop_back();
  collection.rows.push_back(std::move(row));
}

/// Takes `--markdown FILE` or `--markdown=FILE` out of the arguments; empty where it is not there.
static std::string takeMarkdownPath(std::vector<char *> &arguments) {
  constexpr llvm::StringLiteral flag = "--markdown";
  for (auto it = arguments.begin() + 1; it != arguments.end(); ++it) {
    llvm::StringRef text = *it;
    if (!text.consume_front(flag))
      continue;
    auto last = it;
    if (text.empty() && it + 1 != arguments.end())
      text = *++last;
    else if (!text.consume_front("="))
      continue;
    std::string path = text.str();
    arguments.erase(it, last + 1);
    return path;
  }
  return "";
}

int main(int argc, char **argv) {
  std::vector<char *> arguments(argv, argv + argc);
  // First, so that the user's own flags win.
  char tabular[] = "--benchmark_counters_tabular=true";
  arguments.insert(arguments.begin() + 1, tabular);
  std::string markdown = takeMarkdownPath(arguments);
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data()))
    return 2;

  Collection collection{Environment::find(), {}};
  for (const auto &[name, value] : collection.environment.facts())
    benchmark::AddCustomContext(name, value);
  for (const Workload &workload : allWorkloads())
    benchmark::RegisterBenchmark(
        workload.name().c_str(),
        [workload, &collection](benchmark::State &state) { measure(state, workload, collection); })
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond)
        ->Iterations(workload.sequence > 8192   ? 5
                     : workload.sequence > 1024 ? 9
                                                : 25);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();

  if (markdown.empty())
    return 0;
  if (image::Status status = writeMarkdown(markdown, collection.environment, collection.rows); !status) {
    std::fprintf(stderr, "attnc-bench: error: %s\n", status.message().c_str());
    return 1;
  }
  return 0;
}
