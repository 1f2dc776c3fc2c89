//===- CompareResults.cpp - Whether two kernels agree -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/tune/CompareResults.h"
#include "runtime/jit/Judge.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace attnc;
using namespace attnc::tune;
using runtime::Tensor;

/// Units in the last place of the greatest element by which two right results may differ: of 16-bit types, whose
/// rounding is what errors come from, and of f32, where sums in another order differ by more.
static double unitsAllowed(runtime::DType dtype, jit::ResultKind kind) {
  double units = dtype == runtime::DType::F32 ? 256 : 8;
  return kind == jit::ResultKind::Gradient ? 4 * units : units;
}

/// The same of one result; `name` is what messages call it.
static std::string compare(const std::string &name, jit::ResultKind kind, const Tensor &got, const Tensor &want) {
  double greatest = 0, furthest = 0, there = 0, here = 0;
  for (int64_t n = 0, count = want.numElements(); n < count; ++n) {
    double wanted = want.loadLinear(n), value = got.loadLinear(n);
    if (!std::isfinite(wanted) || !std::isfinite(value)) {
      bool same = wanted == value || (std::isnan(wanted) && std::isnan(value));
      if (same)
        continue;
      return llvm::formatv("an element of '{0}' is {1}, expected {2}", name, value, wanted).str();
    }
    greatest = std::max(greatest, std::abs(wanted));
    if (double distance = std::abs(value - wanted); distance > furthest) {
      furthest = distance;
      here = value;
      there = wanted;
    }
  }
  double limit = unitsAllowed(want.dtype(), kind) * runtime::ulp(want.dtype(), greatest);
  if (kind == jit::ResultKind::Lse)
    limit = std::max(limit, 2e-4);
  if (furthest <= limit)
    return "";
  return llvm::formatv("an element of '{0}' is {1}, expected {2}; they may differ by {3}", name, here, there, limit)
      .str();
}

std::string tune::compareResults(const attn::KernelFunction &kernel, runtime::Span<const Tensor> got,
                                 runtime::Span<const Tensor> want) {
  for (size_t index = 0; index < want.size(); ++index) {
    jit::ResultKind kind = jit::getJudgeRule(kernel, static_cast<unsigned>(index)).kind;
    if (std::string fault = compare(kernel.outputs[index].name, kind, got[index], want[index]); !fault.empty())
      return fault;
  }
  return "";
}
