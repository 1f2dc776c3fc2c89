//===- LiteralSyntax.cpp - Literal-or-value operands ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/attn/LiteralSyntax.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

ParseResult attnc::attn::parseFloatOrValue(OpAsmParser &parser, std::optional<OpAsmParser::UnresolvedOperand> &operand,
                                           FloatAttr &literal) {
  OpAsmParser::UnresolvedOperand read;
  OptionalParseResult value = parser.parseOptionalOperand(read);
  if (value.has_value()) {
    operand = read;
    return *value;
  }
  // Read as f32, so that what the printer writes in hexadecimal (infinities) keeps its bits.
  APFloat number(APFloat::IEEEsingle());
  if (parser.parseFloat(APFloat::IEEEsingle(), number))
    return failure();
  literal = FloatAttr::get(parser.getBuilder().getF32Type(), number);
  return success();
}

void attnc::attn::printFloatOrValue(OpAsmPrinter &p, Operation *, Value operand, FloatAttr literal) {
  if (operand)
    p << operand;
  else
    p.printAttributeWithoutType(literal);
}

ParseResult attnc::attn::parseIntOrValue(OpAsmParser &parser, std::optional<OpAsmParser::UnresolvedOperand> &operand,
                                         IntegerAttr &literal) {
  OpAsmParser::UnresolvedOperand read;
  OptionalParseResult value = parser.parseOptionalOperand(read);
  if (value.has_value()) {
    operand = read;
    return *value;
  }
  int64_t number;
  if (parser.parseInteger(number))
    return failure();
  literal = parser.getBuilder().getI64IntegerAttr(number);
  return success();
}

void attnc::attn::printIntOrValue(OpAsmPrinter &p, Operation *, Value operand, IntegerAttr literal) {
  if (operand)
    p << operand;
  else
    p << literal.getInt();
}
