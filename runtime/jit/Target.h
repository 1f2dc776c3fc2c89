//===- Target.h - What kernels are carried out by ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_JIT_TARGET_H
#define ATTNC_RUNTIME_JIT_TARGET_H

#include "runtime/jit/Compile.h"
#include "runtime/jit/Executable.h"
#include "runtime/jit/Session.h"
#include <memory>

namespace attnc::jit {

/// Where images of kernels come from: `compileToImage`, or a cache that stands before it.
using ImageSource = llvm::function_ref<image::Result<image::KernelImage>(
    Session &session, const attn::KernelFunction &kernel, mlir::Attribute target)>;

/// Something that carries kernels out. A new one is a new row of the table in Target.cpp.
struct Target {
  llvm::StringLiteral name;
  /// What code is made for, where that is not the machine at hand: "sm_90a", the end of the name.
  llvm::StringLiteral architecture;
  /// One line for people.
  llvm::StringLiteral description;
  /// Why code of `architecture` cannot run on this machine; empty where it can.
  std::string (*explain)(llvm::StringRef architecture);
  /// Compiles, by what is given, and loads.
  image::Result<std::unique_ptr<Executable>> (*make)(Session &session, const attn::KernelFunction &kernel,
                                                     llvm::StringRef architecture, ImageSource source);

  /// Why it cannot be used on this machine; empty where it can.
  std::string whyUnavailable() const { return explain(architecture); }

  /// Makes `kernel` ready to run. The session outlives what it gives. Images come from `source`, where the target has
  /// some.
  image::Result<std::unique_ptr<Executable>> load(Session &session, const attn::KernelFunction &kernel,
                                                  ImageSource source = compileToImage) const {
    return make(session, kernel, architecture, source);
  }
};

/// What a target is looked for: to run kernels, or only to compile them, which needs no machine that runs them.
enum class Use { Run, Compile };

/// All targets, in the order in which "auto" tries them.
llvm::ArrayRef<Target> getTargets();

/// The target called `name`, or the first that can be used here for "auto". An error names what there is, or why it
/// cannot run kernels here.
image::Result<const Target *> findTarget(llvm::StringRef name, Use use = Use::Run);

} // namespace attnc::jit

#endif // ATTNC_RUNTIME_JIT_TARGET_H
