//===- Workload.cpp - What the benchmarks compute ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "test/bench/Workload.h"
#include "runtime/Random.h"
#include <algorithm>
#include <cmath>

using namespace attnc;
using namespace attnc::bench;
using image::Result;
using runtime::Tensor;

std::string Workload::name() const {
  std::string kind = mask == Mask::Window ? "window" : maskName();
  return "forward/" + kind + "/d" + std::to_string(headDim) + "/s" + std::to_string(sequence);
}

std::string Workload::maskName() const {
  switch (mask) {
  case Mask::Full:
    return "full";
  case Mask::Causal:
    return "causal";
  case Mask::Window:
    return "window " + std::to_string(windowWidth);
  }
  return "";
}

std::pair<int64_t, int64_t> Workload::keysOf(int64_t i) const {
  if (mask == Mask::Full)
    return {0, sequence};
  return {mask == Mask::Causal ? 0 : std::max<int64_t>(0, i + 1 - windowWidth), i + 1};
}

double Workload::keptFlops() const {
  int64_t pairs = 0;
  for (int64_t i = 0; i < sequence; ++i)
    pairs += keysOf(i).second - keysOf(i).first;
  return 4.0 * static_cast<double>(headDim * heads) * static_cast<double>(pairs);
}

std::string Workload::spec() const {
  std::string type = "tensor<?x?x" + std::to_string(heads) + "x" + std::to_string(headDim) + "xf32>";
  std::string region;
  if (mask != Mask::Full) {
    std::string keep = mask == Mask::Causal
                           ? "attn.causal %i, %j"
                           : "attn.window %i, %j left(" + std::to_string(windowWidth - 1) + ") right(0)";
    region = "    mask (%b, %h, %i, %j) {\n      %keep = " + keep + "\n      attn.yield %keep : i1\n    }\n";
  }
  return "func.func @forward(%q: " + type + ", %k: " + type + ", %v: " + type + ") -> " + type + " {\n" +
         "  %o = attn.forward %q, %k, %v\n" + region + "    : (" + type + ", " + type + ", " + type + ") -> " + type +
         "\n  return %o : " + type + "\n}\n";
}

std::vector<Workload> bench::allWorkloads() {
  std::vector<Workload> all;
  for (Mask mask : {Mask::Full, Mask::Causal, Mask::Window})
    for (int64_t headDim : {64, 128})
      for (auto [sequence, heads] : {std::pair(1024, 4), std::pair(4096, 2), std::pair(16384, 1)})
        all.push_back({mask, sequence, headDim, heads});
  return all;
}

Result<Operands> Operands::make(const Workload &workload) {
  Operands operands;
  uint64_t stream = 0;
  for (Tensor *tensor : {&operands.query, &operands.key, &operands.value, &operands.out}) {
    Result<Tensor> made = Tensor::allocate(image::DType::F32, {1, workload.sequence, workload.heads, workload.headDim});
    if (!made)
      return made.takeError();
    *tensor = std::move(*made);
    if (tensor == &operands.out)
      tensor->poison();
    else
      fillNormal(*tensor, /*seed=*/0, stream++);
  }
  return operands;
}

double bench::greatestDifference(const Tensor &left, const Tensor &right) {
  const float *a = left.data<float>(), *b = right.data<float>();
  double greatest = 0;
  for (int64_t n = 0, count = left.numElements(); n < count; ++n) {
    double difference = std::abs(static_cast<double>(a[n]) - b[n]);
    if (!(difference <= greatest))
      greatest = std::isnan(difference) ? INFINITY : difference;
  }
  return greatest;
}
