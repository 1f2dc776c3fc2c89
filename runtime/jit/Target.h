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

/// What a target makes of a kernel.
enum class Compiles {
  Code,    ///< code of its own, which is kept in caches
  Program, ///< the program that another kind of machine would carry out
  Nothing, ///< it carries specs out as they are
};

/// Something that carries kernels out. Each kind is entered by `registerTarget`, attnc's own next to what launches
/// them.
struct Target {
  llvm::StringLiteral name; ///< "cpu", "nvptx:sm_90a": a kind, and what code is made for where that is asked
  /// One line for people.
  llvm::StringLiteral description;
  /// Why code for `target` cannot run on this machine; empty where it can.
  std::string (*explain)(const Target &target);
  /// Compiles, by what is given, and loads.
  image::Result<std::unique_ptr<Executable>> (*make)(const Target &target, Session &session,
                                                     const attn::KernelFunction &kernel, ImageSource source);
  Compiles compiles = Compiles::Code;
  /// The kind of machine whose program it carries out, where it has no code of its own.
  llvm::StringLiteral programsOf = "";
  /// Whether a device runs kernels, and not the threads that launch them.
  bool isDevice = false;

  /// The first part of `name`.
  llvm::StringRef getKind() const { return llvm::StringRef(name).split(':').first; }
  /// What code is made for, where that is not the machine at hand: "sm_90a", the end of the name.
  llvm::StringRef getArchitecture() const { return llvm::StringRef(name).split(':').second; }

  /// Why it cannot be used on this machine; empty where it can.
  std::string whyUnavailable() const { return explain(*this); }

  /// Makes `kernel` ready to run. The session outlives what it gives. Images come from `source`, where the target has
  /// some.
  image::Result<std::unique_ptr<Executable>> load(Session &session, const attn::KernelFunction &kernel,
                                                  ImageSource source = compileToImage) const {
    return make(*this, session, kernel, source);
  }
};

/// What `Target::explain` is of targets that run everywhere.
std::string explainNothing(const Target &target);

/// Adds a target, which must live as long as the program. Not while others are looked for.
void registerTarget(const Target &target);

/// What a target is looked for: to run kernels, or only to compile them, which needs no machine that runs them.
enum class Use { Run, Compile };

/// All targets, in the order in which "auto" tries them: attnc's own, and those that `registerTarget` has added.
llvm::ArrayRef<const Target *> getTargets();

/// The first target of the kind that `name` names, or null: that of "nvptx:sm_86" is "nvptx".
const Target *findKind(llvm::StringRef name);

/// The machine that kernels of the target called `name` are compiled for. Where nothing is compiled, it is the host:
/// what kernels would be there can be shown in their place. An error names what there is.
image::Result<mlir::Attribute> findMachine(mlir::MLIRContext *context, llvm::StringRef name);

/// The target called `name`, or the first that can be used here for "auto". An error names what there is, or why it
/// cannot run kernels here.
image::Result<const Target *> findTarget(llvm::StringRef name, Use use = Use::Run);

} // namespace attnc::jit

#endif // ATTNC_RUNTIME_JIT_TARGET_H
