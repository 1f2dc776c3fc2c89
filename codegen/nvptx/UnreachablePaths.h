//===- UnreachablePaths.h - Paths that are never taken ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_NVPTX_UNREACHABLEPATHS_H
#define ATTNC_CODEGEN_NVPTX_UNREACHABLEPATHS_H

#include "llvm/IR/Function.h"
#include "llvm/IR/PassManager.h"

namespace attnc::nvptx {

/// Removes paths that lead only to a branch on poison or into a loop without an exit. All loops of kernels end, so both
/// are what optimisation leaves of code that never runs: in a stretch of steps that a mask leaves empty, say. Left to
/// the back end, they become endless loops, and ptxas 13.0 crashes on those beside warpgroup products.
class RemoveUnreachablePaths : public llvm::PassInfoMixin<RemoveUnreachablePaths> {
public:
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

} // namespace attnc::nvptx

#endif // ATTNC_CODEGEN_NVPTX_UNREACHABLEPATHS_H
