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
  // "name:8:15: error: message"; the name may hold anything.
  constexpr std::string_view mark = ": error: ";
  size_t end = first.find(mark);
  if (end == std::string::npos)
    return fault;
  fault.message = first.substr(end + mark.size());
  size_t column = first.rfind(':', end - 1), line = column == std::string::npos ? column : first.rfind(':', column - 1);
  if (line == std::string::npos)
    return fault;
  std::string_view place = std::string_view(first).substr(line + 1, end - line);
  fault.line = takeNumber(place);
  fault.column = takeNumber(place);
  return fault;
}

attnc_error *capi::fail(Fault fault) { return new attnc_error{std::move(fault)}; }

const char *attnc_error_message(const attnc_error *error) { return error ? error->fault.message.c_str() : ""; }

const char *attnc_error_details(const attnc_error *error) { return error ? error->fault.details.c_str() : ""; }

attnc_error *attnc_error_get_info(const attnc_error *error, attnc_error_info *info) {
  if (!error)
    return fail(runtime::Error{"expected an error, got null"});
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
