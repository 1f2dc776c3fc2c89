//===- GpuKernelTraits.h - What kernels ask of a GPU ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// What decides about schedules of kernels: their head dims, masks, scores, and what tiles take of shared
// memory.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_GPU_GPUKERNELTRAITS_H
#define ATTNC_CODEGEN_GPU_GPUKERNELTRAITS_H

#include "dialect/attn/AttnOps.h"
#include "dialect/attn/Coordinates.h"

namespace attnc::gpu {

/// Bytes of shared memory of a schedule's tiles, and the sum as text.
struct SharedUse {
  attn::KernelOpInterface kernel;
  int64_t bytes = 0;
  std::string sum;

  /// Adds `count` buffers of `rows` rows of `dims` elements for `what`.
  void add(llvm::StringRef what, int64_t count, int64_t rows, int64_t dims);
  /// Adds a buffer for the parts of such rows of f32.
  void addParts(llvm::StringRef what, int64_t rows, int64_t dims);
  /// Adds a buffer of what `parts` warps have of each of so many rows: a number of f32.
  void addRows(int64_t parts, int64_t rows);
};

/// What the tiles of `kernel` take by `schedule`.
SharedUse getSharedUse(attn::KernelOpInterface kernel, attn::ScheduleAttr schedule);

/// Whether so many blocks of `schedule` find room on a multiprocessor.
bool fitsShared(attn::KernelOpInterface kernel, attn::ScheduleAttr schedule, attn::GpuTargetAttr target,
                int64_t blocks);

/// Tiles of 16 bits that scores read by query and key, which the copy engine may bring: along the last dimension of
/// their tensors no packed sequences lie. Not fewer than those that it does (passes/tile/StageCaptures.cpp).
int64_t countCapturedTiles(attn::KernelOpInterface kernel);

/// Whether scores read a tile for each head that may be one for all batch entries.
bool mayShareCapturesOverBatch(attn::KernelOpInterface kernel);

/// The head dim of a tensor of `kernel`'s, and the largest of all.
int64_t getDims(mlir::Value tensor);
int64_t getLargestDims(attn::KernelOpInterface kernel);

/// The type of queries, keys and values.
mlir::Type getOperandType(attn::KernelOpInterface kernel);

/// Whether only data says which steps the mask keeps, of keys or of queries. Looking in every step, in every role,
/// costs more than it saves: products stop overlapping with what comes after them. It is for masks that read so many
/// tensors that a block mask has no room for a warp's steps.
bool needsBlockMask(attn::KernelOpInterface kernel, attn::Coordinate columns = attn::Coordinate::Key);

/// Whether the kernel starts while its block mask is still being computed, which hides what a launch takes.
bool startsEarly(attn::KernelOpInterface kernel, attn::GpuTargetAttr target);

/// Whether functions of scores keep their unit busier than products keep the tensor cores. Consumers then gain nothing
/// from taking turns.
bool isBoundByFunctions(attn::KernelOpInterface kernel);

/// Whether the mask also drops keys that are far before a query: consumers then visit few keys for each tile, and have
/// no use for turns.
bool hasWindow(attn::KernelOpInterface kernel);

/// Whether it drops those before the chunk of the query, as local attention by chunks does: all queries of a chunk
/// begin with the same key, found by a division, so that stretches are as long as a causal mask's are.
bool hasChunks(attn::KernelOpInterface kernel);

} // namespace attnc::gpu

#endif // ATTNC_CODEGEN_GPU_GPUKERNELTRAITS_H
