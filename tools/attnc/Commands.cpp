//===- Commands.cpp - The commands of attnc ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "tools/attnc/Commands.h"

using namespace attnc::cli;

llvm::ArrayRef<Command> attnc::cli::getCommands() {
  static const Command commands[] = {compileCommand, runCommandEntry, verifyCommand,    explainCommand, benchCommand,
                                     tuneCommand,    recordsCommand,  schedulesCommand, targetsCommand, cacheCommand};
  return commands;
}
