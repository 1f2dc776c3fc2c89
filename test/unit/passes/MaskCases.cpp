//===- MaskCases.cpp - Masks with their meaning in C++ ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "MaskCases.h"
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <random>

using namespace attnc::test;

std::vector<int64_t> attnc::test::extremeNumbers() {
  std::vector<int64_t> numbers;
  for (int64_t end : {std::numeric_limits<int64_t>::min(), -(int64_t(1) << 40), -(int64_t(1) << 31), int64_t(0),
                      int64_t(1) << 31, int64_t(1) << 40, std::numeric_limits<int64_t>::max()})
    for (int64_t distance : {-2, -1, 0, 1, 2})
      numbers.push_back(wrapAdd(end, distance));
  return numbers;
}

Problem::Problem(int64_t queries, int64_t keys, int64_t width)
    : queries(queries), keys(keys), shift(keys - queries), scalar(width) {
  std::mt19937_64 random(static_cast<uint64_t>(queries * 1000 + keys));
  auto pick = [&](int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); };
  // Documents in order, with padding at the end; the second batch entry is shuffled.
  for (auto [ids, size] : {std::pair(&queryIds, queries), {&keyIds, keys}})
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t n = 0; n < size; ++n)
        ids->push_back(b == 1 ? pick(-1, 4) : n + 3 > size ? -1 : n / 11);
  // Whole stretches of set and of unset bits, and noise.
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t row = 0; row < queries; ++row)
      for (int64_t j = 0; j < keys; ++j)
        bits.push_back(j < 16 ? 1 : j < 32 ? 0 : pick(0, 1));
  for (int64_t n = 0; n < tableSize; ++n)
    table.push_back(pick(-5, 60));
  for (int64_t b = 0; b < batch; ++b)
    lengths.push_back(b == 0 ? 13 : pick(0, keys));
}

int64_t Problem::entry(int64_t index) const {
  return table[static_cast<size_t>(std::clamp<int64_t>(index, 0, tableSize - 1))];
}

/// `%name` as a constant.
static std::string constant(const char *name, int64_t value) {
  return std::string(name) + " = arith.constant " + std::to_string(value) + " : index\n";
}

static bool sameSegment(const Point &p, const Problem &problem) {
  int64_t id = problem.queryId(p.b, p.row);
  return id >= 0 && id == problem.keyId(p.b, p.j);
}

/// Every value is used twice by the next: whoever follows each use separately never ends.
static std::string usedTwice() {
  std::string text = "%x0 = arith.addi %j, %j : index\n%k0 = arith.cmpi sle, %j, %i : index\n";
  for (int n = 0; n < 20; ++n) {
    std::string a = std::to_string(n), b = std::to_string(n + 1);
    text += "%y" + a + " = arith.addi %x" + a + ", %x" + a + " : index\n";
    text += "%x" + b + " = arith.subi %y" + a + ", %x" + a + " : index\n";
    text += "%t" + a + " = arith.cmpi slt, %x" + b + ", %w : index\n";
    text += "%u" + a + " = arith.andi %k" + a + ", %t" + a + " : i1\n";
    text += "%k" + b + " = arith.ori %k" + a + ", %u" + a + " : i1\n";
  }
  return text + "%keep = arith.andi %k20, %k20 : i1\n";
}

std::vector<MaskCase> attnc::test::writtenMasks() {
  auto sum = [](const std::string &combine, const std::string &compare) {
    return "%x = arith." + combine + " : index\n%keep = arith.cmpi " + compare + " : index\n";
  };
  // By any number of the launch but 0.
  auto divided = [](const std::string &division, const std::string &dividend) {
    return constant("%c1", 1) + "%n = arith.ori %w, %c1 : index\n%d = arith.subi %i, %j : index\n%x = arith." +
           division + " " + dividend + ", %n : index\n%keep = arith.cmpi slt, %x, %c1 : index\n";
  };
  constexpr Strength tight = Strength::Tight, decided = Strength::Decided, sound = Strength::Sound;
  std::string causal = "%causal = attn.causal %i, %j\n";
  std::string segments = "%same = attn.same_segment %qs[%b, %i], %ks[%b, %j] : tensor<?x?xi32>, tensor<?x?xi32>\n";
  return {
      {"everything", "%keep = arith.constant true\n", [](const Point &, const Problem &) { return true; }, tight},
      {"nothing", "%keep = arith.constant false\n", [](const Point &, const Problem &) { return false; }, tight},
      {"causal", "%keep = attn.causal %i, %j\n", [](const Point &p, const Problem &) { return p.j <= p.i; }, tight},
      {"causal_mirrored", "%keep = arith.cmpi sge, %i, %j : index\n",
       [](const Point &p, const Problem &) { return p.j <= p.i; }, tight},
      {"causal_by_difference",
       constant("%c0", 0) + "%d = arith.subi %i, %j : index\n%keep = arith.cmpi sge, %d, %c0 : index\n",
       [](const Point &p, const Problem &) { return p.j <= p.i; }, tight},
      {"causal_negated",
       "%true = arith.constant true\n%after = arith.cmpi sgt, %j, %i : index\n%keep = arith.xori %after, %true : i1\n",
       [](const Point &p, const Problem &) { return p.j <= p.i; }, tight},
      {"anticausal", "%keep = arith.cmpi slt, %i, %j : index\n",
       [](const Point &p, const Problem &) { return p.j > p.i; }, tight},
      {"diagonal", "%keep = arith.cmpi eq, %i, %j : index\n",
       [](const Point &p, const Problem &) { return p.j == p.i; }, tight},
      {"off_diagonal", "%keep = arith.cmpi ne, %i, %j : index\n",
       [](const Point &p, const Problem &) { return p.j != p.i; }, decided},
      {"window_left", "%keep = attn.window %i, %j left(5)\n",
       [](const Point &p, const Problem &) { return p.j >= p.i - 5; }, tight},
      {"window_right", "%keep = attn.window %i, %j right(3)\n",
       [](const Point &p, const Problem &) { return p.j <= p.i + 3; }, tight},
      {"window", "%keep = attn.window %i, %j left(12) right(10)\n",
       [](const Point &p, const Problem &) { return p.j >= p.i - 12 && p.j <= p.i + 10; }, tight},
      {"window_beyond", "%keep = attn.window %i, %j left(9223372036854775807) right(9223372036854775807)\n",
       [](const Point &, const Problem &) { return true; }, tight},
      {"window_beyond_on_the_right", "%keep = attn.window %i, %j left(2) right(9223372036854775807)\n",
       [](const Point &p, const Problem &) { return p.j >= p.i - 2; }, tight},
      {"window_of_itself", "%keep = attn.window %i, %j left(0) right(0)\n",
       [](const Point &p, const Problem &) { return p.j == p.i; }, tight},
      {"window_of_values", "%keep = attn.window %i, %j left(%w) right(%w)\n",
       [](const Point &p, const Problem &problem) {
         return std::abs(p.i - p.j) <= std::max<int64_t>(problem.width(), 0);
       },
       tight},
      {"outside_a_window",
       "%true = arith.constant true\n%near = attn.window %i, %j left(9) right(9)\n%keep = arith.xori %near, %true : "
       "i1\n",
       [](const Point &p, const Problem &) { return std::abs(p.i - p.j) > 9; }, decided},
      {"prefix", "%keep = attn.prefix %j, %len[%b] : tensor<?xi32>\n",
       [](const Point &p, const Problem &problem) { return p.j < problem.length(p.b); }, tight},
      {"prefix_or_causal",
       causal + "%prefix = attn.prefix %j, %len[%b] : tensor<?xi32>\n%keep = arith.ori %causal, %prefix : i1\n",
       [](const Point &p, const Problem &problem) { return p.j <= p.i || p.j < problem.length(p.b); }, tight},
      {"near_by_absolute_distance",
       constant("%c9", 9) + "%d = arith.subi %i, %j : index\n%n = math.absi %d : index\n"
                            "%keep = arith.cmpi sle, %n, %c9 : index\n",
       [](const Point &p, const Problem &) { return std::abs(p.i - p.j) <= 9; }, decided},
      {"sink_and_window",
       constant("%c4", 4) + "%first = arith.cmpi slt, %j, %c4 : index\n%near = attn.window %i, %j left(9) right(0)\n"
                            "%keep = arith.ori %first, %near : i1\n",
       [](const Point &p, const Problem &) { return p.j < 4 || (p.j >= p.i - 9 && p.j <= p.i); }, decided},
      {"chunks_truncating",
       constant("%c", 12) + "%p = arith.divsi %i, %c : index\n%r = arith.divsi %j, %c : index\n"
                            "%keep = arith.cmpi eq, %r, %p : index\n",
       [](const Point &p, const Problem &) { return p.j / 12 == p.i / 12; }, tight},
      {"chunks_flooring",
       constant("%c", 12) + "%p = arith.floordivsi %i, %c : index\n%r = arith.floordivsi %j, %c : index\n"
                            "%keep = arith.cmpi eq, %p, %r : index\n",
       [](const Point &p, const Problem &) { return p.i >= 0 && p.j / 12 == p.i / 12; }, tight},
      {"chunks_before",
       constant("%c", 12) + "%p = arith.floordivsi %i, %c : index\n%r = arith.floordivsi %j, %c : index\n"
                            "%keep = arith.cmpi sle, %r, %p : index\n",
       [](const Point &p, const Problem &) { return p.i >= 0 && p.j / 12 <= p.i / 12; }, tight},
      {"other_chunks",
       constant("%c", 12) + "%p = arith.divsi %i, %c : index\n%r = arith.divsi %j, %c : index\n"
                            "%keep = arith.cmpi ne, %r, %p : index\n",
       [](const Point &p, const Problem &) { return p.j / 12 != p.i / 12; }, decided},
      {"from_a_chunks_start",
       constant("%c", 12) + "%p = arith.floordivsi %i, %c : index\n%s = arith.muli %p, %c : index\n"
                            "%keep = arith.cmpi sge, %j, %s : index\n",
       [](const Point &p, const Problem &) { return p.j >= (p.i >= 0 ? p.i / 12 : (p.i - 11) / 12) * 12; }, tight},
      {"up_to_a_chunks_end",
       constant("%c", 12) + constant("%c5", 5) +
           "%p = arith.floordivsi %j, %c : index\n%s = arith.muli %p, %c : index\n%e = arith.addi %s, %c5 : index\n"
           "%keep = arith.cmpi slt, %e, %i : index\n",
       [](const Point &p, const Problem &) { return p.j / 12 * 12 + 5 < p.i; }, tight},
      {"halves_of_chunks",
       constant("%c", 12) + constant("%c2", 2) +
           "%p = arith.floordivsi %j, %c : index\n%r = arith.muli %p, %c2 : index\n"
           "%keep = arith.cmpi eq, %r, %i : index\n",
       [](const Point &p, const Problem &) { return p.j / 12 * 2 == p.i; }, sound},
      {"no_less_than_ten_keys",
       constant("%c9", 9) + "%m = arith.maxsi %i, %c9 : index\n%keep = arith.cmpi sle, %j, %m : index\n",
       [](const Point &p, const Problem &) { return p.j <= std::max<int64_t>(p.i, 9); }, tight},
      {"below_the_lesser",
       constant("%c3", 3) + constant("%c25", 25) +
           "%x = arith.addi %i, %c3 : index\n%m = arith.minsi %x, %c25 : index\n"
           "%keep = arith.cmpi sgt, %m, %j : index\n",
       [](const Point &p, const Problem &) { return p.j < std::min<int64_t>(p.i + 3, 25); }, tight},
      {"folded",
       constant("%c30", 30) + "%x = arith.subi %c30, %i : index\n%m = arith.maxsi %x, %i : index\n"
                              "%keep = arith.cmpi sle, %j, %m : index\n",
       [](const Point &p, const Problem &) { return p.j <= std::max<int64_t>(p.i, 30 - p.i); }, sound},
      {"two_keys_a_query",
       constant("%c2", 2) + "%d = arith.muli %j, %c2 : index\n%keep = arith.cmpi sle, %d, %i : index\n",
       [](const Point &p, const Problem &) { return 2 * p.j <= p.i; }, tight},
      {"more_than_half",
       constant("%c2", 2) + "%d = arith.muli %j, %c2 : index\n%keep = arith.cmpi sgt, %d, %i : index\n",
       [](const Point &p, const Problem &) { return 2 * p.j > p.i; }, tight},
      {"slope_of_three",
       constant("%c3", 3) + "%t = arith.muli %i, %c3 : index\n%s = arith.addi %j, %j : index\n"
                            "%keep = arith.cmpi slt, %s, %t : index\n",
       [](const Point &p, const Problem &) { return 2 * p.j < 3 * p.i; }, tight},
      {"dilated",
       constant("%c4", 4) + constant("%c0", 0) +
           "%d = arith.subi %i, %j : index\n%phase = arith.remsi %d, %c4 : index\n"
           "%on = arith.cmpi eq, %phase, %c0 : index\n" +
           causal + "%keep = arith.andi %on, %causal : i1\n",
       [](const Point &p, const Problem &) { return (p.i - p.j) % 4 == 0 && p.j <= p.i; }, sound},
      {"some_heads", constant("%c2", 2) + "%keep = arith.cmpi slt, %h, %c2 : index\n",
       [](const Point &p, const Problem &) { return p.h < 2; }, tight},
      {"heads_of_two_kinds",
       constant("%c2", 2) + causal +
           "%global = arith.cmpi slt, %h, %c2 : index\n%near = attn.window %i, %j left(3) right(0)\n"
           "%keep = arith.select %global, %causal, %near : i1\n",
       [](const Point &p, const Problem &) { return p.j <= p.i && (p.h < 2 || p.j >= p.i - 3); }, decided},
      {"some_queries", constant("%c8", 8) + "%keep = arith.cmpi slt, %i, %c8 : index\n",
       [](const Point &p, const Problem &) { return p.i < 8; }, tight},
      {"segments", segments + "%keep = arith.andi %same, %same : i1\n", sameSegment, sound},
      {"documents", segments + causal + "%keep = arith.andi %same, %causal : i1\n",
       [](const Point &p, const Problem &problem) { return p.j <= p.i && sameSegment(p, problem); }, sound},
      {"bits", "%keep = attn.load %bits[%b, %h, %i, %j] : tensor<?x1x?x?xi1>\n",
       [](const Point &p, const Problem &problem) { return problem.bit(p.b, p.row, p.j); }, decided},
      {"causal_bits",
       causal + "%bit = attn.load %bits[%b, %h, %i, %j] : tensor<?x1x?x?xi1>\n%keep = arith.andi %bit, %causal : i1\n",
       [](const Point &p, const Problem &problem) { return p.j <= p.i && problem.bit(p.b, p.row, p.j); }, sound},
      {"table_by_distance",
       "%d = arith.subi %i, %j : index\n%t = attn.load %table[%d] : tensor<24xi32>\n"
       "%n = arith.index_cast %t : i32 to index\n%keep = arith.cmpi slt, %d, %n : index\n",
       [](const Point &p, const Problem &problem) { return p.i - p.j < problem.entry(p.i - p.j); }, sound},
      // What the canonicalizer makes of these indices are bare coordinates, but they remain positions.
      {"bits_by_position",
       constant("%c0", 0) + "%at = arith.addi %i, %c0 : index\n"
                            "%keep = attn.load %bits[%b, %h, %at, %j] : tensor<?x1x?x?xi1>\n",
       [](const Point &p, const Problem &problem) {
         return problem.bit(p.b, std::clamp<int64_t>(p.i, 0, problem.queries - 1), p.j);
       },
       decided},
      {"segments_by_position",
       constant("%c0", 0) + "%at = arith.addi %i, %c0 : index\n"
                            "%keep = attn.same_segment %qs[%b, %at], %ks[%b, %j] : tensor<?x?xi32>, tensor<?x?xi32>\n",
       [](const Point &p, const Problem &problem) {
         int64_t id = problem.queryId(p.b, std::clamp<int64_t>(p.i, 0, problem.queries - 1));
         return id >= 0 && id == problem.keyId(p.b, p.j);
       },
       sound},
      {"table_by_position",
       constant("%c0", 0) + "%at = arith.addi %i, %c0 : index\n%t = attn.load %table[%at] : tensor<24xi32>\n"
                            "%n = arith.index_cast %t : i32 to index\n%keep = arith.cmpi slt, %j, %n : index\n",
       [](const Point &p, const Problem &problem) { return p.j < problem.entry(p.i); }, sound},
      {"unsigned_distance", "%d = arith.subi %i, %j : index\n%keep = arith.cmpi ult, %d, %w : index\n",
       [](const Point &p, const Problem &problem) { return uint64_t(p.i - p.j) < uint64_t(problem.width()); }, sound},
      // Sums and quotients that wrap where %w is near the ends of 64 bits.
      {"distance_below_a_value", sum("subi %i, %j", "slt, %x, %w"),
       [](const Point &p, const Problem &problem) { return p.i - p.j < problem.width(); }, tight},
      {"sum_below_a_value", sum("addi %i, %j", "slt, %x, %w"),
       [](const Point &p, const Problem &problem) { return p.i + p.j < problem.width(); }, tight},
      {"up_to_a_value_past_the_query", sum("addi %i, %w", "sle, %j, %x"),
       [](const Point &p, const Problem &problem) { return p.j <= wrapAdd(p.i, problem.width()); }, sound},
      {"from_a_value_before_the_query", sum("subi %i, %w", "sge, %j, %x"),
       [](const Point &p, const Problem &problem) { return p.j >= wrapSub(p.i, problem.width()); }, sound},
      {"quotient_below_a_value",
       constant("%c", 1000) + "%x = arith.divsi %j, %c : index\n%keep = arith.cmpi slt, %x, %w : index\n",
       [](const Point &p, const Problem &problem) { return p.j / 1000 < problem.width(); }, sound},
      {"quotient_by_a_value", divided("divsi", "%d"),
       [](const Point &p, const Problem &problem) { return (p.i - p.j) / (problem.width() | 1) < 1; }, sound},
      {"remainder_by_a_value", divided("remsi", "%d"),
       [](const Point &p, const Problem &problem) { return (p.i - p.j) % (problem.width() | 1) < 1; }, sound},
      {"floor_by_a_value", divided("floordivsi", "%d"),
       [](const Point &p, const Problem &problem) { return floorDiv(p.i - p.j, problem.width() | 1) < 1; }, sound},
      {"ceiling_by_a_value", divided("ceildivsi", "%d"),
       [](const Point &p, const Problem &problem) { return ceilDiv(p.i - p.j, problem.width() | 1) < 1; }, sound},
      {"unsigned_quotient_by_a_value", divided("divui", "%j"),
       [](const Point &p, const Problem &problem) { return uint64_t(p.j) / uint64_t(problem.width() | 1) < 1; }, sound},
      {"unsigned_remainder_by_a_value", divided("remui", "%j"),
       [](const Point &p, const Problem &problem) { return uint64_t(p.j) % uint64_t(problem.width() | 1) < 1; }, sound},
      {"unsigned_quotient_of_what_may_be_negative", divided("divui", "%d"),
       [](const Point &p, const Problem &problem) { return uint64_t(p.i - p.j) / uint64_t(problem.width() | 1) < 1; },
       sound},
      {"multiple_below_a_value",
       constant("%c", int64_t(1) << 19) + "%y = arith.muli %j, %c : index\n%x = arith.muli %y, %c : index\n"
                                          "%z = arith.muli %x, %c : index\n%keep = arith.cmpi slt, %z, %w : index\n",
       [](const Point &p, const Problem &problem) { return wrapMul(p.j, int64_t(1) << 57) < problem.width(); }, sound},
      {"sign_by_shift",
       constant("%c63", 63) + constant("%c0", 0) +
           "%d = arith.subi %i, %j : index\n%x = arith.shrsi %d, %c63 : index\n%keep = arith.cmpi eq, %x, %c0 : "
           "index\n",
       [](const Point &p, const Problem &) { return p.i >= p.j; }, sound},
      {"sign_by_unsigned_shift",
       constant("%c40", 40) + constant("%c0", 0) +
           "%d = arith.subi %i, %j : index\n%x = arith.shrui %d, %c40 : index\n%keep = arith.cmpi eq, %x, %c0 : "
           "index\n",
       [](const Point &p, const Problem &) { return p.i >= p.j; }, sound},
      {"unsigned_remainder",
       constant("%c7", 7) + constant("%c3", 3) +
           "%d = arith.subi %i, %j : index\n%x = arith.remui %d, %c7 : index\n%keep = arith.cmpi slt, %x, %c3 : "
           "index\n",
       [](const Point &p, const Problem &) { return uint64_t(p.i - p.j) % 7 < 3; }, sound},
      {"high_bits_of_a_square",
       constant("%c31", 31) + constant("%c0", 0) +
           "%d = arith.subi %i, %j : index\n%e = arith.muli %d, %d : index\n%f = arith.muli %e, %d : index\n"
           "%x = arith.shrsi %f, %c31 : index\n%keep = arith.cmpi eq, %x, %c0 : index\n",
       [](const Point &p, const Problem &) {
         int64_t d = p.i - p.j;
         return wrapMul(wrapMul(d, d), d) >> 31 == 0;
       },
       sound},
      {"leading_zeros",
       constant("%c60", 60) + "%d = arith.subi %i, %j : index\n%x = math.ctlz %d : index\n"
                              "%keep = arith.cmpi slt, %x, %c60 : index\n",
       [](const Point &p, const Problem &) {
         int64_t d = p.i - p.j;
         return d < 0 || d > 15;
       },
       sound},
      {"float_distance",
       "%f = arith.constant 6.5 : f32\n%d = arith.subi %i, %j : index\n%d32 = arith.index_cast %d : index to i32\n"
       "%x = arith.sitofp %d32 : i32 to f32\n%keep = arith.cmpf olt, %x, %f : f32\n",
       [](const Point &p, const Problem &) { return p.i - p.j <= 6; }, sound},
      {"conditions_compared",
       "%p = arith.cmpi slt, %i, %w : index\n%r = arith.cmpi slt, %j, %w : index\n%keep = arith.cmpi eq, %p, %r : i1\n",
       [](const Point &p, const Problem &problem) { return (p.i < problem.width()) == (p.j < problem.width()); },
       sound},
      {"values_used_twice", usedTwice(), [](const Point &p, const Problem &) { return p.j <= p.i; }, sound},
      {"narrowed_product",
       constant("%f", 123456789) + "%d = arith.muli %j, %f : index\n%n = arith.index_cast %d : index to i32\n"
                                   "%z = arith.constant 0 : i32\n%keep = arith.cmpi sge, %n, %z : i32\n",
       [](const Point &p, const Problem &) {
         return static_cast<int32_t>(static_cast<uint32_t>(p.j * 123456789)) >= 0;
       },
       sound},
  };
}
