//===- ExponentTerms.cpp - Exponents in one operation -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "passes/tile/ExponentTerms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "passes/tile/RowVectors.h"
#include <cmath>

using namespace mlir;
using namespace attnc;
using namespace attnc::tile;

Value tile::buildIsLarge(OpBuilder &builder, const ExponentUnit &unit, Exponent exponent, Reference reference) {
  constexpr float largestFused = 0x1p31f, largestSplit = 0x1p24f;
  Location loc = reference.number.getLoc();
  float largest = exponent == Exponent::Fused ? largestFused : largestSplit;
  Value magnitude = math::AbsFOp::create(builder, loc, reference.maximum);
  return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UGE, magnitude,
                               splat(builder, reference.number, largest / unit.factor));
}

Value tile::buildOffsets(OpBuilder &builder, const ExponentUnit &unit, Value number, Value factors) {
  Location loc = number.getLoc();
  Value negative = arith::NegFOp::create(builder, loc, factors);
  if (unit.headroom == 0)
    return arith::MulFOp::create(builder, loc, number, negative);
  return math::FmaOp::create(builder, loc, number, negative, splat(builder, number, -unit.lowering()));
}

RowTerms tile::buildTerms(OpBuilder &builder, const ExponentUnit &unit, Reference reference) {
  Location loc = reference.number.getLoc();
  Value factors = splat(builder, reference.number, unit.factor);
  if (!matchPattern(reference.number, m_Constant())) {
    float power = std::exp2(std::floor(std::log2(unit.factor / unit.perNatural())));
    Value isLarge = buildIsLarge(builder, unit, Exponent::Fused, reference);
    factors = arith::SelectOp::create(builder, loc, isLarge, splat(builder, reference.number, power), factors);
  }
  return {factors, buildOffsets(builder, unit, reference.number, factors)};
}

Value tile::buildRest(OpBuilder &builder, const ExponentUnit &unit, Reference reference) {
  Location loc = reference.number.getLoc();
  Value factors = splat(builder, reference.number, unit.factor);
  Value offsets = buildOffsets(builder, unit, reference.number, factors);
  Value rest = math::FmaOp::create(builder, loc, reference.number, factors, offsets);
  Value isLarge = buildIsLarge(builder, unit, Exponent::Split, reference);
  return arith::SelectOp::create(builder, loc, isLarge, splat(builder, reference.number, -unit.lowering()), rest);
}
