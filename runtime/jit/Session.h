//===- Session.h - A spec and the context it lives in -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_JIT_SESSION_H
#define ATTNC_RUNTIME_JIT_SESSION_H

#include "codegen/image/Error.h"
#include "dialect/attn/KernelFunction.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "runtime/jit/SpecDiagnostics.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

namespace attnc::jit {

/// The error of a function that has reported its fault as a diagnostic: it has no text of its own.
inline image::Error reported() { return {}; }

/// Owns an MLIR context with the dialects of a spec, and the one spec that is open in it. Everything that is compiled
/// from the spec lives in the same context and ends with it.
///
/// A session is for one thread at a time.
class Session {
public:
  /// A session that renders diagnostics to `diagnostics`, in MLIR's form: place, message, the spec's own line and a
  /// caret.
  explicit Session(llvm::raw_ostream &diagnostics = llvm::errs());
  ~Session();

  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  /// Opens the spec in the file at `path`; "-" is standard input. A file that cannot be read is an error with a
  /// message; a spec at fault is `reported()`, be it that it is no text (SpecText.h), that MLIR's parser or a verifier
  /// refuses it, or that it holds what a spec may not (SpecCheck.h).
  image::Status openFile(llvm::StringRef path);

  /// Opens the spec in `text`; diagnostics call it `name`.
  image::Status openText(llvm::StringRef text, llvm::StringRef name);

  /// Reads function `entry`, or the only public one, as a kernel. A fault is `reported()`.
  image::Result<attn::KernelFunction> findKernel(llvm::StringRef entry = "");

  /// The backward of `forward`, a kernel of the open spec, written into the spec as a function of its own. A kernel
  /// that has none is `reported()`.
  image::Result<attn::KernelFunction> deriveBackward(const attn::KernelFunction &forward);

  /// The text of the open spec.
  llvm::StringRef text() const;

  /// The open spec.
  mlir::ModuleOp spec() { return *module; }

  /// The context that owns all IR of the session.
  mlir::MLIRContext &context() { return mlirContext; }

private:
  /// Parses the one buffer of `sources`.
  image::Status parse(std::unique_ptr<llvm::MemoryBuffer> buffer);

  mlir::MLIRContext mlirContext;
  llvm::SourceMgr sources;
  llvm::raw_ostream &diagnostics;
  std::unique_ptr<SpecDiagnostics> handler;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace attnc::jit

#endif // ATTNC_RUNTIME_JIT_SESSION_H
