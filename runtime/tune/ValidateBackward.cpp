//===- ValidateBackward.cpp - Gradients from what was saved -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/tune/ValidateBackward.h"
#include "runtime/jit/Judge.h"
#include "runtime/jit/RandomInputs.h"
#include "runtime/tune/CompareResults.h"
#include "llvm/ADT/Sequence.h"

using namespace attnc;
using namespace attnc::tune;
using image::Error;
using image::Result;
using image::Span;
using image::Status;
using runtime::ArgValue;
using runtime::Tensor;

/// The arguments of the backward `gradients`: those of forward by their names, what it saved, and what was drawn for
/// the others, the gradients of results.
static std::vector<ArgValue> joinArguments(const attn::KernelFunction &gradients, const attn::KernelFunction &forward,
                                           Span<const ArgValue> inputs, Span<const Tensor> saved,
                                           const std::vector<ArgValue> &drawn) {
  std::vector<ArgValue> values = drawn;
  for (size_t index = 0; index < values.size(); ++index) {
    const std::string &name = gradients.inputs[index].name;
    for (size_t other = 0; other < forward.inputs.size(); ++other)
      if (forward.inputs[other].name == name)
        values[index] = inputs[other];
    for (size_t other = 0; other < forward.outputs.size(); ++other)
      if (forward.outputs[other].name == name)
        values[index] = saved[other];
  }
  return values;
}

/// The gradients of one set of arguments.
static Result<std::vector<Tensor>> run(jit::Executable &kernel, const attn::KernelFunction &gradients,
                                       const jit::Shapes &shapes, std::vector<ArgValue> values) {
  Result<std::vector<Tensor>> results = jit::allocateOutputs(gradients, shapes);
  if (!results)
    return results.takeError();
  values.insert(values.end(), results->begin(), results->end());
  if (Status status = kernel.run(values); !status)
    return status.takeError();
  return results;
}

Status tune::checkSavesLse(const attn::KernelFunction &forward) {
  if (llvm::any_of(llvm::seq<size_t>(0, forward.outputs.size()), [&](size_t index) {
        return jit::getJudgeRule(forward, static_cast<unsigned>(index)).kind == jit::ResultKind::Lse;
      }))
    return {};
  return Error{"expected a spec that returns the LSE, which gradients are computed from"};
}

Result<std::string> tune::compareGradients(const TuneSubject &subject, Span<const ArgValue> inputs,
                                           Span<const Tensor> got, Span<const Tensor> want, uint64_t seed) {
  // A session has one backward of a function; this one may have it from elsewhere.
  std::string diagnostics;
  llvm::raw_string_ostream os(diagnostics);
  jit::Session session(os);
  auto describe = [&](Error error) {
    return error.message.empty() ? Error{llvm::StringRef(diagnostics).split('\n').first.str()} : error;
  };
  if (Status status = session.openText(subject.session.text(), "spec"); !status)
    return describe(status.takeError());
  Result<attn::KernelFunction> forward = session.findKernel(subject.entry);
  if (!forward)
    return describe(forward.takeError());
  Result<attn::KernelFunction> gradients = session.deriveBackward(*forward);
  if (!gradients)
    return describe(gradients.takeError());
  jit::RandomOptions options{seed};
  options.computeSaved = false;
  Result<std::vector<ArgValue>> drawn = jit::makeRandomInputs(*gradients, subject.shapes, options);
  if (!drawn)
    return drawn.takeError();
  Result<std::unique_ptr<jit::Executable>> kernel = subject.load(session, *gradients, jit::compileToImage);
  if (!kernel)
    return describe(kernel.takeError());
  Result<std::vector<Tensor>> ours =
      run(**kernel, *gradients, subject.shapes, joinArguments(*gradients, *forward, inputs, got, *drawn));
  if (!ours)
    return ours.takeError();
  Result<std::vector<Tensor>> theirs =
      run(**kernel, *gradients, subject.shapes, joinArguments(*gradients, *forward, inputs, want, *drawn));
  if (!theirs)
    return theirs.takeError();
  return compareResults(*gradients, *ours, *theirs);
}
