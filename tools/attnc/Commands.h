//===- Commands.h - The commands of attnc -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Each is one file: its page of help, and what it does.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_TOOLS_ATTNC_COMMANDS_H
#define ATTNC_TOOLS_ATTNC_COMMANDS_H

#include "tools/attnc/CommandLine.h"

namespace attnc::cli {

extern const Command compileCommand;
extern const Command runCommandEntry;
extern const Command verifyCommand;
extern const Command explainCommand;
extern const Command benchCommand;
extern const Command targetsCommand;
extern const Command cacheCommand;
extern const Command tuneCommand;
extern const Command recordsCommand;
extern const Command schedulesCommand;

} // namespace attnc::cli

#endif // ATTNC_TOOLS_ATTNC_COMMANDS_H
