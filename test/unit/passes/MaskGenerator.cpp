//===- MaskGenerator.cpp - Random masks with their meaning ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "MaskCases.h"
#include <algorithm>
#include <cstdlib>
#include <random>

using namespace attnc::test;

namespace {

/// A value of the region: its name in the text, and how to compute it.
struct Term {
  std::string name;
  std::function<int64_t(const Point &, const Problem &)> value;
};

class Generator {
public:
  explicit Generator(uint64_t seed) : random(seed) {}

  MaskCase make(uint64_t seed) {
    Term keep = condition(3);
    text += "%keep = arith.andi " + keep.name + ", " + keep.name + " : i1\n";
    return {"random" + std::to_string(seed), text,
            [value = keep.value](const Point &p, const Problem &problem) { return value(p, problem) != 0; },
            Strength::Sound};
  }

private:
  int64_t pick(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); }
  std::string define(const std::string &line) {
    std::string name = "%x" + std::to_string(count++);
    text += name + " = " + line + "\n";
    return name;
  }
  Term constant(int64_t value) {
    return {define("arith.constant " + std::to_string(value) + " : index"),
            [value](const Point &, const Problem &) { return value; }};
  }
  template <typename F>
  Term binary(const std::string &op, const std::string &type, Term a, Term b, F function) {
    return {define(op + " " + a.name + ", " + b.name + " : " + type),
            [a, b, function](const Point &p, const Problem &problem) -> int64_t {
              return function(a.value(p, problem), b.value(p, problem));
            }};
  }

  Term leaf();
  Term index(int depth);
  Term compare(int depth);
  Term condition(int depth);
  Term quotient(int depth);

  std::mt19937_64 random;
  std::string text;
  int count = 0;
};

} // namespace

Term Generator::leaf() {
  switch (pick(0, 9)) {
  case 0:
    return constant(pick(-20, 40));
  case 1:
    return {"%h", [](const Point &p, const Problem &) { return p.h; }};
  case 2:
    return {"%b", [](const Point &p, const Problem &) { return p.b; }};
  case 3:
    return {"%w", [](const Point &, const Problem &problem) { return problem.width(); }};
  case 4: {
    std::string length = define("attn.load %len[%b] : tensor<?xi32>");
    return {define("arith.index_cast " + length + " : i32 to index"),
            [](const Point &p, const Problem &problem) { return problem.length(p.b); }};
  }
  case 5: {
    std::string id = define("attn.load %qs[%b, %i] : tensor<?x?xi32>");
    return {define("arith.index_cast " + id + " : i32 to index"),
            [](const Point &p, const Problem &problem) { return problem.queryId(p.b, p.row); }};
  }
  case 6:
  case 7:
    return {"%i", [](const Point &p, const Problem &) { return p.i; }};
  default:
    return {"%j", [](const Point &p, const Problem &) { return p.j; }};
  }
}

Term Generator::quotient(int depth) {
  Term a = index(depth - 1);
  Term divisor = constant(pick(1, 7));
  switch (pick(0, 3)) {
  case 0:
    return binary("arith.divsi", "index", a, divisor, [](int64_t x, int64_t y) { return x / y; });
  case 1:
    return binary("arith.ceildivsi", "index", a, divisor, ceilDiv);
  case 2:
    return binary("arith.remsi", "index", a, divisor, [](int64_t x, int64_t y) { return x % y; });
  default:
    return binary("arith.floordivsi", "index", a, divisor, floorDiv);
  }
}

Term Generator::index(int depth) {
  if (depth == 0)
    return leaf();
  switch (pick(0, 11)) {
  case 0:
  case 1:
    return binary("arith.addi", "index", index(depth - 1), index(depth - 1), wrapAdd);
  case 2:
  case 3:
    return binary("arith.subi", "index", index(depth - 1), index(depth - 1), wrapSub);
  case 4:
    return binary("arith.muli", "index", index(depth - 1), constant(pick(-3, 4)), wrapMul);
  case 5:
    return quotient(depth);
  case 6:
    return binary("arith.minsi", "index", index(depth - 1), index(depth - 1),
                  [](int64_t x, int64_t y) { return std::min(x, y); });
  case 7:
    return binary("arith.maxsi", "index", index(depth - 1), index(depth - 1),
                  [](int64_t x, int64_t y) { return std::max(x, y); });
  case 8: {
    Term a = index(depth - 1);
    return {define("math.absi " + a.name + " : index"), [a](const Point &p, const Problem &problem) {
              int64_t x = a.value(p, problem);
              return x < 0 ? wrapSub(0, x) : x;
            }};
  }
  case 9: {
    Term c = condition(depth - 1), a = index(depth - 1), b = index(depth - 1);
    return {define("arith.select " + c.name + ", " + a.name + ", " + b.name + " : index"),
            [c, a, b](const Point &p, const Problem &problem) {
              return c.value(p, problem) ? a.value(p, problem) : b.value(p, problem);
            }};
  }
  case 10: {
    // An index that is computed for certain: nothing folds it to a bare coordinate.
    Term at = binary("arith.subi", "index", index(depth - 1),
                     {"%w", [](const Point &, const Problem &problem) { return problem.width(); }}, wrapSub);
    std::string entry = define("attn.load %table[" + at.name + "] : tensor<24xi32>");
    return {define("arith.index_cast " + entry + " : i32 to index"),
            [at](const Point &p, const Problem &problem) { return problem.entry(at.value(p, problem)); }};
  }
  default:
    return leaf();
  }
}

Term Generator::compare(int depth) {
  static constexpr const char *names[] = {"slt", "sle", "sgt", "sge", "eq", "ne", "ult", "ule", "ugt", "uge"};
  static constexpr int64_t (*tests[])(int64_t, int64_t) = {
      [](int64_t x, int64_t y) -> int64_t { return x < y; },
      [](int64_t x, int64_t y) -> int64_t { return x <= y; },
      [](int64_t x, int64_t y) -> int64_t { return x > y; },
      [](int64_t x, int64_t y) -> int64_t { return x >= y; },
      [](int64_t x, int64_t y) -> int64_t { return x == y; },
      [](int64_t x, int64_t y) -> int64_t { return x != y; },
      [](int64_t x, int64_t y) -> int64_t { return uint64_t(x) < uint64_t(y); },
      [](int64_t x, int64_t y) -> int64_t { return uint64_t(x) <= uint64_t(y); },
      [](int64_t x, int64_t y) -> int64_t { return uint64_t(x) > uint64_t(y); },
      [](int64_t x, int64_t y) -> int64_t { return uint64_t(x) >= uint64_t(y); }};
  // Unsigned comparisons are rare in masks.
  int64_t kind = pick(0, 7) == 0 ? pick(6, 9) : pick(0, 5);
  return binary(std::string("arith.cmpi ") + names[kind] + ",", "index", index(depth), index(depth), tests[kind]);
}

Term Generator::condition(int depth) {
  if (depth == 0)
    return compare(1);
  switch (pick(0, 13)) {
  case 0:
  case 1:
  case 2:
    return binary("arith.andi", "i1", condition(depth - 1), condition(depth - 1),
                  [](int64_t x, int64_t y) { return x & y; });
  case 3:
  case 4:
    return binary("arith.ori", "i1", condition(depth - 1), condition(depth - 1),
                  [](int64_t x, int64_t y) { return x | y; });
  case 5: {
    Term a = condition(depth - 1);
    std::string one = define("arith.constant true");
    return {define("arith.xori " + a.name + ", " + one + " : i1"),
            [a](const Point &p, const Problem &problem) -> int64_t { return !a.value(p, problem); }};
  }
  case 6:
    switch (pick(0, 2)) {
    case 0:
      return binary("arith.xori", "i1", condition(depth - 1), condition(depth - 1),
                    [](int64_t x, int64_t y) { return x ^ y; });
    case 1:
      return binary("arith.cmpi eq,", "i1", condition(depth - 1), condition(depth - 1),
                    [](int64_t x, int64_t y) -> int64_t { return x == y; });
    default:
      return binary("arith.cmpi ult,", "i1", condition(depth - 1), condition(depth - 1),
                    [](int64_t x, int64_t y) -> int64_t { return x < y; });
    }
  case 7: {
    Term c = condition(depth - 1), a = condition(depth - 1), b = condition(depth - 1);
    return {define("arith.select " + c.name + ", " + a.name + ", " + b.name + " : i1"),
            [c, a, b](const Point &p, const Problem &problem) {
              return c.value(p, problem) ? a.value(p, problem) : b.value(p, problem);
            }};
  }
  case 8:
    return {define("attn.load %bits[%b, %h, %i, %j] : tensor<?x1x?x?xi1>"),
            [](const Point &p, const Problem &problem) -> int64_t { return problem.bit(p.b, p.row, p.j); }};
  case 9: {
    std::string a = define("attn.load %qs[%b, %i] : tensor<?x?xi32>");
    std::string b = define("attn.load %ks[%b, %j] : tensor<?x?xi32>");
    static constexpr const char *names[] = {"eq", "slt", "sge"};
    int64_t kind = pick(0, 2);
    return {define(std::string("arith.cmpi ") + names[kind] + ", " + a + ", " + b + " : i32"),
            [kind](const Point &p, const Problem &problem) -> int64_t {
              int64_t x = problem.queryId(p.b, p.row), y = problem.keyId(p.b, p.j);
              return kind == 0 ? x == y : kind == 1 ? x < y : x >= y;
            }};
  }
  case 10: {
    // Narrowing wraps: the product passes 2^31.
    Term a = index(1), factor = constant(123456789);
    std::string product = define("arith.muli " + a.name + ", " + factor.name + " : index");
    std::string word = define("arith.index_cast " + product + " : index to i32");
    std::string zero = define("arith.constant 0 : i32");
    return {define("arith.cmpi slt, " + word + ", " + zero + " : i32"),
            [a](const Point &p, const Problem &problem) -> int64_t {
              return static_cast<int32_t>(static_cast<uint32_t>(wrapMul(a.value(p, problem), 123456789))) < 0;
            }};
  }
  case 11: {
    Term a = index(1);
    std::string word = define("arith.index_cast " + a.name + " : index to i32");
    std::string number = define("arith.sitofp " + word + " : i32 to f32");
    std::string limit = define("arith.constant 7.5 : f32");
    return {define("arith.cmpf ogt, " + number + ", " + limit + " : f32"),
            [a](const Point &p, const Problem &problem) -> int64_t {
              return static_cast<int32_t>(a.value(p, problem)) > 7;
            }};
  }
  default:
    return compare(depth - 1);
  }
}

MaskCase attnc::test::generateMask(uint64_t seed) { return Generator(seed).make(seed); }
