//===- SpecDiagnostics.h - Faults of a spec, shown safely -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// MLIR's own handler prints source lines whole and as they are, and opens any file that a `loc("...")` names. A spec
// comes from strangers: its lines are cut, its control characters are spelled out, and no file but the spec is read.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_JIT_SPECDIAGNOSTICS_H
#define ATTNC_RUNTIME_JIT_SPECDIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace attnc::jit {

/// The most bytes of a source line, and of a message, that are shown.
inline constexpr size_t longestLineShown = 200, longestMessage = 2000;

/// `text` for a terminal: control characters but newlines and tabs, and bytes that are not UTF-8, as `\xNN`; what is
/// past `limit` bytes as "...".
std::string makePrintable(llvm::StringRef text, size_t limit = longestMessage);

/// Shows diagnostics of `context` as places in the one buffer of `sources`, on `os`, while it lives.
class SpecDiagnostics {
public:
  SpecDiagnostics(const llvm::SourceMgr &sources, mlir::MLIRContext *context, llvm::raw_ostream &os);

  /// Shows `message` at byte `offset` of the buffer.
  void show(size_t offset, llvm::SourceMgr::DiagKind kind, const llvm::Twine &message) const;

  /// Shows `message` at `location`, which need not be a place in the buffer.
  void show(mlir::Location location, llvm::SourceMgr::DiagKind kind, const llvm::Twine &message) const;

private:
  /// The text of the spec, and its name.
  const llvm::MemoryBuffer &buffer() const { return *sources.getMemoryBuffer(sources.getMainFileID()); }

  const llvm::SourceMgr &sources;
  llvm::raw_ostream &os;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace attnc::jit

#endif // ATTNC_RUNTIME_JIT_SPECDIAGNOSTICS_H
