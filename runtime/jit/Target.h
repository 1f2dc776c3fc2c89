//===- Target.h - What kernels are carried out by ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_JIT_TARGET_H
#define ATTNC_RUNTIME_JIT_TARGET_H

#include "runtime/jit/Executable.h"
#include "runtime/jit/Session.h"
#include <memory>

namespace attnc::jit {

/// Something that carries kernels out. A new one is a new row of the table in Target.cpp.
struct Target {
  llvm::StringLiteral name;
  /// One line for people.
  llvm::StringLiteral description;
  /// Why it cannot be used on this machine; empty where it can.
  std::string (*whyUnavailable)();
  /// Makes `kernel` ready to run. The session outlives what it gives.
  runtime::Result<std::unique_ptr<Executable>> (*load)(Session &session, const attn::KernelFunction &kernel);
};

/// All targets, in the order in which "auto" tries them.
llvm::ArrayRef<Target> getTargets();

/// The target called `name`, or the first that can be used for "auto". An error names what there is, or why it cannot
/// be used here.
runtime::Result<const Target *> findTarget(llvm::StringRef name);

} // namespace attnc::jit

#endif // ATTNC_RUNTIME_JIT_TARGET_H
