//===- SharedMemory.cpp - Who may touch what, and when ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/sim/SharedMemory.h"
#include <algorithm>

using namespace attnc::sim;

void Clock::join(const Clock &other) {
  if (times.size() < other.times.size())
    times.resize(other.times.size(), 0);
  for (size_t party = 0; party < other.times.size(); ++party)
    times[party] = std::max(times[party], other.times[party]);
}

void Clock::set(int party, uint32_t time) {
  if (party >= static_cast<int>(times.size()))
    times.resize(party + 1, 0);
  times[party] = time;
}

int SharedMemory::addRegion(int64_t begin, int64_t bytes) {
  if (begin < 0) {
    begin = ownNext;
    ownNext += bytes;
  }
  regions.push_back({begin, begin + bytes, {}, {}});
  return static_cast<int>(regions.size()) - 1;
}

llvm::SmallVector<int> SharedMemory::findOverlaps(int region) const {
  llvm::SmallVector<int> found;
  for (int other = 0; other < static_cast<int>(regions.size()); ++other)
    if (other != region && regions[other].begin < regions[region].end && regions[region].begin < regions[other].end)
      found.push_back(other);
  return found;
}

std::optional<SharedMemory::Stamp> SharedMemory::enter(int number, bool writes, const Stamp &stamp,
                                                       const Clock &clock) {
  auto liesBefore = [&](const Stamp &stamp) { return stamp.time <= clock.at(stamp.party); };
  std::optional<Stamp> race;
  auto check = [&](const Region &region) {
    // Those that read say more than what was written before them.
    for (const Stamp &read : region.reads)
      if (writes && !liesBefore(read) && !race)
        race = read;
    if (region.write && !liesBefore(*region.write) && !race)
      race = region.write;
  };
  Region &region = regions[number];
  check(region);
  for (int other : findOverlaps(number))
    check(regions[other]);
  if (writes) {
    region.write = stamp;
    region.reads.clear();
    return race;
  }
  auto same = std::find_if(region.reads.begin(), region.reads.end(),
                           [&](const Stamp &read) { return read.party == stamp.party; });
  if (same != region.reads.end())
    *same = stamp;
  else
    region.reads.push_back(stamp);
  return race;
}
