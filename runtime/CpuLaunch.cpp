//===- CpuLaunch.cpp - Running a kernel on the CPU -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Evaluates every grid before anything runs, then runs entry after entry.
//
//===----------------------------------------------------------------------===//

#include "runtime/CpuLaunch.h"

#include <algorithm>

namespace attnc::runtime {

Status runCpu(const KernelImage &image, Span<const CpuEntry> entries, const BoundArguments &arguments,
              ThreadPool &pool) {
  assert(entries.size() == image.entries.size() && "one address for each entry");
  std::vector<int64_t> tiles;
  int64_t scratchBytes = 0;
  for (const KernelEntry &entry : image.entries) {
    tiles.push_back(entry.countTiles(arguments.symbolSizes));
    if (tiles.back() < 0)
      return Error{"kernel '" + image.name + "': no number of tiles for entry '" + entry.symbol +
                   "': " + entry.grid.toString(image.symbols)};
    if (tiles.back() > 0)
      scratchBytes = std::max(scratchBytes, entry.scratchBytes);
  }
  // Every entry asks for the memory of the greediest, so that the first call
  // reserves all and a later one cannot fail half-way through the kernel.
  const int64_t *slots = arguments.slots.data();
  for (size_t i = 0; i < entries.size(); ++i) {
    Status status = pool.parallelFor(tiles[i], scratchBytes,
                                     [&](int64_t tile, unsigned, void *scratch) { entries[i](slots, tile, scratch); });
    if (!status)
      return Error{"kernel '" + image.name + "': " + status.message()};
  }
  return {};
}

} // namespace attnc::runtime
