//===- StrictJson.cpp - A reader for the JSON of file headers --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The grammar is that of RFC 8259.
//
//===----------------------------------------------------------------------===//

#include "runtime/StrictJson.h"

#include <cstring>

namespace attnc::runtime {
namespace {

/// Appends the code point `code` as UTF-8.
void appendUtf8(std::string &text, uint32_t code) {
  if (code < 0x80) {
    text += static_cast<char>(code);
    return;
  }
  if (code < 0x800) {
    text += static_cast<char>(0xC0 | code >> 6);
  } else {
    if (code < 0x10000) {
      text += static_cast<char>(0xE0 | code >> 12);
    } else {
      text += static_cast<char>(0xF0 | code >> 18);
      text += static_cast<char>(0x80 | (code >> 12 & 0x3F));
    }
    text += static_cast<char>(0x80 | (code >> 6 & 0x3F));
  }
  text += static_cast<char>(0x80 | (code & 0x3F));
}

/// Appends `\u00XX` for the byte `byte`.
void appendByteEscape(std::string &text, unsigned char byte) {
  constexpr char digits[] = "0123456789abcdef";
  text += "\\u00";
  text += digits[byte >> 4];
  text += digits[byte & 0xF];
}

} // namespace

bool JsonReader::fail(const std::string &expected) {
  if (message.empty())
    message = "expected " + expected + " at byte " + std::to_string(position);
  return false;
}

char JsonReader::peek() {
  while (position < text.size() && std::strchr(" \t\r\n", text[position]) && text[position] != '\0')
    ++position;
  return position < text.size() ? text[position] : '\0';
}

bool JsonReader::consume(char token) {
  if (!message.empty() || peek() != token)
    return false;
  ++position;
  return true;
}

bool JsonReader::expect(char token) { return consume(token) || fail(std::string("'") + token + "'"); }

bool JsonReader::readInteger(int64_t &value) {
  if (!message.empty())
    return false;
  const char *expected = "an integer from 0 to 2^63 - 1";
  const char first = peek();
  const size_t start = position;
  value = 0;
  for (; position < text.size(); ++position) {
    const char digit = text[position];
    if (digit < '0' || digit > '9')
      break;
    if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, digit - '0', &value)) {
      position = start;
      return fail(expected);
    }
  }
  const bool leadingZero = first == '0' && position > start + 1;
  const bool real = position < text.size() && std::strchr(".eE", text[position]) && text[position] != '\0';
  if (position == start || leadingZero || real) {
    position = start;
    return fail(expected);
  }
  return true;
}

bool JsonReader::readString(std::string &value) {
  value.clear();
  if (!message.empty())
    return false;
  if (!consume('"'))
    return fail("a string");
  const size_t start = position;
  while (position < text.size()) {
    const char next = text[position];
    if (static_cast<unsigned char>(next) < 0x20)
      return fail("no control character");
    ++position;
    if (next == '"') {
      if (isUtf8(value))
        return true;
      position = start;
      return fail("UTF-8");
    }
    if (next != '\\')
      value += next;
    else if (!readEscape(value))
      return false;
  }
  return fail("the end of the string");
}

bool JsonReader::readHex4(uint32_t &unit) {
  unit = 0;
  for (int i = 0; i < 4; ++i, ++position) {
    const char digit = position < text.size() ? text[position] : '\0';
    if (digit >= '0' && digit <= '9')
      unit = unit << 4 | static_cast<uint32_t>(digit - '0');
    else if (digit >= 'a' && digit <= 'f')
      unit = unit << 4 | static_cast<uint32_t>(digit - 'a' + 10);
    else if (digit >= 'A' && digit <= 'F')
      unit = unit << 4 | static_cast<uint32_t>(digit - 'A' + 10);
    else
      return fail("four hexadecimal digits");
  }
  return true;
}

bool JsonReader::readEscape(std::string &value) {
  constexpr std::string_view escapes = "\"\\/bfnrtu";
  constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
  const size_t kind = position < text.size() ? escapes.find(text[position]) : std::string_view::npos;
  if (kind == std::string_view::npos)
    return fail("an escape");
  ++position;
  if (kind < meanings.size()) {
    value += meanings[kind];
    return true;
  }
  uint32_t code = 0;
  if (!readHex4(code))
    return false;
  if (code >= 0xD800 && code < 0xE000) {
    uint32_t low = 0;
    if (code >= 0xDC00 || text.substr(position, 2) != "\\u")
      return fail("a pair of surrogates");
    position += 2;
    if (!readHex4(low))
      return false;
    if (low < 0xDC00 || low >= 0xE000)
      return fail("a pair of surrogates");
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  }
  appendUtf8(value, code);
  return true;
}

bool JsonReader::expectEnd() {
  if (!message.empty())
    return false;
  peek();
  return position == text.size() || fail("the end of the header");
}

bool isUtf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const unsigned char lead = text[i];
    if (lead < 0x80) {
      ++i;
      continue;
    }
    const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || length > text.size() - i)
      return false;
    uint32_t code = lead & (0x7F >> length);
    for (size_t k = 1; k < length; ++k) {
      const unsigned char next = text[i + k];
      if ((next & 0xC0) != 0x80)
        return false;
      code = code << 6 | (next & 0x3F);
    }
    const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
    if (overlong || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000))
      return false;
    i += length;
  }
  return true;
}

void appendJsonString(std::string &text, std::string_view value) {
  text += '"';
  for (char c : value) {
    if (static_cast<unsigned char>(c) < 0x20) {
      appendByteEscape(text, c);
      continue;
    }
    if (c == '"' || c == '\\')
      text += '\\';
    text += c;
  }
  text += '"';
}

std::string quoted(std::string_view name) {
  constexpr size_t limit = 100;
  std::string text = "'";
  for (char c : name.substr(0, limit)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F)
      appendByteEscape(text, byte);
    else
      text += c;
  }
  return text + (name.size() > limit ? "...'" : "'");
}

} // namespace attnc::runtime
