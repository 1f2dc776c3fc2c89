//===- Philox.cpp - The random numbers of dropout --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/tile/Philox.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attnc;

static constexpr uint32_t rounds = 7, multipliers[] = {0xD2511F53, 0xCD9E8D57};
/// What the key grows by from round to round: the golden ratio, and sqrt(3) - 1.
static constexpr uint32_t weyl[] = {0x9E3779B9, 0xBB67AE85};

namespace {
/// Builds operations on i32.
struct Words {
  OpBuilder &b;
  Location loc;

  Value constant(uint32_t value) const {
    return arith::ConstantIntOp::create(b, loc, b.getI32Type(), static_cast<int32_t>(value));
  }
  Value plus(Value x, uint32_t y) const { return y ? arith::AddIOp::create(b, loc, x, constant(y)).getResult() : x; }
  Value join(Value x, Value y) const { return arith::OrIOp::create(b, loc, x, y); }
  Value both(Value x, uint32_t bits) const { return arith::AndIOp::create(b, loc, x, constant(bits)); }
  Value right(Value x, uint32_t bits) const { return arith::ShRUIOp::create(b, loc, x, constant(bits)); }
  Value left(Value x, uint32_t bits) const { return arith::ShLIOp::create(b, loc, x, constant(bits)); }
  Value differ(Value x, Value y) const { return arith::XOrIOp::create(b, loc, x, y); }
};
} // namespace

std::array<Value, 2> tile::buildPhiloxKey(OpBuilder &builder, Location loc, Value seed) {
  Type i32 = builder.getI32Type();
  Value half = arith::ConstantIntOp::create(builder, loc, builder.getI64Type(), 32);
  return {arith::TruncIOp::create(builder, loc, i32, seed),
          arith::TruncIOp::create(builder, loc, i32, arith::ShRUIOp::create(builder, loc, seed, half).getResult())};
}

Value tile::buildPhiloxQuery(OpBuilder &builder, Location loc, Value i) {
  Words words{builder, loc};
  return words.join(words.left(words.right(i, 4), 3), words.both(i, 7));
}

Value tile::buildPhiloxKeyPair(OpBuilder &builder, Location loc, Value j) {
  Words words{builder, loc};
  return words.join(words.left(words.right(j, 4), 2), words.both(words.right(j, 1), 3));
}

std::array<Value, 4> tile::buildPhilox(OpBuilder &builder, Location loc, const std::array<Value, 2> &key,
                                       const std::array<Value, 4> &counter) {
  Words words{builder, loc};
  std::array<Value, 4> state = counter;
  for (uint32_t round = 0; round < rounds; ++round) {
    auto first = arith::MulUIExtendedOp::create(builder, loc, words.constant(multipliers[0]), state[0]);
    auto second = arith::MulUIExtendedOp::create(builder, loc, words.constant(multipliers[1]), state[2]);
    state = {
        words.differ(words.differ(second.getHigh(), state[1]), words.plus(key[0], round * weyl[0])), second.getLow(),
        words.differ(words.differ(first.getHigh(), state[3]), words.plus(key[1], round * weyl[1])), first.getLow()};
  }
  return state;
}

Value tile::buildPhiloxNumber(OpBuilder &builder, Location loc, Value seed, Value b, Value h, Value i, Value j) {
  Words words{builder, loc};
  auto narrow = [&](Value x) -> Value { return arith::IndexCastOp::create(builder, loc, builder.getI32Type(), x); };
  Value query = narrow(i), key = narrow(j);
  std::array<Value, 4> parts =
      buildPhilox(builder, loc, buildPhiloxKey(builder, loc, seed),
                  {narrow(b), narrow(h), buildPhiloxQuery(builder, loc, query), buildPhiloxKeyPair(builder, loc, key)});
  // Bit 3 of a coordinate tells the eight from those eight on.
  auto choose = [&](Value coordinate, uint32_t bit, Value set, Value clear) -> Value {
    Value isSet =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, words.both(coordinate, bit), words.constant(0));
    return arith::SelectOp::create(builder, loc, isSet, set, clear);
  };
  Value word = choose(query, 8, choose(key, 8, parts[3], parts[2]), choose(key, 8, parts[1], parts[0]));
  return choose(key, 1, words.right(word, 16), words.both(word, 0xffff));
}

uint32_t tile::findPhiloxNumber(uint64_t seed, uint32_t b, uint32_t h, uint32_t i, uint32_t j) {
  std::array<uint32_t, 4> state{b, h, i / 16 * 8 + i % 8, j / 16 * 4 + j % 8 / 2};
  for (uint32_t round = 0; round < rounds; ++round) {
    uint64_t first = uint64_t{multipliers[0]} * state[0], second = uint64_t{multipliers[1]} * state[2];
    uint32_t key0 = static_cast<uint32_t>(seed) + round * weyl[0],
             key1 = static_cast<uint32_t>(seed >> 32) + round * weyl[1];
    state = {static_cast<uint32_t>(second >> 32) ^ state[1] ^ key0, static_cast<uint32_t>(second),
             static_cast<uint32_t>(first >> 32) ^ state[3] ^ key1, static_cast<uint32_t>(first)};
  }
  return state[i / 8 % 2 * 2 + j / 8 % 2] >> (16 * (j % 2)) & 0xffff;
}

Value tile::buildIsKept(OpBuilder &builder, Location loc, Value number, Value threshold) {
  Value wide = arith::ExtUIOp::create(builder, loc, builder.getI32Type(), number);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::uge, wide, threshold);
}

Value tile::buildKept(OpBuilder &builder, Location loc, Value element, Value number, Value threshold) {
  Value zero = arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
  return arith::SelectOp::create(builder, loc, buildIsKept(builder, loc, number, threshold), element, zero);
}
