//===- KernelImage.h - What the compiler gives the runtime ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A compiled kernel as plain data: object code, the functions in it, how many
// tiles each runs, and what its arguments must look like. This is all that the
// runtime knows of a kernel, and all that a cache stores.
//
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_IMAGE_KERNELIMAGE_H
#define ATTNC_CODEGEN_IMAGE_KERNELIMAGE_H

#include "codegen/image/DType.h"
#include "codegen/image/Error.h"
#include "codegen/image/Span.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace attnc::image {

/// What one dimension of a tensor argument must be.
struct DimSpec {
  /// The size, or -1 for one that is known at launch only.
  int64_t size = -1;
  /// Index in `KernelImage::symbols`: all dimensions of one symbol have one
  /// size. -1 for a dimension that is free.
  int symbol = -1;
  /// Whether size 1 is accepted as well and stands for every position.
  bool broadcast = false;
  /// Elements beyond the symbol's size: 1 for cumulative lengths, of which there
  /// is one more than sequences.
  int64_t extra = 0;
  /// Of the symbol's size, what one element stands for: the rows of a page, for
  /// the entries of a page table.
  int64_t unit = 1;
  /// The least and the greatest size that the kernel can work on.
  int64_t minSize = 0;
  int64_t maxSize = std::numeric_limits<int64_t>::max();

  /// The dimension's size where the symbol's is `symbolSize`, and the other way
  /// round.
  int64_t sizeFor(int64_t symbolSize) const { return symbolSize / unit + extra; }
  int64_t symbolSizeFor(int64_t ownSize) const { return (ownSize - extra) * unit; }
};

/// What an argument is.
enum class ArgKind : uint8_t { Tensor = 0, Scalar = 1 };

/// Whether the kernel reads or writes an argument.
enum class ArgRole : uint8_t { Input = 0, Output = 1 };

/// What the elements of an integer tensor must be.
enum class ContentRule : uint8_t {
  None = 0,
  /// First 0, last the size of each content symbol, non-decreasing (rule S11).
  CumulativeLengths = 1,
  /// Each from 0 to the size of each content symbol.
  Lengths = 2,
};

/// What the entries of a page table [B, N] name: pages of keys (rule S19).
struct PageRule {
  /// Index in `KernelImage::symbols` of how many pages there are.
  int pages = 0;
  /// Keys of a page.
  int64_t rows = 1;
  /// The argument that holds how many keys each sequence has: entries beyond
  /// those are not read. -1 where all are.
  int lengths = -1;
};

/// Where queries may stand that a scalar is added to the positions of.
struct PositionRule {
  /// The least and the greatest position.
  int64_t min = 0, max = 0;
  /// Index in `KernelImage::symbols` of how many rows of queries there are.
  int queries = 0;
  /// Index of how many keys there are, where the last query stands at the last
  /// key, whatever the length of a sequence; -1 where the first stands at 0.
  int keys = -1;
};

/// What one argument must be.
struct ArgSpec {
  /// The name in messages.
  std::string name;
  ArgKind kind = ArgKind::Tensor;
  ArgRole role = ArgRole::Input;
  DType dtype = DType::F32;
  /// Whether the spec said `index`; such arguments have dtype I64.
  bool isIndex = false;
  /// One for each dimension of a tensor; empty for a scalar.
  std::vector<DimSpec> dims;
  /// Whether the last dimension of a tensor must have stride 1.
  bool unitInnerStride = false;
  /// The closed range of a scalar.
  std::optional<double> min, max;
  /// Whether a scalar must not be NaN.
  bool notNaN = false;
  /// The positions that an integer scalar is added to.
  std::vector<PositionRule> positions = {};
  /// What the elements of a rank-1 integer tensor must be.
  ContentRule content = ContentRule::None;
  /// Indices in `KernelImage::symbols` of the sizes that `content` speaks of: of
  /// each, where one tensor has the lengths of queries and keys.
  std::vector<int> contentSymbols = {};
  /// What a rank-2 integer tensor names pages of.
  std::vector<PageRule> pages = {};
};

/// The number of tiles of one launch, as a postfix expression over the sizes of
/// the image's symbols: ceildiv(Sq, 96) * B is `Sq 96 ceildiv B mul`.
struct GridRule {
  /// What one step does to the stack of values.
  enum class Op : uint8_t {
    Const = 0,    ///< pushes `value`
    Symbol = 1,   ///< pushes the size of symbol `value`
    Add = 2,      ///< the sum of the two values on top, which it replaces
    Mul = 3,      ///< their product
    CeilDiv = 4,  ///< lower divided by upper, rounded up
    Max = 5,      ///< the greater
    Min = 6,      ///< the lesser
    FloorDiv = 7, ///< lower divided by upper, rounded down
    Sub = 8,      ///< lower without upper; 0 where that is the greater
  };

  /// One step.
  struct Step {
    Op op = Op::Const;
    /// The constant or the index of the symbol; 0 for the other operations.
    int64_t value = 0;
  };

  std::vector<Step> steps;

  /// The rules of one step.
  static GridRule constant(int64_t value) { return {{{Op::Const, value}}}; }
  static GridRule symbol(int64_t index) { return {{{Op::Symbol, index}}}; }

  /// The rule that applies `op`, one of the binary operations, to the values of
  /// `lower` and `upper`.
  static GridRule combine(Op op, const GridRule &lower, const GridRule &upper);

  /// Whether the steps leave exactly one value, constants are non-negative and
  /// symbols lie below `numSymbols`.
  Status verify(size_t numSymbols) const;

  /// The number of tiles, given the non-negative size of each symbol; -1 when
  /// the rule is malformed, divides by zero or overflows.
  int64_t evaluate(Span<const int64_t> symbolSizes) const;

  /// The rule as a formula, `ceildiv(Sq, 96) * B`, for people.
  std::string toString(Span<const std::string> symbols) const;

private:
  /// What formulas call an operation that they write as a function.
  static const char *nameOf(Op op);
};

/// How a GPU's copy unit sees one tensor argument: what a CUtensorMap says
/// beyond the tensor's address, sizes and strides, which a launch fills in.
struct TensorMapSpec {
  /// Index in `KernelImage::args` of a tensor of rank 2 to 5.
  int arg = 0;
  /// The elements that one copy moves, one number for each dimension of the
  /// tensor, outermost first. What lies outside of the tensor reads as zeros
  /// and is not written, so a box may be larger than the tensor.
  std::vector<int64_t> box = {};
  /// The width of the pattern in which 16-byte units are swizzled in shared
  /// memory, in bytes: 32, 64, 128, or 0 for none.
  int swizzleBytes = 0;
  /// The dimensions of the tensor in the order in which a box holds them in shared
  /// memory, outermost first; the tensor's own where there are none. The last is
  /// the tensor's last.
  std::vector<int64_t> order = {};

  /// The dimension of the tensor that is `place` in the order of a box.
  size_t dimensionAt(size_t place) const { return order.empty() ? place : static_cast<size_t>(order[place]); }
};

/// Memory of a launch's own that the entries of an image hand results through:
/// rows of elements of four bytes, i32 or f32, one after the other. Entries with the same workspace have the same
/// memory; what one of them writes is there for those after it.
struct WorkspaceRule {
  /// Index in `KernelImage::workspaces`.
  int workspace = 0;
  GridRule rows, columns;

  /// The size in bytes, given the size of each symbol; -1 when a rule gives none or
  /// the product overflows.
  int64_t countBytes(Span<const int64_t> symbolSizes) const;
};

/// Launches that have a size from `min` to `max`.
struct SizeRange {
  /// What the size is of a launch, over the sizes of the image's symbols.
  GridRule size;
  int64_t min = 0;
  int64_t max = std::numeric_limits<int64_t>::max();
};

/// Launches, by their sizes: those that all ranges hold for.
using SizeCondition = std::vector<SizeRange>;

/// Which launches an entry is for. Entries whose rules exclude each other are one
/// kernel, of which a launch runs the first that is for its sizes: each excludes the
/// conditions of those before it.
struct LaunchRule {
  /// What must hold; without ranges, all launches do.
  SizeCondition when;
  /// Of which none may.
  std::vector<SizeCondition> unless = {};

  /// Whether it is for a launch, given the non-negative size of each symbol.
  bool holds(Span<const int64_t> symbolSizes) const;
};

/// Tensors that the copy unit moves boxes of: of some, it can take those alone whose
/// strides and address are whole units of its own.
struct BoxRule {
  /// A tensor that scores read by query and key.
  struct Tensor {
    /// Index in `KernelImage::args`. Columns of boxes lie along its last dimension.
    int arg = 0;
    /// The dimension along which rows of boxes lie.
    int rows = 0;
  };
  std::vector<Tensor> tensors;
  /// Whether it must be able to take all of them; else there must be one that it
  /// cannot.
  bool all = true;
};

/// One function of the object code. The facts from `threads` on are for GPUs,
/// whose kernels take as parameters, in this order:
///
///   - the argument block (Arguments.h), by value: one structure of i64 slots,
///     in which addresses are addresses of the device;
///   - for each of `tensorMaps` one CUtensorMap, by value: 128 bytes, aligned to
///     64;
///   - the number of tiles, an i64;
///   - with `takesCounter`, the address of a 32-bit counter of the launch's own.
///     It holds 0, and the kernel leaves it so;
///   - with `workspaces`, these by value: address, rows and columns of each, one
///     structure of i64. (On a CPU they follow the argument block.)
struct KernelEntry {
  /// Its name in the object code.
  std::string symbol;
  /// How many tiles it runs.
  GridRule grid;
  /// The memory each worker thread of a CPU gives it, in bytes.
  int64_t scratchBytes = 0;
  /// The launches that it is for, by their sizes; others pass it over.
  LaunchRule launches = {};
  /// The tensors that it is for; launches with others pass it over. Two entries
  /// with the same ones, of which one asks for all, are one kernel.
  std::optional<BoxRule> boxes = {};
  /// The threads of a block, in one dimension; 0 on a CPU.
  int threads = 0;
  /// The dynamic shared memory of a block, in bytes.
  int64_t sharedBytes = 0;
  /// Whether blocks stay and share the tiles: there are no more blocks than
  /// the GPU holds at a time, `blocksPerMultiprocessor` on each multiprocessor.
  /// Else every tile has its block.
  bool persistent = false;
  /// The blocks that one multiprocessor holds at a time.
  int blocksPerMultiprocessor = 1;
  /// Whether it takes a counter.
  bool takesCounter = false;
  /// Whether it waits itself for the function that a launch runs before it: it
  /// may start while that one runs.
  bool early = false;
  /// The workspaces that it takes.
  std::vector<WorkspaceRule> workspaces = {};
  /// The tensors that the copy unit moves.
  std::vector<TensorMapSpec> tensorMaps = {};
  /// The registers of a thread and the bytes of them that are spilled to
  /// memory, as the assembler reported them: for people.
  int registers = 0, spillBytes = 0;

  /// The number of tiles that a launch runs, as `GridRule::evaluate` gives it; 0
  /// where the entry is for other sizes.
  int64_t countTiles(Span<const int64_t> symbolSizes) const {
    return launches.holds(symbolSizes) ? grid.evaluate(symbolSizes) : 0;
  }
};

/// The limits of the CUDA driver on what `KernelEntry` says, and, of tensor maps, what no kernel needs.
inline constexpr int maxBlockThreads = 1024, maxEntryTensorMaps = 16, maxEntryWorkspaces = 64, maxTensorMapRank = 5,
                     minTensorMapRank = 2, maxTensorMapBox = 256, tensorMapUnitBytes = 16;
/// Of tensors that it maps: the greatest size of a dimension, and what strides are below, in bytes.
inline constexpr int64_t maxTensorMapSize = int64_t{1} << 32, tensorMapStrideEnd = int64_t{1} << 40;
/// Of a workspace: programs count its rows in 32 bits.
inline constexpr int64_t maxWorkspaceRows = (int64_t{1} << 31) - 1;

/// A compiled kernel.
struct KernelImage {
  /// The name of the spec's function.
  std::string name;
  /// What it was compiled for: "cpu:x86-64-v3".
  std::string target;
  /// The names of the sizes that arguments share: "B", "Sq", "Sk".
  std::vector<std::string> symbols;
  /// The arguments, in the order in which they are passed.
  std::vector<ArgSpec> args;
  /// The names of the workspaces that entries share: "statistics".
  std::vector<std::string> workspaces;
  /// The functions, run in this order, each after the one before is done; those
  /// that are not for a launch's sizes are left out.
  std::vector<KernelEntry> entries;
  /// The object code.
  std::vector<uint8_t> bytes;
  /// The build of the compiler that made it.
  std::string buildId;
};

/// Where the workspaces of a launch lie in memory that holds them all.
struct WorkspacePlaces {
  /// Bytes of memory in all; -1 when a rule gives no size or a product overflows.
  int64_t bytes = 0;
  /// Where each of `KernelImage::workspaces` begins, a multiple of 128 bytes.
  std::vector<int64_t> offsets;
};

/// Lays out the workspaces that a launch of `image` needs, given the size of each
/// symbol: each as large as the entry wants it that wants most.
WorkspacePlaces placeWorkspaces(const KernelImage &image, Span<const int64_t> symbolSizes);

/// Checks that `image` agrees with itself: symbols in range, grid rules well
/// formed, conditions on sizes that hold for some, scalars without dimensions, content rules on integer vectors only,
/// tensor maps that a driver can encode, and GPU facts on GPU entries only.
Status verify(const KernelImage &image);

/// `image` as bytes: magic, version, length, a 64-bit hash of the rest, the
/// rest. Equal images give equal bytes on every machine.
std::vector<uint8_t> serialize(const KernelImage &image);

/// The image that `bytes` hold. Foreign, truncated, damaged or malformed bytes
/// and other versions are errors; memory stays within a small multiple of the
/// input. The image is verified.
Result<KernelImage> deserialize(Span<const uint8_t> bytes);

} // namespace attnc::image

#endif // ATTNC_CODEGEN_IMAGE_KERNELIMAGE_H
