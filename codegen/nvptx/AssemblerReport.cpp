//===- AssemblerReport.cpp - What an assembler says of kernels --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/AssemblerReport.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace attnc::nvptx;
using llvm::StringRef;

/// The number right before `unit` in `line`: 24 in "Used 24 registers" for " registers".
static bool numberBefore(StringRef line, StringRef unit, int64_t &number) {
  size_t end = line.find(unit);
  if (end == StringRef::npos)
    return false;
  StringRef head = line.take_front(end);
  StringRef digits = head.take_back(head.size() - (head.find_last_not_of("0123456789") + 1));
  return !digits.getAsInteger(10, number);
}

static void readNumber(StringRef line, StringRef unit, int64_t &number) { (void)numberBefore(line, unit, number); }

static void readNumber(StringRef line, StringRef unit, int &number) {
  int64_t wide = 0;
  if (numberBefore(line, unit, wide))
    number = static_cast<int>(wide);
}

/// What stands between the first two quotes of `line`.
static StringRef quoted(StringRef line) { return line.split('\'').second.split('\'').first; }

const EntryReport *AssemblerReport::find(StringRef name) const {
  auto found = llvm::find_if(entries, [&](const EntryReport &entry) { return entry.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

std::vector<AssemblerWarning> AssemblerReport::performanceLosses() const {
  std::vector<AssemblerWarning> losses;
  for (const AssemblerWarning &warning : warnings)
    if (StringRef(warning.text).contains("Performance Loss"))
      losses.push_back(warning);
  return losses;
}

int64_t AssemblerReport::findMostSpilled() const {
  int64_t most = 0;
  for (const EntryReport &entry : entries)
    most = std::max(most, entry.spillStoreBytes);
  return most;
}

/// Enters a line that warns: "ptxas info    : (C7508) Potential ..." or "ptxas warning : ...".
static void readWarning(StringRef line, AssemblerReport &report) {
  size_t open = line.find("(C");
  if (open != StringRef::npos) {
    auto [code, text] = line.drop_front(open + 1).split(')');
    if (code.size() > 1 && llvm::all_of(code.drop_front(), llvm::isDigit)) {
      report.warnings.push_back({code.str(), text.trim().str()});
      return;
    }
  }
  if (size_t at = line.find("warning"); at != StringRef::npos && line.contains(':'))
    report.warnings.push_back({"", line.drop_front(at).split(':').second.trim().str()});
}

AssemblerReport attnc::nvptx::parseAssemblerLog(StringRef log) {
  AssemblerReport report;
  EntryReport *entry = nullptr;
  for (StringRef line : llvm::split(log, '\n')) {
    line = line.rtrim('\r');
    if (line.contains("Compiling entry function")) {
      report.entries.emplace_back();
      entry = &report.entries.back();
      entry->name = quoted(line).str();
    } else if (line.contains("Function properties for")) {
      // Functions that are not kernels have a section of their own; nvJitLink repeats that of kernels in another form.
      StringRef name = line.split("Function properties for ").second.trim(" ':");
      auto found = llvm::find_if(report.entries, [&](const EntryReport &known) { return known.name == name; });
      entry = found == report.entries.end() ? nullptr : &*found;
    } else if (entry && line.contains("bytes stack frame")) {
      readNumber(line, " bytes stack frame", entry->stackBytes);
      readNumber(line, " bytes spill stores", entry->spillStoreBytes);
      readNumber(line, " bytes spill loads", entry->spillLoadBytes);
    } else if (entry && line.contains("Used ")) {
      readNumber(line, " registers", entry->registers);
      readNumber(line, " barriers", entry->barriers);
      readNumber(line, " bytes smem", entry->sharedBytes);
    } else {
      readWarning(line, report);
    }
  }
  return report;
}

std::string attnc::nvptx::toString(const AssemblerReport &report) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const EntryReport &entry : report.entries)
    os << entry.name << ": " << entry.registers << " registers, " << entry.barriers << " barriers, "
       << entry.spillStoreBytes << " bytes of spill stores, " << entry.spillLoadBytes << " bytes of spill loads, "
       << entry.stackBytes << " bytes of stack, " << entry.sharedBytes << " bytes of static shared memory\n";
  for (const AssemblerWarning &warning : report.warnings)
    os << (warning.code.empty() ? "warning" : warning.code) << ": " << warning.text << '\n';
  return text;
}

std::string attnc::nvptx::summarizeAssemblerErrors(StringRef log) {
  std::vector<std::string> errors;
  for (StringRef line : llvm::split(log, '\n')) {
    if (!line.contains("error") && !line.contains("fatal"))
      continue;
    // "ptxas FILE, line 31; error   : Unknown modifier '.xx'"; "ptxas fatal   : Unsupported .version 9.9 ..."
    StringRef place = line.contains(", line ") ? line.split(", line ").second.split(';').first : StringRef();
    StringRef text = line.split(" : ").second.trim().rtrim('.');
    if (text.empty() || text.contains("assembly aborted"))
      continue;
    std::string sentence = text.str();
    sentence[0] = llvm::toLower(sentence[0]);
    errors.push_back(place.empty() ? sentence : "line " + place.str() + ": " + sentence);
  }
  if (errors.empty())
    return log.trim().str();
  size_t more = errors.size() > 4 ? errors.size() - 4 : 0;
  errors.resize(errors.size() - more);
  return llvm::join(errors, "; ") + (more ? "; and " + std::to_string(more) + " more" : "");
}
