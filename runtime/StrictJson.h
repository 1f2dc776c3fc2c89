//===- StrictJson.h - A reader for the JSON of file headers ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The little of JSON that a safetensors header uses, read token by token as the
// caller expects them. There is no tree and no recursion, so nesting cannot
// exhaust the stack, and what is not expected is an error where it stands.
//
//===----------------------------------------------------------------------===//

#ifndef ATTNC_RUNTIME_STRICTJSON_H
#define ATTNC_RUNTIME_STRICTJSON_H

#include <cstdint>
#include <string>
#include <string_view>

namespace attnc::runtime {

/// Reads tokens from JSON text. After the first failure every call fails and
/// `error()` tells of the first.
class JsonReader {
public:
  /// Reads from `text`, which must outlive the reader.
  explicit JsonReader(std::string_view text) : text(text) {}

  /// Consumes `token` if it comes next, after white space. Not a failure.
  bool consume(char token);

  /// Consumes `token`, which must come next.
  bool expect(char token);

  /// Reads a string into `value`: escapes resolved, valid UTF-8.
  bool readString(std::string &value);

  /// Reads an integer from 0 to 2^63 - 1, without fraction or exponent.
  bool readInteger(int64_t &value);

  /// Reads `[first, second, ...]` with at most `limit` integers, handing each
  /// to `append`.
  template <typename Append>
  bool readIntegers(size_t limit, Append append) {
    if (!expect('['))
      return false;
    if (consume(']'))
      return true;
    size_t count = 0;
    do {
      int64_t value = 0;
      if (count++ == limit)
        return fail("at most " + std::to_string(limit) + " numbers");
      if (!readInteger(value))
        return false;
      append(value);
    } while (consume(','));
    return expect(']');
  }

  /// Checks that nothing but white space is left.
  bool expectEnd();

  /// What was expected and where, in one line; empty before a failure.
  const std::string &error() const { return message; }

private:
  /// Records that `expected` did not come next. Always false.
  bool fail(const std::string &expected);

  /// Skips white space and returns the next character, 0 at the end.
  char peek();

  /// Reads one escape, whose backslash is consumed, as UTF-8 into `value`.
  bool readEscape(std::string &value);

  /// Reads the four digits of `\u`.
  bool readHex4(uint32_t &unit);

  std::string_view text;
  size_t position = 0;
  std::string message;
};

/// Whether `text` is UTF-8 as Unicode defines it: shortest forms, no surrogates.
bool isUtf8(std::string_view text);

/// Appends `value`, which must be UTF-8, to `text` as a JSON string.
void appendJsonString(std::string &text, std::string_view value);

/// `name`, which may be hostile, in quotes for a message: one line of printable
/// characters, shortened where it is long.
std::string quoted(std::string_view name);

} // namespace attnc::runtime

#endif // ATTNC_RUNTIME_STRICTJSON_H
