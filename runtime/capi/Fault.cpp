//===- Fault.cpp - What an error of C says ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/capi/CApi.h"

#include <charconv>

using namespace attnc;
using namespace attnc::capi;

/// Takes a number and a colon from the front of `text`; 0 where there are none.
static int32_t takeNumber(std::string_view &text) {
  int32_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end == text.data() + text.size() || *end != ':')
    return 0;
  text.remove_prefix(static_cast<size_t>(end - text.data()) + 1);
  return number;
}

Fault Fault::ofSpec(std::string diagnostics) {
  std::string first = diagnostics.substr(0, diagnostics.find('\n'));
  Fault fault({first}, ATTNC_ERROR_SPEC);
  fault.details = std::move(diagnostics);
  // "name:8:15: error: message"; the name may hold anything, so that the first mark with a place before it counts.
  constexpr std::string_view mark = ": error: ";
  const size_t begin = first.find(mark);
  if (begin == std::string::npos)
    return fault;
  fault.message = first.substr(begin + mark.size());
  for (size_t end = begin; end != std::string::npos; end = first.find(mark, end + 1)) {
    size_t column = end > 0 ? first.rfind(':', end - 1) : std::string::npos;
    size_t line = column == std::string::npos || column == 0 ? std::string::npos : first.rfind(':', column - 1);
    if (line == std::string::npos)
      continue;
    std::string_view place = std::string_view(first).substr(line + 1, end - line);
    const int32_t lineNumber = takeNumber(place), columnNumber = takeNumber(place);
    if (lineNumber == 0 || columnNumber == 0)
      continue;
    fault.line = lineNumber;
    fault.column = columnNumber;
    fault.message = first.substr(end + mark.size());
    break;
  }
  return fault;
}

attnc_error *capi::fail(Fault fault) { return new attnc_error{std::move(fault)}; }

const char *attnc_error_message(const attnc_error *error) { return error ? error->fault.message.c_str() : ""; }

const char *attnc_error_details(const attnc_error *error) { return error ? error->fault.details.c_str() : ""; }

attnc_error *attnc_error_get_info(const attnc_error *error, attnc_error_info *info) {
  if (!error)
    return fail(image::Error{"expected an error, got null"});
  attnc_error_info facts;
  std::memset(&facts, 0, sizeof(facts));
  facts.kind = error->fault.kind;
  facts.line = error->fault.line;
  facts.column = error->fault.column;
  facts.message = attnc_error_message(error);
  facts.details = attnc_error_details(error);
  return writeStruct(info, facts, "attnc_error_info");
}

void attnc_error_destroy(attnc_error *error) { delete error; }
