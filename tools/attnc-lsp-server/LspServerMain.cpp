//===- LspServerMain.cpp - The language server ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "tools/attnc-main/Tools.h"

int attnc::tools::lspServerMain(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
