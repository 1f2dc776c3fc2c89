//===- Report.cpp - Measurements for people ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "test/bench/Report.h"
#include "runtime/ThreadPool.h"
#include "test/bench/FmaPeak.h"
#include "test/bench/PlainAttention.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdio>
#include <ctime>
#include <fstream>

using namespace attnc;
using namespace attnc::bench;
using llvm::formatv;

/// The first line that `command` prints, or "unknown".
static std::string firstLineOf(const std::string &command) {
  char line[256] = "";
  // NOLINTNEXTLINE(bugprone-command-processor): the commands are our own constants.
  if (FILE *pipe = popen((command + " 2>/dev/null").c_str(), "r")) {
    if (!fgets(line, sizeof(line), pipe))
      line[0] = '\0';
    pclose(pipe);
  }
  std::string text = line;
  text.erase(text.find_last_not_of(" \n") + 1);
  return text.empty() ? "unknown" : text;
}

static std::string cpuName() {
  std::ifstream info("/proc/cpuinfo");
  std::string line;
  while (std::getline(info, line))
    if (line.rfind("model name", 0) == 0)
      return line.substr(line.find(':') + 2);
  return "unknown";
}

static std::string today() {
  char text[16] = "";
  time_t now = std::time(nullptr);
  std::strftime(text, sizeof(text), "%Y-%m-%d", std::gmtime(&now));
  return text;
}

Environment Environment::find() {
  const std::string git = "git -c safe.directory='*' -C '" ATTNC_SOURCE_DIR "' ";
  Environment environment;
  environment.date = today();
  environment.cpu = cpuName();
  environment.commit = firstLineOf(git + "describe --always --dirty --abbrev=12 --exclude='*'");
  environment.compiler = "LLVM " LLVM_VERSION_STRING;
  environment.openblas = PlainAttention::version();
  environment.threads = runtime::ThreadPool::shared().numWorkers();
  environment.fmaPeak = measureFmaPeak();
  return environment;
}

std::vector<std::pair<std::string, std::string>> Environment::facts() const {
  return {{"Date", date},
          {"Commit", commit},
          {"CPU", formatv("{0}, {1} threads", cpu, threads)},
          {"FMA peak", formatv("{0:F1} GFLOP/s in f32, measured on all cores", fmaPeak * 1e-9)},
          {"attnc", compiler},
          {"Plain", openblas}};
}

/// The section of the page at `path` that peers.py writes, which measures on another machine; empty where it has none.
static std::string readPeersSection(const std::string &path) {
  auto page = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!page)
    return "";
  llvm::StringRef text = (*page)->getBuffer();
  size_t begin = text.find("<!-- peers: begin -->");
  return begin == llvm::StringRef::npos ? "" : text.substr(begin).str();
}

image::Status bench::writeMarkdown(const std::string &path, const Environment &environment,
                                   const std::vector<Row> &rows) {
  std::string peers = readPeersSection(path);
  std::error_code error;
  llvm::raw_fd_ostream os(path, error);
  if (error)
    return image::Error{"cannot write '" + path + "': " + error.message()};
  os << "# Benchmarks\n\n"
        "Written by `tools/dev bench --markdown docs/benchmarks.md`. Each kernel of attnc runs beside plain attention "
        "on\n"
        "the same cores, in turns: the whole score matrix of a head by OpenBLAS, the mask, a vectorised softmax, and "
        "a\n"
        "second product. Times are medians, the ratio is the median over pairs of runs. GFLOP/s count both products "
        "on\n"
        "the logits that the mask keeps, and nothing else; the share is of the cores' measured FMA peak.\n\n";
  for (const auto &[name, value] : environment.facts())
    os << "- " << name << ": " << value << '\n';
  os << "\n| mask | D | S | heads | attnc, ms | plain, ms | times as fast | GFLOP/s | of peak |\n"
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|\n";
  for (const Row &row : rows)
    os << formatv("| {0} | {1} | {2} | {3} | {4:F1} | {5:F1} | {6:F2} | {7:F1} | {8:F0}% |\n", row.workload.maskName(),
                  row.workload.headDim, row.workload.sequence, row.workload.heads, row.times.ours() * 1e3,
                  row.times.theirs() * 1e3, row.times.ratio(), row.gflops(),
                  100 * row.gflops() * 1e9 / environment.fmaPeak);
  if (!peers.empty())
    os << '\n' << peers;
  os.close();
  if (os.has_error())
    return image::Error{"cannot write '" + path + "': " + os.error().message()};
  return {};
}
