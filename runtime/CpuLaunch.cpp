//===- CpuLaunch.cpp - Running a kernel on the CPU -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Evaluates every grid before anything runs, then runs entry after entry.
//
//===----------------------------------------------------------------------===//

#include "runtime/CpuLaunch.h"
#include "runtime/Memory.h"

#include <algorithm>

using attnc::image::Error;
using attnc::image::KernelEntry;
using attnc::image::KernelImage;
using attnc::image::Span;
using attnc::image::Status;
using attnc::image::WorkspacePlaces;
using attnc::image::WorkspaceRule;

namespace attnc::runtime {

/// Adds the slots of a view of a workspace to an argument block: address, sizes and strides, as those of a tensor.
static void appendWorkspace(std::vector<int64_t> &block, void *memory, const WorkspaceRule &rule,
                            Span<const int64_t> symbolSizes) {
  const int64_t rows = rule.rows.evaluate(symbolSizes), columns = rule.columns.evaluate(symbolSizes);
  block.insert(block.end(), {reinterpret_cast<intptr_t>(memory), rows, columns, columns, 1});
}

Status runCpu(const KernelImage &image, Span<const CpuEntry> entries, const BoundArguments &arguments,
              ThreadPool &pool) {
  assert(entries.size() == image.entries.size() && "one address for each entry");
  std::vector<int64_t> tiles;
  int64_t scratchBytes = 0;
  const WorkspacePlaces places = placeWorkspaces(image, arguments.symbolSizes);
  if (places.bytes < 0)
    return Error{"kernel '" + image.name + "': no size of the workspace"};
  const std::shared_ptr<void> workspace = places.bytes > 0 ? allocateMemory(places.bytes) : nullptr;
  if (places.bytes > 0 && !workspace)
    return Error{"kernel '" + image.name + "': cannot allocate a workspace of " + std::to_string(places.bytes) +
                 " bytes"};
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
  for (size_t i = 0; i < entries.size(); ++i) {
    std::vector<int64_t> block = arguments.slots;
    if (tiles[i] > 0)
      for (const WorkspaceRule &rule : image.entries[i].workspaces)
        appendWorkspace(block, static_cast<char *>(workspace.get()) + places.offsets[rule.workspace], rule,
                        arguments.symbolSizes);
    const int64_t *slots = block.data();
    Status status = pool.parallelFor(tiles[i], scratchBytes,
                                     [&](int64_t tile, unsigned, void *scratch) { entries[i](slots, tile, scratch); });
    if (!status)
      return Error{"kernel '" + image.name + "': " + status.message()};
  }
  return {};
}

} // namespace attnc::runtime
