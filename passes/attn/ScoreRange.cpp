//===- ScoreRange.cpp - Between which limits scores lie ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "passes/attn/ScoreRange.h"
#include "dialect/attn/RegionOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir;
using namespace attnc::attn;

static constexpr double infinity = std::numeric_limits<double>::infinity();
static constexpr ScoreRange unknown = {-infinity, infinity};

/// The hull of some numbers, or nothing known where one of them is none.
static ScoreRange hull(std::initializer_list<double> numbers) {
  ScoreRange range = {infinity, -infinity};
  for (double number : numbers) {
    if (std::isnan(number))
      return unknown;
    range = {std::min(range.low, number), std::max(range.high, number)};
  }
  return range;
}

/// The range of a result of `op`, from those of its operands.
static ScoreRange propagate(Operation &op, ArrayRef<ScoreRange> operands) {
  auto a = [&] { return operands[0]; };
  auto b = [&] { return operands[1]; };
  return llvm::TypeSwitch<Operation *, ScoreRange>(&op)
      .Case([&](arith::NegFOp) { return hull({-a().low, -a().high}); })
      .Case([&](arith::AddFOp) { return hull({a().low + b().low, a().high + b().high}); })
      .Case([&](arith::SubFOp) { return hull({a().low - b().high, a().high - b().low}); })
      .Case([&](arith::MulFOp product) {
        ScoreRange range = hull({a().low * b().low, a().low * b().high, a().high * b().low, a().high * b().high});
        if (product.getLhs() == product.getRhs())
          range.low = std::max(range.low, 0.0);
        return range;
      })
      .Case<arith::MaximumFOp, arith::MaxNumFOp>(
          [&](auto) { return ScoreRange{std::max(a().low, b().low), std::max(a().high, b().high)}; })
      .Case<arith::MinimumFOp, arith::MinNumFOp>(
          [&](auto) { return ScoreRange{std::min(a().low, b().low), std::min(a().high, b().high)}; })
      .Case([&](arith::SelectOp) {
        return ScoreRange{std::min(b().low, operands[2].low), std::max(b().high, operands[2].high)};
      })
      .Default([](Operation *op) {
        const FunctionFacts &facts = getFunctionFacts(op);
        return ScoreRange{facts.min, facts.max};
      });
}

using ValueRanges = llvm::DenseMap<Value, ScoreRange>;

/// The range of the first number that `region` yields, where those of some of its arguments are known.
static ScoreRange findYieldedRange(Region &region, ValueRanges ranges) {
  auto rangeOf = [&](Value value) {
    FloatAttr constant;
    if (matchPattern(value, m_Constant(&constant)))
      return ScoreRange{constant.getValueAsDouble(), constant.getValueAsDouble()};
    auto known = ranges.find(value);
    return known == ranges.end() ? unknown : known->second;
  };
  for (Operation &op : region.front().without_terminator())
    if (op.getNumResults() == 1 && op.getNumRegions() == 0)
      ranges[op.getResult(0)] = propagate(op, llvm::map_to_vector(op.getOperands(), rangeOf));
  return rangeOf(region.front().getTerminator()->getOperand(0));
}

ScoreRange attnc::attn::findScoreRange(Region &score) {
  return score.empty() ? unknown : findYieldedRange(score, ValueRanges());
}

ScoreRange attnc::attn::findSlopeRange(Region &derivative) {
  if (derivative.empty())
    return {1, 1};
  ValueRanges ranges;
  ranges[derivative.getArgument(0)] = {1, 1};
  return findYieldedRange(derivative, ranges);
}

std::optional<ScoreRange> attnc::attn::findNarrowRange(KernelOpInterface kernel) {
  constexpr double mostOctaves = 146, farthest = 1024;
  bool isWide = cast<RankedTensorType>(kernel.getQuery().getType()).getElementType().isBF16();
  ScoreRange range = findScoreRange(kernel.getScore());
  if (!isWide || kernel.getSinks() || !((range.high - range.low) * llvm::numbers::log2e <= mostOctaves))
    return std::nullopt;
  // Differences from one number would be those of roundings.
  if (std::max(std::abs(range.low), std::abs(range.high)) > farthest)
    return std::nullopt;
  return range;
}

/// By what part of it `number`, which is positive, is off when it has `digits` significant bits.
static double roundingError(double number, unsigned digits) {
  double ulp = std::exp2(std::ilogb(number) + 1 - static_cast<int>(digits));
  return std::abs(std::nearbyint(number / ulp) * ulp - number) / number;
}

double attnc::attn::findCommonReference(ScoreRange range, unsigned digits) {
  constexpr double place = 0.75;
  double octaves = (range.high - range.low) * llvm::numbers::log2e;
  // The weight of the greatest score is one of the numbers of an octave, in whole steps of rounding; that of the least
  // follows from it.
  const uint64_t count = uint64_t(1) << (digits - 1);
  double octave = std::exp2(std::floor((1 - place) * octaves)), best = octave;
  double leastError = std::numeric_limits<double>::infinity();
  for (uint64_t step = 0; step < count; ++step) {
    double greatest = octave * (1 + static_cast<double>(step) / static_cast<double>(count));
    double error = roundingError(greatest * std::exp2(-octaves), digits);
    if (error < leastError) {
      best = greatest;
      leastError = error;
    }
  }
  return range.high - std::log2(best) / llvm::numbers::log2e;
}
