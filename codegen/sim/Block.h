//===- Block.h - What the agents of a thread block share --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_SIM_BLOCK_H
#define ATTNC_CODEGEN_SIM_BLOCK_H

#include "codegen/sim/Code.h"
#include "codegen/sim/SharedMemory.h"
#include <deque>

namespace attnc::sim {

/// An addition to elements of memory that has a place in an order.
struct OrderedAdd {
  mlir::Value semaphores; ///< the argument that has its semaphore
  int64_t semaphore;      ///< where that is
  int64_t place, after;   ///< its own in the order, and the one before it
  int64_t tile;           ///< whose it is
  mlir::Operation *op;    ///< what adds
};

/// What all blocks of one run share.
class Device {
public:
  Device(tile::ProgramOp program, llvm::ArrayRef<attn::ReferenceValue> arguments)
      : program(program), arguments(arguments) {}

  tile::ProgramOp program;
  llvm::ArrayRef<attn::ReferenceValue> arguments;
  int64_t tiles = 0;
  int64_t blocks = 1;
  /// Whether what the rules of operations forbid is an error where it happens, not only where it does harm.
  bool rules = true;
  /// Tiles that were taken from the counter.
  int64_t counter = 0;
  /// What the run is called in messages.
  std::string interleaving;
  bool failed = false;

  /// The error of `op`, done by `who` (may be empty). The run ends.
  mlir::InFlightDiagnostic fail(mlir::Operation *op, const std::string &who);

  /// The tensor that argument `value` of the program is.
  const attn::HostArray &getView(mlir::Value value) const;

  /// Writes an element of a result; `writer` says whose it is. False, with an error, where it is outside or another's.
  bool store(mlir::Operation *op, const std::string &who, int writer, mlir::Value view, llvm::ArrayRef<int64_t> indices,
             Number number);
  /// Adds to an element of memory that programs share. False, with an error, where it is outside.
  bool add(mlir::Operation *op, const std::string &who, mlir::Value view, llvm::ArrayRef<int64_t> indices,
           Number number);
  /// The same in an order. False, with an error, also where another addition to it is neither before nor after it.
  bool addInOrder(const std::string &who, const OrderedAdd &add, mlir::Value view, llvm::ArrayRef<int64_t> indices,
                  Number number);

private:
  bool checkInside(mlir::Operation *op, const std::string &who, mlir::Value view, llvm::ArrayRef<int64_t> indices);
  bool failUnordered(mlir::Operation *op, const std::string &who, mlir::Operation *other);

  llvm::DenseMap<mlir::Value, std::vector<int>> writers; ///< of each element, plus 1
  /// Of elements that are added to, by their offset. In f64, where the order of additions does not show in f32.
  llvm::DenseMap<mlir::Value, llvm::DenseMap<int64_t, double>> sums;
  /// Of elements that are added to in an order, the last addition, by their offset.
  llvm::DenseMap<mlir::Value, llvm::DenseMap<int64_t, OrderedAdd>> ordered;
  llvm::DenseMap<mlir::Value, mlir::Operation *> adders; ///< who has added to elements in no order, one of them
};

/// Elements of a tile in shared memory.
using SharedTile = std::vector<float>;

/// Some rows of a buffer of a ring: all of them, or without roles those that one warp copies.
struct StagePart {
  int region = 0, copyParty = 0;
  int64_t round = -1;                     ///< what it holds: the how-manieth filling of the ring
  int64_t landed = -1;                    ///< the last filling that its producer waits for before others may have it
  std::shared_ptr<const SharedTile> data; ///< null while a copy is on its way
  mlir::Operation *filler = nullptr;
};

/// One buffer of a ring.
struct RingStage {
  std::vector<StagePart> parts;
  int64_t number = 0; ///< in a ring of indices
  Clock full, empty;  ///< what lies before its barriers
  Clock landed;       ///< and before what its producer waits for

  /// The last filling of which all parts have arrived.
  int64_t round() const {
    return std::min_element(parts.begin(), parts.end(), [](auto &a, auto &b) { return a.round < b.round; })->round;
  }
};

class Agent;

/// A ring of a block.
struct Ring {
  tile::RingOp op;
  int64_t number;
  std::vector<RingStage> stages;
  std::vector<Agent *> readers = {}; ///< who gets what is put into it
  /// What messages call it.
  std::string name() const;
  RingStage &stageOf(int64_t round) { return stages[round % stages.size()]; }
};

/// A copy on its way into a buffer of a ring.
struct Copy {
  Agent *owner;
  Ring *ring;
  int64_t round, part;
  size_t sequence; ///< among those of its owner
  std::shared_ptr<const SharedTile> data;
  Clock clock;
  bool held; ///< its end is for its producer to see, not for the consumers
};

/// The part of a buffer for stores that one warpgroup uses.
struct StoreBuffer {
  int region;
  std::vector<Number> data;
};

/// One thread block.
class ThreadBlock {
public:
  /// A block whose buffers are copied in up to `copyParts`, as their rows allow, and whose rows are dealt in `parts`.
  ThreadBlock(Device &device, int64_t number, int64_t copyParts, int64_t parts);
  ~ThreadBlock();

  /// Copies get there: the one that started `position`-th of those on their way.
  void land(size_t position);

  /// Whether what is left behind at the end is as it should be; an error else.
  bool checkEnd();

  /// The next time of `party`, for what does not follow a program of its own.
  uint32_t nextTime(int party) { return ++partyTimes[party]; }
  /// A new party.
  int addParty() {
    partyTimes.push_back(0);
    return static_cast<int>(partyTimes.size()) - 1;
  }

  /// Enters who gets what is put into each ring: once all agents are there.
  void findReaders();

  /// Enters an access; false, with an error at its operation, where it races.
  bool access(int region, bool writes, const SharedMemory::Stamp &stamp, const Clock &clock, const std::string &who);

  Device &device;
  int64_t number;
  llvm::DenseMap<mlir::Value, Ring> rings;
  llvm::DenseMap<mlir::Value, std::vector<StoreBuffer>> buffers; ///< one part for each warpgroup that stores
  std::vector<std::unique_ptr<Agent>> agents;
  std::vector<Agent *> consumers;
  std::deque<Copy> copies;

  /// The ping-pong barrier of each consumer: arrivals that it has not waited for yet, and what lies before them.
  struct PingPongBarrier {
    int64_t arrivals = 0;
    Clock clock;
    mlir::Operation *lastArrival = nullptr;
  };
  std::vector<PingPongBarrier> pingPong;

  /// Where all agents of a program without roles meet.
  struct Barrier {
    size_t arrived = 0;
    int64_t meetings = 0;
    Clock clock;
  };
  Barrier barrier;

private:
  SharedMemory memory;
  std::vector<uint32_t> partyTimes;
  std::vector<StagePart *> partOfRegion;
};

} // namespace attnc::sim

#endif // ATTNC_CODEGEN_SIM_BLOCK_H
