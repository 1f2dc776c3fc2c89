//===- AttnLoads.cpp - Reading captured tensors -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "dialect/attn/AttnOps.h"
#include "dialect/attn/Coordinates.h"

using namespace mlir;
using namespace attnc::attn;

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

/// Operands of `op` after the first `count`; none where there are fewer.
static SmallVector<Value> getOperandsAfter(Operation *op, unsigned count) {
  return op->getNumOperands() < count ? SmallVector<Value>() : SmallVector<Value>(op->getOperands().drop_front(count));
}

/// Whether groups of operands are what their sizes say.
static bool fitsSegments(Operation *op, ArrayRef<int32_t> sizes) {
  int64_t sum = 0;
  for (int32_t size : sizes)
    sum += size;
  return llvm::all_of(sizes, [](int32_t size) { return size >= 0; }) && sum == op->getNumOperands();
}

SmallVector<Value> LoadOp::getIndexOperands() { return getOperandsAfter(*this, 1); }

SmallVector<Value> LoadRangeOp::getIndexOperands() {
  if (!fitsSegments(*this, getProperties().operandSegmentSizes) || getFirst().size() != getLast().size())
    return {};
  return SmallVector<Value>(getFirst());
}

SmallVector<Value> AlibiOp::getIndexOperands() {
  return getNumOperands() == 5 ? SmallVector<Value>{getHead()} : SmallVector<Value>();
}

SmallVector<Value> BiasOp::getIndexOperands() { return getOperandsAfter(*this, 2); }

SmallVector<Value> SameSegmentOp::getIndexOperands() {
  if (!fitsSegments(*this, getProperties().operandSegmentSizes))
    return {};
  SmallVector<Value> indices(getQueryIndices());
  llvm::append_range(indices, getKeyIndices());
  return indices;
}

SmallVector<Value> PrefixOp::getIndexOperands() { return getOperandsAfter(*this, 2); }

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

LogicalResult LoadOp::verify() { return verifyIndices(*this, getTensor().getType(), getIndices()); }

LogicalResult LoadRangeOp::verify() {
  if (getFirst().size() != getLast().size())
    return emitOpError() << "expected as many last indices as first ones, got " << getLast().size() << " and "
                         << getFirst().size() << " [S4]";
  if (failed(verifyIndices(*this, getTensor().getType(), getFirst())))
    return failure();
  Type element = getTensor().getType().getElementType();
  if (getMin().getType() != element || getMax().getType() != element)
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
      parseIndexedAttrs(parser, result.attributes) || parser.parseColon() || parser.getCurrentLocation(&typeLoc) ||
      parser.parseType(type) || parser.resolveOperand(tensor, type, result.operands) ||
      parser.resolveOperands(first, index, result.operands) || parser.resolveOperands(last, index, result.operands))
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
  printIndexedAttrs(p, *this, (*this)->getAttrDictionary());
  p << " : " << getTensor().getType();
}
