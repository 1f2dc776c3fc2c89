//===- SharedMemory.h - Who may touch what, and when ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Vector clocks: each party of a block (an agent, the copies into one buffer, the products of one warpgroup, the stores
// of one warpgroup) counts its own accesses, and knows of each other party how many of its accesses lie before it. Two
// accesses to the same bytes, one of which writes, are a race unless one of them lies before the other, whatever moment
// they happened to come at.
// Mattern, "Virtual time and global states of distributed systems" (1989); Flanagan and Freund, "FastTrack" (2009).
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_SIM_SHAREDMEMORY_H
#define ATTNC_CODEGEN_SIM_SHAREDMEMORY_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>
#include <vector>

namespace attnc::sim {

/// What lies before a moment: of each party, how many of its accesses.
class Clock {
public:
  /// The time of `party`.
  uint32_t at(int party) const { return party < static_cast<int>(times.size()) ? times[party] : 0; }

  /// Takes in all that lies before `other`.
  void join(const Clock &other);

  /// Sets the time of `party`.
  void set(int party, uint32_t time);

private:
  llvm::SmallVector<uint32_t, 16> times;
};

/// Who accesses shared memory.
enum class Access : uint8_t {
  Copy,    ///< a copy fills a buffer
  Clear,   ///< a producer clears what the copy should not have brought
  Product, ///< a product reads its operands
  Share,   ///< a warpgroup, or a warp, writes a tile for products of all
  Read,    ///< a consumer reads a row itself
  Post,    ///< a producer writes the number of a tile
  Receive, ///< a consumer reads it
  Stage,   ///< a consumer writes what it stores
  Drain,   ///< and its way out of shared memory
};

/// The bytes of shared memory of one block, and what was done to them.
class SharedMemory {
public:
  /// One access, remembered.
  struct Stamp {
    int party;
    uint32_t time;
    Access access;
    mlir::Operation *op;
  };

  /// A region of `bytes` bytes from `begin` on; negative: bytes of its own.
  int addRegion(int64_t begin, int64_t bytes);

  /// Enters access `stamp`, before which lies `clock`, to a region. The earlier access that it races with, if any.
  std::optional<Stamp> enter(int region, bool writes, const Stamp &stamp, const Clock &clock);

  /// Regions that share bytes with `region`, without itself.
  llvm::SmallVector<int> findOverlaps(int region) const;

private:
  struct Region {
    int64_t begin, end;
    std::optional<Stamp> write;
    llvm::SmallVector<Stamp, 4> reads; ///< since then, the last of each party
  };

  std::vector<Region> regions;
  int64_t ownNext = int64_t(1) << 40; ///< where bytes start that no program gave a place
};

} // namespace attnc::sim

#endif // ATTNC_CODEGEN_SIM_SHAREDMEMORY_H
