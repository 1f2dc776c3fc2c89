//===- Main.cpp - Entry of the multi-call program ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "tools/attnc-main/Tools.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"

using namespace attnc::tools;

namespace {

/// A tool and the name that calls it.
struct Tool {
  llvm::StringLiteral name;
  int (*main)(int argc, char **argv);
};

/// The tools but `attnc`, which serves every other name.
constexpr Tool namedTools[] = {
    {"attnc-opt", optMain}, {"attnc-lsp-server", lspServerMain}, {"attnc-reduce", reduceMain}};

} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  llvm::StringRef name = llvm::sys::path::stem(argv[0]);
  for (const Tool &tool : namedTools)
    if (name == tool.name)
      return tool.main(argc, argv);
  return attncMain(argc, argv);
}
