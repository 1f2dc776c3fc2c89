//===- Main.cpp - The conformance grid as a test program --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Each case in each dtype is one GoogleTest test, Conformance.S5_window_0/bf16. The environment says what runs:
//
//   ATTNC_CONFORMANCE          quick (default) or full
//   ATTNC_CONFORMANCE_TARGET   the target to test, cpu by default
//===----------------------------------------------------------------------===//

#include "test/conformance/Runner.h"
#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>

using namespace attnc;
using namespace attnc::conformance;

namespace {

/// What the environment asks for.
struct Request {
  Extent extent = Extent::Quick;
  std::string target;
};

/// All trials of one case in one dtype, on one compiled kernel.
class CaseTest : public testing::Test {
public:
  CaseTest(Case subject, std::string dtype, Request request)
      : subject(std::move(subject)), dtype(std::move(dtype)), request(std::move(request)) {}

  void TestBody() override {
    std::string text = subject.spec.toString(dtype);
    auto spec = CompiledSpec::compile(text, request.target);
    ASSERT_TRUE(static_cast<bool>(spec)) << spec.message() << "\n" << text;
    double budget = request.extent == Extent::Full ? 4e8 : 2e7;
    for (const Trial &trial : subject.trials) {
      Outcome outcome = runTrial(**spec, trial, budget);
      std::printf("  %s\n", outcome.line.c_str());
      EXPECT_EQ(outcome.fault, "") << trial.shape << "\n" << text;
    }
  }

private:
  Case subject;
  std::string dtype;
  Request request;
};

} // namespace

/// Reads the environment; ends the program where it makes no sense.
static Request readEnvironment() {
  Request request;
  request.target = requestedTarget();
  const char *extent = std::getenv("ATTNC_CONFORMANCE");
  std::string text = extent ? extent : "quick";
  if (text != "quick" && text != "full") {
    std::fprintf(stderr, "ATTNC_CONFORMANCE: expected quick or full, got '%s'\n", text.c_str());
    std::exit(2);
  }
  request.extent = text == "full" ? Extent::Full : Extent::Quick;
  return request;
}

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  Request request = readEnvironment();
  for (const Case &subject : allCases(request.extent))
    for (const std::string &dtype : subject.dtypes)
      testing::RegisterTest(
          "Conformance", (subject.name + "/" + dtype).c_str(), nullptr, nullptr, __FILE__, __LINE__,
          [subject, dtype, request]() -> testing::Test * { return new CaseTest(subject, dtype, request); });
  return RUN_ALL_TESTS();
}
