//===- Tools.h - The tools of the multi-call program ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// All tools are one executable, which looks at the name that it was called by, as LLVM's own driver does: one binary
// with one copy of MLIR instead of four.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_TOOLS_ATTNC_MAIN_TOOLS_H
#define ATTNC_TOOLS_ATTNC_MAIN_TOOLS_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace attnc::tools {

/// `attnc`: compile, run, verify, explain and measure kernels.
int attncMain(int argc, char **argv);

/// `attnc-opt`: run passes on IR, as `mlir-opt` does.
int optMain(int argc, char **argv);

/// `attnc-lsp-server`: the language server for editors.
int lspServerMain(int argc, char **argv);

/// `attnc-reduce`: shrink IR that shows a fault.
int reduceMain(int argc, char **argv);

/// Adds every dialect that the compiler reads, makes or passes on, with the interfaces that their passes need.
void registerAllDialects(mlir::DialectRegistry &registry);

/// Registers every pass and pipeline of the project, and the upstream ones that are useful with them.
void registerAllPasses();

} // namespace attnc::tools

#endif // ATTNC_TOOLS_ATTNC_MAIN_TOOLS_H
