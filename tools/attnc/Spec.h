//===- Spec.h - What commands do with a spec --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_TOOLS_ATTNC_SPEC_H
#define ATTNC_TOOLS_ATTNC_SPEC_H

#include "runtime/jit/RandomInputs.h"
#include "runtime/jit/Session.h"
#include "runtime/jit/Target.h"
#include "runtime/tune/Tuner.h"
#include "tools/attnc/CommandLine.h"

namespace attnc::cli {

/// The spec of a command line, read, and the target chosen for it.
struct Spec {
  std::unique_ptr<jit::Session> session;
  attn::KernelFunction kernel;
  const jit::Target *target = nullptr;
  std::string entry;     ///< the function of the text that `kernel` is, or is the backward of
  bool backward = false; ///< whether it is the backward

  /// Opens what SPEC, --entry, --backward, --schedule, --schedules and --target say.
  static image::Result<Spec> open(const llvm::opt::InputArgList &args);

  /// Opens what SPEC, --entry, --backward, --schedule and --schedules say, without a target to run on.
  static image::Result<Spec> openAlone(const llvm::opt::InputArgList &args);

  /// What a tuner takes of it: `kernel`, a copy of its own, at `shapes`.
  tune::TuneSubject getSubject(attn::KernelFunction &tuned, const jit::Shapes &shapes) const;

  /// The sizes that --shape and --dim give the kernel.
  image::Result<jit::Shapes> resolveShapes(const llvm::opt::InputArgList &args) const;
};

} // namespace attnc::cli

#endif // ATTNC_TOOLS_ATTNC_SPEC_H
