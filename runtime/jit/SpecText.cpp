//===- SpecText.cpp - The text of a spec, before it is parsed ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/jit/SpecText.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/Format.h"
#include <algorithm>

using namespace attnc;
using namespace attnc::jit;
using llvm::StringRef;

namespace {

/// What a text or a part of it comes to once aliases are written out.
struct Extent {
  uint64_t depth = 0; ///< brackets that are open at once
  uint64_t words = 0;
};

/// Reads a text token by token, as MLIR's lexer does, and keeps count.
class Scanner {
public:
  explicit Scanner(StringRef text) : text(text) {}

  std::optional<TextFault> run();

private:
  std::optional<TextFault> readCharacter();
  std::optional<TextFault> readBracket(char c);
  std::optional<TextFault> readWord();
  std::optional<TextFault> readAlias();
  std::optional<TextFault> checkDepth(uint64_t depth);
  void skipComment();
  void skipString();
  void endDefinition(bool ends);
  TextFault faultHere(const llvm::Twine &message) const { return {place, message.str()}; }

  StringRef text;
  size_t place = 0;
  std::string open; ///< the brackets that are open
  llvm::StringMap<Extent> aliases;
  std::string defined; ///< the alias whose value is being read
};

} // namespace

/// Whether `c` belongs to a name or a number.
static bool isWordCharacter(char c) { return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.'; }

/// The fault of a byte that does not belong in a text, or none.
static std::optional<TextFault> findBadByte(StringRef text) {
  if (text.starts_with("ML\xefR"))
    return TextFault{0, "expected the text of a spec, got MLIR bytecode"};
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
    return TextFault{0, "expected UTF-8 text, got UTF-16"};
  if (text.starts_with("\xef\xbb\xbf"))
    return TextFault{0, "expected UTF-8 text without a byte order mark"};
  const auto *begin = reinterpret_cast<const llvm::UTF8 *>(text.data()), *end = begin + text.size();
  for (const llvm::UTF8 *byte = begin; byte != end;) {
    auto at = static_cast<size_t>(byte - begin);
    bool control = *byte == 0x7F || (*byte < 0x20 && !StringRef("\t\n\r").contains(static_cast<char>(*byte)));
    size_t size = llvm::getNumBytesForUTF8(*byte);
    if (!control && size <= static_cast<size_t>(end - byte) && llvm::isLegalUTF8Sequence(byte, byte + size)) {
      byte += size;
      continue;
    }
    std::string message;
    llvm::raw_string_ostream(message) << "expected UTF-8 text without control characters, got the byte "
                                      << llvm::format("0x%02x", *byte);
    return TextFault{at, message};
  }
  return std::nullopt;
}

std::optional<TextFault> jit::findTextFault(StringRef text) {
  if (text.size() > longestSpec)
    return TextFault{0, ("expected a text of at most " + llvm::Twine(longestSpec) + " bytes").str()};
  if (std::optional<TextFault> fault = findBadByte(text))
    return fault;
  return Scanner(text).run();
}

std::optional<TextFault> Scanner::run() {
  while (place < text.size())
    if (std::optional<TextFault> fault = readCharacter())
      return fault;
  return std::nullopt;
}

std::optional<TextFault> Scanner::readCharacter() {
  char c = text[place];
  if (c == '/' && text.substr(place).starts_with("//"))
    skipComment();
  else if (c == '"')
    skipString();
  else if (c == '#' || c == '!')
    return readAlias();
  else if (isWordCharacter(c))
    return readWord();
  else if (c == '%')
    endDefinition(open.empty()), ++place;
  else if (StringRef("([{<)]}>").contains(c))
    return readBracket(c);
  else if (text.substr(place).starts_with("->"))
    place += 2;
  else
    ++place;
  return std::nullopt;
}

void Scanner::skipComment() { place = std::min(text.find('\n', place), text.size()); }

/// Goes past a string: to its closing quote, or to the end of the line, where the parser will miss it.
void Scanner::skipString() {
  for (++place; place < text.size() && text[place] != '\n'; ++place) {
    if (text[place] == '\\')
      ++place;
    else if (text[place] == '"')
      break;
  }
  place = std::min(place + 1, text.size());
  // An operation in the generic form.
  endDefinition(open.empty() && text.substr(place).ltrim().starts_with("("));
}

/// Ends the definition of an alias where an operation begins.
void Scanner::endDefinition(bool ends) {
  if (ends)
    defined.clear();
}

std::optional<TextFault> Scanner::checkDepth(uint64_t depth) {
  if (depth > deepestNesting)
    return faultHere("expected at most " + llvm::Twine(deepestNesting) + " brackets within each other");
  if (!defined.empty()) {
    Extent &extent = aliases[defined];
    extent.depth = std::max(extent.depth, depth);
  }
  return std::nullopt;
}

/// Opens a bracket, or closes the one that is open. A bracket that closes another than the last one closes nothing: it
/// is a comparison, or a fault that the parser will find.
std::optional<TextFault> Scanner::readBracket(char c) {
  constexpr StringRef opening = "([{<", closing = ")]}>";
  if (size_t kind = opening.find(c); kind != StringRef::npos) {
    open.push_back(closing[kind]);
    std::optional<TextFault> fault = checkDepth(open.size());
    ++place;
    return fault;
  }
  if (!open.empty() && open.back() == c)
    open.pop_back();
  ++place;
  return std::nullopt;
}

std::optional<TextFault> Scanner::readWord() {
  StringRef word = text.substr(place).take_while(isWordCharacter);
  if (word.size() > longestWord)
    return faultHere("expected a name or a number of at most " + llvm::Twine(longestWord) + " characters");
  if (word == "affine_map" || word == "affine_set")
    return faultHere("a spec holds no affine maps or sets");
  bool namesOperation = word == "module" || (llvm::isAlpha(word.front()) && word.contains('.'));
  endDefinition(open.empty() && namesOperation);
  if (!defined.empty())
    ++aliases[defined].words;
  place += word.size();
  return std::nullopt;
}

/// Reads `#name` or `!name`: the definition of an alias, or the use of one. An alias may use those before it, so that
/// few lines could stand for an endless text.
std::optional<TextFault> Scanner::readAlias() {
  size_t begin = place++;
  StringRef name = text.substr(place).take_while([](char c) { return isWordCharacter(c) || c == '-'; });
  if (name.size() > longestWord)
    return faultHere("expected a name or a number of at most " + llvm::Twine(longestWord) + " characters");
  std::string key = text.substr(begin, name.size() + 1).str();
  place += name.size();
  StringRef behind = text.substr(place).ltrim();
  if (open.empty() && behind.starts_with("=") && !behind.starts_with("==")) {
    defined = key;
    aliases[defined] = {};
    return std::nullopt;
  }
  // A dialect's attribute or type has the form of an alias, and is none.
  auto used = aliases.find(key);
  if (used == aliases.end() || key == defined)
    return std::nullopt;
  Extent extent = used->second;
  if (!defined.empty()) {
    Extent &outer = aliases[defined];
    outer.words += extent.words;
    if (outer.words > longestSpec)
      return faultHere("expected aliases that stand for at most " + llvm::Twine(longestSpec) + " words");
  }
  return checkDepth(open.size() + extent.depth);
}
