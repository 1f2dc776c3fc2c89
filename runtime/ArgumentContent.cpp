//===- ArgumentContent.cpp - Checks of values at launch --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Scalars and the elements of length tensors.
//
//===----------------------------------------------------------------------===//

#include "runtime/ArgumentContent.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>

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

Status checkContent(const ArgSpec &arg, const Tensor &tensor, const std::string &symbol, int64_t size) {
  if (arg.content == ContentRule::None)
    return {};
  const int64_t count = tensor.dim(0);
  const auto element = [&](int64_t i) {
    return loadInteger(tensor.dtype(),
                       static_cast<const char *>(tensor.data()) + i * tensor.stride(0) * byteSize(tensor.dtype()));
  };
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

} // namespace attnc::runtime
