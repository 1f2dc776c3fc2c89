//===- Judge.h - When is an answer right ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A result is right when it lies as close to the exact one as the same mathematics done plainly in its dtype: no
// tolerance is guessed.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_JIT_JUDGE_H
#define ATTNC_RUNTIME_JIT_JUDGE_H

#include "dialect/attn/KernelFunction.h"
#include "runtime/Tensor.h"
#include <string>
#include <vector>

namespace attnc::jit {

/// What a result is, which decides its rule.
enum class ResultKind {
  Values,   ///< out and weights: twice the baseline's error and 2 ulp, thrice under a soft cap
  Lse,      ///< within 1e-4, -inf exactly where the reference has it
  Gradient, ///< as values, but for their mean, and infinite where their type does not hold them (S15)
};

/// What judging looks at in addition to the numbers.
struct JudgeRule {
  ResultKind kind = ResultKind::Values;
  /// Multiple of the baseline's greatest error that is allowed.
  double factor = 2;
  /// Whether elements that the reference left as NaN are outside of what is judged.
  bool sampled = false;
};

/// The rule of result `index` of `kernel`.
JudgeRule getJudgeRule(const attn::KernelFunction &kernel, unsigned index);

/// How far a result lies from the reference, and whether that is near enough.
struct Judgement {
  std::string name;     ///< of the result
  int64_t elements = 0; ///< judged
  double error = 0;     ///< greatest distance from the reference
  double baseline = 0;  ///< the baseline's greatest distance
  double limit = 0;     ///< greatest distance allowed
  double meanError = 0; ///< mean distance
  double meanBaseline = 0;
  double meanLimit = 0;
  bool hasMeanRule = true; ///< whether the mean counts
  std::string furthest;    ///< what is at the greatest distance: "element [1, 0] is 3.12, expected 3"
  std::string fault;       ///< why it is wrong; empty where it is right
  bool byMeanOnly = false; ///< whether the mean alone makes it wrong
  int64_t draws = 1;       ///< of inputs that it is of

  /// Whether the result is right.
  bool right() const { return fault.empty(); }

  /// Takes in what the same result was on other inputs: means and greatest distances are those of all elements
  /// together, since of a few rows they are a matter of luck, the baseline's as well.
  void include(const Judgement &other);
  /// Finds the fault from the distances and their limits.
  void findFault();

  /// One line: name, error, baseline's, ratio, verdict.
  std::string toString() const;
};

/// Judges `got`. `exact` and `baseline` have its shape.
Judgement judge(const std::string &name, const JudgeRule &rule, const runtime::Tensor &got,
                const runtime::Tensor &exact, const runtime::Tensor &baseline);

} // namespace attnc::jit

#endif // ATTNC_RUNTIME_JIT_JUDGE_H
