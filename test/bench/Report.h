//===- Report.h - Measurements for people -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_TEST_BENCH_REPORT_H
#define ATTNC_TEST_BENCH_REPORT_H

#include "codegen/image/Error.h"
#include "test/bench/Pairing.h"
#include "test/bench/Workload.h"

namespace attnc::bench {

/// The machine and the programs that were measured.
struct Environment {
  std::string date, cpu, commit, compiler, openblas;
  unsigned threads = 0;
  double fmaPeak = 0; ///< f32 operations a second of all cores

  /// Looks at the machine; measures the peak.
  static Environment find();

  /// Name and value of each fact, for people.
  std::vector<std::pair<std::string, std::string>> facts() const;
};

/// One workload's measurement.
struct Row {
  Workload workload;
  Pairs times;

  double gflops() const { return workload.keptFlops() / times.ours() * 1e-9; }
};

/// Writes `rows` as a page of Markdown to `path`.
image::Status writeMarkdown(const std::string &path, const Environment &environment, const std::vector<Row> &rows);

} // namespace attnc::bench

#endif // ATTNC_TEST_BENCH_REPORT_H
