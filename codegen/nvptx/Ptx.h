//===- Ptx.h - Instructions of NVIDIA GPUs ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Builds the instructions that MLIR's and LLVM's own operations do not reach in the form that assemblers treat best.
// Names of sections refer to the PTX ISA, version 8.7.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_NVPTX_PTX_H
#define ATTNC_CODEGEN_NVPTX_PTX_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

namespace attnc::nvptx {

/// The address space of shared memory.
constexpr unsigned sharedSpace = 3;

/// Operands of one product of warpgroups.
struct ProductStep {
  llvm::SmallVector<mlir::Value, 4> a; ///< four registers, or a descriptor's low word
  mlir::Value b;                       ///< a descriptor's low word
  int64_t aOffset = 0;                 ///< added to the word
  int64_t bOffset = 0;
};

/// Builds scalars and instructions where its builder stands. 32-bit shared addresses are i32 values.
class Ptx {
public:
  Ptx(mlir::OpBuilder &builder, mlir::Location loc) : b(builder), loc(loc) {}

  // Constants and 32-bit arithmetic.
  mlir::Value i32(int64_t value);
  mlir::Value i64(int64_t value);
  mlir::Value f32(float value);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value add(mlir::Value x, int64_t y) { return y ? add(x, i32(y)) : x; }
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, int64_t y);
  mlir::Value bitAnd(mlir::Value x, int64_t mask);
  mlir::Value shiftRight(mlir::Value x, int64_t bits);
  mlir::Value shiftLeft(mlir::Value x, int64_t bits);
  mlir::Value bitXor(mlir::Value x, mlir::Value y);
  /// All ones, shifted left: 0 for 32 bits and more (9.7.8.8).
  mlir::Value shiftOnes(mlir::Value bits);
  /// Whether one bit of an i32 is set.
  mlir::Value testBit(mlir::Value x, int64_t bit);
  /// The magnitude of an i32 that is not the least.
  mlir::Value magnitude(mlir::Value x);
  mlir::Value equal(mlir::Value x, int64_t y);
  mlir::Value less(mlir::Value x, mlir::Value y);
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y);
  /// The greater of two f32, or their sum.
  mlir::Value join(bool isMax, mlir::Value x, mlir::Value y);
  /// Sign-extends to 64 bits.
  mlir::Value widen(mlir::Value x);
  /// A pointer to shared memory, of a 32-bit address.
  mlir::Value sharedPointer(mlir::Value address);
  /// The address `by` elements of type `unit` after `address`.
  mlir::Value shift(mlir::Value address, mlir::Type unit, mlir::LLVM::GEPArg by);

  /// An instruction without results, or with one of type `result`, as text in which $0, $1, ... are the result and the
  /// operands. `constraints` has one letter an operand, after one for the result. `name`, in its location, is
  /// what CUDA C++ calls it.
  mlir::Value assembly(llvm::StringRef name, mlir::Type result, llvm::StringRef text, llvm::StringRef constraints,
                       mlir::ValueRange operands, bool sideEffects = true);

  // Threads.
  mlir::Value threadId();
  mlir::Value blockId();
  mlir::Value gridSize();
  /// A word or double word as it is, of which nothing is known any more: what is made of it is computed where it
  /// stands, and not kept in registers from in front of a loop on.
  mlir::Value afresh(mlir::Value x);
  /// A word as it is, of which LLVM knows nothing, though assemblers do.
  mlir::Value opaque(mlir::Value x);
  /// The value of lane 0: the assembler then knows that all lanes hold the same and keeps it in a uniform register,
  /// where products want their descriptors.
  mlir::Value uniform(mlir::Value x);
  /// The i32 of lane `lane`.
  mlir::Value shuffleFrom(mlir::Value x, mlir::Value lane);
  /// The f32 of the lane whose number differs in the bits `mask` (9.7.9.6).
  mlir::Value shuffle(mlir::Value x, int64_t mask);
  /// The i32 or i64 of the lane whose number differs in the bits `mask`.
  mlir::Value shuffleInteger(mlir::Value x, int64_t mask);
  /// Four of the eight bytes of `x` and, after them, `y`: one for each digit of `selector` (9.7.9.7).
  mlir::Value permuteBytes(mlir::Value x, mlir::Value y, mlir::Value selector);
  /// The minimum, or maximum, of the i32 of all lanes of the warp (redux.sync, 9.7.13.9).
  mlir::Value minOverLanes(mlir::Value x);
  mlir::Value maxOverLanes(mlir::Value x);
  /// Whether the i1 holds in any lane of the warp.
  mlir::Value voteAny(mlir::Value condition);
  /// The lanes of the warp in which the i1 holds, as bits of an i32.
  mlir::Value ballot(mlir::Value condition);
  /// setmaxnreg (9.7.19.5): this warpgroup gives registers back or takes more.
  void setRegisters(int64_t count, bool increase);
  /// bar.sync and bar.arrive (9.7.13.1) on barrier `id` of `threads` threads.
  void barrierSync(mlir::Value id, int64_t threads);
  void barrierArrive(mlir::Value id, int64_t threads);
  /// All threads of the block.
  void blockSync();
  /// All threads of the warp, and what they have done to memory (9.7.13.2).
  void warpSync();

  // Barriers in shared memory (9.7.13.15).
  void initBarrier(mlir::Value address, int64_t arrivals);
  /// Makes initialised barriers visible to the copy engine.
  void fenceBarrierInit();
  void expectBytes(mlir::Value barrier, int64_t bytes);
  void arrive(mlir::Value barrier);
  /// Arrives where `condition`, an i1, holds, without a branch.
  void arriveIf(mlir::Value barrier, mlir::Value condition);
  /// Waits until the phase of parity `parity` is over.
  void waitBarrier(mlir::Value barrier, mlir::Value parity);

  /// The element of type `type`, of 8 to 64 bits, at an address in global memory where `condition`, an i1, holds; else
  /// 0. One instruction: neither a branch nor an address that is always there.
  mlir::Value loadIf(mlir::Type type, mlir::Value address, mlir::Value condition);
  /// Starts a copy of `bytes`, a multiple of 16, from global to shared memory, which completes on `barrier`.
  void loadBytes(mlir::Value shared, mlir::Value global, mlir::Value barrier, int64_t bytes);
  /// Adds `bytes` of f32 in shared memory to those at `global`, both multiples of 16: each atomically, in any order, by
  /// the copy engine (9.7.9.25.4.2, `cp.reduce.async.bulk`). One lane of the warp does so, where `condition` holds.
  void addBytesOfWarp(mlir::Value shared, mlir::Value global, int64_t bytes, mlir::Value condition);
  /// Adds a number to that at `global` where `condition` holds, atomically, in any order (9.7.13.5, `red`).
  void addFloatIf(mlir::Value condition, mlir::Value global, mlir::Value number);
  /// Adds an f32 to one in global memory.
  void addFloat(mlir::Value global, mlir::Value number);
  /// The i32 at `global`, which others change.
  mlir::Value seePlace(mlir::Value global);
  /// Waits until the i32 at `global` is `least` or more, which needs no look where that is 0. With `acquires`, what was
  /// done to memory before it became that is seen after.
  void waitForPlace(mlir::Value global, mlir::Value least, bool acquires);
  /// Writes `place` to the i32 at `global` where `condition` holds, in one thread of the warp. With `releases`, who
  /// acquires it sees what the warp had done to memory when it last met.
  void leavePlaceIf(mlir::Value condition, mlir::Value global, mlir::Value place, bool releases);
  /// Two f32 of shared memory, `offset` bytes from `address` on.
  llvm::SmallVector<mlir::Value> loadSharedPair(mlir::Value address, int64_t offset);
  /// Stores, or loads, some f32 together.
  void storeFloats(mlir::Value address, llvm::ArrayRef<mlir::Value> floats);
  llvm::SmallVector<mlir::Value> loadFloats(mlir::Value address, int64_t count);

  // Shared memory.
  void storeShared(mlir::Value address, mlir::Value word, int64_t offset = 0);
  mlir::Value loadShared(mlir::Value address);
  /// Four or two 8x8 matrices of 16-bit elements from the fragments of a warp (9.7.14.5.16).
  void storeMatrices(mlir::Value address, mlir::ValueRange words);
  /// Makes this thread's stores to shared memory visible to the copy engine and to products (9.7.13.4).
  void fenceAsync();

  // Tensor copies (9.7.9.27.1). Coordinates are i32, innermost first.
  void loadTensor(mlir::Value shared, mlir::Value map, mlir::Value barrier, mlir::ValueRange coordinates);
  void storeTensor(mlir::Value shared, mlir::Value map, mlir::ValueRange coordinates);
  void commitStores();
  /// Waits until the stores of this thread have read shared memory, or are done altogether.
  void waitStores(bool readOnly);

  // Products of warpgroups (9.7.15).
  void fenceProducts();
  void commitProducts();
  /// Waits for all but the last `pending` groups; what they write passes through, so that nothing that uses it moves
  /// up.
  llvm::SmallVector<mlir::Value> waitProducts(int64_t pending, mlir::ValueRange written);
  /// The sum of the 64 x n x 16 products of `steps`, and of `acc` where it is not empty. `transposed` reads b as k rows
  /// of n, `leftTransposed` a as k rows of 64. One piece of assembly: what compilers pay for registers that go in and
  /// out of it, they pay once.
  llvm::SmallVector<mlir::Value> product(int64_t n, mlir::Type element, llvm::ArrayRef<ProductStep> steps,
                                         mlir::ValueRange acc, bool transposed, bool leftTransposed = false);
  /// A branch that is never taken but ends the assembler's basic block; `argument` is a kernel argument, 0 or more.
  /// Each compares with a number of its own: those that compare alike would be one.
  void pin(mlir::Value argument);

  // Copies by threads (9.7.9.25.3).
  /// Starts a copy of 16 bytes from global to shared memory; those past `bytes`, an i32, become 0 and are not read.
  void copyPiece(mlir::Value shared, int64_t offset, mlir::Value global, mlir::Value bytes);
  /// Makes the copies that this thread has started since the last time a group.
  void commitPieces();
  /// Waits for all but the last `pending` groups of this thread.
  void waitPieces(int64_t pending);
  /// Stores four words `offset` bytes from `shared` on, or loads four.
  void storePiece(mlir::Value shared, mlir::ValueRange words, int64_t offset = 0);
  llvm::SmallVector<mlir::Value> loadPiece(mlir::Value shared);

  // Products of warps (9.7.14.5). Fragments are words: pairs of 16-bit elements.
  /// `count`, 4 or 2, matrices of 8 rows of 16 bytes; each lane gives the address of a row, `offset` bytes further on.
  /// With `transposed`, lanes get columns of 16-bit elements.
  llvm::SmallVector<mlir::Value> loadMatrices(mlir::Value address, int64_t offset, int64_t count, bool transposed);
  mlir::Value loadSharedFloat(mlir::Value address, int64_t offset);
  /// acc + left * right: 16 x 8 over 16 elements of f16 or bf16.
  llvm::SmallVector<mlir::Value> warpProduct(mlir::Type element, mlir::ValueRange left, mlir::ValueRange right,
                                             mlir::ValueRange acc);
  /// acc + left * right: 16 x 8 over 8 elements of TF32, whose words are f32 that `roundToTf32` has rounded.
  llvm::SmallVector<mlir::Value> warpProductTf32(mlir::ValueRange left, mlir::ValueRange right, mlir::ValueRange acc);
  /// The parts of two f32, which are words: of each part the word that has both, the greatest first. What they add up
  /// to is exact; the first is finite where the whole is.
  std::array<mlir::Value, 3> splitFloats(mlir::Value low, mlir::Value high);
  /// An f32, as a word, as `warpProductTf32` takes it: within 0.7 units of the eleventh bit.
  mlir::Value roundToTf32(mlir::Value word);
  /// The sum of two f32, computed where it stands. LLVM would move sums to the block that reads them, and keep the
  /// registers of all their parts until then.
  mlir::Value addInPlace(mlir::Value a, mlir::Value b);

  /// Two f32 as a pair of 16-bit floats, `low` in the low half.
  mlir::Value pack(mlir::Type element, mlir::Value low, mlir::Value high);
  /// The same to bf16, with the greatest finite number for what rounds to infinity.
  mlir::Value packFinite(mlir::Value low, mlir::Value high);

  mlir::OpBuilder &b;
  mlir::Location loc;
};

/// Notes, in the location of an instruction that is written as assembly, what CUDA C++ calls it.
void setName(mlir::LLVM::InlineAsmOp op, const llvm::Twine &name);

} // namespace attnc::nvptx

#endif // ATTNC_CODEGEN_NVPTX_PTX_H
