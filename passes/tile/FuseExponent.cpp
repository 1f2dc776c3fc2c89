//===- FuseExponent.cpp - (x - m) * c as one operation ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "passes/tile/Passes.h"
#include "passes/tile/RoundedWeights.h"
#include "passes/tile/RowVectors.h"
#include <cmath>

namespace attnc::tile {
#define GEN_PASS_DEF_TILEFUSEEXPONENT
#include "passes/tile/Passes.h.inc"
} // namespace attnc::tile

using namespace mlir;
using namespace attnc::tile;

namespace {

/// (x - m) * c, or (x - m) * c - h, in a map: the operations, and the number of m among the map's row vectors.
struct Exponent {
  arith::SubFOp difference;
  arith::MulFOp product;
  arith::SubFOp lowered; ///< the difference from h, or null
  FloatAttr factor;
  float headroom; ///< h, or 0
  unsigned row;

  Operation *last() { return lowered ? lowered.getOperation() : product.getOperation(); }
};

/// A map whose exponents are x * c + offsets, with the row maxima that the offsets were made of.
struct FusedMap {
  MapOp map;
  Value maxima;
  APFloat factor;
  float headroom;
};

/// What exponents of a row are made of: x * factor + offset.
struct RowTerms {
  Value factors, offsets;
};

} // namespace

/// Looks for an exponent whose row vector the map uses for nothing else.
static std::optional<Exponent> findExponent(MapOp map) {
  for (auto product : map.getBody().getOps<arith::MulFOp>()) {
    auto difference = product.getLhs().getDefiningOp<arith::SubFOp>();
    FloatAttr factor;
    if (!difference || !difference->hasOneUse() || !matchPattern(product.getRhs(), m_Constant(&factor)))
      continue;
    auto row = dyn_cast<BlockArgument>(difference.getRhs());
    if (!row || !row.hasOneUse() || row.getOwner() != &map.getBody().front())
      continue;
    unsigned number = row.getArgNumber() - map.getTiles().size();
    if (row.getArgNumber() < map.getTiles().size() || number >= map.getRows().size())
      continue;
    FloatAttr headroom;
    auto lowered = product->hasOneUse() ? dyn_cast<arith::SubFOp>(*product->user_begin()) : arith::SubFOp();
    if (!lowered || lowered.getLhs() != product.getResult() || !matchPattern(lowered.getRhs(), m_Constant(&headroom)))
      return Exponent{difference, product, {}, factor, 0, number};
    return Exponent{difference, product, lowered, factor, headroom.getValue().convertToFloat(), number};
  }
  return std::nullopt;
}

/// The number that maxima of -inf are replaced in, or `maxima` where nothing replaces them.
static Value skipChoice(Value maxima) {
  auto choice = maxima.getDefiningOp<arith::SelectOp>();
  auto test = choice ? choice.getCondition().getDefiningOp<arith::CmpFOp>() : arith::CmpFOp();
  return test && test.getLhs() == choice.getFalseValue() && matchPattern(test.getRhs(), m_NegInfFloat())
             ? choice.getFalseValue()
             : maxima;
}

/// The offsets -m c - h of rows with `maxima`.
static Value buildOffsets(OpBuilder &builder, Value maxima, Value factors, float headroom) {
  Location loc = maxima.getLoc();
  Value negative = arith::NegFOp::create(builder, loc, factors);
  if (headroom == 0)
    return arith::MulFOp::create(builder, loc, maxima, negative);
  return math::FmaOp::create(builder, loc, maxima, negative, splat(builder, maxima, -headroom));
}

/// The terms of rows with `maxima`. Where m c is 2^31 or more, a rounded offset could be off by more than a power
/// holds. But different logits then are so far apart that of two of a row one has no weight, whatever the base of the
/// powers: a power of two serves as factor, with which products are exact. It is no greater than what takes logits to
/// natural units, in which they are finite. Apart by 2^-24 |m| and more, weights differ by 44 octaves and more.
static RowTerms buildTerms(OpBuilder &builder, Value maxima, const APFloat &factor, float headroom) {
  Location loc = maxima.getLoc();
  Value factors = splat(builder, maxima, factor);
  if (!matchPattern(maxima, m_Constant())) {
    constexpr float largest = 0x1p31f, log2e = 1.44269504088896340736f;
    float c = factor.convertToFloat(), power = std::exp2(std::floor(std::log2(c / log2e)));
    Value magnitude = math::AbsFOp::create(builder, loc, skipChoice(maxima));
    Value isLarge =
        arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UGE, magnitude, splat(builder, maxima, largest / c));
    factors = arith::SelectOp::create(builder, loc, isLarge, splat(builder, maxima, power), factors);
  }
  return {factors, buildOffsets(builder, maxima, factors, headroom)};
}

/// What the weights of a row's maximum have as exponent where rounded offsets are used: r - h. f16 has no room for a
/// large r: where m c is 2^24 or more, rows go without such offsets, which leaves -h.
static Value buildRest(OpBuilder &builder, Value maxima, const APFloat &factor, float headroom) {
  Location loc = maxima.getLoc();
  constexpr float largest = 0x1p24f;
  Value factors = splat(builder, maxima, factor);
  Value rest = math::FmaOp::create(builder, loc, maxima, factors, buildOffsets(builder, maxima, factors, headroom));
  Value magnitude = math::AbsFOp::create(builder, loc, skipChoice(maxima));
  Value isLarge = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UGE, magnitude,
                                        splat(builder, maxima, largest / factor.convertToFloat()));
  return arith::SelectOp::create(builder, loc, isLarge, splat(builder, maxima, -headroom), rest);
}

/// The row factors that are made of exponents: products of `factor` and the growth of `maxima`.
static SmallVector<arith::MulFOp> findGrowths(Value maxima, const APFloat &factor) {
  SmallVector<arith::MulFOp> growths;
  for (Operation *user : maxima.getUsers()) {
    auto growth = dyn_cast<arith::SubFOp>(user);
    auto scaled = growth && growth->hasOneUse() ? dyn_cast<arith::MulFOp>(*growth->user_begin()) : arith::MulFOp();
    DenseFPElementsAttr by;
    if (scaled && growth.getRhs() == maxima && matchPattern(scaled.getRhs(), m_Constant(&by)) && by.isSplat() &&
        by.getSplatValue<APFloat>() == factor)
      growths.push_back(scaled);
  }
  return growths;
}

/// Writes (x - m) c - h as (x - m) c + t, with t = m c + b for the rounded offset b that stands for -m c - h: where m
/// is no maximum of the step, it becomes x c + b (`tile-contract-exponent`), and where m c is large it stays exact.
static FusedMap splitOffset(MapOp map, Exponent exponent) {
  OpBuilder builder(map);
  Location loc = map.getLoc();
  Value maxima = map.getRows()[exponent.row];
  APFloat constant = exponent.factor.getValue();
  builder.setInsertionPointAfterValue(maxima);
  Value rest = buildRest(builder, maxima, constant, exponent.headroom);
  unsigned added = map.getTiles().size() + map.getRows().size();
  map.getRowsMutable().append(rest);
  Value term = map.getBody().front().insertArgument(added, exponent.product.getType(), loc);
  for (arith::MulFOp scaled : findGrowths(maxima, constant)) {
    builder.setInsertionPoint(scaled);
    Value before = scaled.getLhs().getDefiningOp<arith::SubFOp>().getLhs();
    Value change = arith::SubFOp::create(builder, loc, buildRest(builder, before, constant, exponent.headroom), rest);
    scaled.replaceAllUsesWith(math::FmaOp::create(builder, loc, scaled.getLhs(), scaled.getRhs(), change).getResult());
  }
  builder.setInsertionPoint(exponent.product);
  exponent.last()->getResult(0).replaceAllUsesWith(
      math::FmaOp::create(builder, loc, exponent.difference, exponent.product.getRhs(), term).getResult());
  if (exponent.lowered)
    exponent.lowered->erase();
  exponent.product->erase();
  return {map, maxima, constant, exponent.headroom};
}

static FusedMap fuse(MapOp map, Exponent exponent) {
  OpBuilder builder(map);
  Location loc = map.getLoc();
  Value maxima = map.getRows()[exponent.row];
  APFloat constant = exponent.factor.getValue();
  builder.setInsertionPointAfterValue(maxima);
  RowTerms terms = buildTerms(builder, maxima, constant, exponent.headroom);
  map.getRowsMutable()[exponent.row].set(terms.offsets);
  unsigned added = map.getTiles().size() + map.getRows().size();
  map.getRowsMutable().append(terms.factors);
  Value factor = map.getBody().front().insertArgument(added, exponent.product.getType(), loc);

  // Row factors come from the same rounded offsets.
  for (arith::MulFOp scaled : findGrowths(maxima, constant)) {
    builder.setInsertionPoint(scaled);
    Value largest = scaled.getLhs().getDefiningOp<arith::SubFOp>().getLhs();
    Value before = buildOffsets(builder, largest, terms.factors, exponent.headroom);
    scaled.replaceAllUsesWith(arith::SubFOp::create(builder, loc, terms.offsets, before).getResult());
  }

  builder.setInsertionPoint(exponent.product);
  exponent.last()->getResult(0).replaceAllUsesWith(
      math::FmaOp::create(builder, loc, exponent.difference.getLhs(), factor, exponent.difference.getRhs())
          .getResult());
  if (exponent.lowered)
    exponent.lowered->erase();
  exponent.product->erase();
  exponent.difference->erase();
  return {map, maxima, constant, exponent.headroom};
}

//===----------------------------------------------------------------------===//
// What the rounded offset costs
//===----------------------------------------------------------------------===//

/// The number under which `loop` carries `value` to its next step, through branches too.
static std::optional<unsigned> findCarried(Value value, scf::ForOp loop) {
  for (OpOperand &use : value.getUses()) {
    Operation *parent = isa<scf::YieldOp>(use.getOwner()) ? use.getOwner()->getParentOp() : nullptr;
    if (parent == loop)
      return use.getOperandNumber();
    if (isa_and_nonnull<scf::IfOp>(parent))
      return findCarried(parent->getResult(use.getOperandNumber()), loop);
  }
  return std::nullopt;
}

/// The product of narrow weights that are rounded powers of fused exponents and nothing else, and the type they have.
/// Weights under dropout are multiplied before they are rounded: they are rounded in any case.
static MmaOp findProduct(MapOp map, Type &narrow) {
  for (OpResult result : map->getResults()) {
    auto rounded = map.getBody().front().getTerminator()->getOperand(result.getResultNumber()).getDefiningOp();
    auto power = isa_and_nonnull<arith::TruncFOp>(rounded) ? rounded->getOperand(0).getDefiningOp<math::Exp2Op>()
                                                           : math::Exp2Op();
    if (!power || !power.getOperand().getDefiningOp<math::FmaOp>())
      continue;
    for (Operation *user : result.getUsers())
      if (auto product = dyn_cast<MmaOp>(user); product && product.getA() == result) {
        narrow = rounded->getResult(0).getType();
        return product;
      }
  }
  return {};
}

/// The reciprocal of row sums that a tile is multiplied by: 1 / sum, or a constant for rows without any.
static arith::DivFOp findDivision(Value tile) {
  for (Operation *user : tile.getUsers()) {
    auto map = dyn_cast<MapOp>(user);
    if (!map || map.getTiles().size() != 1 || map.getRows().size() != 1)
      continue;
    Value factors = map.getRows()[0];
    if (auto choice = factors.getDefiningOp<arith::SelectOp>(); choice && choice->hasOneUse())
      factors = choice.getFalseValue();
    auto reciprocal = factors.getDefiningOp<arith::DivFOp>();
    if (reciprocal && reciprocal->hasOneUse() && matchPattern(reciprocal.getLhs(), m_OneFloat()))
      return reciprocal;
  }
  return {};
}

/// The maxima that `loop` ends with, in the form that `maxima` have in it: 0 may stand for rows without any.
static Value takeBehind(OpBuilder &builder, scf::ForOp loop, Value maxima) {
  auto choice = maxima.getDefiningOp<arith::SelectOp>();
  auto test = choice ? choice.getCondition().getDefiningOp<arith::CmpFOp>() : arith::CmpFOp();
  Value carried = choice ? choice.getFalseValue() : maxima;
  std::optional<unsigned> number = findCarried(carried, loop);
  if (!number)
    return {};
  IRMapping mapping;
  mapping.map(carried, loop.getResult(*number));
  if (!choice)
    return loop.getResult(*number);
  if (!test || !loop.isDefinedOutsideOfLoop(test.getRhs()) || !loop.isDefinedOutsideOfLoop(choice.getTrueValue()) ||
      test.getLhs() != carried)
    return {};
  builder.clone(*test, mapping);
  return builder.clone(*choice, mapping)->getResult(0);
}

/// A rounded offset b of -m c - h gives the maximum's weight an exponent fma(m, c, b) that is not -h: all weights of
/// the row are 2^r times what they would be, which their sum takes away, but those of the product were rounded after
/// it. Where m c is so large that r is not small (up to 8 at 2^27), one key mostly has all the weight, and it was a
/// power of two before: with its rounding in the divisor, its part is exact again. A power of more than 2^127 would be
/// none any more: |m c| may not reach 2^31.
///
/// With lazy rescaling, m is the greatest logit by which the row was rescaled last. That has the weight 2^r; one that
/// passed it by less than the threshold was rounded from another power, and is as exact as any weight.
static void correct(const FusedMap &fused, SmallPtrSetImpl<Operation *> &corrected) {
  auto loop = fused.map->getParentOfType<scf::ForOp>();
  Type narrow;
  MmaOp product = findProduct(fused.map, narrow);
  std::optional<unsigned> out = loop && product ? findCarried(product.getResult(), loop) : std::nullopt;
  arith::DivFOp reciprocal = out ? findDivision(loop.getResult(*out)) : arith::DivFOp();
  if (!reciprocal || corrected.contains(reciprocal))
    return;
  OpBuilder builder(reciprocal);
  Location loc = reciprocal.getLoc();
  Value maxima = takeBehind(builder, loop, fused.maxima);
  if (!maxima)
    return;
  corrected.insert(reciprocal);
  Value rest;
  if (narrow.isF16()) {
    rest = buildRest(builder, maxima, fused.factor, fused.headroom);
  } else {
    RowTerms terms = buildTerms(builder, maxima, fused.factor, fused.headroom);
    rest = math::FmaOp::create(builder, loc, maxima, terms.factors, terms.offsets);
  }
  countRounded(reciprocal, math::Exp2Op::create(builder, loc, rest), narrow);
}

namespace {
struct FuseExponent : attnc::tile::impl::TileFuseExponentBase<FuseExponent> {
  void runOnOperation() override {
    if (!getOperation().getPipelineAttr())
      return;
    bool optimistic = getOperation().getPipelineAttr().getOptimistic();
    SmallVector<FusedMap> maps;
    getOperation()->walk([&](MapOp map) {
      // Weights that nothing reads are rounded for nobody: sums of a walk that only takes sums go with exact maxima.
      auto hasNarrow = [&](auto isOfType) {
        return llvm::any_of(map->getResults(), [&](Value result) {
          return isOfType(cast<VectorType>(result.getType()).getElementType()) && !result.use_empty();
        });
      };
      bool isWide = hasNarrow([](Type type) { return type.isBF16(); });
      bool isHalf = optimistic && hasNarrow([](Type type) { return type.isF16(); });
      std::optional<Exponent> exponent = isWide || isHalf ? findExponent(map) : std::nullopt;
      if (exponent)
        maps.push_back(isWide ? fuse(map, *exponent) : splitOffset(map, *exponent));
    });
    // A loop may have a map for tiles with a mask and one for tiles without.
    SmallPtrSet<Operation *, 2> corrected;
    for (const FusedMap &fused : maps)
      correct(fused, corrected);
  }
};
} // namespace
