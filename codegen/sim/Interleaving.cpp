//===- Interleaving.cpp - When things happen in one run -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/sim/Interleaving.h"

using namespace attnc::sim;

std::string Interleaving::toString() const {
  auto name = [](Timing timing) {
    return timing == Timing::Early ? "early" : timing == Timing::Late ? "late" : "at random";
  };
  std::string text =
      std::string("copies ") + name(copies) + ", products " + name(products) + ", stores " + name(stores) + ", ";
  if (pace != Pace::Random)
    text += "agent " + std::to_string(agent) + (pace == Pace::Fastest ? " fastest, " : " slowest, ");
  return text + "seed " + std::to_string(seed);
}

std::vector<Interleaving> attnc::sim::makeInterleavings(int64_t agents, int64_t random, uint64_t seed) {
  std::vector<Interleaving> interleavings;
  auto add = [&](Timing copies, Timing products, Timing stores, Pace pace, int64_t agent) {
    interleavings.push_back({copies, products, stores, pace, agent, seed * 1000 + interleavings.size()});
  };
  add(Timing::Early, Timing::Late, Timing::Late, Pace::Random, 0);
  add(Timing::Late, Timing::Early, Timing::Early, Pace::Random, 0);
  for (int64_t agent = 0; agent < agents; ++agent) {
    add(Timing::Random, Timing::Random, Timing::Random, Pace::Fastest, agent);
    add(Timing::Random, Timing::Late, Timing::Late, Pace::Slowest, agent);
  }
  for (int64_t n = 0; n < random; ++n)
    add(Timing::Random, Timing::Random, Timing::Random, Pace::Random, 0);
  return interleavings;
}
