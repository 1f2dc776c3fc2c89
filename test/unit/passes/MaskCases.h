//===- MaskCases.h - Masks with their meaning in C++ ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Each mask is stated twice: as the text of a mask region, and as a C++ function that shares no code with the compiler.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_TEST_UNIT_PASSES_MASKCASES_H
#define ATTNC_TEST_UNIT_PASSES_MASKCASES_H

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

namespace attnc::test {

/// A pair of query and key. Positions are what regions compute with; the row is where a bare %i reads a tensor.
struct Point {
  int64_t b, h, i, j; ///< i is a position; keys stand at their rows
  int64_t row;        ///< the query's row
};

/// Sizes of a problem, and the contents of what masks capture.
struct Problem {
  /// `width`: the captured scalar %w.
  Problem(int64_t queries, int64_t keys, int64_t width = 9);

  static constexpr int64_t batch = 2, heads = 4, tableSize = 24;
  int64_t queries, keys;
  int64_t shift;  ///< position of the first query (S2)
  int64_t scalar; ///< %w

  int64_t queryId(int64_t b, int64_t row) const { return queryIds[b * queries + row]; }
  int64_t keyId(int64_t b, int64_t j) const { return keyIds[b * keys + j]; }
  bool bit(int64_t b, int64_t row, int64_t j) const { return bits[(b * queries + row) * keys + j]; }
  /// The table at a computed index, which is clamped (S4).
  int64_t entry(int64_t index) const;
  int64_t length(int64_t b) const { return lengths[b]; }
  int64_t width() const { return scalar; }

  std::vector<int64_t> queryIds, keyIds, bits, table, lengths;
};

/// What bounds are expected to achieve for a mask, beyond being right.
enum class Strength {
  Sound,  ///< nothing more
  Tight,  ///< `bounds` is the hull of what is kept, and the whole stretch that all queries keep
  Decided ///< `bounds` and `blocks` together visit the tiles that keep something, and mask those that are partial
};

/// A mask region. Its text may use %b, %h, %i, %j and the captured %qs, %ks, %bits, %table, %len and %w; it defines
/// %keep.
struct MaskCase {
  std::string name, text;
  std::function<bool(const Point &, const Problem &)> keeps;
  Strength strength = Strength::Sound;
};

/// Arithmetic of `index`: 64 bits that wrap (S17).
inline int64_t wrapAdd(int64_t a, int64_t b) { return static_cast<int64_t>(uint64_t(a) + uint64_t(b)); }
inline int64_t wrapSub(int64_t a, int64_t b) { return static_cast<int64_t>(uint64_t(a) - uint64_t(b)); }
inline int64_t wrapMul(int64_t a, int64_t b) { return static_cast<int64_t>(uint64_t(a) * uint64_t(b)); }
/// Quotients rounded down and up.
inline int64_t floorDiv(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
inline int64_t ceilDiv(int64_t a, int64_t b) { return a / b + (a % b != 0 && (a < 0) == (b < 0)); }

/// Numbers of 64 bits near which arithmetic goes wrong: the ends of 64 and of 32 bits, of positions, and 0.
std::vector<int64_t> extremeNumbers();

/// How a failed test names its mask.
// NOLINTNEXTLINE(readability-identifier-naming): GoogleTest looks for this name.
inline void PrintTo(const MaskCase &mask, std::ostream *os) { *os << mask.name; }

/// Masks that people use, and those that are easy to get wrong.
std::vector<MaskCase> writtenMasks();

/// A random mask: conditions on affine expressions, quotients, captured ids and bits, joined by and, or, not.
MaskCase generateMask(uint64_t seed);

} // namespace attnc::test

#endif // ATTNC_TEST_UNIT_PASSES_MASKCASES_H
