//===- HalfSymbols.cpp - Conversions that compiled code may call *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/jit/HalfSymbols.h"
#include "codegen/image/DType.h"
#include "llvm/ADT/bit.h"

using namespace attnc;
using namespace attnc::jit;

/// f16 and bf16 values travel in the low half of a vector register, as a _Float16 does (System V ABI, 3.2.3).
static _Float16 fromBits(uint16_t bits) { return llvm::bit_cast<_Float16>(bits); }

static _Float16 truncateFloatToHalf(float value) { return fromBits(image::encodeF16(value)); }
static _Float16 truncateDoubleToHalf(double value) { return fromBits(image::encodeF16(value)); }
static _Float16 truncateFloatToBFloat(float value) { return fromBits(image::encodeBF16(value)); }
static _Float16 truncateDoubleToBFloat(double value) { return fromBits(image::encodeBF16(value)); }
static float extendHalfToFloat(_Float16 value) {
  return static_cast<float>(image::decodeF16(llvm::bit_cast<uint16_t>(value)));
}

llvm::ArrayRef<HalfSymbol> jit::getHalfSymbols() {
  static const HalfSymbol symbols[] = {
      {"__truncsfhf2", reinterpret_cast<void *>(truncateFloatToHalf)},
      {"__truncdfhf2", reinterpret_cast<void *>(truncateDoubleToHalf)},
      {"__truncsfbf2", reinterpret_cast<void *>(truncateFloatToBFloat)},
      {"__truncdfbf2", reinterpret_cast<void *>(truncateDoubleToBFloat)},
      {"__extendhfsf2", reinterpret_cast<void *>(extendHalfToFloat)},
  };
  return symbols;
}
