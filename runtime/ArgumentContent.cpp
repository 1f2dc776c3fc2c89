//===- ArgumentContent.cpp - Checks of values at launch --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Scalars and the elements of length tensors.
//
//===----------------------------------------------------------------------===//

#include "runtime/ArgumentContent.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

using attnc::image::ArgSpec;
using attnc::image::ContentRule;
using attnc::image::DType;
using attnc::image::Error;
using attnc::image::PageRule;
using attnc::image::PositionRule;
using attnc::image::Result;
using attnc::image::Span;
using attnc::image::Status;

namespace attnc::runtime {
namespace {

/// `value` as people write it: "0.5", "nan", "1e+300".
std::string numberString(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.17g", value);
  // The shortest text that reads back as the same number.
  for (int digits = 1; digits < 17; ++digits) {
    char shorter[32];
    std::snprintf(shorter, sizeof(shorter), "%.*g", digits, value);
    if (std::strtod(shorter, nullptr) == value)
      return shorter;
  }
  return std::isnan(value) ? "nan" : text;
}

/// The type of `arg` as its spec wrote it.
std::string typeString(const ArgSpec &arg) { return arg.isIndex ? "index" : std::string(name(arg.dtype)); }

/// Whether `value` can be stored in the integer type `dtype`.
bool fits(DType dtype, int64_t value) {
  switch (dtype) {
  case DType::I1:
    return value == 0 || value == 1;
  case DType::I8:
    return value == static_cast<int8_t>(value);
  case DType::I32:
    return value == static_cast<int32_t>(value);
  default:
    return true;
  }
}

/// Checks `value` against the range of `arg`. A NaN is in no range.
Status checkRange(const ArgSpec &arg, double value, const std::string &text) {
  const bool tooSmall = arg.min && !(value >= *arg.min);
  const bool tooLarge = arg.max && !(value <= *arg.max);
  if (tooSmall || tooLarge) {
    if (arg.min && arg.max)
      return argumentError(arg, "a value from " + numberString(*arg.min) + " to " + numberString(*arg.max), text);
    return argumentError(
        arg, arg.min ? "a value of at least " + numberString(*arg.min) : "a value of at most " + numberString(*arg.max),
        text);
  }
  if (arg.notNaN && std::isnan(value))
    return argumentError(arg, "a number", text);
  return {};
}

} // namespace

Error argumentError(const ArgSpec &arg, const std::string &expected, const std::string &got) {
  return Error{"argument '" + arg.name + "': expected " + expected + ", got " + got};
}

Result<int64_t> encodeScalar(const ArgSpec &arg, const ArgValue &value) {
  const int64_t *integer = std::get_if<int64_t>(&value);
  const double real = integer ? static_cast<double>(*integer) : std::get<double>(value);
  const std::string text = integer ? std::to_string(*integer) : numberString(real);
  if (!isFloat(arg.dtype)) {
    if (!integer)
      return argumentError(arg, "an integer (" + typeString(arg) + ")", text);
    if (!fits(arg.dtype, *integer))
      return argumentError(arg, "a value that " + typeString(arg) + " can hold", text);
  }
  if (Status status = checkRange(arg, real, text); !status)
    return status.takeError();
  if (integer && !isFloat(arg.dtype))
    return *integer;

  int64_t slot = 0; // little endian: the value's bits are the lowest
  storeScalar(arg.dtype, &slot, real);
  if (std::isfinite(real) && !std::isfinite(loadScalar(arg.dtype, &slot)))
    return argumentError(arg, "a value that " + typeString(arg) + " can hold", text);
  return slot;
}

Status checkPositions(const ArgSpec &arg, int64_t offset, Span<const int64_t> symbolSizes) {
  for (const PositionRule &rule : arg.positions) {
    const int64_t queries = symbolSizes[rule.queries];
    // The last query of a sequence stands at its last key, the first then as far below 0 as queries are more than keys.
    const int64_t below = rule.keys < 0 ? 0 : queries;
    const int64_t last = std::max<int64_t>(rule.keys < 0 ? queries : symbolSizes[rule.keys], 1) - 1;
    const int64_t least = rule.min + below, most = rule.max - last;
    if (offset < least || offset > most)
      return argumentError(arg,
                           "an offset from " + std::to_string(least) + " to " + std::to_string(most) +
                               ", which leaves positions from " + std::to_string(rule.min) + " to " +
                               std::to_string(rule.max) + " [S2]",
                           std::to_string(offset));
  }
  return {};
}

/// An element of a vector of integers.
static int64_t loadElement(const Tensor &tensor, int64_t i) {
  return loadInteger(tensor.dtype(),
                     static_cast<const char *>(tensor.data()) + i * tensor.stride(0) * byteSize(tensor.dtype()));
}

Status checkContent(const ArgSpec &arg, const Tensor &tensor, const std::string &symbol, int64_t size) {
  if (arg.content == ContentRule::None)
    return {};
  const int64_t count = tensor.dim(0);
  const auto element = [&](int64_t i) { return loadElement(tensor, i); };
  const auto at = [&](int64_t i) { return std::to_string(element(i)) + " at index " + std::to_string(i); };

  if (arg.content == ContentRule::Lengths) {
    for (int64_t i = 0; i < count; ++i)
      if (element(i) < 0 || element(i) > size)
        return argumentError(arg, "lengths from 0 to " + std::to_string(size) + " (" + symbol + ")", at(i));
    return {};
  }

  if (count == 0)
    return argumentError(arg, "at least 1 cumulative length", "0");
  if (element(0) != 0)
    return argumentError(arg, "cumulative lengths that start with 0", at(0));
  for (int64_t i = 1; i < count; ++i)
    if (element(i) < element(i - 1))
      return argumentError(arg, "non-decreasing cumulative lengths", at(i) + " after " + at(i - 1));
  if (element(count - 1) != size)
    return argumentError(arg, "cumulative lengths that end with " + std::to_string(size) + " (" + symbol + ")",
                         at(count - 1));
  return {};
}

Status checkPages(const ArgSpec &arg, const Tensor &table, const PageRule &rule, int64_t pages, const Tensor *lengths) {
  for (int64_t b = 0; b < table.dim(0); ++b) {
    int64_t used = table.dim(1);
    // What lengths hold is checked with them, in whatever order the arguments come.
    if (lengths)
      used = std::min(used, (std::max<int64_t>(loadElement(*lengths, b), 0) + rule.rows - 1) / rule.rows);
    for (int64_t n = 0; n < used; ++n) {
      const int64_t offset = (b * table.stride(0) + n * table.stride(1)) * byteSize(table.dtype());
      const int64_t page = loadInteger(table.dtype(), static_cast<const char *>(table.data()) + offset);
      if (page < 0 || page >= pages)
        return argumentError(
            arg,
            (pages == 0 ? std::string("a page or more") : "pages from 0 to " + std::to_string(pages - 1)) +
                " where a sequence has keys",
            std::to_string(page) + " at index [" + std::to_string(b) + ", " + std::to_string(n) + "]");
    }
  }
  return {};
}

} // namespace attnc::runtime
