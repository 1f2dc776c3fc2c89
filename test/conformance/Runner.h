//===- Runner.h - Puts a compiled spec to a trial ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_TEST_CONFORMANCE_RUNNER_H
#define ATTNC_TEST_CONFORMANCE_RUNNER_H

#include "runtime/jit/Judge.h"
#include "test/conformance/Case.h"
#include "test/conformance/CompiledSpec.h"

namespace attnc::conformance {

/// What came of a trial.
struct Outcome {
  std::string line;  ///< errors, a line for each result, for people
  std::string fault; ///< why it is wrong; empty where it is right
};

/// The target that the environment asks for: ATTNC_CONFORMANCE_TARGET, cpu by default.
std::string requestedTarget();

/// The inputs of `trial`: random, but for what it says of them. `seed` decides the random ones.
image::Result<std::vector<runtime::ArgValue>> makeInputs(const attn::KernelFunction &kernel, const Trial &trial,
                                                         uint64_t seed = 0);

/// Gives `tensor` another layout, with elements of the last dimension together where `unit` says so. Inputs alone may
/// repeat.
image::Status relayout(runtime::Tensor &tensor, Layout layout, bool unit, bool isInput);

/// Poisoned results for `trial`.
image::Result<std::vector<runtime::Tensor>> makeOutputs(const attn::KernelFunction &kernel, const Trial &trial);

/// The status of a run of `spec`, number `run` from 0 on, that has to give the bits of the first.
image::Status expectSameBits(const CompiledSpec &spec, image::Span<const runtime::Tensor> first,
                             image::Span<const runtime::Tensor> later, unsigned run);

/// Whether `judgement` of `got` fails by its mean alone, and by no more than chance allows. Errors within a row share
/// its maximum and sum, and rows that are alike share all, so unlike rows are what is drawn: a mean over n of them is
/// known to about 1/sqrt(n), and where the baseline happens to be exact, to a fraction of an ulp. Over a handful it
/// says nothing.
bool failsByChance(const jit::Judgement &judgement, const runtime::Tensor &got);

/// Whether gradients that are further off than the judge allows may be right, result number `result` of `kernel`. Where
/// scores are so large that their LSE, an f32, leaves probabilities open, or products so large that sums of them in f32
/// leave the logits open (docs/spec.md, "Gradients"), all that is asked is that they are finite;
/// and in f16, whose range such scores leave in their derivatives, nothing. Differences of products and their mean
/// cancel: of a handful of rows, the baseline's errors are too few draws to tell how large an error can be; and so they
/// are of a handful of elements, sums over rows that is, and of sums in no order, where four times as much is let pass.
bool mayBeFarOff(const attn::KernelFunction &kernel, size_t result, const std::vector<runtime::ArgValue> &inputs,
                 const jit::Judgement &judgement);

/// Runs `spec` on `trial`, as often as it says, and judges the results against the fp64 reference. Of large problems
/// rows are sampled, so that the reference takes no more than about `budget` multiplications.
Outcome runTrial(CompiledSpec &spec, const Trial &trial, double budget);

} // namespace attnc::conformance

#endif // ATTNC_TEST_CONFORMANCE_RUNNER_H
