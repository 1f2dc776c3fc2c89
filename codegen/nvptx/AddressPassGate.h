//===- AddressPassGate.h - Passes that kernels go without -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_NVPTX_ADDRESSPASSGATE_H
#define ATTNC_CODEGEN_NVPTX_ADDRESSPASSGATE_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/OptBisect.h"

namespace attnc::nvptx {

/// Leaves out passes of the back end that look for common parts of addresses, with the searches for common
/// subexpressions after them, and for `freeze`. Kernels with roles have none, whose boxes are found by the copy
/// engine; those of warps have (docs/rationale/compile-time.md). It counts, so that each kernel has one of its own.
class AddressPassGate : public llvm::OptPassGate {
public:
  /// LLVM tells a gate of passes by no more than the names that -opt-bisect shows.
  /// test/unit/codegen/AddressPassGateTest.cpp holds that its back end still has passes that are called so.
  static constexpr llvm::StringLiteral leftOut[] = {"slsr", "nary-reassociate",
                                                    "Canonicalize Freeze Instructions in Loops"};
  static constexpr llvm::StringLiteral search = "early-cse";
  /// Searches for common subexpressions that are left out. The one after them comes after the loops' passes.
  static constexpr int searchesLeftOut = 2;

  bool shouldRunPass(llvm::StringRef name, llvm::StringRef where) const override;
  bool isEnabled() const override { return true; }

private:
  mutable int searches = 0;
};

} // namespace attnc::nvptx

#endif // ATTNC_CODEGEN_NVPTX_ADDRESSPASSGATE_H
