//===- ReferenceArray.cpp - Tensors in host memory --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/reference/Reference.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/ADT/bit.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir;
using namespace attnc::attn;

namespace {

/// A 16-bit float: sign, exponent, fraction from high bit to low.
struct Format16 {
  int fractionBits;
  int bias;

  int specialExponent() const { return (1 << (15 - fractionBits)) - 1; }
  int minExponent() const { return 1 - bias; }
};

} // namespace

static constexpr Format16 half{10, 15}, bfloat{7, 127};

/// 2^n for exponents of normal doubles.
static double powerOfTwo(int n) { return llvm::bit_cast<double>(static_cast<uint64_t>(n + 1023) << 52); }

static double decode(Format16 format, uint16_t bits) {
  double sign = bits & 0x8000 ? -1 : 1;
  int exponent = (bits & 0x7fff) >> format.fractionBits;
  int fraction = bits & ((1 << format.fractionBits) - 1);
  if (exponent == format.specialExponent())
    return fraction ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
  if (exponent == 0)
    return sign * fraction * powerOfTwo(format.minExponent() - format.fractionBits);
  return sign * (fraction + (1 << format.fractionBits)) * powerOfTwo(exponent - format.bias - format.fractionBits);
}

/// Rounds straight from double to the format: going through f32 would round twice.
static uint16_t encode(Format16 format, double value) {
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  int infinity = format.specialExponent() << format.fractionBits;
  if (std::isnan(value))
    return sign | infinity | 1 << (format.fractionBits - 1);
  double magnitude = std::fabs(value);
  if (magnitude >= powerOfTwo(format.bias + 1))
    return sign | infinity;
  // Zero and subnormal doubles have a biased exponent of 0, far below either format's least.
  int exponent = static_cast<int>(llvm::bit_cast<uint64_t>(magnitude) >> 52) - 1023;
  exponent = std::max(exponent, format.minExponent());
  // In units of the last place: below 2^fractionBits means subnormal. Both cases, and a carry into the next exponent
  // (infinity included), are the same sum, for the leading one adds 1 to the exponent field.
  int units = static_cast<int>(std::nearbyint(magnitude * powerOfTwo(format.fractionBits - exponent)));
  return sign | (((exponent - format.minExponent()) << format.fractionBits) + units);
}

std::optional<ElementKind> attnc::attn::getElementKind(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type)) {
    switch (integer.getWidth()) {
    case 1:
      return ElementKind::I1;
    case 8:
      return ElementKind::I8;
    case 32:
      return ElementKind::I32;
    case 64:
      return ElementKind::I64;
    default:
      return std::nullopt;
    }
  }
  return TypeSwitch<Type, std::optional<ElementKind>>(type)
      .Case([](Float64Type) { return ElementKind::F64; })
      .Case([](Float32Type) { return ElementKind::F32; })
      .Case([](Float16Type) { return ElementKind::F16; })
      .Case([](BFloat16Type) { return ElementKind::BF16; })
      .Case([](IndexType) { return ElementKind::I64; })
      .Default(std::nullopt);
}

double attnc::attn::loadElement(ElementKind kind, const void *data, int64_t offset) {
  switch (kind) {
  case ElementKind::F64:
    return static_cast<const double *>(data)[offset];
  case ElementKind::F32:
    return static_cast<const float *>(data)[offset];
  case ElementKind::F16:
    return decode(half, static_cast<const uint16_t *>(data)[offset]);
  case ElementKind::BF16:
    return decode(bfloat, static_cast<const uint16_t *>(data)[offset]);
  default:
    return static_cast<double>(loadIntegerElement(kind, data, offset));
  }
}

int64_t attnc::attn::loadIntegerElement(ElementKind kind, const void *data, int64_t offset) {
  switch (kind) {
  case ElementKind::I1:
    return static_cast<const uint8_t *>(data)[offset] != 0;
  case ElementKind::I8:
    return static_cast<const int8_t *>(data)[offset];
  case ElementKind::I32:
    return static_cast<const int32_t *>(data)[offset];
  case ElementKind::I64:
    return static_cast<const int64_t *>(data)[offset];
  default:
    return static_cast<int64_t>(loadElement(kind, data, offset));
  }
}

void attnc::attn::storeElement(ElementKind kind, void *data, int64_t offset, double value) {
  switch (kind) {
  case ElementKind::F64:
    static_cast<double *>(data)[offset] = value;
    break;
  case ElementKind::F32:
    static_cast<float *>(data)[offset] = static_cast<float>(value);
    break;
  case ElementKind::F16:
    static_cast<uint16_t *>(data)[offset] = encode(half, value);
    break;
  case ElementKind::BF16:
    static_cast<uint16_t *>(data)[offset] = encode(bfloat, value);
    break;
  case ElementKind::I1:
    static_cast<uint8_t *>(data)[offset] = value != 0;
    break;
  case ElementKind::I8:
    static_cast<int8_t *>(data)[offset] = static_cast<int8_t>(value);
    break;
  case ElementKind::I32:
    static_cast<int32_t *>(data)[offset] = static_cast<int32_t>(value);
    break;
  case ElementKind::I64:
    static_cast<int64_t *>(data)[offset] = static_cast<int64_t>(value);
    break;
  }
}

double attnc::attn::roundToKind(ElementKind kind, double value) {
  switch (kind) {
  case ElementKind::F32:
    return static_cast<float>(value);
  case ElementKind::F16:
    return decode(half, encode(half, value));
  case ElementKind::BF16:
    return decode(bfloat, encode(bfloat, value));
  default:
    return value;
  }
}

double attnc::attn::roundToTf32(double value) {
  constexpr uint32_t dropped = 13, half = 1U << (dropped - 1);
  auto single = static_cast<float>(value);
  if (!std::isfinite(single))
    return single;
  uint32_t bits = llvm::bit_cast<uint32_t>(single);
  return llvm::bit_cast<float>(((bits + half) >> dropped) << dropped);
}

HostArray HostArray::dense(Type elementType, void *data, ArrayRef<int64_t> shape) {
  HostArray array{elementType, data, SmallVector<int64_t>(shape), SmallVector<int64_t>(shape.size(), 1)};
  for (size_t dim = shape.size(); dim-- > 1;)
    array.strides[dim - 1] = array.strides[dim] * shape[dim];
  return array;
}

int64_t HostArray::offset(ArrayRef<int64_t> indices) const {
  int64_t sum = 0;
  for (auto [index, stride] : llvm::zip_equal(indices, strides))
    sum += index * stride;
  return sum;
}

double HostArray::load(ArrayRef<int64_t> indices) const {
  return loadElement(*getElementKind(elementType), data, offset(indices));
}

void HostArray::store(ArrayRef<int64_t> indices, double value) const {
  storeElement(*getElementKind(elementType), data, offset(indices), value);
}
