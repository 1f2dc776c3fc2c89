//===- ReferenceIntegerRules.cpp - Integer scalars --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Every result is defined (docs/spec.md, "Operations in regions"), and nothing traps. Sums and products go through
// uint64_t, which wraps.
//===----------------------------------------------------------------------===//

#include "dialect/reference/ReferenceRules.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace llvm;
using namespace attnc::attn::reference;

int64_t attnc::attn::reference::wrapToWidth(int64_t value, unsigned width) {
  unsigned unused = 64 - width;
  return static_cast<int64_t>(static_cast<uint64_t>(value) << unused) >> unused;
}

uint64_t attnc::attn::reference::toUnsigned(int64_t value, unsigned width) {
  return static_cast<uint64_t>(value) & (~uint64_t{0} >> (64 - width));
}

static int64_t fromUnsigned(uint64_t value) { return static_cast<int64_t>(value); }

/// Least signed number of `width` bits.
static int64_t leastSigned(unsigned width) { return std::numeric_limits<int64_t>::min() >> (64 - width); }

/// The quotient rounded to 0. That of the least number and -1 wraps to the least number, at 64 bits here and where the
/// result is cut to its width.
static int64_t quotientOf(int64_t a, int64_t b) {
  return b == 0 ? 0 : b == -1 ? fromUnsigned(-static_cast<uint64_t>(a)) : a / b;
}

static int64_t remainderOf(int64_t a, int64_t b) { return b == 0 ? a : b == -1 ? 0 : a % b; }

/// The quotient rounded down by `direction` -1 or up by +1.
static int64_t roundedQuotient(int64_t a, int64_t b, unsigned, int direction) {
  if (b == 0 || b == -1)
    return quotientOf(a, b);
  int64_t quotient = a / b, remainder = a % b;
  bool exactIsPositive = (a < 0) == (b < 0);
  // Truncation rounds a positive quotient down and a negative one up.
  bool adjust = remainder != 0 && exactIsPositive == (direction > 0);
  return adjust ? quotient + direction : quotient;
}

static int64_t power(int64_t base, int64_t exponent, unsigned) {
  if (exponent < 0)
    return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
  uint64_t result = 1, square = static_cast<uint64_t>(base);
  for (; exponent; exponent >>= 1, square *= square)
    if (exponent & 1)
      result *= square;
  return fromUnsigned(result);
}

static const struct {
  StringLiteral name;
  IntegerFunction value;
} integerRules[] = {
    {"arith.addi", [](int64_t a, int64_t b, unsigned) { return fromUnsigned(uint64_t(a) + uint64_t(b)); }},
    {"arith.subi", [](int64_t a, int64_t b, unsigned) { return fromUnsigned(uint64_t(a) - uint64_t(b)); }},
    {"arith.muli", [](int64_t a, int64_t b, unsigned) { return fromUnsigned(uint64_t(a) * uint64_t(b)); }},
    {"arith.divsi", [](int64_t a, int64_t b, unsigned) { return quotientOf(a, b); }},
    {"arith.remsi", [](int64_t a, int64_t b, unsigned) { return remainderOf(a, b); }},
    {"arith.floordivsi", [](int64_t a, int64_t b, unsigned w) { return roundedQuotient(a, b, w, -1); }},
    {"arith.ceildivsi", [](int64_t a, int64_t b, unsigned w) { return roundedQuotient(a, b, w, 1); }},
    {"arith.divui",
     [](int64_t a, int64_t b, unsigned w) { return b == 0 ? 0 : fromUnsigned(toUnsigned(a, w) / toUnsigned(b, w)); }},
    {"arith.remui",
     [](int64_t a, int64_t b, unsigned w) { return b == 0 ? a : fromUnsigned(toUnsigned(a, w) % toUnsigned(b, w)); }},
    {"arith.ceildivui",
     [](int64_t a, int64_t b, unsigned w) {
       uint64_t n = toUnsigned(a, w), d = toUnsigned(b, w);
       return d == 0 ? 0 : fromUnsigned(n / d + (n % d != 0));
     }},
    {"arith.maxsi", [](int64_t a, int64_t b, unsigned) { return std::max(a, b); }},
    {"arith.minsi", [](int64_t a, int64_t b, unsigned) { return std::min(a, b); }},
    {"arith.maxui", [](int64_t a, int64_t b, unsigned w) { return toUnsigned(a, w) < toUnsigned(b, w) ? b : a; }},
    {"arith.minui", [](int64_t a, int64_t b, unsigned w) { return toUnsigned(b, w) < toUnsigned(a, w) ? b : a; }},
    {"arith.andi", [](int64_t a, int64_t b, unsigned) { return a & b; }},
    {"arith.ori", [](int64_t a, int64_t b, unsigned) { return a | b; }},
    {"arith.xori", [](int64_t a, int64_t b, unsigned) { return a ^ b; }},
    {"arith.shli",
     [](int64_t a, int64_t b, unsigned w) { return toUnsigned(b, w) < w ? fromUnsigned(uint64_t(a) << b) : 0; }},
    {"arith.shrui",
     [](int64_t a, int64_t b, unsigned w) { return toUnsigned(b, w) < w ? fromUnsigned(toUnsigned(a, w) >> b) : 0; }},
    {"arith.shrsi", [](int64_t a, int64_t b, unsigned w) { return a >> (toUnsigned(b, w) < w ? b : int64_t(w) - 1); }},
    {"arith.extsi", [](int64_t a, int64_t, unsigned) { return a; }},
    {"arith.trunci", [](int64_t a, int64_t, unsigned) { return a; }},
    {"arith.index_cast", [](int64_t a, int64_t, unsigned) { return a; }},
    {"arith.extui", [](int64_t a, int64_t, unsigned w) { return fromUnsigned(toUnsigned(a, w)); }},
    {"arith.index_castui", [](int64_t a, int64_t, unsigned w) { return fromUnsigned(toUnsigned(a, w)); }},
    {"math.absi", [](int64_t a, int64_t, unsigned) { return a < 0 ? fromUnsigned(-uint64_t(a)) : a; }},
    {"math.ipowi", power},
    {"math.ctpop", [](int64_t a, int64_t, unsigned w) { return int64_t(llvm::popcount(toUnsigned(a, w))); }},
    {"math.ctlz",
     [](int64_t a, int64_t, unsigned w) { return int64_t(llvm::countl_zero(toUnsigned(a, w))) - (64 - int64_t(w)); }},
    {"math.cttz",
     [](int64_t a, int64_t, unsigned w) { return std::min(int64_t(llvm::countr_zero(toUnsigned(a, w))), int64_t(w)); }},
};

IntegerFunction attnc::attn::reference::findIntegerRule(StringRef name) {
  const auto *rule = llvm::find_if(integerRules, [&](const auto &rule) { return rule.name == name; });
  return rule == std::end(integerRules) ? nullptr : rule->value;
}

/// In the order of arith::CmpIPredicate.
IntegerFunction attnc::attn::reference::getIntegerComparison(unsigned predicate) {
  static const IntegerFunction comparisons[] = {
      [](int64_t a, int64_t b, unsigned) { return int64_t(a == b); },
      [](int64_t a, int64_t b, unsigned) { return int64_t(a != b); },
      [](int64_t a, int64_t b, unsigned) { return int64_t(a < b); },
      [](int64_t a, int64_t b, unsigned) { return int64_t(a <= b); },
      [](int64_t a, int64_t b, unsigned) { return int64_t(a > b); },
      [](int64_t a, int64_t b, unsigned) { return int64_t(a >= b); },
      [](int64_t a, int64_t b, unsigned w) { return int64_t(toUnsigned(a, w) < toUnsigned(b, w)); },
      [](int64_t a, int64_t b, unsigned w) { return int64_t(toUnsigned(a, w) <= toUnsigned(b, w)); },
      [](int64_t a, int64_t b, unsigned w) { return int64_t(toUnsigned(a, w) > toUnsigned(b, w)); },
      [](int64_t a, int64_t b, unsigned w) { return int64_t(toUnsigned(a, w) >= toUnsigned(b, w)); },
  };
  return comparisons[predicate];
}

double attnc::attn::reference::signedToFloat(int64_t value, unsigned) { return static_cast<double>(value); }

double attnc::attn::reference::unsignedToFloat(int64_t value, unsigned width) {
  return static_cast<double>(toUnsigned(value, width));
}

int64_t attnc::attn::reference::floatToSigned(double value, unsigned width) {
  if (std::isnan(value))
    return 0;
  double limit = std::ldexp(1.0, static_cast<int>(width) - 1);
  if (value >= limit)
    return -(leastSigned(width) + 1);
  return value <= -limit ? leastSigned(width) : static_cast<int64_t>(value);
}

int64_t attnc::attn::reference::floatToUnsigned(double value, unsigned width) {
  if (!(value > 0))
    return 0;
  if (value >= std::ldexp(1.0, static_cast<int>(width)))
    return fromUnsigned(toUnsigned(-1, width));
  return fromUnsigned(static_cast<uint64_t>(value));
}

double attnc::attn::reference::bitsToFloat(int64_t value, unsigned width) {
  return width == 32 ? llvm::bit_cast<float>(static_cast<uint32_t>(value)) : llvm::bit_cast<double>(value);
}

int64_t attnc::attn::reference::floatToBits(double value, unsigned width) {
  return width == 32 ? static_cast<int64_t>(llvm::bit_cast<uint32_t>(static_cast<float>(value)))
                     : llvm::bit_cast<int64_t>(value);
}
