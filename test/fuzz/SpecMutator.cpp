//===- SpecMutator.cpp - Changes specs word by word -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Random bytes rarely make a spec that parses. Half of the mutations keep to words and lines: what comes out often
// parses and then breaks a rule of the verifier or reaches the passes.
//===----------------------------------------------------------------------===//

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include <algorithm>
#include <cstring>
#include <random>
#include <string>

using llvm::StringRef;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

/// Words of the language, to put in the place of others.
static constexpr StringRef vocabulary[] = {"attn.forward",
                                           "attn.weights",
                                           "attn.softcap",
                                           "attn.alibi",
                                           "attn.bias",
                                           "attn.load",
                                           "attn.causal",
                                           "attn.window",
                                           "attn.same_segment",
                                           "attn.prefix",
                                           "attn.yield",
                                           "score",
                                           "mask",
                                           "scale",
                                           "sinks",
                                           "dropout",
                                           "align",
                                           "q_offset",
                                           "lengths",
                                           "varlen",
                                           "paged",
                                           "schedule",
                                           "query",
                                           "key",
                                           "left",
                                           "right",
                                           "top_left",
                                           "bottom_right",
                                           "arith.constant",
                                           "arith.addi",
                                           "arith.subi",
                                           "arith.muli",
                                           "arith.floordivsi",
                                           "arith.divsi",
                                           "arith.remsi",
                                           "arith.remui",
                                           "arith.andi",
                                           "arith.ori",
                                           "arith.xori",
                                           "arith.select",
                                           "arith.cmpi",
                                           "arith.maxsi",
                                           "arith.minsi",
                                           "arith.shrsi",
                                           "arith.index_cast",
                                           "arith.mulf",
                                           "arith.divf",
                                           "math.tanh",
                                           "math.absi",
                                           "math.exp",
                                           "index",
                                           "i1",
                                           "i32",
                                           "i64",
                                           "f32",
                                           "f16",
                                           "bf16",
                                           "f64",
                                           "slt",
                                           "sle",
                                           "sgt",
                                           "sge",
                                           "eq",
                                           "ne",
                                           "ult",
                                           "0",
                                           "1",
                                           "8",
                                           "-1",
                                           "64",
                                           "4095",
                                           "9223372036854775807",
                                           "-9223372036854775808",
                                           "4294967296",
                                           "0.0",
                                           "1.0",
                                           "-1.0",
                                           "0x7F800000",
                                           "0x7FC00000",
                                           "1.0e38",
                                           "%b",
                                           "%h",
                                           "%i",
                                           "%j",
                                           "%s",
                                           "%q",
                                           "%k",
                                           "%v",
                                           "?"};

/// Whether `c` belongs to a word.
static bool isWordCharacter(char c) {
  return llvm::isAlnum(c) || c == '_' || c == '.' || c == '%' || c == '-' || c == '?';
}

/// First and one-past-last character of every word in `text`.
static llvm::SmallVector<std::pair<size_t, size_t>> findWords(StringRef text) {
  llvm::SmallVector<std::pair<size_t, size_t>> words;
  for (size_t begin = 0; begin < text.size();) {
    if (!isWordCharacter(text[begin])) {
      ++begin;
      continue;
    }
    size_t end = begin;
    while (end < text.size() && isWordCharacter(text[end]))
      ++end;
    words.emplace_back(begin, end);
    begin = end;
  }
  return words;
}

/// Replaces a word by another one of the text or of the language.
static std::string replaceWord(StringRef text, std::minstd_rand &random) {
  auto words = findWords(text);
  if (words.empty())
    return text.str();
  auto [begin, end] = words[random() % words.size()];
  auto [otherBegin, otherEnd] = words[random() % words.size()];
  StringRef other = random() % 2 ? text.slice(otherBegin, otherEnd) : vocabulary[random() % std::size(vocabulary)];
  return (text.take_front(begin) + other + text.drop_front(end)).str();
}

/// Drops, repeats or moves a line.
static std::string editLines(StringRef text, std::minstd_rand &random) {
  llvm::SmallVector<StringRef> lines;
  text.split(lines, '\n');
  StringRef line = lines[random() % lines.size()];
  if (random() % 2)
    lines.erase(lines.begin() + random() % lines.size());
  else
    lines.insert(lines.begin() + random() % (lines.size() + 1), line);
  return llvm::join(lines, "\n");
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  std::minstd_rand random(seed);
  if (random() % 2 || size == 0)
    return LLVMFuzzerMutate(data, size, maxSize);
  StringRef text(reinterpret_cast<const char *>(data), size);
  std::string changed = random() % 4 ? replaceWord(text, random) : editLines(text, random);
  size_t length = std::min(changed.size(), maxSize);
  std::copy_n(changed.data(), length, data);
  return length;
}
