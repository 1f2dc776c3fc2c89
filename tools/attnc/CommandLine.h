//===- CommandLine.h - Options of attnc's commands --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The table of Options.td as C++, what a command is, and how one ends.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_TOOLS_ATTNC_COMMANDLINE_H
#define ATTNC_TOOLS_ATTNC_COMMANDLINE_H

#include "codegen/image/Error.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Option/ArgList.h"
#include "llvm/Option/OptTable.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace attnc::cli {

/// Which commands take an option; the names that Options.td uses. Bit 0 is llvm::opt's own.
enum CommandVisibility : unsigned {
  CompileCommand = 1U << 1,
  RunCommand = 1U << 2,
  VerifyCommand = 1U << 3,
  ExplainCommand = 1U << 4,
  BenchCommand = 1U << 5,
  TargetsCommand = 1U << 6,
  CacheCommand = 1U << 7,
  TuneCommand = 1U << 8,
  RecordsCommand = 1U << 9,
  SchedulesCommand = 1U << 10,
};

/// Identifiers of the options.
enum OptionId : unsigned {
  OPT_INVALID = 0, // NOLINT(readability-identifier-naming): named as LLVM's option macros name the rest.
#define OPTION(...) LLVM_MAKE_OPT_ID(__VA_ARGS__),
#include "tools/attnc/Options.inc"
#undef OPTION
};

/// How a command ended; the exit status of the program.
enum ExitCode : int {
  Success = 0,
  Wrong = 1,  ///< a result was judged wrong
  BadUse = 2, ///< a fault of the command line, of a file or of the machine; nothing was written
};

/// One command of the program.
struct Command {
  llvm::StringLiteral name;
  CommandVisibility visibility;
  /// What comes after the name: "SPEC [options]".
  llvm::StringLiteral usage;
  /// One line for the list of commands.
  llvm::StringLiteral summary;
  /// The page that `--help` shows between usage and options.
  llvm::StringLiteral description;
  /// Command lines, each under what it does.
  llvm::StringLiteral examples;
  /// What its one argument is, "spec"; empty where it takes none.
  llvm::StringLiteral takes;
  /// Runs it; null where the word after its name says what to do.
  ExitCode (*run)(const llvm::opt::InputArgList &args);
  /// What that word may be: commands whose names begin with that of this one.
  llvm::ArrayRef<Command> (*getVerbs)() = nullptr;
  /// Prints the rest of the description, where that depends on what targets there are.
  void (*describe)(llvm::raw_ostream &os) = nullptr;
};

/// The verb of `command` that `word` names, or null.
const Command *findVerb(const Command &command, llvm::StringRef word);

/// All commands, in the order of the help page.
llvm::ArrayRef<Command> getCommands();

/// Runs `command` on what follows its name, after it has checked that.
ExitCode runCommand(const Command &command, llvm::ArrayRef<const char *> args);

/// Prints the page of `command`.
void printCommandHelp(const Command &command, llvm::raw_ostream &os);

/// Prints "attnc: error: <message>"; the way in which every command ends that goes wrong. An empty message means that
/// the fault was reported already, in place, by MLIR. What a terminal should not get of it is spelled out.
ExitCode fail(const llvm::Twine &message);

/// The same, for an error of a library.
inline ExitCode fail(const image::Error &error) { return fail(error.message); }

/// "3 kernels", "1 kernel".
std::string count(size_t number, llvm::StringRef what);

/// The value of an option as an integer of at least `least`; `fallback` where it is absent.
image::Result<int64_t> getInteger(const llvm::opt::InputArgList &args, OptionId option, int64_t fallback,
                                  int64_t least);

/// The value of an option as a finite number; `fallback` where it is absent.
image::Result<double> getNumber(const llvm::opt::InputArgList &args, OptionId option, double fallback);

/// The name among `candidates` that `name` is most likely a slip of, or an empty string.
llvm::StringRef findNearest(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> candidates);

} // namespace attnc::cli

#endif // ATTNC_TOOLS_ATTNC_COMMANDLINE_H
