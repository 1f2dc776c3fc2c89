//===- CommandLine.cpp - Options of attnc's commands ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "tools/attnc/CommandLine.h"
#include "runtime/jit/SpecDiagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <limits>

using namespace attnc;
using namespace attnc::cli;
using namespace llvm;
using llvm::opt::DefaultVis;
using llvm::opt::InputArgList;

namespace {

#define OPTTABLE_STR_TABLE_CODE
#include "tools/attnc/Options.inc"
#undef OPTTABLE_STR_TABLE_CODE

#define OPTTABLE_PREFIXES_TABLE_CODE
#include "tools/attnc/Options.inc"
#undef OPTTABLE_PREFIXES_TABLE_CODE

constexpr opt::OptTable::Info optionInfos[] = {
#define OPTION(...) LLVM_CONSTRUCT_OPT_INFO(__VA_ARGS__),
#include "tools/attnc/Options.inc"
#undef OPTION
};

/// The options of all commands.
class Options : public opt::GenericOptTable {
public:
  Options() : GenericOptTable(OptionStrTable, OptionPrefixesTable, optionInfos) {}
};

} // namespace

std::string cli::count(size_t number, StringRef what) {
  return std::to_string(number) + ' ' + what.str() + (number == 1 ? "" : "s");
}

/// `text` with the beginning of each word only, as of an argument that is no word at all.
static std::string shortenWords(StringRef text) {
  std::string shortened;
  size_t length = 0;
  for (char c : text) {
    length = c == ' ' || c == '\n' ? 0 : length + 1;
    if (length <= jit::longestLineShown)
      shortened += c;
    else if (length == jit::longestLineShown + 1)
      shortened += "...";
  }
  return shortened;
}

ExitCode cli::fail(const Twine &message) {
  std::string text = message.str();
  if (!text.empty())
    errs() << "attnc: error: " << jit::makePrintable(shortenWords(text)) << '\n';
  return ExitCode::BadUse;
}

StringRef cli::findNearest(StringRef name, ArrayRef<StringRef> candidates) {
  StringRef best;
  unsigned bestDistance = static_cast<unsigned>(name.size()) / 3 + 2;
  for (StringRef candidate : candidates)
    if (unsigned distance = name.edit_distance(candidate, true, bestDistance); distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  return best;
}

/// Prints the options of `command`, one a line.
static void printOptions(const Options &options, const Command &command, raw_ostream &os) {
  constexpr unsigned column = 30;
  os << "Options:\n";
  for (unsigned id = 1; id <= options.getNumOptions(); ++id) {
    opt::Option option = options.getOption(id);
    const char *help = options.getOptionHelpText(id);
    if (!help || !option.hasVisibilityFlag(command.visibility))
      continue;
    std::string left = "  " + option.getPrefixedName().str();
    if (const char *metaVar = options.getOptionMetaVar(id))
      left += std::string(" ") + metaVar;
    os << left;
    if (left.size() + 2 > column)
      os << '\n' << std::string(column, ' ');
    else
      os.indent(column - static_cast<unsigned>(left.size()));
    os << help << '\n';
  }
}

/// Prints the verbs of `command`.
static void printVerbs(const Command &command, raw_ostream &os) {
  os << "Verbs:\n";
  for (const Command &verb : command.getVerbs())
    os << "  " << left_justify(verb.name.drop_front(command.name.size() + 1), 9) << ' ' << verb.summary << '\n';
  os << '\n';
}

void cli::printCommandHelp(const Command &command, raw_ostream &os) {
  os << "Usage: attnc " << command.name << ' ' << command.usage << "\n\n" << command.description << '\n';
  if (command.describe) {
    command.describe(os);
    os << '\n';
  }
  if (command.getVerbs)
    printVerbs(command, os);
  printOptions(Options(), command, os);
  os << "\nExamples:\n" << command.examples;
}

const Command *cli::findVerb(const Command &command, StringRef word) {
  if (command.getVerbs)
    for (const Command &verb : command.getVerbs())
      if (verb.name == (command.name + " " + word).str())
        return &verb;
  return nullptr;
}

/// The error for a verb that `command` does not have.
static ExitCode failUnknownVerb(const Command &command, StringRef word) {
  SmallVector<StringRef> names;
  for (const Command &verb : command.getVerbs())
    names.push_back(verb.name.drop_front(command.name.size() + 1));
  StringRef nearest = findNearest(word, names);
  return fail("'attnc " + command.name + "' does not know '" + word + "'" +
              (nearest.empty() ? "; it knows " + join(names, ", ") : ", did you mean '" + nearest.str() + "'?"));
}

ExitCode cli::runCommand(const Command &command, ArrayRef<const char *> argv) {
  if (command.getVerbs && !argv.empty() && !StringRef(argv.front()).starts_with("-")) {
    const Command *verb = findVerb(command, argv.front());
    return verb ? runCommand(*verb, argv.drop_front()) : failUnknownVerb(command, argv.front());
  }
  Options options;
  unsigned missingIndex = 0, missingCount = 0;
  opt::Visibility visible(command.visibility);
  InputArgList args = options.ParseArgs(argv, missingIndex, missingCount, visible);
  std::string hint = "; see 'attnc " + command.name.str() + " --help'";

  if (args.hasArg(OPT_help)) {
    printCommandHelp(command, outs());
    return ExitCode::Success;
  }
  if (missingCount)
    return fail("option '" + Twine(args.getArgString(missingIndex)) + "' expects a value" + hint);
  if (opt::Arg *unknown = args.getLastArg(OPT_UNKNOWN)) {
    std::string written = unknown->getAsString(args), nearest;
    bool close = options.findNearest(written, nearest, visible) <= 2;
    return fail("unknown option '" + written + "'" + (close ? ", did you mean '" + nearest + "'?" : hint));
  }
  std::vector<std::string> inputs = args.getAllArgValues(OPT_INPUT);
  if (!command.takes.empty() && inputs.empty())
    return fail("expected a " + command.takes + hint);
  if (inputs.size() > (command.takes.empty() ? 0 : 1))
    return fail("unexpected argument '" + inputs.back() + "'" + hint);
  if (!command.run)
    return fail("expected what to do" + hint);
  return command.run(args);
}

image::Result<int64_t> cli::getInteger(const InputArgList &args, OptionId option, int64_t fallback, int64_t least) {
  const opt::Arg *arg = args.getLastArg(option);
  if (!arg)
    return fallback;
  StringRef text = arg->getValue();
  int64_t value = 0;
  bool isNumber = !text.getAsInteger(10, value);
  if (!isNumber || value < least) {
    bool isTooLarge = !isNumber && !text.empty() && llvm::all_of(text, llvm::isDigit);
    return image::Error{"option '" + arg->getOption().getPrefixedName().str() + "': expected an integer of at " +
                        (isTooLarge ? "most " + std::to_string(std::numeric_limits<int64_t>::max())
                                    : "least " + std::to_string(least)) +
                        ", got '" + text.str() + "'"};
  }
  return value;
}

image::Result<double> cli::getNumber(const InputArgList &args, OptionId option, double fallback) {
  const opt::Arg *arg = args.getLastArg(option);
  if (!arg)
    return fallback;
  double value = 0;
  if (StringRef(arg->getValue()).getAsDouble(value) || !std::isfinite(value))
    return image::Error{"option '" + arg->getOption().getPrefixedName().str() + "': expected a number, got '" +
                        arg->getValue() + "'"};
  return value;
}
