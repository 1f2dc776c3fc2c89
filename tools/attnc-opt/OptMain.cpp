//===- OptMain.cpp - Running passes on IR -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "tools/attnc-main/Tools.h"

int attnc::tools::optMain(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  registerAllPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "The optimizer driver of attnc\n", registry));
}
