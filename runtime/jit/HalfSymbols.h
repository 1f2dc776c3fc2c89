//===- HalfSymbols.h - Conversions that compiled code may call --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// On a CPU without instructions for them, LLVM converts 16-bit floats by calls into compiler-rt, which is not part of
// the process. These are the same functions.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_JIT_HALFSYMBOLS_H
#define ATTNC_RUNTIME_JIT_HALFSYMBOLS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace attnc::jit {

/// A function by the name that compiled code calls it.
struct HalfSymbol {
  llvm::StringLiteral name;
  void *address;
};

/// All of them.
llvm::ArrayRef<HalfSymbol> getHalfSymbols();

} // namespace attnc::jit

#endif // ATTNC_RUNTIME_JIT_HALFSYMBOLS_H
