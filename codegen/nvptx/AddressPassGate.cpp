//===- AddressPassGate.cpp - Passes that kernels go without -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/AddressPassGate.h"
#include "llvm/ADT/STLExtras.h"

using namespace attnc::nvptx;

bool AddressPassGate::shouldRunPass(llvm::StringRef name, llvm::StringRef where) const {
  if (name == search)
    return ++searches > searchesLeftOut;
  return !llvm::is_contained(leftOut, name);
}
