//===- Types.h - MLIR's types as the runtime's ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#ifndef ATTNC_CODEGEN_DESCRIBE_TYPES_H
#define ATTNC_CODEGEN_DESCRIBE_TYPES_H

#include "codegen/image/DType.h"
#include "dialect/attn/KernelFunction.h"

namespace attnc::describe {

/// The runtime's name of a scalar or element type; nothing for a type that no argument has. `index` is I64.
std::optional<image::DType> toDType(mlir::Type type);

/// The type that `dtype` is in MLIR.
mlir::Type toType(image::DType dtype, mlir::MLIRContext *context);

/// The element type of an argument's tensor, or the type of a scalar.
image::DType elementDType(const attn::KernelArgument &argument);

} // namespace attnc::describe

#endif // ATTNC_CODEGEN_DESCRIBE_TYPES_H
