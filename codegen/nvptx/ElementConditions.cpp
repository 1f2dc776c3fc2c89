//===- ElementConditions.cpp - What a row's positions decide ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/ElementBody.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::nvptx;
using Predicate = arith::CmpIPredicate;

/// The greatest difference of constants that comparisons of distances bear, which saturate at the ends of 32 bits.
static constexpr int64_t farthest = int64_t(1) << 30;

/// Both sides of a signed comparison of positions, if they differ by few enough constants.
std::optional<std::pair<RowNumber, RowNumber>> ElementBody::findSides(arith::CmpIOp compare) {
  if (!compare.getLhs().getType().isIndex() || compare.getPredicate() >= Predicate::ult)
    return std::nullopt;
  std::optional<RowNumber> a = find(compare.getLhs()), b = find(compare.getRhs());
  if (!a || !b || a->magnitude || b->magnitude || std::abs(a->offset - b->offset) > farthest)
    return std::nullopt;
  return std::pair(*a, *b);
}

/// a - b without their offsets and steps; distances that 32 bits do not hold are as far as can be.
Value ElementBody::distance(const RowNumber &a, const RowNumber &b) {
  return LLVM::SSubSat::create(ptx.b, ptx.loc, a.base, b.base);
}

/// A comparison of positions for one element: with a constant.
std::optional<Value> ElementBody::emitCompare(arith::CmpIOp compare, int64_t column) {
  auto sides = findSides(compare);
  if (!sides)
    return std::nullopt;
  auto [a, b] = *sides;
  Value &apart = distances[compare];
  if (!apart)
    apart = distance(a, b);
  Value limit = ptx.i32(b.offset - a.offset + (b.step - a.step) * column);
  return arith::CmpIOp::create(ptx.b, ptx.loc, compare.getPredicate(), apart, limit).getResult();
}

/// The bits of a word whose elements stand before `column`, counted from the thread's first.
Value ElementBody::bitsBelow(Value column, int64_t word) {
  auto max = [&](Value x, int64_t y) -> Value { return arith::MaxSIOp::create(ptx.b, ptx.loc, x, ptx.i32(y)); };
  // Of each group of eight columns, the thread has the first two.
  Value positive = max(column, 0);
  Value groups = ptx.bitAnd(ptx.shiftRight(positive, 2), ~int64_t(1));
  Value rest = arith::MinSIOp::create(ptx.b, ptx.loc, ptx.bitAnd(positive, 7), ptx.i32(2));
  Value count = max(ptx.sub(ptx.add(groups, rest), ptx.i32(word * bitsOfWord)), 0);
  return ptx.bitXor(ptx.shiftOnes(count), ptx.i32(-1));
}

/// The elements of a word for which a comparison of the column with something else holds.
std::optional<Value> ElementBody::emitRange(arith::CmpIOp compare, int64_t word) {
  auto sides = findSides(compare);
  if (!sides)
    return std::nullopt;
  auto [a, b] = *sides;
  Predicate predicate = compare.getPredicate();
  if (a.step - b.step == -1) {
    std::swap(a, b);
    switch (predicate) {
    case Predicate::slt:
      predicate = Predicate::sgt;
      break;
    case Predicate::sle:
      predicate = Predicate::sge;
      break;
    case Predicate::sgt:
      predicate = Predicate::slt;
      break;
    case Predicate::sge:
      predicate = Predicate::sle;
      break;
    default:
      break;
    }
  }
  if (a.step - b.step != 1)
    return std::nullopt;
  // column ? limit
  Value apart = distance(b, a);
  int64_t offset = a.offset - b.offset;
  auto below = [&](int64_t more) {
    Value limit = LLVM::SSubSat::create(ptx.b, ptx.loc, apart, ptx.i32(offset - more));
    return bitsBelow(limit, word);
  };
  auto inverted = [&](Value bits) { return ptx.bitXor(bits, ptx.i32(-1)); };
  switch (predicate) {
  case Predicate::slt:
    return below(0);
  case Predicate::sle:
    return below(1);
  case Predicate::sge:
    return inverted(below(0));
  case Predicate::sgt:
    return inverted(below(1));
  case Predicate::eq:
    return ptx.bitXor(below(1), below(0));
  case Predicate::ne:
    return inverted(ptx.bitXor(below(1), below(0)));
  default:
    return std::nullopt;
  }
}

std::optional<Value> ElementBody::emitWord(Value condition, int64_t word) {
  // A condition may be used many times over, and each of its users too.
  if (auto known = wordBits.find(condition); known != wordBits.end())
    return known->second;
  std::optional<Value> bits = computeWord(condition, word);
  wordBits.try_emplace(condition, bits);
  return bits;
}

std::optional<Value> ElementBody::computeWord(Value condition, int64_t word) {
  if (std::optional<RowNumber> number = find(condition))
    return ptx.select(number->base, ptx.i32(-1), ptx.i32(0));
  Operation *op = condition.getDefiningOp();
  if (!op)
    return std::nullopt;
  llvm::SaveAndRestore<Location> place(ptx.loc, op->getLoc());
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return emitRange(compare, word);
  if (!isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op))
    return std::nullopt;
  std::optional<Value> a = emitWord(op->getOperand(0), word), b = emitWord(op->getOperand(1), word);
  if (!a || !b)
    return std::nullopt;
  if (isa<arith::AndIOp>(op))
    return arith::AndIOp::create(ptx.b, ptx.loc, *a, *b).getResult();
  if (isa<arith::OrIOp>(op))
    return arith::OrIOp::create(ptx.b, ptx.loc, *a, *b).getResult();
  return ptx.bitXor(*a, *b);
}

std::optional<SmallVector<Value>> ElementBody::emitBits(int64_t count) {
  SmallVector<Value> words;
  for (int64_t word = 0; word * bitsOfWord < count; ++word) {
    wordBits.clear();
    std::optional<Value> bits = emitWord(body.getTerminator()->getOperand(0), word);
    if (!bits)
      return std::nullopt;
    words.push_back(*bits);
  }
  return words;
}
