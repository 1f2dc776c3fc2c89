//===- Verify.cpp - attnc verify --------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/jit/Verify.h"
#include "tools/attnc/Commands.h"
#include "tools/attnc/Launch.h"
#include <cstring>

using namespace attnc;
using namespace attnc::cli;
using image::Result;
using image::Status;
using runtime::Tensor;

/// Runs `launch` `repeats` more times on fresh results; the name of a result whose bits differ from those it has, or an
/// empty string.
static Result<std::string> findDifference(Launch &launch, int64_t repeats) {
  for (int64_t n = 0; n < repeats; ++n) {
    Result<std::vector<Tensor>> outputs = jit::allocateOutputs(launch.spec.kernel, launch.shapes);
    if (!outputs)
      return outputs.takeError();
    if (Status status = launch.runInto(*outputs); !status)
      return status.takeError();
    for (size_t index = 0; index < outputs->size(); ++index) {
      const Tensor &expected = launch.outputs[index];
      auto bytes = static_cast<size_t>(expected.numBytes());
      if (bytes && std::memcmp((*outputs)[index].data(), expected.data(), bytes) != 0)
        return launch.spec.kernel.outputs[index].name;
    }
  }
  return std::string();
}

/// Rows that a mean is of where a kernel may be wrong by it alone, and the most draws for them: of a few rows, the
/// means of two computations that are alike differ by more than the rule allows.
static constexpr int64_t rowsOfMean = 4096, mostDraws = 64;

/// Takes in what `launch` gives on other inputs, as many as make the means those of enough rows, where means alone are
/// wrong. `rows` as in `Launch::judge`.
static Status judgeMeans(Launch &launch, std::vector<jit::Judgement> &judgements, const std::vector<int64_t> &rows) {
  auto isRight = [](const jit::Judgement &judgement) { return judgement.right(); };
  auto mayBeLuck = [](const jit::Judgement &judgement) { return judgement.right() || judgement.byMeanOnly; };
  if (llvm::all_of(judgements, isRight) || !llvm::all_of(judgements, mayBeLuck))
    return {};
  int64_t fewest = rowsOfMean;
  for (auto [judgement, output] : llvm::zip_equal(judgements, launch.outputs))
    if (judgement.byMeanOnly)
      fewest = std::min(fewest, judgement.elements / std::max<int64_t>(output.shape().back(), 1));
  int64_t draws = std::min(mostDraws, rowsOfMean / std::max<int64_t>(fewest, 1));
  for (int64_t draw = 1; draw < draws; ++draw) {
    if (Status status = launch.runOnOthers(launch.drawn.seed + 1); !status)
      return status;
    Result<std::vector<jit::Judgement>> others = launch.judge(rows);
    if (!others)
      return others.takeError();
    for (auto [judgement, other] : llvm::zip_equal(judgements, *others))
      judgement.include(other);
  }
  return {};
}

static ExitCode run(const llvm::opt::InputArgList &args) {
  Result<int64_t> seed = getInteger(args, OPT_seed, 0, 0), rows = getInteger(args, OPT_rows, 0, 1),
                  repeat = getInteger(args, OPT_repeat, 1, 1);
  for (Result<int64_t> *number : {&seed, &rows, &repeat})
    if (!*number)
      return fail(number->takeError());
  Result<Launch> launch = Launch::draw(args);
  if (!launch)
    return fail(launch.takeError());
  if (Status status = launch->run(); !status)
    return fail(status.takeError());

  std::vector<int64_t> sample;
  if (*rows)
    sample = jit::sampleRows(launch->shapes.queryRows(), *rows, static_cast<uint64_t>(*seed));
  Result<std::vector<jit::Judgement>> judgements = launch->judge(sample);
  if (!judgements)
    return fail(judgements.takeError());
  if (Status status = judgeMeans(*launch, *judgements, sample); !status)
    return fail(status.takeError());
  bool right = report(*judgements);
  if (*repeat > 1) {
    Result<std::string> different = findDifference(*launch, *repeat - 1);
    if (!different)
      return fail(different.takeError());
    if (different->empty())
      llvm::outs() << "bit-equal over " << *repeat << " runs\n";
    else
      llvm::outs() << "WRONG: '" << *different << "' differs from run to run\n";
    right &= different->empty();
  }
  return right ? ExitCode::Success : ExitCode::Wrong;
}

const Command cli::verifyCommand = {
    "verify",
    VerifyCommand,
    "SPEC --shape B=2,Sq=128,Sk=128 [options]",
    "Run a spec on random inputs and judge the results",
    "Draws inputs by what the spec uses them for, runs the kernel on the target, and judges each result against the\n"
    "fp64 reference. No tolerance is guessed: the same mathematics done plainly in the dtype of the inputs is the\n"
    "baseline, and a result is right when its greatest error is at most twice the baseline's and 2 ulp (three times\n"
    "under a soft cap), its mean error at most 1.1 times, and every element is finite. The LSE is right within 1e-4.\n"
    "Where the mean of few rows is all that is wrong, inputs are drawn again, up to 64 times, and all together "
    "decide.\n"
    "\n"
    "One line for each result: its error, the baseline's, their ratio. Exit status 1 when one is wrong.\n"
    "\n"
    "--shape gives the sizes that the spec leaves open: B, Sq and Sk, or B, Tq and Tk where sequences are packed.\n",
    "  attnc verify llama3.mlir --shape B=2,Sq=1023,Sk=1024\n"
    "  attnc verify varlen.mlir --shape B=3,Tq=700,Tk=700 --seed 7\n"
    "  attnc verify llama3.mlir --shape B=1,Sq=8192,Sk=8192 --rows 64     long sequences: judge a sample\n"
    "  attnc verify gemma2.mlir --shape B=1,Sq=300,Sk=300 --scale-values 1e4 --repeat 50\n",
    /*takes=*/"spec",
    run,
};
