//===- Main.cpp - The conformance grid as a test program --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Each case in each dtype is one GoogleTest test, Conformance.S5_window_0/bf16, and its gradients are another,
// Gradients.S5_window_0/bf16 (S15). The environment says what runs:
//
//   ATTNC_CONFORMANCE          quick (default), full, or compile: all of it is compiled, and nothing runs
//   ATTNC_CONFORMANCE_TARGET   the target to test, cpu by default; any that `attnc compile` takes where nothing runs
//   ATTNC_CONFORMANCE_BUDGET   multiplications that the reference of one trial may take; rows are sampled for it
//
// With --serve-specs TARGET REPEATS it runs specs of others instead (SpecServer.h), and with --backward after that
// their gradients: test/fuzz/specs draws them.
//
// Each trial says its sizes before it runs, so that what reads along knows which one hangs. grid.py does, and runs many
// of these programs at once.
//===----------------------------------------------------------------------===//

#include "test/conformance/Runner.h"
#include "test/conformance/SpecServer.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"
#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>

using namespace attnc;
using namespace attnc::conformance;

namespace {

/// What the environment asks for.
struct Request {
  Extent extent = Extent::Quick;
  bool compileOnly = false;
  std::string target;
  double budget = 0;
};

/// All trials of one case in one dtype, on one compiled kernel.
class CaseTest : public testing::Test {
public:
  /// With `backward`, what is tested are the gradients.
  CaseTest(Case subject, std::string dtype, Request request, bool backward)
      : subject(std::move(subject)), dtype(std::move(dtype)), request(std::move(request)), backward(backward) {}

  void TestBody() override {
    std::string text = subject.spec.toString(dtype);
    if (request.compileOnly) {
      image::Status status = compileAlone(text, request.target);
      EXPECT_TRUE(static_cast<bool>(status)) << status.message() << "\n" << text;
      return;
    }
    auto spec = CompiledSpec::compile(text, request.target, backward);
    ASSERT_TRUE(static_cast<bool>(spec)) << spec.message() << "\n" << text;
    for (const Trial &trial : subject.trials) {
      std::printf("  trial %s\n", trial.shape.c_str());
      Outcome outcome = runTrial(**spec, trial, request.budget);
      std::fputs(outcome.line.c_str(), stdout);
      EXPECT_EQ(outcome.fault, "") << trial.shape << "\n" << text;
      // What goes wrong on a GPU leaves nothing there that works.
      if (outcome.fault.find("CUDA_ERROR_") != std::string::npos)
        break;
    }
  }

private:
  Case subject;
  std::string dtype;
  Request request;
  bool backward;
};

} // namespace

/// Ends the program, since the environment makes no sense.
[[noreturn]] static void refuse(const char *variable, const char *expected, const std::string &got) {
  std::fprintf(stderr, "%s: expected %s, got '%s'\n", variable, expected, got.c_str());
  std::exit(2);
}

/// Reads the environment; ends the program where it makes no sense.
static Request readEnvironment() {
  Request request;
  request.target = requestedTarget();
  const char *extent = std::getenv("ATTNC_CONFORMANCE");
  std::string text = extent ? extent : "quick";
  if (text != "quick" && text != "full" && text != "compile")
    refuse("ATTNC_CONFORMANCE", "quick, full or compile", text);
  request.extent = text == "quick" ? Extent::Quick : Extent::Full;
  request.compileOnly = text == "compile";
  request.budget = request.extent == Extent::Full ? 4e8 : 2e7;
  if (const char *budget = std::getenv("ATTNC_CONFORMANCE_BUDGET"))
    if (llvm::StringRef(budget).getAsDouble(request.budget) || !(request.budget > 0))
      refuse("ATTNC_CONFORMANCE_BUDGET", "a number above 0", budget);
  return request;
}

int main(int argc, char **argv) {
  bool isBackward = argc == 5 && llvm::StringRef(argv[4]) == "--backward";
  if ((argc == 4 || isBackward) && llvm::StringRef(argv[1]) == "--serve-specs") {
    unsigned repeats = 0;
    if (llvm::StringRef(argv[3]).getAsInteger(10, repeats))
      refuse("--serve-specs", "a target and a number of runs", argv[3]);
    return serveSpecs(argv[2], repeats, isBackward);
  }
  // Line by line, also into a pipe.
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  testing::InitGoogleTest(&argc, argv);
  Request request = readEnvironment();
  auto add = [&](const Case &subject, const std::string &dtype, bool backward) {
    // Tests are listed with it, so that grid.py compiles each spec once.
    std::string spec = "spec " + llvm::utohexstr(llvm::xxh3_64bits(subject.spec.toString(dtype)));
    testing::RegisterTest(backward ? "Gradients" : "Conformance", (subject.name + "/" + dtype).c_str(), nullptr,
                          spec.c_str(), __FILE__, __LINE__, [subject, dtype, request, backward]() -> testing::Test * {
                            return new CaseTest(subject, dtype, request, backward);
                          });
  };
  for (const Case &subject : allCases(request.extent))
    for (const std::string &dtype : subject.dtypes)
      add(subject, dtype, /*backward=*/false);
  // What compiles alone is held to registers that nothing spills, which gradients are not yet.
  if (request.compileOnly)
    return RUN_ALL_TESTS();
  // Gradients take some seven times as long as results. The quick grid has one dtype of each case: in turns of 32 and
  // of 16 bits, as it has them.
  for (const Case &subject : allCases(request.extent)) {
    if (subject.spec.weights || subject.spec.pageRows)
      continue;
    llvm::ArrayRef<std::string> dtypes = subject.dtypes;
    for (const std::string &dtype : request.extent == Extent::Quick ? dtypes.take_back() : dtypes)
      add(subject, dtype, /*backward=*/true);
  }
  return RUN_ALL_TESTS();
}
