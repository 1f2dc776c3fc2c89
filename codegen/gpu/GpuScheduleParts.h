//===- GpuScheduleParts.h - What schedules on a GPU share -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Used by the schedules of forward and of gradients alone.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_GPU_GPUSCHEDULEPARTS_H
#define ATTNC_CODEGEN_GPU_GPUSCHEDULEPARTS_H

#include "dialect/attn/AttnOps.h"
#include "dialect/tile/TensorBox.h"

namespace attnc::gpu {

using tile::warpgroupRows;
using tile::warpgroupThreads;

/// Rows of a tile that a warpgroup works on where its warps have twice as many as in others, which they may without
/// roles: what a warp loads of a right operand then serves two products.
inline constexpr int64_t wideRows = 2 * warpgroupRows;

/// Bytes that barriers and tile numbers take at most.
inline constexpr int64_t barrierBytes = 1024;

/// Whether boxes and products of warpgroups serve `kernel`: f32 has no such products that are as exact, and boxes of
/// rows in pages are of whole groups of eight.
///
/// Not known here: boxes want strides of whole 16 bytes. Tensors without them are copied by a launch
/// (docs/rationale/strides.md).
bool usesWarpgroups(attn::KernelOpInterface kernel, attn::GpuTargetAttr target);

/// Bytes of keys and values that are worked on together: those of the heads stay in the cache, with room to spare for
/// the rest.
int64_t getL2BytesOfSection(attn::GpuTargetAttr target);
/// The same for a kernel whose tiles come in any order: 0 without a mask, since all tiles then take as long.
int64_t getSectionBytes(attn::KernelOpInterface kernel, attn::GpuTargetAttr target);

/// Whether a warpgroup may work on `rows` rows by `pipeline`.
bool mayHavePanel(attn::PipelineAttr pipeline, int64_t rows);

/// Bytes that a row of `dims` elements of `kernel` takes in shared memory: whole rows of panels
/// (dialect/tile/SharedLayout.h).
int64_t getSharedRowBytes(attn::KernelOpInterface kernel, int64_t dims);
/// The same of the parts of such a row, which is of f32.
int64_t getSharedRowBytesOfParts(int64_t dims);

/// Whether products of `kernel` multiply parts of f32.
bool multipliesParts(attn::KernelOpInterface kernel);

/// Whether as many blocks share a multiprocessor when each takes `after` bytes of shared memory in place of `before`:
/// two if two did, else one. More than two hide little.
bool sharesAsBefore(attn::GpuTargetAttr target, int64_t before, int64_t after);

/// Checks that `target` has the registers that the roles of `pipeline` ask for; an error shows the sum.
mlir::LogicalResult checkRegistersOfRoles(attn::KernelOpInterface kernel, attn::PipelineAttr pipeline,
                                          attn::GpuTargetAttr target);

/// Registers that each thread of a block starts with where so many warpgroups share those of a multiprocessor.
int64_t getRegistersAtStart(attn::GpuTargetAttr target, int64_t warpgroups);

} // namespace attnc::gpu

#endif // ATTNC_CODEGEN_GPU_GPUSCHEDULEPARTS_H
