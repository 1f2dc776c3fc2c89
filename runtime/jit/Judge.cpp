//===- Judge.cpp - When is an answer right ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/jit/Judge.h"
#include "dialect/attn/AttnOps.h"
#include "dialect/attn/RegionOps.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>

using namespace attnc;
using namespace attnc::jit;
using runtime::Tensor;

JudgeRule jit::getJudgeRule(const attn::KernelFunction &kernel, unsigned index) {
  JudgeRule rule;
  mlir::func::FuncOp function = kernel.function;
  auto result = mlir::cast<mlir::OpResult>(function.getBody().front().getTerminator()->getOperand(index));
  if (mlir::isa<attn::ForwardOp>(result.getOwner()) && result.getResultNumber() == 1)
    rule.kind = ResultKind::Lse;
  if (mlir::isa<attn::BackwardOp>(result.getOwner()))
    rule.kind = ResultKind::Gradient;
  // Sugar has the functions that it stands for. A copy is expanded: the spec is shown as it was written.
  mlir::OwningOpRef<mlir::Operation *> kernelOp = result.getOwner()->clone();
  attn::expandSugar(kernelOp.get());
  mlir::cast<attn::KernelOpInterface>(kernelOp.get()).getScore().walk([&](mlir::Operation *op) {
    rule.factor = std::max<double>(rule.factor, attn::getFunctionFacts(op).tolerance);
  });
  return rule;
}

/// "[0, 17, 3, 64]": the index of the element that is `linear`-th in row-major order.
static std::string indexString(const Tensor &tensor, int64_t linear) {
  std::string text;
  for (int64_t dim = tensor.rank() - 1; dim >= 0; --dim) {
    text = std::to_string(linear % tensor.dim(dim)) + (text.empty() ? "" : ", ") + text;
    linear /= tensor.dim(dim);
  }
  return "[" + text + "]";
}

/// A number for a message, short.
static std::string numberString(double value, int digits = 3) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.*g", digits, value);
  return text;
}

/// "211.143, expected 211.144": both with as many digits as tell them apart.
static std::string comparisonString(double value, double expected) {
  int digits = 3;
  while (digits < 17 && value != expected && numberString(value, digits) == numberString(expected, digits))
    digits += 3;
  return numberString(value, digits) + ", expected " + numberString(expected, digits);
}

std::string Judgement::toString() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << llvm::left_justify(name, 8) << "  error " << llvm::format("%-9.3g", error) << "  baseline "
     << llvm::format("%-9.3g", baseline) << "  ratio "
     << (baseline > 0 ? numberString(error / baseline)
         : error > 0  ? std::string("inf")
                      : std::string("0"))
     << "  " << (right() ? "right" : "WRONG: " + fault);
  if (draws > 1)
    os << ", of " << draws << " draws";
  return text;
}

void Judgement::findFault() {
  fault.clear();
  bool isFar = !(error <= limit);
  byMeanOnly = !isFar && hasMeanRule && meanError > meanLimit;
  if (isFar)
    fault = furthest + (std::isfinite(error) ? "; the error may be " + numberString(limit) : "");
  else if (byMeanOnly)
    fault = "the mean error is " + numberString(meanError) + ", it may be " + numberString(meanLimit);
}

void Judgement::include(const Judgement &other) {
  double share =
      static_cast<double>(other.elements) / static_cast<double>(std::max<int64_t>(elements + other.elements, 1));
  auto average = [&](double &mean, double another) { mean += (another - mean) * share; };
  average(meanError, other.meanError);
  average(meanBaseline, other.meanBaseline);
  average(meanLimit, other.meanLimit);
  elements += other.elements;
  draws += other.draws;
  if (!(other.error <= error)) {
    error = other.error;
    furthest = other.furthest;
  }
  baseline = std::max(baseline, other.baseline);
  limit = std::max(limit, other.limit);
  findFault();
}

/// `value` as a dtype holds it.
static double roundTo(image::DType dtype, double value) {
  char element[sizeof(double)];
  image::storeScalar(dtype, element, value);
  return image::loadScalar(dtype, element);
}

Judgement jit::judge(const std::string &name, const JudgeRule &rule, const Tensor &got, const Tensor &exact,
                     const Tensor &baseline) {
  assert(got.shape() == exact.shape() && got.shape() == baseline.shape() && "results of one kernel have one shape");
  Judgement judgement;
  judgement.name = name;
  double sum = 0, baselineSum = 0, greatest = 0;
  int64_t worst = 0;
  auto describe = [&](int64_t n) {
    return "element " + indexString(got, n) + " is " + comparisonString(got.loadLinear(n), exact.loadLinear(n));
  };
  for (int64_t n = 0, count = got.numElements(); n < count; ++n) {
    double value = got.loadLinear(n), ref = exact.loadLinear(n), base = baseline.loadLinear(n);
    if (rule.sampled && std::isnan(ref))
      continue;
    ++judgement.elements;
    if (std::isnan(ref) && std::isnan(value))
      continue;
    bool emptyRow = rule.kind == ResultKind::Lse && ref == -INFINITY;
    // The derivative of a result may be beyond its type.
    if (rule.kind == ResultKind::Gradient && std::isinf(value) && roundTo(got.dtype(), ref) == value)
      continue;
    if (!std::isfinite(value) || std::isnan(ref) || emptyRow) {
      if (emptyRow && value == -INFINITY)
        continue;
      judgement.error = INFINITY;
      judgement.furthest = describe(n);
      judgement.findFault();
      return judgement;
    }
    double error = std::abs(value - ref), baselineError = std::isfinite(base) ? std::abs(base - ref) : 0;
    if (error > judgement.error) {
      judgement.error = error;
      worst = n;
    }
    judgement.baseline = std::max(judgement.baseline, baselineError);
    greatest = std::max(greatest, std::abs(ref));
    sum += error;
    baselineSum += baselineError;
  }
  auto count = static_cast<double>(std::max<int64_t>(judgement.elements, 1));
  double ulp = image::ulp(got.dtype(), greatest);
  judgement.meanError = sum / count;
  judgement.meanBaseline = baselineSum / count;
  judgement.hasMeanRule = rule.kind != ResultKind::Gradient;
  if (rule.kind == ResultKind::Lse) {
    // Where logits are huge, f32 holds no 1e-4: then the baseline is the measure.
    judgement.limit = std::max(1e-4, rule.factor * judgement.baseline + 2 * ulp);
    judgement.meanLimit = judgement.limit;
  } else {
    judgement.limit = rule.factor * judgement.baseline + 2 * ulp;
    judgement.meanLimit = 1.1 * judgement.meanBaseline + 1e-3 * ulp;
  }
  if (judgement.error > 0)
    judgement.furthest = describe(worst);
  judgement.findFault();
  return judgement;
}
