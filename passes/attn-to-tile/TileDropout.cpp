//===- TileDropout.cpp - Weights that dropout drops -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "passes/attn-to-tile/TileDropout.h"
#include "dialect/tile/Philox.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include <cmath>

using namespace mlir;
using namespace attnc;
using namespace attnc::attn;

/// How many numbers an element may have.
static constexpr int32_t countNumbers = 1 << 16;

Value TileDropout::countDropped() {
  if (std::optional<APFloat> probability = kernel.getStaticDropout())
    return arith::ConstantIntOp::create(
        builder, loc, builder.getI32Type(),
        static_cast<int64_t>(std::nearbyint(countNumbers * probability->convertToDouble())));
  Value count = arith::MulFOp::create(builder, loc, lookup(kernel.getDropout()), f32(countNumbers));
  return arith::FPToSIOp::create(builder, loc, builder.getI32Type(), math::RoundEvenOp::create(builder, loc, count));
}

Value TileDropout::buildLeastKept() {
  Value last = arith::ConstantIntOp::create(builder, loc, builder.getI32Type(), countNumbers - 1);
  return arith::MinSIOp::create(builder, loc, countDropped(), last);
}

Value TileDropout::buildKeptFactor() {
  if (!kernel.getSeed())
    return f32(1);
  Value all = arith::ConstantIntOp::create(builder, loc, builder.getI32Type(), countNumbers), dropped = countDropped();
  Value kept = arith::SIToFPOp::create(builder, loc, builder.getF32Type(),
                                       arith::SubIOp::create(builder, loc, all, dropped).getResult());
  Value none = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, dropped, all);
  return arith::SelectOp::create(builder, loc, none, f32(0),
                                 arith::DivFOp::create(builder, loc, f32(countNumbers), kept).getResult());
}

void TileDropout::loadSeed() {
  if (dropout.seed)
    return;
  Value given = lookup(kernel.getSeed());
  auto type = dyn_cast<MemRefType>(given.getType());
  if (!type) {
    dropout.seed = given;
    return;
  }
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(given.getParentBlock());
  auto load = [&](int64_t word) -> Value { return memref::LoadOp::create(builder, loc, given, index(word)); };
  auto extend = [&](Value word) -> Value { return arith::ExtUIOp::create(builder, loc, builder.getI64Type(), word); };
  constexpr int64_t halfBits = 32;
  Value low = extend(load(0)), high = extend(load(1));
  Value bits = arith::ConstantIntOp::create(builder, loc, high.getType(), halfBits);
  dropout.seed = arith::OrIOp::create(builder, loc, arith::ShLIOp::create(builder, loc, high, bits).getResult(), low);
  if (type.getDimSize(0) == 2)
    return;
  auto loadIndex = [&](int64_t word) -> Value {
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), load(word));
  };
  dropout.firstBatch = loadIndex(2);
  dropout.firstHead = loadIndex(3);
}

Value TileDropout::buildNumbers(Value j) {
  if (!kernel.getSeed())
    return {};
  loadSeed();
  auto from = [&](Value first, Value number) { return first ? add(first, number) : number; };
  bool ofQueries = getRowAxis() == Coordinate::Query;
  return tile::PhiloxOp::create(builder, loc, tileType(getColumns(), builder.getI16Type()), dropout.seed,
                                from(dropout.firstBatch, geometry.batch), from(dropout.firstHead, geometry.head),
                                ofQueries ? geometry.row0 : j, ofQueries ? j : geometry.row0,
                                /*transposed=*/!ofQueries, /*again=*/false);
}

tile::SoftmaxOp TileDropout::buildSoftmax(Value scores, Value max, Value sum, ExponentUnit unit, Value j, Value numbers,
                                          Type element) {
  Value least = numbers ? buildLeastKept() : Value();
  auto softmax = tile::SoftmaxOp::create(builder, loc, scores, max, sum, geometry.row0, j, unit, element);
  if (numbers) {
    softmax.getNumbersMutable().assign(numbers);
    softmax.getDropoutThresholdMutable().assign(least);
  }
  return softmax;
}

Value TileDropout::markDropped(Value tile, Value numbers) {
  Value least = buildLeastKept();
  return buildMap({tile, numbers}, {}, {}, builder.getF32Type(), [&](ValueRange x) -> Value {
    Value isKept = tile::buildIsKept(builder, loc, x[1], least);
    // What is no number may have any sign.
    Value positive = math::AbsFOp::create(builder, loc, x[0]), negative = arith::NegFOp::create(builder, loc, positive);
    return arith::SelectOp::create(builder, loc, isKept, positive, negative);
  });
}

Value TileDropout::buildDropout(Value tile, Value numbers, Type element) {
  auto convert = [&](Value x) -> Value {
    return element.isF32() ? x : arith::TruncFOp::create(builder, loc, element, x).getResult();
  };
  if (!numbers)
    return element.isF32() ? tile : buildMap(tile, {}, {}, element, [&](ValueRange x) { return convert(x[0]); });
  Value least = buildLeastKept();
  return buildMap({tile, numbers}, {}, {}, element,
                  [&](ValueRange x) -> Value { return convert(tile::buildKept(builder, loc, x[0], x[1], least)); });
}
