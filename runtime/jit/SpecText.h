//===- SpecText.h - The text of a spec, before it is parsed -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// MLIR's parser recurses into what is nested, and reads a file to its end. What a stranger may hand it is limited here,
// in one pass over the text.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_JIT_SPECTEXT_H
#define ATTNC_RUNTIME_JIT_SPECTEXT_H

#include "codegen/image/Error.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <optional>
#include <string>

namespace attnc::jit {

/// The most bytes that a spec may have.
inline constexpr size_t longestSpec = size_t(1) << 22;

/// The most brackets that may be open at once, those of aliases that are used within them counted in.
inline constexpr unsigned deepestNesting = 64;

/// The most characters that a number or a name may have.
inline constexpr size_t longestWord = 1024;

/// Why a text is no spec, and the byte at which that shows.
struct TextFault {
  size_t offset;
  std::string message;
};

/// Reads the spec at `path`; "-" is standard input. A pipe is read once somebody writes to it; one that nobody opens
/// for some seconds is an error, as is more than `longestSpec` bytes, of which no more are read.
image::Result<std::unique_ptr<llvm::MemoryBuffer>> readSpec(llvm::StringRef path);

/// What keeps `text` from being parsed: bytes that are not UTF-8 text, brackets, aliases or words beyond the limits,
/// and affine maps, whose expressions recurse without a bracket and which no spec needs.
std::optional<TextFault> findTextFault(llvm::StringRef text);

} // namespace attnc::jit

#endif // ATTNC_RUNTIME_JIT_SPECTEXT_H
