//===- Compile.h - From a kernel of a spec to its image ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_JIT_COMPILE_H
#define ATTNC_RUNTIME_JIT_COMPILE_H

#include "runtime/KernelImage.h"
#include "runtime/jit/CompileTarget.h"
#include "runtime/jit/Session.h"
#include <optional>

namespace attnc::jit {

/// A stop on the way from spec to image.
enum class Stage {
  Attn,     ///< decided what: expanded sugar, bounds, schedule
  Tile,     ///< decided how: tile programs
  Nvvm,     ///< of a GPU: kernels in the LLVM and NVVM dialects
  Llvm,     ///< optimised LLVM IR
  Assembly, ///< of a CPU
  Ptx,      ///< of a GPU
  Cubin,    ///< of a GPU: machine code
  Sass,     ///< of a GPU: machine code as text
  Image,    ///< the serialized `runtime::KernelImage`
};

/// The stage called `name` ("attn", "tile", "nvvm", "llvm", "asm", "ptx", "cubin", "sass", "image"), or nothing.
std::optional<Stage> parseStage(llvm::StringRef name);

/// The names of all stages, for messages.
std::string getStageNames();

/// Whether what a kernel is at `stage` is bytes, and no text.
bool isBinary(Stage stage);

// Below, `target` is what to compile for, as `parseTargetAttr` gives it; this CPU where it is not given.

/// A module that holds a copy of `kernel`'s function alone, for `target`, after the passes that decide what. The spec
/// stays as it is. A fault is `reported()`.
runtime::Result<mlir::OwningOpRef<mlir::ModuleOp>> lowerToAttn(Session &session, const attn::KernelFunction &kernel,
                                                               mlir::Attribute target = {});

/// What `kernel` is at `stage`, as text or bytes. A stage that `target` does not have is an error.
runtime::Result<std::string> compileToStage(Session &session, const attn::KernelFunction &kernel, Stage stage,
                                            mlir::Attribute target = {});

/// What the runtime must know of `kernel` compiled for `target`, without code: arguments, grids, scratch memory,
/// threads.
runtime::Result<runtime::KernelImage> describeKernel(Session &session, const attn::KernelFunction &kernel,
                                                     mlir::Attribute target = {});

/// Compiles `kernel` for `target`. For a GPU, the image holds machine code where something here assembles it, else PTX,
/// which ends with a zero and which the driver assembles. What costs time by the assembler's word is a warning. With
/// `asPtx`, it holds PTX in any case: machine code runs on devices of one major version alone, PTX on later ones too.
///
/// PTX that an assembler refuses is left in a file where the environment has `ATTNC_KEEP_PTX`.
runtime::Result<runtime::KernelImage> compileToImage(Session &session, const attn::KernelFunction &kernel,
                                                     mlir::Attribute target = {}, bool asPtx = false);

} // namespace attnc::jit

#endif // ATTNC_RUNTIME_JIT_COMPILE_H
