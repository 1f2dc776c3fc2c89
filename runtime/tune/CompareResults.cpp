//===- CompareResults.cpp - Whether two kernels agree -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/tune/CompareResults.h"
#include "runtime/ThreadPool.h"
#include "runtime/jit/Judge.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <mutex>

using namespace attnc;
using namespace attnc::tune;
using runtime::Tensor;

/// Units in the last place of the greatest element by which two right results may differ: of 16-bit types, whose
/// rounding is what errors come from, of f32, where sums in another order differ by more, and of f32 whose products
/// round to TF32, in units of that.
static double unitsAllowed(image::DType dtype, jit::ResultKind kind, bool tf32) {
  constexpr double unitOfTf32 = 1 << 13, ofNarrow = 8, ofFloats = 256;
  double units = dtype != image::DType::F32 ? ofNarrow : tf32 ? ofNarrow * unitOfTf32 : ofFloats;
  return kind == jit::ResultKind::Gradient ? 4 * units : units;
}

namespace {

/// How two tensors differ, as far as they were looked at.
struct Difference {
  double greatest = 0;          ///< magnitude that is wanted
  double furthest = 0;          ///< distance
  double value = 0, wanted = 0; ///< where they are furthest apart
  bool isOfAnotherKind = false; ///< whether one of those is finite, or infinite in another direction

  void add(const Difference &other) {
    greatest = std::max(greatest, other.greatest);
    if (isOfAnotherKind || (other.furthest <= furthest && !other.isOfAnotherKind))
      return;
    furthest = other.furthest;
    value = other.value;
    wanted = other.wanted;
    isOfAnotherKind = other.isOfAnotherKind;
  }
};

} // namespace

/// Compares elements `first` to `end` of two row-major tensors of one shape.
static Difference compareRange(const Tensor &got, const Tensor &want, int64_t first, int64_t end) {
  Difference difference;
  int64_t size = image::byteSize(want.dtype());
  const char *ours = static_cast<const char *>(got.data()), *theirs = static_cast<const char *>(want.data());
  for (int64_t n = first; n < end; ++n) {
    double value = image::loadScalar(got.dtype(), ours + n * size);
    double wanted = image::loadScalar(want.dtype(), theirs + n * size);
    if (!std::isfinite(wanted) || !std::isfinite(value)) {
      if (wanted == value || (std::isnan(wanted) && std::isnan(value)))
        continue;
      return {difference.greatest, difference.furthest, value, wanted, true};
    }
    difference.greatest = std::max(difference.greatest, std::abs(wanted));
    if (double distance = std::abs(value - wanted); distance > difference.furthest) {
      difference.furthest = distance;
      difference.value = value;
      difference.wanted = wanted;
    }
  }
  return difference;
}

/// Why `got` is not `want`; `name` is what messages call both, `tf32` whether their kernel may round to that. On all
/// threads: results may be large.
static std::string compare(const std::string &name, jit::ResultKind kind, bool tf32, const Tensor &got,
                           const Tensor &want) {
  assert(got.isContiguous() && want.isContiguous() && "results are allocated so");
  constexpr int64_t chunk = 1 << 16;
  int64_t count = want.numElements();
  std::mutex mutex;
  Difference difference;
  runtime::ThreadPool::shared().parallelFor((count + chunk - 1) / chunk, [&](int64_t task, unsigned) {
    Difference part = compareRange(got, want, task * chunk, std::min(count, (task + 1) * chunk));
    std::lock_guard<std::mutex> lock(mutex);
    difference.add(part);
  });
  if (difference.isOfAnotherKind)
    return llvm::formatv("an element of '{0}' is {1}, expected {2}", name, difference.value, difference.wanted).str();
  double limit = unitsAllowed(want.dtype(), kind, tf32) * image::ulp(want.dtype(), difference.greatest);
  if (kind == jit::ResultKind::Lse)
    limit = std::max(limit, 2e-4);
  if (difference.furthest <= limit)
    return "";
  return llvm::formatv("an element of '{0}' is {1}, expected {2}; they may differ by {3}", name, difference.value,
                       difference.wanted, limit)
      .str();
}

std::string tune::compareResults(const attn::KernelFunction &kernel, image::Span<const Tensor> got,
                                 image::Span<const Tensor> want) {
  // What is asked of 16-bit types changes nothing, nor their LSEs, which are f32.
  bool tf32 = llvm::any_of(kernel.kernels, [](attn::KernelOpInterface op) { return op.mayRoundToTf32(); });
  for (size_t index = 0; index < want.size(); ++index) {
    jit::ResultKind kind = jit::getJudgeRule(kernel, static_cast<unsigned>(index)).kind;
    if (std::string fault = compare(kernel.outputs[index].name, kind, tf32, got[index], want[index]); !fault.empty())
      return fault;
  }
  return "";
}
