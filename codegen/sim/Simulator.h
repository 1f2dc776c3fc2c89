//===- Simulator.h - Scheduled tile programs on the CPU ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Runs a tile program as it stands after all passes on tiles, with what happens at the same time on a GPU in an order
// that the simulator chooses: agents (one for each warpgroup), copies on their way, products in flight, stores on their
// way out. Whatever the program does not wait for comes as early, as late or as unluckily as it may.
//
// Errors are diagnostics at the operation of the tile program:
//
//   read of a buffer that has not arrived            buffer overwritten while a product (or a store) reads it
//   read of a buffer that was released               buffer released while a product reads it
//   accumulator touched in flight                    registers of a product in flight written
//   release without get                              two arrivals at a ping-pong barrier before the wait for it
//   product never awaited                            buffer never released; buffer filled and never got
//   unordered accesses to the same bytes of shared memory, or additions to the same element of which one has an order
//   deadlock: who waits for what
//   stores an element that has been stored before; reads, or writes, outside of the tensor
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_SIM_SIMULATOR_H
#define ATTNC_CODEGEN_SIM_SIMULATOR_H

#include "codegen/sim/Code.h"
#include "codegen/sim/Interleaving.h"

namespace attnc::sim {

class Device;
class ThreadBlock;

/// What a program runs on.
struct Machine {
  /// Blocks of a program whose blocks stay and share the tiles.
  int64_t multiprocessors = 2;
  /// Whether breaking the rule of an operation is an error by itself, not only what comes of it.
  bool rules = true;
};

/// A tile program, ready to run again and again.
class Simulator {
public:
  /// Reads `program`, which outlives the simulator. An operation without a meaning here is a diagnostic at it.
  static mlir::FailureOr<Simulator> create(tile::ProgramOp program);

  /// Agents of a block.
  int64_t numAgents() const;

  /// Runs all tiles of the grid on `arguments`, one for each of the program's but the last. The first fault is a
  /// diagnostic, and ends the run.
  mlir::LogicalResult run(llvm::ArrayRef<attn::ReferenceValue> arguments, const Interleaving &interleaving,
                          const Machine &machine = {}) const;

private:
  /// The code of a role; `op` is null for a program without roles.
  struct Role {
    tile::RoleOp op;
    Code code;
  };

  explicit Simulator(tile::ProgramOp program) : program(program) {}
  int64_t countTiles(llvm::ArrayRef<attn::ReferenceValue> arguments) const;
  /// Parts that the rows of a role are dealt in: warpgroups, or warps without roles.
  int64_t countParts(const Role &role) const;
  std::unique_ptr<ThreadBlock> makeBlock(Device &device, int64_t number) const;

  tile::ProgramOp program;
  std::vector<Role> roles;
};

} // namespace attnc::sim

#endif // ATTNC_CODEGEN_SIM_SIMULATOR_H
