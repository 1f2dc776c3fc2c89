//===- Types.cpp - MLIR's types as the runtime's ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/describe/Types.h"
#include "mlir/IR/Builders.h"

using namespace attnc;
using image::DType;

std::optional<DType> describe::toDType(mlir::Type type) {
  if (type.isF32())
    return DType::F32;
  if (type.isF16())
    return DType::F16;
  if (type.isBF16())
    return DType::BF16;
  if (type.isF64())
    return DType::F64;
  if (type.isInteger(1))
    return DType::I1;
  if (type.isInteger(8))
    return DType::I8;
  if (type.isInteger(32))
    return DType::I32;
  if (type.isInteger(64) || type.isIndex())
    return DType::I64;
  return std::nullopt;
}

mlir::Type describe::toType(DType dtype, mlir::MLIRContext *context) {
  mlir::Builder builder(context);
  switch (dtype) {
  case DType::F32:
    return builder.getF32Type();
  case DType::F16:
    return builder.getF16Type();
  case DType::BF16:
    return builder.getBF16Type();
  case DType::F64:
    return builder.getF64Type();
  case DType::I1:
    return builder.getI1Type();
  case DType::I8:
    return builder.getI8Type();
  case DType::I32:
    return builder.getI32Type();
  case DType::I64:
    return builder.getI64Type();
  }
  llvm_unreachable("all element types are handled");
}

DType describe::elementDType(const attn::KernelArgument &argument) {
  return toDType(mlir::getElementTypeOrSelf(argument.type)).value_or(DType::F32);
}
