//===- TileElementwise.cpp - Syntax and rules of maps and masks -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/tile/TileOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attnc::tile;

/// Reads `name(%a, %b : type, type)`, possibly empty.
static ParseResult parseGroup(OpAsmParser &parser, StringRef name, OperationState &result, int32_t &count) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> types;
  if (parser.parseKeyword(name) || parser.parseLParen())
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalRParen())) {
    count = 0;
    return success();
  }
  count = -1;
  if (parser.parseOperandList(operands) || parser.parseColonTypeList(types) || parser.parseRParen() ||
      parser.resolveOperands(operands, types, loc, result.operands))
    return failure();
  count = static_cast<int32_t>(operands.size());
  return success();
}

/// Reads `indices` operands of type index in parentheses.
static ParseResult parseIndices(OpAsmParser &parser, OperationState &result, int indices) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  return failure(parser.parseOperandList(operands, indices, OpAsmParser::Delimiter::Paren) ||
                 parser.resolveOperands(operands, parser.getBuilder().getIndexType(), result.operands));
}

static ParseResult parseElementwise(OpAsmParser &parser, OperationState &result, bool isMask) {
  int32_t tiles, rows, cols;
  if (parseGroup(parser, "tiles", result, tiles) || parseGroup(parser, "rows", result, rows) ||
      parseGroup(parser, "cols", result, cols) || parser.parseKeyword("at") || parseIndices(parser, result, 2))
    return failure();
  SmallVector<int32_t> segments{tiles, rows, cols, 1, 1};
  if (isMask) {
    if (parser.parseKeyword("full") || parseIndices(parser, result, 2))
      return failure();
    segments.append({1, 1, 0});
    if (succeeded(parser.parseOptionalKeyword("listed"))) {
      if (parseIndices(parser, result, 1))
        return failure();
      segments.back() = 1;
    }
  }
  result.addAttribute("operandSegmentSizes", parser.getBuilder().getDenseI32ArrayAttr(segments));
  return failure(parser.parseRegion(*result.addRegion()) || parser.parseOptionalAttrDict(result.attributes) ||
                 parser.parseArrowTypeList(result.types));
}

static void printGroup(OpAsmPrinter &p, StringRef name, ValueRange values) {
  p << " " << name << "(";
  if (!values.empty())
    p << values << " : " << values.getTypes();
  p << ")";
}

template <typename Op>
static void printElementwise(OpAsmPrinter &p, Op op) {
  printGroup(p, "tiles", op.getTiles());
  printGroup(p, "rows", op.getRows());
  printGroup(p, "cols", op.getCols());
  p << " at(" << op.getI() << ", " << op.getJ() << ")";
  if constexpr (std::is_same_v<Op, MaskOp>) {
    p << " full(" << op.getFullLow() << ", " << op.getFullHigh() << ")";
    if (Value position = op.getPosition())
      p << " listed(" << position << ")";
  }
  p << " ";
  p.printRegion(op.getBody());
  SmallVector<StringRef> elided{"operandSegmentSizes"};
  if (op.getGroup() == 1)
    elided.push_back("group");
  p.printOptionalAttrDict(op->getAttrs(), elided);
  p.printArrowTypeList(op->getResultTypes());
}

/// Shapes agree, and the region takes one element of each operand and two coordinates, and yields `yields`.
template <typename Op>
static LogicalResult verifyElementwise(Op op, VectorType shape, ArrayRef<Type> yields) {
  SmallVector<Type> arguments;
  for (Value tile : op.getTiles()) {
    auto type = cast<VectorType>(tile.getType());
    if (type.getShape() != shape.getShape())
      return op.emitOpError() << "expected tiles of one shape, got " << type << " beside " << shape;
    arguments.push_back(type.getElementType());
  }
  for (auto [values, size] :
       {std::pair<ValueRange, int64_t>(op.getRows(), shape.getDimSize(0)), {op.getCols(), shape.getDimSize(1)}})
    for (Value value : values) {
      auto type = cast<VectorType>(value.getType());
      if (type.getNumElements() != size)
        return op.emitOpError() << "expected vectors of " << size << " elements beside " << shape << ", got " << type;
      arguments.push_back(type.getElementType());
    }
  auto group = static_cast<int64_t>(op.getGroup());
  if (group <= 0 || shape.getDimSize(0) % group != 0)
    return op.emitOpError() << "expected the group to divide the " << shape.getDimSize(0) << " rows, got " << group;
  Type index = IndexType::get(op.getContext());
  arguments.append({index, index});
  Block &body = op.getBody().front();
  if (TypeRange(body.getArgumentTypes()) != TypeRange(arguments))
    return op.emitOpError() << "expected a region of (" << arguments << "), got (" << body.getArgumentTypes() << ")";
  if (!isa<YieldOp>(body.getTerminator()) || body.getTerminator()->getOperandTypes() != TypeRange(yields))
    return op.emitOpError() << "expected the region to yield (" << yields << ")";
  return success();
}

ParseResult MapOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseElementwise(parser, result, /*isMask=*/false);
}

void MapOp::print(OpAsmPrinter &p) { printElementwise(p, *this); }

/// Whether `map` yields the product of its one tile's element and its one row vector's, and computes nothing else.
static bool scalesRows(MapOp map) {
  Block &body = map.getBody().front();
  if (map.getTiles().size() != 1 || map.getRows().size() != 1 || map->getNumResults() != 1 ||
      !llvm::hasNItems(body, 2) || body.getNumArguments() < 2)
    return false;
  auto product = dyn_cast<arith::MulFOp>(body.front());
  Value element = body.getArgument(0), factor = body.getArgument(1);
  return product && llvm::equal(body.back().getOperands(), product->getResults()) &&
         ((product.getLhs() == element && product.getRhs() == factor) ||
          (product.getLhs() == factor && product.getRhs() == element));
}

LogicalResult MapOp::verify() {
  if (getNumResults() == 0)
    return emitOpError("expected a result");
  if (getScalesRows() && !scalesRows(*this))
    return emitOpError("expected one tile times one row vector and nothing else with scales_rows");
  if (getMostlyOne() && getRows().size() != 1)
    return emitOpError() << "expected one row vector with mostly_one, got " << getRows().size();
  SmallVector<Type> yields;
  auto shape = cast<VectorType>(getResult(0).getType());
  for (Type type : getResultTypes()) {
    if (cast<VectorType>(type).getShape() != shape.getShape())
      return emitOpError() << "expected results of one shape, got " << type << " beside " << shape;
    yields.push_back(cast<VectorType>(type).getElementType());
  }
  return verifyElementwise(*this, shape, yields);
}

ParseResult MaskOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseElementwise(parser, result, /*isMask=*/true);
}

void MaskOp::print(OpAsmPrinter &p) { printElementwise(p, *this); }

LogicalResult MaskOp::verify() {
  if (getTiles().empty() || getTiles().front().getType() != getResult().getType())
    return emitOpError("expected the masked tile, of the result's type, as the first of tiles");
  return verifyElementwise(*this, cast<VectorType>(getResult().getType()), {IntegerType::get(getContext(), 1)});
}
