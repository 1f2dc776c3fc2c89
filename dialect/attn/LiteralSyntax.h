//===- LiteralSyntax.h - Literal-or-value operands --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Custom assembly directives for an operand that may be written as a number: `50.0` becomes an attribute, and so part
// of the kernel; `%cap` stays a run-time value.
//===----------------------------------------------------------------------===//

#ifndef ATTNC_DIALECT_ATTN_LITERALSYNTAX_H
#define ATTNC_DIALECT_ATTN_LITERALSYNTAX_H

#include "mlir/IR/OpImplementation.h"
#include <optional>

namespace attnc::attn {

/// Reads an f32 literal or an operand.
mlir::ParseResult parseFloatOrValue(mlir::OpAsmParser &parser,
                                    std::optional<mlir::OpAsmParser::UnresolvedOperand> &operand,
                                    mlir::FloatAttr &literal);
/// Prints what parseFloatOrValue reads.
void printFloatOrValue(mlir::OpAsmPrinter &p, mlir::Operation *op, mlir::Value operand, mlir::FloatAttr literal);

/// Reads an i64 literal or an operand.
mlir::ParseResult parseIntOrValue(mlir::OpAsmParser &parser,
                                  std::optional<mlir::OpAsmParser::UnresolvedOperand> &operand,
                                  mlir::IntegerAttr &literal);
/// Prints what parseIntOrValue reads.
void printIntOrValue(mlir::OpAsmPrinter &p, mlir::Operation *op, mlir::Value operand, mlir::IntegerAttr literal);

} // namespace attnc::attn

#endif // ATTNC_DIALECT_ATTN_LITERALSYNTAX_H
