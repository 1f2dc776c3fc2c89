//===- CpuLaunch.h - Running a kernel on the CPU ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Runs the functions of a kernel, in order, over the tiles of their grids.
//
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_CPULAUNCH_H
#define ATTNC_RUNTIME_CPULAUNCH_H

#include "runtime/Arguments.h"
#include "runtime/ThreadPool.h"

namespace attnc::runtime {

/// A function of CPU object code: computes tile `tile` of the grid. `arguments`
/// is the argument block, followed for each workspace of an entry by five slots: its
/// address, rows, columns, and their strides. `scratch` is memory of the worker's own, aligned to
/// 64 bytes, of the entry's `scratchBytes`, with unspecified content. An entry
/// that asks for none must not look at `scratch`.
using CpuEntry = void (*)(const int64_t *arguments, int64_t tile, void *scratch);

/// Runs `entries`, the addresses of `image.entries` in the same order, on
/// `arguments`; each runs all its tiles before the next starts. Memory beyond
/// the arguments is the largest `scratchBytes` for each worker, and stays with
/// the pool (`ThreadPool::peakScratchBytes`), and the workspace, which does not.
/// Fails, with nothing run, when a grid cannot be computed or the memory is not to
/// be had.
image::Status runCpu(const image::KernelImage &image, image::Span<const CpuEntry> entries,
                     const BoundArguments &arguments, ThreadPool &pool);

} // namespace attnc::runtime

#endif // ATTNC_RUNTIME_CPULAUNCH_H
