//===- Compile.h - From a kernel of a spec to its image ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_JIT_COMPILE_H
#define ATTNC_RUNTIME_JIT_COMPILE_H

#include "runtime/KernelImage.h"
#include "runtime/jit/Session.h"
#include <optional>

namespace attnc::jit {

/// A stop on the way from spec to image.
enum class Stage {
  Attn,     ///< decided what: expanded sugar, bounds, schedule
  Tile,     ///< decided how: tile programs
  Llvm,     ///< optimised LLVM IR
  Assembly, ///< of this machine
  Image,    ///< the serialized `runtime::KernelImage`
};

/// The stage called `name` ("attn", "tile", "llvm", "asm", "image"), or nothing.
std::optional<Stage> parseStage(llvm::StringRef name);

/// A module that holds a copy of `kernel`'s function alone, for this CPU, after the passes that decide what. The spec
/// stays as it is. A fault is `reported()`.
runtime::Result<mlir::OwningOpRef<mlir::ModuleOp>> lowerToAttn(Session &session, const attn::KernelFunction &kernel);

/// What `kernel` is at `stage`, as text, or as bytes for `Stage::Image`.
runtime::Result<std::string> compileToStage(Session &session, const attn::KernelFunction &kernel, Stage stage);

/// What the runtime must know of `kernel` compiled for this CPU, without object code: arguments, grids, scratch memory.
runtime::Result<runtime::KernelImage> describeKernel(Session &session, const attn::KernelFunction &kernel);

/// Compiles `kernel` for this CPU.
runtime::Result<runtime::KernelImage> compileToImage(Session &session, const attn::KernelFunction &kernel);

} // namespace attnc::jit

#endif // ATTNC_RUNTIME_JIT_COMPILE_H
