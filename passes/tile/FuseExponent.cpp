//===- FuseExponent.cpp - (x - m) * c as one operation ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "passes/tile/Passes.h"
#include "passes/tile/RowVectors.h"
#include <cmath>

namespace attnc::tile {
#define GEN_PASS_DEF_TILEFUSEEXPONENT
#include "passes/tile/Passes.h.inc"
} // namespace attnc::tile

using namespace mlir;
using namespace attnc::tile;

namespace {

/// (x - m) * c in a map: the operations, and the number of m among the map's row vectors.
struct Exponent {
  arith::SubFOp difference;
  arith::MulFOp product;
  FloatAttr factor;
  unsigned row;
};

/// A map whose exponents are x * c + offsets, with the row maxima that the offsets were made of.
struct FusedMap {
  MapOp map;
  Value maxima;
  APFloat factor;
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
    if (row.getArgNumber() >= map.getTiles().size() && number < map.getRows().size())
      return Exponent{difference, product, factor, number};
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

/// The terms of rows with `maxima`. Where m c is 2^31 or more, a rounded offset could be off by more than a power
/// holds. But different logits then are so far apart that of two of a row one has no weight, whatever the base of the
/// powers: a power of two serves as factor, with which products are exact. It is no greater than what takes logits to
/// natural units, in which they are finite. Apart by 2^-24 |m| and more, weights differ by 44 octaves and more.
static RowTerms buildTerms(OpBuilder &builder, Value maxima, const APFloat &factor) {
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
  Value negative = arith::NegFOp::create(builder, loc, factors);
  return {factors, arith::MulFOp::create(builder, loc, maxima, negative)};
}

static FusedMap fuse(MapOp map, Exponent exponent) {
  OpBuilder builder(map);
  Location loc = map.getLoc();
  Value maxima = map.getRows()[exponent.row];
  APFloat constant = exponent.factor.getValue();
  builder.setInsertionPointAfterValue(maxima);
  RowTerms terms = buildTerms(builder, maxima, constant);
  map.getRowsMutable()[exponent.row].set(terms.offsets);
  unsigned added = map.getTiles().size() + map.getRows().size();
  map.getRowsMutable().append(terms.factors);
  Value factor = map.getBody().front().insertArgument(added, exponent.product.getType(), loc);

  // Row factors come from the same rounded offsets.
  for (Operation *user : llvm::make_early_inc_range(maxima.getUsers())) {
    auto growth = dyn_cast<arith::SubFOp>(user);
    auto scaled = growth && growth->hasOneUse() ? dyn_cast<arith::MulFOp>(*growth->user_begin()) : arith::MulFOp();
    DenseFPElementsAttr by;
    if (!scaled || growth.getRhs() != maxima || !matchPattern(scaled.getRhs(), m_Constant(&by)) || !by.isSplat() ||
        by.getSplatValue<APFloat>() != constant)
      continue;
    builder.setInsertionPoint(scaled);
    Value before = arith::MulFOp::create(builder, loc, growth.getLhs(), terms.factors);
    scaled.replaceAllUsesWith(arith::AddFOp::create(builder, loc, before, terms.offsets).getResult());
  }

  builder.setInsertionPoint(exponent.product);
  exponent.product.replaceAllUsesWith(
      math::FmaOp::create(builder, loc, exponent.difference.getLhs(), factor, exponent.difference.getRhs())
          .getResult());
  exponent.product->erase();
  exponent.difference->erase();
  return {map, maxima, constant};
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
static arith::DivFOp findReciprocal(Value tile) {
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

/// A rounded offset b of -m c gives the maximum's weight an exponent r = fma(m, c, b) that is not 0: all weights of the
/// row are 2^r times what they would be, which their sum takes away, but those of the product were rounded after it.
/// Where m c is so large that r is not small (up to 8 at 2^27), one key mostly has all the weight, and it was exactly 1
/// before: dividing by w~ / w, where w = 2^r was rounded to w~, makes its part exact again. That is within 2^-9 of 1
/// everywhere, and within 2^-13 of it, 1/32 of a last bit of the result, where |m c| is below 2^12. A power of more
/// than 2^127 would be none any more: |m c| may not reach 2^31.
///
/// With lazy rescaling, m is the greatest logit by which the row was rescaled last. That has the weight 2^r; one that
/// passed it by less than the threshold was rounded from another power, and is as exact as any weight.
static void correct(const FusedMap &fused, SmallPtrSetImpl<Operation *> &corrected) {
  auto loop = fused.map->getParentOfType<scf::ForOp>();
  Type narrow;
  MmaOp product = findProduct(fused.map, narrow);
  std::optional<unsigned> out = loop && product ? findCarried(product.getResult(), loop) : std::nullopt;
  arith::DivFOp reciprocal = out ? findReciprocal(loop.getResult(*out)) : arith::DivFOp();
  if (!reciprocal || corrected.contains(reciprocal))
    return;
  OpBuilder builder(reciprocal);
  Location loc = reciprocal.getLoc();
  Value maxima = takeBehind(builder, loop, fused.maxima);
  if (!maxima)
    return;
  corrected.insert(reciprocal);
  RowTerms terms = buildTerms(builder, maxima, fused.factor);
  Value rest = math::FmaOp::create(builder, loc, maxima, terms.factors, terms.offsets);
  auto rows = cast<VectorType>(maxima.getType());
  Value rounded =
      arith::TruncFOp::create(builder, loc, rows.clone(narrow), math::Exp2Op::create(builder, loc, rest).getResult());
  // The quotient of what is rounded and what is not: not by a division, nor by products that leave the range.
  Value inverse = math::Exp2Op::create(builder, loc, arith::NegFOp::create(builder, loc, rest).getResult());
  Value quotient =
      arith::MulFOp::create(builder, loc, arith::ExtFOp::create(builder, loc, rows, rounded).getResult(), inverse);
  reciprocal.getRhsMutable().set(arith::MulFOp::create(builder, loc, reciprocal.getRhs(), quotient));
}

namespace {
struct FuseExponent : attnc::tile::impl::TileFuseExponentBase<FuseExponent> {
  void runOnOperation() override {
    if (!getOperation().getPipelineAttr())
      return;
    SmallVector<FusedMap> maps;
    getOperation()->walk([&](MapOp map) {
      // f16 overflows where the rounded offset of a large row maximum is off by more than 15; bf16 does not.
      bool wide = llvm::all_of(map.getResultTypes(), [](Type type) {
        Type element = cast<VectorType>(type).getElementType();
        return element.isF32() || element.isBF16();
      });
      // Weights that nothing reads are rounded for nobody: sums of a walk that only takes sums go with exact maxima.
      bool narrow = llvm::any_of(map->getResults(), [](Value result) {
        return cast<VectorType>(result.getType()).getElementType().isBF16() && !result.use_empty();
      });
      if (!wide || !narrow)
        return;
      if (std::optional<Exponent> exponent = findExponent(map))
        maps.push_back(fuse(map, *exponent));
    });
    // A loop may have a map for tiles with a mask and one for tiles without.
    SmallPtrSet<Operation *, 2> corrected;
    for (const FusedMap &fused : maps)
      correct(fused, corrected);
  }
};
} // namespace
