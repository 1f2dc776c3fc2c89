//===- BuildId.h - Which compiler this is -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_ENGINE_BUILDID_H
#define ATTNC_RUNTIME_ENGINE_BUILDID_H

#include "llvm/ADT/StringRef.h"

namespace attnc::engine {

/// The version of attnc, and a digest of its compiler's code and of LLVM's: "0.1.0-1f0c...". Programs and libraries of
/// one build have the same; two builds do if they are the same code.
llvm::StringRef getBuildId();

} // namespace attnc::engine

#endif // ATTNC_RUNTIME_ENGINE_BUILDID_H
