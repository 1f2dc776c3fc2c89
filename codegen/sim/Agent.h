//===- Agent.h - What one warpgroup does ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_SIM_AGENT_H
#define ATTNC_CODEGEN_SIM_AGENT_H

#include "codegen/sim/Block.h"

namespace attnc::sim {

struct Product;

/// A value as an agent holds it.
struct Held {
  Number number = {};                 ///< a number
  std::shared_ptr<const Array> array; ///< the agent's rows of a tile or row vector, or all of a column vector
  std::shared_ptr<Product> product;   ///< a tile in flight
  Ring *ring = nullptr;               ///< of a tile in shared memory
  int64_t round = -1;                 ///< of a tile in shared memory
};

/// A product that was started.
struct Product {
  mlir::Operation *op;
  int left = -1, acc = -1, successor = -1; ///< values in registers that nobody may touch; -1 for none
  Held a, b;
  std::shared_ptr<const Array> sum, result;
  int64_t columns;
  bool transposed, leftTransposed;
  Clock clock;
  bool done = false;
};

/// A store on its way from a buffer to a tensor.
struct Drain {
  tile::StoreOp op;
  StoreBuffer *buffer;
  llvm::SmallVector<int64_t> indices;
  int64_t firstColumn, columns;
  std::optional<OrderedAdd> ordered; ///< of what is added in an order
};

/// Whether `op` waits for what it has to: a planted fault goes on without it.
inline bool waits(mlir::Operation *op) { return !op->hasAttr("no_wait"); }

/// Moves `indices` to where an element of a view of `columns` columns is whose rows lie in the order of
/// `tile::BlockedRows`.
void moveToBlocked(llvm::MutableArrayRef<int64_t> indices, int64_t columns, bool interleaved);

/// One warpgroup, or the one thread of a producer that works.
class Agent {
public:
  /// The `part`-th of `parts` agents that run `code` in `block`; `role` is null in a program without roles, whose
  /// agents are warps.
  Agent(ThreadBlock &block, const Code &code, tile::RoleOp role, int64_t part, int64_t parts);

  /// How far an agent came.
  enum class Progress : uint8_t { Moved, Waits, Done, Failed };

  /// Goes on to what others can see next, and does it if it can.
  Progress advance();

  /// Whether the agent has reached its end.
  bool isDone() const { return done; }
  /// Whether products, or stores, are on their way.
  bool hasProducts() const { return nextProduct < products.size(); }
  bool hasDrains() const { return !drains.empty(); }
  /// A store that waits for a tile.post, or null.
  tile::StoreOp findDeferredStore() const { return deferred.empty() ? tile::StoreOp() : deferred.front().op; }
  /// The oldest of them gets there; false on an error.
  bool runProduct();
  bool runDrain();

  /// How many buffers of `ring` it filled, got, and gave back.
  int64_t countPuts(const Ring &ring) const { return puts.lookup(&ring); }
  int64_t countGets(const Ring &ring) const { return gets.lookup(&ring); }
  int64_t countReleases(const Ring &ring) const { return releases.lookup(&ring); }

  /// "consumer 1".
  std::string name() const;
  /// Its role; null in a program without roles.
  mlir::Operation *getRole() const { return role; }
  /// What it waits for, and where.
  const std::string &getWait() const { return wait; }
  mlir::Operation *getPlace() const { return code.instructions[pc].op; }

private:
  using Numbers = llvm::SmallVector<int64_t, 6>;

  // Agent.cpp
  void setUp();
  std::shared_ptr<const Array> makeConstant(int number, mlir::Attribute value) const;
  int64_t rowsOf(int number) const;
  /// What the rest of the block is told of the time until now, and a new time of the agent's own.
  Clock publish();
  mlir::InFlightDiagnostic fail(mlir::Operation *op);
  bool checkRegisters(const Instruction &instruction);
  Progress waitFor(std::string what);
  Numbers numbersOf(mlir::ValueRange values);
  Held &held(mlir::Value value);
  bool finish();

  // AgentCompute.cpp: what ends at once; false on an error.
  bool compute(const Instruction &instruction);
  bool computeElement(const Instruction &instruction);
  bool computeMap(const Instruction &instruction);
  bool computePhilox(const Instruction &instruction);
  bool computeReduce(const Instruction &instruction);
  bool computeLanePartial(const Instruction &instruction);
  bool computeWarpReduce(const Instruction &instruction);
  bool computeProduct(const Instruction &instruction);
  bool readView(const Instruction &instruction);
  bool readAt(mlir::Value view, llvm::ArrayRef<int64_t> indices, Number &number);
  mlir::Value resolve(mlir::Value view, Numbers &indices);
  bool loadTile(const Instruction &instruction);
  bool moveToPage(mlir::TypedValue<mlir::MemRefType> pages, mlir::MemRefType view, Numbers &at);
  bool readAll(const Instruction &instruction, std::vector<float> &all);
  bool readRow(const Instruction &instruction);
  bool readRows(const Instruction &instruction);
  bool readTile(const Instruction &instruction);
  bool appendSharedTile(const Held &shared, mlir::Operation *op, std::vector<float> &all);
  bool storeTile(tile::StoreOp store);
  bool scatterTile(tile::ScatterOp scatter);
  bool computeMinMax(const Instruction &instruction);
  bool listSteps(tile::BlockMaskOp blockMask);
  bool multiply(Product &product);

  // AgentSync.cpp: what others see.
  Progress synchronize(const Instruction &instruction);
  Progress nextTile(const Instruction &instruction);
  bool acquire(Ring &ring, mlir::Operation *op);
  Progress put(tile::PutOp op);
  std::shared_ptr<SharedTile> copyRows(tile::PutOp op, int64_t place, int64_t parts);
  Progress clear(tile::PutOp op);
  Progress get(const Instruction &instruction, tile::GetOp op);
  Progress hold(const Instruction &instruction, tile::HeldOp op);
  Progress release(tile::ReleaseOp op);
  Progress share(tile::ShareOp op);
  Progress split(tile::SplitOp op);
  Progress post(tile::PostOp op);
  Progress start(const Instruction &instruction, tile::StartOp op);
  Progress await(const Instruction &instruction, tile::AwaitOp op);
  Progress pingPong(tile::PingPongOp op);
  Progress stage(tile::StoreOp op);
  Progress addInOrder(tile::StoreOp op);
  Progress awaitTurn(tile::StoreOp op, std::optional<OrderedAdd> &add);
  void leavePlace(const OrderedAdd &add);
  bool finishDrains();
  bool finishStores();
  Progress sync(mlir::Operation *op);
  bool isFree(const Ring &ring) const;
  bool startDrain(Drain drain);
  bool addDrained(const Drain &drain);
  bool endsInside(tile::PutOp op);
  bool isCut(tile::StoreOp op);
  /// Whose the elements are that it stores: no other agent's, and no other tile's.
  int writer() const;
  bool readSharedTile(const Held &shared, mlir::Operation *op, const SharedMemory::Stamp &stamp, const Clock &clock);

  ThreadBlock &block;
  const Code &code;
  mlir::Operation *role; ///< null in a program without roles
  bool takesTiles;       ///< from the counter
  int64_t part, parts;
  int64_t number, consumer; ///< which it is of the block's agents; and, of its consumers, those of all roles
  int party, productParty, drainParty, clearParty;
  Clock clock;

  std::vector<Held> values;
  int pc = 0;
  bool done = false;
  std::string wait;
  std::optional<int64_t> tile, candidate; ///< worked on; fetched and not posted
  bool fresh = true;                      ///< before the first tile

  llvm::DenseMap<const Ring *, int64_t> puts, gets, releases;
  /// Fillings that a tile.get with `kept` waited for, and that no tile.held has taken yet.
  llvm::DenseMap<const Ring *, llvm::SmallDenseSet<int64_t>> kept;
  std::deque<std::shared_ptr<Product>> products; ///< started and not awaited
  size_t nextProduct = 0;                        ///< the first that has not run
  Clock productClock, drainClock;
  std::vector<Clock> ownCopies;   ///< without roles: what lies before the end of each copy, in order
  size_t seenCopies = 0;          ///< of them, known to be done
  std::optional<int64_t> meeting; ///< at a barrier: the meeting that the agent waits for
  std::optional<int64_t> landing; ///< in a put: the filling that it waits for, to clear rows of it
  std::deque<Drain> drains;
  std::optional<OrderedAdd> unfinished;       ///< whose place is left when the drains are done
  std::vector<Drain> deferred;                ///< until the next tile.post
  std::vector<int64_t> fullSteps, otherSteps; ///< of a block mask: where those start that keep all, and some
};

} // namespace attnc::sim

#endif // ATTNC_CODEGEN_SIM_AGENT_H
