//===- CudaTypes.cpp - Types and constants in CUDA C++ ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/nvrtc/CudaTypes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::nvrtc;

/// The widths that integers of C++ have.
static bool isWholeWidth(unsigned bits) { return bits == 8 || bits == 16 || bits == 32 || bits == 64; }

std::string nvrtc::getTypeName(Type type) {
  if (type.isInteger(1))
    return "bool";
  if (auto integer = dyn_cast<IntegerType>(type))
    return isWholeWidth(integer.getWidth()) ? "u" + std::to_string(integer.getWidth()) : "";
  if (type.isBF16())
    return "bf16";
  if (type.isF16())
    return "f16";
  if (type.isF32())
    return "f32";
  if (type.isF64())
    return "f64";
  auto vector = dyn_cast<VectorType>(type);
  if (!vector || vector.getRank() != 1)
    return "";
  int64_t lanes = vector.getDimSize(0);
  Type element = vector.getElementType();
  // A pair of 16-bit floats is a word of a fragment.
  if (lanes == 2 && isNarrowFloat(element))
    return "u32";
  if ((lanes == 2 || lanes == 4) && (element.isInteger(32) || element.isF32()))
    return (element.isF32() ? "float" : "uint") + std::to_string(lanes);
  if (lanes == 2 && element.isInteger(64))
    return "ulonglong2";
  return "";
}

bool nvrtc::isNarrowFloat(Type type) { return type.isF16() || type.isBF16(); }

Attribute nvrtc::findNumber(Value value) {
  Attribute constant;
  if (!matchPattern(value, m_Constant(&constant)) || !isa<IntegerAttr, FloatAttr>(constant))
    return {};
  return constant;
}

static Expr writeInteger(const APInt &value, unsigned bits) {
  if (bits == 1)
    return {value.isZero() ? "false" : "true"};
  std::string type = "u" + std::to_string(bits);
  // Numbers that were negative stay readable so.
  if (value.isNegative() && value.sgt(-65536))
    return {type + "(" + std::to_string(value.getSExtValue()) + ")"};
  if (bits < 32)
    return {type + "(" + std::to_string(value.getZExtValue()) + ")"};
  uint64_t number = value.getZExtValue();
  std::string text = number < 1000000 ? std::to_string(number) : llvm::formatv("{0:x}", number).str();
  return {text + (bits == 64 ? "ull" : "u")};
}

static Expr writeFloat(const APFloat &value, Type type) {
  APInt bits = value.bitcastToAPInt();
  if (isNarrowFloat(type))
    return {getTypeName(type) + llvm::formatv("{{{0:x}}", bits.getZExtValue()).str()};
  bool isDouble = type.isF64();
  if (!value.isFinite())
    return {(isDouble ? "asF64(" : "asF32(") + llvm::formatv("{0:x}", bits.getZExtValue()).str() +
            (isDouble ? "ull)" : "u)")};
  // As many digits as tell it from its neighbours, and no more where fewer do.
  SmallString<32> shortest;
  value.toString(shortest);
  std::string text = shortest.str().lower();
  if (text.find_first_of(".e") == std::string::npos)
    text += ".0";
  if (!isDouble)
    text += "f";
  return {text, value.isNegative() ? Binding::Unary : Binding::Primary};
}

Expr nvrtc::writeConstant(Attribute value, Type type) {
  if (auto integer = dyn_cast<IntegerAttr>(value))
    return writeInteger(integer.getValue(), integer.getValue().getBitWidth());
  return writeFloat(cast<FloatAttr>(value).getValue(), type);
}
