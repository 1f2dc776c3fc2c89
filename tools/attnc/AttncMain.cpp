//===- AttncMain.cpp - The commands of attnc --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "tools/attnc-main/Tools.h"
#include "tools/attnc/CommandLine.h"
#include "tools/attnc/Commands.h"
#include "tools/attnc/OutputFile.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Signals.h"
#include <unistd.h>

using namespace attnc::cli;
using llvm::StringRef;

static void printHelp(llvm::raw_ostream &os) {
  os << "attnc compiles attention kernels: you write what one variant computes, it finds the tiles, bounds and "
        "schedule.\n\n"
        "Usage: attnc COMMAND [options]\n\nCommands:\n";
  for (const Command &command : getCommands())
    os << "  " << llvm::left_justify(command.name, 9) << ' ' << command.summary << '\n';
  os << "  help      Show the page of a command\n\n"
        "Start here:\n"
        "  attnc verify llama3.mlir --shape B=1,Sq=256,Sk=256     is my spec right on this machine?\n"
        "  attnc explain mistral.mlir --shape B=1,Sq=8192,Sk=8192 what did the compiler decide, and why?\n"
        "  attnc help verify                                      how do I use a command?\n\n"
        "A spec is an MLIR file in the 'attn' dialect; docs/examples holds one for each well-known model.\n"
        "Exit status: 0 all went well, 1 a result was judged wrong, 2 the command could not be carried out.\n";
}

static void printVersion(llvm::raw_ostream &os) { os << "attnc " ATTNC_VERSION " (LLVM " LLVM_VERSION_STRING ")\n"; }

/// The command called `name`, or null.
static const Command *findCommand(StringRef name) {
  for (const Command &command : getCommands())
    if (command.name == name)
      return &command;
  return nullptr;
}

/// The error for a command that does not exist.
static ExitCode failUnknown(StringRef name) {
  llvm::SmallVector<StringRef> names{"help", "--help", "--version"};
  for (const Command &command : getCommands())
    names.push_back(command.name);
  StringRef nearest = findNearest(name, names);
  return fail("unknown " + llvm::Twine(name.starts_with("-") ? "option" : "command") + " '" + name + "'" +
              (nearest.empty() ? "; see 'attnc --help'" : ", did you mean '" + nearest.str() + "'?"));
}

/// Does what the command line says.
static int run(llvm::ArrayRef<const char *> args) {
  llvm::outs().enable_colors(llvm::outs().has_colors());
  if (args.empty()) {
    printHelp(llvm::errs());
    return ExitCode::BadUse;
  }
  StringRef name = args.consume_front();
  if (name == "--version") {
    printVersion(llvm::outs());
    return ExitCode::Success;
  }
  if (name == "--help" || name == "-h" || (name == "help" && args.empty())) {
    printHelp(llvm::outs());
    return ExitCode::Success;
  }
  if (name == "help") {
    if (const Command *command = findCommand(args.front())) {
      const Command *verb = args.size() > 1 ? findVerb(*command, args[1]) : nullptr;
      printCommandHelp(verb ? *verb : *command, llvm::outs());
      return ExitCode::Success;
    }
    return failUnknown(args.front());
  }
  if (const Command *command = findCommand(name))
    return runCommand(*command, args);
  return failUnknown(name);
}

/// Ends the program as a command that fails does, where LLVM would end it by a signal.
[[noreturn]] static void failAtOnce(const char *reason, StringRef fault) {
  // Plain writes: memory may be what is missing.
  for (StringRef part : {StringRef("attnc: error: "), StringRef(reason), fault, StringRef("\n")})
    if (::write(STDERR_FILENO, part.data(), part.size()) < 0)
      break;
  llvm::sys::RunInterruptHandlers();
  ::_exit(ExitCode::BadUse);
}

int attnc::tools::attncMain(int argc, char **argv) {
  prepareStandardStreams();
  llvm::install_bad_alloc_error_handler(
      [](void *, const char *reason, bool) { failAtOnce(reason, ": there is not enough memory"); });
  llvm::install_fatal_error_handler(
      [](void *, const char *reason, bool) { failAtOnce(reason, "; this is a fault of attnc"); });
  int code = run(llvm::ArrayRef<const char *>(argv + 1, argv + std::max(argc, 1)));
  if (image::Status status = flushStandardOutput(); !status)
    code = fail(status.takeError());
  // What standard error refuses has nowhere to be told.
  llvm::errs().clear_error();
  return code;
}
