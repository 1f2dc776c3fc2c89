//===- SpecTextTest.cpp - What is text of a spec ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/jit/SpecText.h"
#include "runtime/jit/SpecDiagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include <gtest/gtest.h>

using namespace attnc::jit;

/// `count` times `text`.
static std::string repeat(llvm::StringRef text, unsigned count) {
  std::string repeated;
  for (unsigned n = 0; n < count; ++n)
    repeated += text;
  return repeated;
}

/// The fault of `text` as "offset: message", or "".
static std::string faultOf(llvm::StringRef text) {
  std::optional<TextFault> fault = findTextFault(text);
  return fault ? std::to_string(fault->offset) + ": " + fault->message : "";
}

TEST(SpecText, CountsBracketsThatAreOpen) {
  EXPECT_EQ(faultOf(repeat("([{<", 16) + repeat(">}])", 16)), "");
  EXPECT_EQ(faultOf(repeat("([{<", 16) + "("), "64: expected at most 64 brackets within each other");
  EXPECT_EQ(faultOf(repeat("()", 1000)), "");
}

TEST(SpecText, KnowsWhatIsNoBracket) {
  EXPECT_EQ(faultOf("// " + repeat("(", 100)), "");
  EXPECT_EQ(faultOf("\"" + repeat("(\\\"", 100) + "\""), "");
  EXPECT_EQ(faultOf(repeat("(a -> b)", 100)), "");
  // Neither an arrow nor another's end closes what is open.
  EXPECT_NE(faultOf(repeat("< -> ", 65)), "");
  EXPECT_NE(faultOf(repeat("(>", 65)), "");
  // A string ends with its line, as the parser's does.
  EXPECT_NE(faultOf("\"\n" + repeat("(", 65)), "");
}

TEST(SpecText, CountsAliasesWhereTheyAreUsed) {
  std::string half = "#a = " + repeat("[", 40) + repeat("]", 40) + "\n";
  EXPECT_EQ(faultOf(half + "func.func @f() attributes {x = #a, y = #a}"), "");
  EXPECT_NE(faultOf(half + "#b = " + repeat("[", 30) + "#a" + repeat("]", 30)), "");
  EXPECT_NE(faultOf(half + "func.func @f() attributes {x = " + repeat("[", 30) + "#a"), "");
  // A type within an attribute's.
  EXPECT_NE(faultOf("!t = " + repeat("tuple<", 40) + repeat(">", 40) + "\n#b = unit :\n" + repeat("tuple<", 30) + "!t"),
            "");
}

TEST(SpecText, EndsAnAliasWhereAnOperationBegins) {
  std::string alias = "#a = [1]\n";
  for (llvm::StringRef operation : {"func.func @f() ", "\"func.func\"() ", "module ", "%x = a "})
    EXPECT_EQ(faultOf(alias + operation.str() + repeat("{x = [#a]}", 100)), "") << operation.str();
}

TEST(SpecText, RefusesAliasesThatGrow) {
  std::string text = "#a0 = [1]\n";
  for (unsigned n = 1; n < 30; ++n)
    text += "#a" + std::to_string(n) + " = [#a" + std::to_string(n - 1) + ", #a" + std::to_string(n - 1) + "]\n";
  EXPECT_NE(faultOf(text).find("expected aliases that stand for at most"), std::string::npos);
}

TEST(SpecText, RefusesWhatIsNoText) {
  using namespace std::string_literals;
  EXPECT_EQ(faultOf("a\n\t\r b // é ∞"), "");
  EXPECT_EQ(faultOf("ab\0c"s), "2: expected UTF-8 text without control characters, got the byte 0x00");
  EXPECT_EQ(faultOf("\x7f"), "0: expected UTF-8 text without control characters, got the byte 0x7f");
  EXPECT_EQ(faultOf("a\xe9"), "1: expected UTF-8 text without control characters, got the byte 0xe9");
  EXPECT_EQ(faultOf("a\xc3"), "1: expected UTF-8 text without control characters, got the byte 0xc3");
  EXPECT_EQ(faultOf("ML\xefR\x06"), "0: expected the text of a spec, got MLIR bytecode");
  EXPECT_EQ(faultOf(repeat("1", 1024)), "");
  EXPECT_EQ(faultOf(repeat("1", 1025)), "0: expected a name or a number of at most 1024 characters");
  EXPECT_EQ(faultOf("#" + repeat("a", 1025)), "1: expected a name or a number of at most 1024 characters");
}

TEST(SpecText, ShowsWhatATerminalCanTake) {
  EXPECT_EQ(makePrintable("a\n\tb é ∞"), "a\n\tb é ∞");
  EXPECT_EQ(makePrintable("\x1b[2J\x07\x7f"), "\\x1b[2J\\x07\\x7f");
  EXPECT_EQ(makePrintable("\xe9 \xc2\x9b"
                          "1m"),
            "\\xe9 \\xc2\\x9b1m");
  // What turns the direction of text would have one line pass for another.
  EXPECT_EQ(makePrintable("a \u202E b \u2066"), "a \\xe2\\x80\\xae b \\xe2\\x81\\xa6");
  EXPECT_EQ(makePrintable("abcdef", 3), "abc...");
}
