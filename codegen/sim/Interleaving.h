//===- Interleaving.h - When things happen in one run ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_SIM_INTERLEAVING_H
#define ATTNC_CODEGEN_SIM_INTERLEAVING_H

#include <cstdint>
#include <string>
#include <vector>

namespace attnc::sim {

/// When something that is on its way gets there.
enum class Timing : uint8_t {
  Early,  ///< at once
  Late,   ///< once nothing else can happen, or somebody waits for it
  Random, ///< at any time between
};

/// Which agent moves next.
enum class Pace : uint8_t {
  Random,  ///< any
  Fastest, ///< one of each block whenever it can
  Slowest, ///< one of each block only when no other can
};

/// How one run goes.
struct Interleaving {
  Timing copies = Timing::Random;
  Timing products = Timing::Random;
  Timing stores = Timing::Random;
  Pace pace = Pace::Random;
  /// The agent that `pace` speaks of, by its number in its block.
  int64_t agent = 0;
  uint64_t seed = 0;

  /// "copies late, products early, producer slowest, seed 3".
  std::string toString() const;
};

/// The extremes for blocks of `agents` agents, then `random` runs in which anything goes.
std::vector<Interleaving> makeInterleavings(int64_t agents, int64_t random, uint64_t seed);

/// Random numbers that are the same everywhere (Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", 2014).
class Dice {
public:
  explicit Dice(uint64_t seed) : state(seed) {}

  /// A number below `sides`.
  uint64_t roll(uint64_t sides) {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (z ^ (z >> 31)) % sides;
  }

private:
  uint64_t state;
};

} // namespace attnc::sim

#endif // ATTNC_CODEGEN_SIM_INTERLEAVING_H
