//===- Philox.cpp - Dropout's random numbers as IR --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Philox4x32-10: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011), section 3.3.
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/attn-to-tile/TileBuilder.h"

using namespace mlir;

Value attnc::attn::buildDropoutUniform(OpBuilder &builder, Location loc, Value seed, Value b, Value h, Value i,
                                       Value j) {
  Type i32 = builder.getI32Type();
  auto constant = [&](uint32_t value) -> Value {
    return arith::ConstantIntOp::create(builder, loc, i32, static_cast<int32_t>(value));
  };
  auto exclusiveOr = [&](Value x, Value y) -> Value { return arith::XOrIOp::create(builder, loc, x, y); };
  auto word = [&](Value coordinate) -> Value { return arith::IndexCastOp::create(builder, loc, i32, coordinate); };

  Value key[2];
  key[0] = arith::TruncIOp::create(builder, loc, i32, seed);
  Value half = arith::ConstantIntOp::create(builder, loc, builder.getI64Type(), 32);
  key[1] = arith::TruncIOp::create(builder, loc, i32, arith::ShRUIOp::create(builder, loc, seed, half));
  Value counter[4] = {word(b), word(h), word(i), word(j)};
  Value multiplier[2] = {constant(0xD2511F53u), constant(0xCD9E8D57u)};
  for (uint32_t round = 0; round < 10; ++round) {
    // Weyl sequence of the key: round times the golden ratio, and sqrt(3) - 1.
    Value roundKey[2] = {arith::AddIOp::create(builder, loc, key[0], constant(round * 0x9E3779B9u)),
                         arith::AddIOp::create(builder, loc, key[1], constant(round * 0xBB67AE85u))};
    auto first = arith::MulUIExtendedOp::create(builder, loc, multiplier[0], counter[0]);
    auto second = arith::MulUIExtendedOp::create(builder, loc, multiplier[1], counter[2]);
    Value next[4] = {exclusiveOr(exclusiveOr(second.getHigh(), counter[1]), roundKey[0]), second.getLow(),
                     exclusiveOr(exclusiveOr(first.getHigh(), counter[3]), roundKey[1]), first.getLow()};
    std::copy(next, next + 4, counter);
  }
  Value bits = arith::ShRUIOp::create(builder, loc, counter[0], constant(8));
  Value number = arith::SIToFPOp::create(builder, loc, builder.getF32Type(), bits);
  Value unit = arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(1.0f / (1 << 24)));
  return arith::MulFOp::create(builder, loc, number, unit);
}
