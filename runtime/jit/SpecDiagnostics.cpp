//===- SpecDiagnostics.cpp - Faults of a spec, shown safely -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/jit/SpecDiagnostics.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::jit;
using llvm::SourceMgr;

/// Whether a terminal acts on `character` in place of showing it: U+0080 to U+009F, and what turns the direction of
/// text, by which a line of a spec could pass for another.
static bool isControl(llvm::UTF32 character) {
  return (character >= 0x80 && character < 0xA0) || character == 0x061C || character == 0x200E || character == 0x200F ||
         (character >= 0x202A && character <= 0x202E) || (character >= 0x2066 && character <= 0x2069);
}

/// The length in bytes of the character that `text` begins with, or 0 where a terminal should not get it.
static size_t measureCharacter(StringRef text) {
  auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80)
    return first >= 0x20 && first != 0x7F ? 1 : 0;
  const auto *bytes = reinterpret_cast<const llvm::UTF8 *>(text.data());
  size_t size = llvm::getNumBytesForUTF8(first);
  if (size > text.size() || !llvm::isLegalUTF8Sequence(bytes, bytes + size))
    return 0;
  llvm::UTF32 character = 0, *end = &character;
  if (llvm::ConvertUTF8toUTF32(&bytes, bytes + size, &end, end + 1, llvm::strictConversion) != llvm::conversionOK)
    return 0;
  return isControl(character) ? 0 : size;
}

std::string jit::makePrintable(StringRef text, size_t limit) {
  std::string printable;
  llvm::raw_string_ostream os(printable);
  while (!text.empty()) {
    if (printable.size() >= limit) {
      os << "...";
      break;
    }
    size_t size = text.front() == '\n' || text.front() == '\t' ? 1 : measureCharacter(text);
    if (size == 0)
      os << llvm::format("\\x%02x", static_cast<unsigned char>(text.front()));
    else
      os << text.take_front(size);
    text = text.drop_front(std::max<size_t>(size, 1));
  }
  return printable;
}

/// `line` with a column a byte as before, and a question mark for each byte that a terminal should not get.
static std::string makeColumnsPrintable(StringRef line) {
  std::string printable = line.str();
  for (size_t place = 0; place < line.size();) {
    size_t size = line[place] == '\t' ? 1 : measureCharacter(line.drop_front(place));
    if (size == 0)
      printable[place] = '?';
    place += std::max<size_t>(size, 1);
  }
  return printable;
}

/// Shows `message` at a line of the spec, cut to what surrounds `column`.
static void printDiagnostic(const SourceMgr &sources, StringRef name, int line, size_t column, StringRef text,
                            SourceMgr::DiagKind kind, const Twine &message, raw_ostream &os) {
  std::string shownName = makePrintable(name), shownMessage = makePrintable(message.str());
  if (text.size() <= longestLineShown) {
    llvm::SMDiagnostic(sources, SMLoc(), shownName, line, static_cast<int>(column), kind, shownMessage,
                       makeColumnsPrintable(text), {})
        .print(nullptr, os);
    return;
  }
  // The place is part of the name: a diagnostic counts columns in the line that it shows.
  std::string place = (shownName + ":" + Twine(line) + ":" + Twine(column + 1)).str();
  llvm::SMDiagnostic(place, kind, shownMessage).print(nullptr, os);
  size_t begin = column < longestLineShown / 2 ? 0 : column - longestLineShown / 2;
  StringRef before = begin ? "..." : "", slice = text.substr(begin, longestLineShown);
  std::string shown = makeColumnsPrintable(slice);
  std::replace(shown.begin(), shown.end(), '\t', ' ');
  os << before << shown << (begin + slice.size() < text.size() ? "...\n" : "\n");
  os.indent(static_cast<unsigned>(before.size() + column - begin)) << "^\n";
}

/// The byte of `text` at a line and a column, both counted from 1.
static size_t findOffset(StringRef text, unsigned line, unsigned column) {
  size_t begin = 0;
  for (; line > 1; --line) {
    size_t end = text.find('\n', begin);
    if (end == StringRef::npos)
      break;
    begin = end + 1;
  }
  return std::min<size_t>(begin + (column ? column - 1 : 0), text.size());
}

SpecDiagnostics::SpecDiagnostics(const SourceMgr &sources, MLIRContext *context, raw_ostream &os)
    : sources(sources), os(os), handler(context, [this](Diagnostic &diagnostic) {
        auto kindOf = [](DiagnosticSeverity severity) {
          switch (severity) {
          case DiagnosticSeverity::Error:
            return SourceMgr::DK_Error;
          case DiagnosticSeverity::Warning:
            return SourceMgr::DK_Warning;
          case DiagnosticSeverity::Remark:
            return SourceMgr::DK_Remark;
          case DiagnosticSeverity::Note:
            break;
          }
          return SourceMgr::DK_Note;
        };
        show(diagnostic.getLocation(), kindOf(diagnostic.getSeverity()), diagnostic.str());
        for (Diagnostic &note : diagnostic.getNotes())
          show(note.getLocation(), kindOf(note.getSeverity()), note.str());
        return success();
      }) {}

void SpecDiagnostics::show(size_t offset, SourceMgr::DiagKind kind, const Twine &message) const {
  StringRef text = buffer().getBuffer();
  offset = std::min(offset, text.size());
  // Not by SourceMgr: it prints to the line's end, however far that is.
  size_t begin = text.take_front(offset).rfind('\n') + 1;
  StringRef line = text.drop_front(begin).take_until([](char c) { return c == '\n' || c == '\r'; });
  auto number = static_cast<int>(text.take_front(offset).count('\n')) + 1;
  printDiagnostic(sources, buffer().getBufferIdentifier(), number, offset - begin, line, kind, message, os);
}

void SpecDiagnostics::show(Location location, SourceMgr::DiagKind kind, const Twine &message) const {
  // The first place that the location is made of; none but a place in the spec itself is looked up.
  FileLineColLoc place = location->findInstanceOf<FileLineColLoc>();
  if (!place)
    return llvm::SMDiagnostic("", kind, makePrintable(message.str())).print(nullptr, os);
  StringRef file = place.getFilename();
  if (file == buffer().getBufferIdentifier())
    return show(findOffset(buffer().getBuffer(), place.getLine(), place.getColumn()), kind, message);
  std::string name = (file + ":" + Twine(place.getLine()) + ":" + Twine(place.getColumn())).str();
  llvm::SMDiagnostic(makePrintable(name, longestLineShown), kind, makePrintable(message.str())).print(nullptr, os);
}
