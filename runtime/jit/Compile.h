//===- Compile.h - From a kernel of a spec to its image ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_JIT_COMPILE_H
#define ATTNC_RUNTIME_JIT_COMPILE_H

#include "codegen/image/KernelImage.h"
#include "runtime/jit/CompileTarget.h"
#include "runtime/jit/Session.h"

namespace attnc::jit {

/// Whether `name` is a stage on the way from a spec to an image of some target. All have "attn" (decided what: expanded
/// sugar, bounds, schedule), "tile" (decided how: tile programs) and "image" (the serialized `image::KernelImage`);
/// backends add theirs between the last two.
bool isStage(llvm::StringRef name);

/// All stages of all backends, each once.
llvm::SmallVector<target::Stage> getStages();

/// The names of all stages, for messages.
std::string getStageNames();

/// Whether what a kernel is at `stage` is bytes, and no text.
bool isBinary(llvm::StringRef stage);

// Below, `target` is what to compile for, as `parseTargetAttr` gives it; this CPU where it is not given.

/// A module that holds a copy of `kernel`'s function alone, for `target`, after the passes that decide what. The spec
/// stays as it is. A fault is `reported()`.
image::Result<mlir::OwningOpRef<mlir::ModuleOp>> lowerToAttn(Session &session, const attn::KernelFunction &kernel,
                                                             mlir::Attribute target = {});

/// What `kernel` is at `stage`, as text or bytes. A stage that `target` does not have is an error.
image::Result<std::string> compileToStage(Session &session, const attn::KernelFunction &kernel, llvm::StringRef stage,
                                          mlir::Attribute target = {});

/// What the runtime must know of `kernel` compiled for `target`, without code: arguments, grids, scratch memory,
/// threads.
image::Result<image::KernelImage> describeKernel(Session &session, const attn::KernelFunction &kernel,
                                                 mlir::Attribute target = {});

/// Compiles `kernel` for `target`.
image::Result<image::KernelImage> compileToImage(Session &session, const attn::KernelFunction &kernel,
                                                 mlir::Attribute target = {});

/// The same with `source`, a text by hand, in the place of what the compiler would print of `kernel`.
image::Result<image::KernelImage> compileSource(Session &session, const attn::KernelFunction &kernel,
                                                const target::SourceFile &source, mlir::Attribute target);

} // namespace attnc::jit

#endif // ATTNC_RUNTIME_JIT_COMPILE_H
