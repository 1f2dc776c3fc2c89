//===- CompiledSpec.h - A spec that is ready to run -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_TEST_CONFORMANCE_COMPILEDSPEC_H
#define ATTNC_TEST_CONFORMANCE_COMPILEDSPEC_H

#include "runtime/jit/LoadedKernel.h"
#include "runtime/jit/Session.h"

namespace attnc::conformance {

/// Compiles `text` for `target`, a name that `jit::parseTargetAttr` takes, and drops what comes of it. The error holds
/// the diagnostics. What costs time is an error too: warnings of the assembler, and registers that it spills.
image::Status compileAlone(const std::string &text, llvm::StringRef target);

/// The same, where only faults are errors; with `backward`, of its backward.
image::Status compileOnly(const std::string &text, llvm::StringRef target, bool backward = false);

/// A spec and its kernel on one target. One compilation serves all sizes.
class CompiledSpec {
public:
  /// Compiles `text` for `target`, or with `backward` its backward. The error holds the diagnostics.
  static image::Result<std::unique_ptr<CompiledSpec>> compile(const std::string &text, llvm::StringRef target,
                                                              bool backward = false);

  /// Compiles `text` for this CPU with every occurrence of the pass `pass` deleted from the pipelines.
  static image::Result<std::unique_ptr<CompiledSpec>> compileWithoutPass(const std::string &text, llvm::StringRef pass);

  /// What the spec asks of its callers.
  const attn::KernelFunction &kernel() const { return *function; }

  /// The kernel.
  jit::Executable &executable() { return *loaded; }

  /// Whether two runs have the same bits in result `number`. On GPUs gradients of queries need not, where the spec does
  /// not ask for it: they may be added up in any order.
  bool hasSameBits(size_t number) const;

  /// The schedule that the compiler chose for so many queries.
  image::Result<attn::ScheduleAttr> scheduleFor(int64_t queries);

  /// Runs the kernel; an error holds the diagnostics, if there are any.
  image::Status run(image::Span<const runtime::ArgValue> inputs, image::Span<const runtime::Tensor> outputs);

  /// `error` with the diagnostics so far.
  image::Error explain(image::Error error) const { return {diagnostics + error.message}; }

private:
  /// A spec that is open, and neither compiled nor loaded.
  static image::Result<std::unique_ptr<CompiledSpec>> open(const std::string &text);

  std::string diagnostics;
  llvm::raw_string_ostream stream{diagnostics};
  jit::Session session{stream};
  std::optional<attn::KernelFunction> function;
  bool isForGpu = false;
  std::unique_ptr<jit::Executable> loaded;
};

} // namespace attnc::conformance

#endif // ATTNC_TEST_CONFORMANCE_COMPILEDSPEC_H
