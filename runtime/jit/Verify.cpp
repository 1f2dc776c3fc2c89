//===- Verify.cpp - Results against the reference ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/jit/Verify.h"
#include "runtime/Random.h"
#include "runtime/jit/ReferenceKernel.h"
#include <set>

using namespace attnc;
using namespace attnc::jit;
using image::Result;
using image::Span;
using image::Status;
using runtime::Tensor;

/// Poisoned f64 tensors of the shapes of `tensors`.
static Result<std::vector<Tensor>> allocateLike(Span<const Tensor> tensors) {
  std::vector<Tensor> result;
  for (const Tensor &tensor : tensors) {
    Result<Tensor> twin = Tensor::allocate(image::DType::F64, tensor.shape());
    if (!twin)
      return twin.takeError();
    twin->poison();
    result.push_back(std::move(*twin));
  }
  return result;
}

Result<std::vector<Judgement>> jit::judgeAgainstReference(const attn::KernelFunction &kernel,
                                                          Span<const runtime::ArgValue> inputs,
                                                          Span<const Tensor> outputs,
                                                          const std::vector<int64_t> &rows) {
  Result<std::vector<Tensor>> exact = allocateLike(outputs), baseline = allocateLike(outputs);
  if (!exact)
    return exact.takeError();
  if (!baseline)
    return baseline.takeError();
  if (Status status = runReference(kernel, inputs, *exact, attn::Precision::Exact, rows); !status)
    return status.takeError();
  if (Status status = runReference(kernel, inputs, *baseline, attn::Precision::Baseline, rows); !status)
    return status.takeError();
  std::vector<Judgement> judgements;
  for (size_t index = 0; index < outputs.size(); ++index) {
    JudgeRule rule = getJudgeRule(kernel, static_cast<unsigned>(index));
    rule.sampled = !rows.empty();
    judgements.push_back(judge(kernel.outputs[index].name, rule, outputs[index], (*exact)[index], (*baseline)[index]));
  }
  return judgements;
}

std::vector<int64_t> jit::sampleRows(int64_t total, int64_t count, uint64_t seed) {
  if (count >= total)
    return {};
  std::set<int64_t> rows{0, total - 1};
  auto full = [&] { return static_cast<int64_t>(rows.size()) >= count; };
  for (int64_t tile : {128, 96, 64, 48, 32, 24, 16})
    for (int64_t edge : {tile - 1, tile, total / tile * tile - 1, total / tile * tile})
      if (!full() && edge >= 0 && edge < total)
        rows.insert(edge);
  constexpr uint64_t stream = 2000;
  for (uint64_t n = 0; !full(); ++n)
    rows.insert(static_cast<int64_t>(image::uniformAt(seed, stream, n) * static_cast<double>(total)));
  return {rows.begin(), rows.end()};
}
