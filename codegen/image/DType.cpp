//===- DType.cpp - Element types of tensors --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Facts about the element types, as one table, and conversion of elements.
//
//===----------------------------------------------------------------------===//

#include "codegen/image/DType.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>

namespace attnc::image {
namespace {

/// What is known of one element type. `mantissaBits` does not count the leading
/// bit; the exponents are those of the smallest and largest normal binade. All
/// three are 0 for integers.
struct DTypeInfo {
  std::string_view name;
  std::string_view safetensorsName;
  int byteSize;
  int mantissaBits;
  int minExponent;
  int maxExponent;
};

constexpr DTypeInfo infos[numDTypes] = {
    {"f32", "F32", 4, 23, -126, 127},   {"f16", "F16", 2, 10, -14, 15}, {"bf16", "BF16", 2, 7, -126, 127},
    {"f64", "F64", 8, 52, -1022, 1023}, {"i1", "BOOL", 1, 0, 0, 0},     {"i8", "I8", 1, 0, 0, 0},
    {"i32", "I32", 4, 0, 0, 0},         {"i64", "I64", 8, 0, 0, 0},
};

const DTypeInfo &info(DType dtype) {
  assert(static_cast<unsigned>(dtype) < numDTypes && "no such dtype");
  return infos[static_cast<unsigned>(dtype)];
}

/// The element type whose table entry has `text` in `field`.
std::optional<DType> findDType(std::string_view DTypeInfo::*field, std::string_view text) {
  for (unsigned i = 0; i < numDTypes; ++i)
    if (infos[i].*field == text)
      return static_cast<DType>(i);
  return std::nullopt;
}

template <typename To, typename From>
To bitCast(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

/// Rounds `value` to the 16-bit IEEE-like format that `dtype` names.
uint16_t encode16(DType dtype, double value) {
  const DTypeInfo &format = info(dtype);
  const int mantissaBits = format.mantissaBits;
  const int bias = format.maxExponent;
  const uint64_t bits = bitCast<uint64_t>(value);
  const uint32_t sign = static_cast<uint32_t>(bits >> 63) << 15;
  const uint32_t infinity = (2u * bias + 1) << mantissaBits;
  const int biasedExponent = static_cast<int>((bits >> 52) & 0x7FF);
  const uint64_t fraction = bits & ((uint64_t{1} << 52) - 1);

  if (biasedExponent == 0x7FF) {
    if (fraction == 0)
      return static_cast<uint16_t>(sign | infinity);
    const uint32_t quiet = 1u << (mantissaBits - 1);
    const uint32_t payload = static_cast<uint32_t>(fraction >> (52 - mantissaBits));
    return static_cast<uint16_t>(sign | infinity | quiet | payload);
  }
  // Zero, and doubles so small that they round to zero in either format.
  if (biasedExponent == 0)
    return static_cast<uint16_t>(sign);

  const int exponent = biasedExponent - 1023;
  const bool subnormal = exponent < format.minExponent;
  const uint64_t significand = fraction | (uint64_t{1} << 52);
  const int shift = 52 - mantissaBits + (subnormal ? format.minExponent - exponent : 0);
  if (shift > 53) // less than half of the smallest subnormal
    return static_cast<uint16_t>(sign);

  uint64_t kept = significand >> shift;
  const uint64_t rest = significand & ((uint64_t{1} << shift) - 1);
  const uint64_t half = uint64_t{1} << (shift - 1);
  if (rest > half || (rest == half && (kept & 1)))
    ++kept;
  // `kept` holds the leading bit, which counts as one more in the exponent; a
  // carry out of the mantissa moves to the next binade by itself.
  const uint64_t encoded = subnormal ? kept : (static_cast<uint64_t>(exponent + bias - 1) << mantissaBits) + kept;
  return static_cast<uint16_t>(sign | std::min<uint64_t>(encoded, infinity));
}

/// Reads a `T` from an address of any alignment.
template <typename T>
T readAs(const void *element) {
  T value;
  std::memcpy(&value, element, sizeof(value));
  return value;
}

/// Writes a `T` to an address of any alignment.
template <typename T>
void writeAs(void *element, T value) {
  std::memcpy(element, &value, sizeof(value));
}

/// Rounds to the nearest `Integer`, ties to even, saturating; NaN gives 0.
template <typename Integer>
Integer saturate(double value) {
  // 2^(bits - 1) is exact in double, where the largest i64 is not.
  const double limit = std::ldexp(1.0, std::numeric_limits<Integer>::digits);
  if (std::isnan(value))
    return 0;
  value = std::nearbyint(value);
  if (value >= limit)
    return std::numeric_limits<Integer>::max();
  if (value < -limit)
    return std::numeric_limits<Integer>::min();
  return static_cast<Integer>(value);
}

} // namespace

int64_t byteSize(DType dtype) { return info(dtype).byteSize; }

bool isFloat(DType dtype) { return info(dtype).mantissaBits != 0; }

std::string_view name(DType dtype) { return info(dtype).name; }

std::string_view safetensorsName(DType dtype) { return info(dtype).safetensorsName; }

std::optional<DType> parseDType(std::string_view name) { return findDType(&DTypeInfo::name, name); }

std::optional<DType> parseSafetensorsDType(std::string_view name) {
  return findDType(&DTypeInfo::safetensorsName, name);
}

uint16_t encodeF16(double value) { return encode16(DType::F16, value); }

uint16_t encodeBF16(double value) { return encode16(DType::BF16, value); }

double decodeF16(uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1F;
  const int mantissa = bits & 0x3FF;
  const double sign = bits & 0x8000 ? -1.0 : 1.0;
  if (exponent == 0x1F) {
    if (mantissa == 0)
      return sign * std::numeric_limits<double>::infinity();
    return bitCast<double>((uint64_t{bits} & 0x8000) << 48 | uint64_t{0x7FF8} << 48 | uint64_t(mantissa) << 42);
  }
  if (exponent == 0)
    return sign * std::ldexp(mantissa, -24);
  return sign * std::ldexp(mantissa | 0x400, exponent - 25);
}

double decodeBF16(uint16_t bits) { return bitCast<float>(static_cast<uint32_t>(bits) << 16); }

double loadScalar(DType dtype, const void *element) {
  switch (dtype) {
  case DType::F32:
    return readAs<float>(element);
  case DType::F16:
    return decodeF16(readAs<uint16_t>(element));
  case DType::BF16:
    return decodeBF16(readAs<uint16_t>(element));
  case DType::F64:
    return readAs<double>(element);
  default:
    return static_cast<double>(loadInteger(dtype, element));
  }
}

int64_t loadInteger(DType dtype, const void *element) {
  switch (dtype) {
  case DType::I1:
    return readAs<uint8_t>(element) != 0;
  case DType::I8:
    return readAs<int8_t>(element);
  case DType::I32:
    return readAs<int32_t>(element);
  case DType::I64:
    return readAs<int64_t>(element);
  default:
    assert(false && "not an integer type");
    return 0;
  }
}

void storeScalar(DType dtype, void *element, double value) {
  switch (dtype) {
  case DType::F32:
    return writeAs(element, static_cast<float>(value));
  case DType::F16:
    return writeAs(element, encodeF16(value));
  case DType::BF16:
    return writeAs(element, encodeBF16(value));
  case DType::F64:
    return writeAs(element, value);
  case DType::I1:
    return writeAs(element, static_cast<uint8_t>(value != 0));
  case DType::I8:
    return writeAs(element, saturate<int8_t>(value));
  case DType::I32:
    return writeAs(element, saturate<int32_t>(value));
  case DType::I64:
    return writeAs(element, saturate<int64_t>(value));
  }
}

double ulp(DType dtype, double magnitude) {
  if (std::isnan(magnitude))
    return magnitude;
  if (!isFloat(dtype))
    return 1;
  const DTypeInfo &format = info(dtype);
  // ilogb of 0 and of infinity lie beyond every exponent, so clamping is enough.
  const int exponent = std::clamp(std::ilogb(magnitude), format.minExponent, format.maxExponent);
  return std::ldexp(1.0, exponent - format.mantissaBits);
}

double maxFinite(DType dtype) {
  switch (dtype) {
  case DType::I1:
    return 1;
  case DType::I8:
    return std::numeric_limits<int8_t>::max();
  case DType::I32:
    return std::numeric_limits<int32_t>::max();
  case DType::I64: // the nearest double below, 2^63 - 1024
    return std::nextafter(std::ldexp(1.0, 63), 0.0);
  default:
    return std::ldexp(2 - ulp(dtype, 1), info(dtype).maxExponent);
  }
}

} // namespace attnc::image
