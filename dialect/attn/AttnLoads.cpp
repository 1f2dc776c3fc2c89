//===- AttnLoads.cpp - Reading captured tensors -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/attn/AttnOps.h"
#include "dialect/attn/Coordinates.h"

using namespace mlir;
using namespace attnc::attn;

LogicalResult attnc::attn::verifyIndices(Operation *op, RankedTensorType tensor, ValueRange indices) {
  if (static_cast<int64_t>(indices.size()) != tensor.getRank())
    return op->emitOpError() << "expected " << tensor.getRank() << " indices for " << tensor << ", got "
                             << indices.size() << " [S4]";
  auto kernel = dyn_cast_or_null<KernelOpInterface>(op->getParentOp());
  if (!kernel)
    return success();
  for (auto [dim, index] : llvm::enumerate(indices)) {
    std::optional<Coordinate> coordinate = getCoordinate(index);
    if (!coordinate)
      continue;
    int64_t size = tensor.getDimSize(dim), axis = getAxisSize(kernel, *coordinate);
    if (size == 1 || ShapedType::isDynamic(size) || ShapedType::isDynamic(axis) || size == axis)
      continue;
    return op->emitOpError() << "expected dimension " << dim << " of the tensor to be " << axis << " or 1, as "
                             << getCoordinateName(*coordinate) << " indexes it, got " << size << " [S4]";
  }
  return success();
}

LogicalResult LoadOp::verify() { return verifyIndices(*this, getTensor().getType(), getIndices()); }

LogicalResult LoadRangeOp::verify() {
  if (failed(verifyIndices(*this, getTensor().getType(), getFirst())) ||
      failed(verifyIndices(*this, getTensor().getType(), getLast())))
    return failure();
  Type element = getTensor().getType().getElementType();
  if (getLeast().getType() != element || getGreatest().getType() != element)
    return emitOpError() << "expected results of type " << element;
  return success();
}

ParseResult LoadRangeOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::UnresolvedOperand tensor;
  SmallVector<OpAsmParser::UnresolvedOperand> first, last;
  RankedTensorType type;
  SMLoc typeLoc;
  auto parseRange = [&]() -> ParseResult {
    if (parser.parseOperand(first.emplace_back()))
      return failure();
    if (succeeded(parser.parseOptionalKeyword("to")))
      return parser.parseOperand(last.emplace_back());
    last.push_back(first.back());
    return success();
  };
  Type index = parser.getBuilder().getIndexType();
  if (parser.parseOperand(tensor) || parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, parseRange) ||
      parser.parseOptionalAttrDict(result.attributes) || parser.parseColon() ||
      parser.getCurrentLocation(&typeLoc) || parser.parseType(type) ||
      parser.resolveOperand(tensor, type, result.operands) || parser.resolveOperands(first, index, result.operands) ||
      parser.resolveOperands(last, index, result.operands))
    return failure();
  int32_t rank = static_cast<int32_t>(first.size());
  result.addAttribute("operandSegmentSizes", parser.getBuilder().getDenseI32ArrayAttr({1, rank, rank}));
  result.addTypes({type.getElementType(), type.getElementType()});
  return success();
}

void LoadRangeOp::print(OpAsmPrinter &p) {
  p << " " << getTensor() << "[";
  llvm::interleaveComma(llvm::zip(getFirst(), getLast()), p, [&](auto range) {
    auto [first, last] = range;
    p << first;
    if (first != last)
      p << " to " << last;
  });
  p << "]";
  p.printOptionalAttrDict((*this)->getAttrs(), {"operandSegmentSizes"});
  p << " : " << getTensor().getType();
}
