//===- CachedCompile.h - Kernels that are compiled once ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// What a kernel's image depends on, as keys of a cache: the function, the machine, the compiler. Nothing else does:
// sizes that are open and arguments are data of the launch.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_ENGINE_CACHEDCOMPILE_H
#define ATTNC_RUNTIME_ENGINE_CACHEDCOMPILE_H

#include "runtime/cache/CacheKey.h"
#include "runtime/cache/KernelCache.h"
#include "runtime/jit/Compile.h"

namespace attnc::engine {

/// A digest of what makes code for `target`: this build of the compiler, and the tools that it calls.
cache::Digest getBuild(mlir::Attribute target);

/// The key of `kernel` for `target`, as `jit::compileToImage` takes them. How a spec is written does not enter it:
/// comments, names of values and places are no part of the function, and its schedules are.
cache::Digest getKey(const attn::KernelFunction &kernel, mlir::Attribute target);

/// Compiles `kernel` as `jit::compileToImage` does, and enters in the image by what.
image::Result<image::KernelImage> compile(jit::Session &session, const attn::KernelFunction &kernel,
                                          mlir::Attribute target);

/// The image of `kernel` from `cache`, or compiled into it. A fault is `reported()`.
image::Result<cache::CachedImage> compileCached(jit::Session &session, const attn::KernelFunction &kernel,
                                                mlir::Attribute target, cache::KernelCache &cache);

/// Compiles `kernel`, whatever `cache` holds, and keeps what comes of it there.
image::Result<image::KernelImage> compileInto(cache::KernelCache &cache, jit::Session &session,
                                              const attn::KernelFunction &kernel, mlir::Attribute target);

} // namespace attnc::engine

#endif // ATTNC_RUNTIME_ENGINE_CACHEDCOMPILE_H
