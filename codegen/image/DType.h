//===- DType.h - Element types of tensors ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The element types that tensors and kernel arguments have, and the conversion
// of single elements. Conversions go straight between double and the stored
// format: a detour through f32 would round bf16 and f16 twice.
//
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_IMAGE_DTYPE_H
#define ATTNC_CODEGEN_IMAGE_DTYPE_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace attnc::image {

/// An element type. The values are part of the serialized kernel image.
enum class DType : uint8_t {
  F32 = 0,  ///< IEEE binary32
  F16 = 1,  ///< IEEE binary16
  BF16 = 2, ///< the upper half of a binary32
  F64 = 3,  ///< IEEE binary64
  I1 = 4,   ///< a truth value, stored as one byte that is 0 or 1
  I8 = 5,   ///< two's complement, 8 bits
  I32 = 6,  ///< two's complement, 32 bits
  I64 = 7,  ///< two's complement, 64 bits
};

/// How many element types there are; valid ones are below it.
inline constexpr unsigned numDTypes = 8;

/// The size of one stored element, in bytes.
int64_t byteSize(DType dtype);

/// Whether elements are floating-point numbers.
bool isFloat(DType dtype);

/// The name in MLIR and in messages: "f32", "bf16", "i1".
std::string_view name(DType dtype);

/// The name in a safetensors header: "F32", "BF16", "BOOL".
std::string_view safetensorsName(DType dtype);

/// The inverse of `name`; nothing for an unknown name.
std::optional<DType> parseDType(std::string_view name);

/// The inverse of `safetensorsName`; nothing for an unknown name.
std::optional<DType> parseSafetensorsDType(std::string_view name);

/// The f16 nearest to `value`, ties to even; overflow gives an infinity and a
/// NaN stays one (quiet, with its sign).
uint16_t encodeF16(double value);

/// The bf16 nearest to `value`, by the rules of `encodeF16`.
uint16_t encodeBF16(double value);

/// The exact value of an f16.
double decodeF16(uint16_t bits);

/// The exact value of a bf16.
double decodeBF16(uint16_t bits);

/// Reads the element at `element`, which need not be aligned. Exact, save for
/// i64 beyond 2^53, which is rounded to nearest.
double loadScalar(DType dtype, const void *element);

/// Reads the element of integer type at `element`, exactly.
int64_t loadInteger(DType dtype, const void *element);

/// Writes `value` to `element`, which need not be aligned. Floats are rounded
/// to nearest, ties to even. Integers are too, then saturate, and NaN gives 0.
/// An i1 is whether the value differs from 0.
void storeScalar(DType dtype, void *element, double value);

/// The distance from `magnitude`'s binade floor to the next number of `dtype`,
/// the unit in the last place: of subnormals below the normal range, of the
/// last binade beyond the largest finite number. 1 for integers; NaN for NaN.
double ulp(DType dtype, double magnitude);

/// The largest finite value of `dtype`.
double maxFinite(DType dtype);

} // namespace attnc::image

#endif // ATTNC_CODEGEN_IMAGE_DTYPE_H
