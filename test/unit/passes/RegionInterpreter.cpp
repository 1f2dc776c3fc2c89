//===- RegionInterpreter.cpp - Bounds and blocks as numbers -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "RegionInterpreter.h"
#include "MaskModule.h"
#include "dialect/attn/AttnOps.h"
#include "dialect/attn/Coordinates.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/ScopeExit.h"
#include <algorithm>
#include <functional>
#include <gtest/gtest.h>

using namespace mlir;
using namespace attnc;
using namespace attnc::test;

void RegionInterpreter::set(Value value, int64_t number) {
  values[value] = IntegerAttr::get(value.getType(), value.getType().isInteger(1) ? number & 1 : number);
}

std::optional<int64_t> RegionInterpreter::integer(Value value) {
  Attribute attribute = values.lookup(value);
  if (!attribute)
    matchPattern(value, m_Constant(&attribute));
  auto number = dyn_cast_or_null<IntegerAttr>(attribute);
  return number ? std::optional(number.getValue().getSExtValue()) : std::nullopt;
}

std::optional<int64_t> RegionInterpreter::address(attn::IndexedOpInterface op, unsigned dim, Value index,
                                                  int64_t size) {
  std::optional<int64_t> position = integer(index);
  if (position && attn::getIndexCoordinate(op, dim) == attn::Coordinate::Query)
    *position -= problem.shift;
  return position ? std::optional(std::clamp<int64_t>(*position, 0, size - 1)) : std::nullopt;
}

int64_t RegionInterpreter::element(StringRef tensor, ArrayRef<int64_t> at) const {
  if (tensor == "qs")
    return problem.queryId(at[0], at[1]);
  if (tensor == "ks")
    return problem.keyId(at[0], at[1]);
  if (tensor == "bits")
    return problem.bit(at[0], at[2], at[3]);
  return tensor == "table" ? problem.table[static_cast<size_t>(at[0])] : problem.length(at[0]);
}

bool RegionInterpreter::load(Operation &op) {
  auto single = dyn_cast<attn::LoadOp>(op);
  auto range = dyn_cast<attn::LoadRangeOp>(op);
  auto indexed = cast<attn::IndexedOpInterface>(op);
  auto tensor = cast<BlockArgument>(op.getOperand(0));
  StringRef name = captureName(tensor.getArgNumber());
  SmallVector<int64_t> sizes = captureShape(name, problem);
  SmallVector<int64_t> first, last;
  for (auto [dim, size] : llvm::enumerate(sizes)) {
    std::optional<int64_t> low = address(indexed, dim, single ? single.getIndices()[dim] : range.getFirst()[dim], size);
    std::optional<int64_t> high = address(indexed, dim, single ? single.getIndices()[dim] : range.getLast()[dim], size);
    if (!low || !high)
      return false;
    first.push_back(*low);
    last.push_back(*high);
  }
  // An empty box has an inverted range, of the type's ends.
  unsigned width = op.getResult(0).getType().getIntOrFloatBitWidth();
  int64_t least = width == 1 ? 1 : llvm::maxIntN(width), greatest = width == 1 ? 0 : llvm::minIntN(width);
  SmallVector<int64_t> at(first);
  std::function<void(size_t)> visit = [&](size_t dim) {
    if (dim == sizes.size()) {
      int64_t number = element(name, at);
      least = std::min(least, number);
      greatest = std::max(greatest, number);
      return;
    }
    for (at[dim] = first[dim]; at[dim] <= last[dim]; ++at[dim])
      visit(dim + 1);
  };
  visit(0);
  set(op.getResult(0), least);
  if (range)
    set(op.getResult(1), greatest);
  return true;
}

Attribute RegionInterpreter::lookUp(Value value) {
  Attribute attribute = values.lookup(value);
  if (!attribute)
    matchPattern(value, m_Constant(&attribute));
  return attribute;
}

/// An operation on indices, on a machine where they have 32 bits: the same operation on i32.
bool RegionInterpreter::stepNarrow(Operation &op) {
  Builder b(op.getContext());
  auto narrow = [&](Type type) -> Type { return type.isIndex() ? b.getI32Type() : type; };
  auto narrowed = [&](Attribute attribute) -> Attribute {
    auto number = dyn_cast_or_null<IntegerAttr>(attribute);
    return number && number.getType().isIndex() ? b.getI32IntegerAttr(static_cast<int32_t>(number.getInt()))
                                                : attribute;
  };
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op)) {
    // Callers pass 64 bits.
    bool isCaptured = !region.isAncestor(op.getOperand(0).getParentRegion());
    Attribute held = lookUp(op.getOperand(0));
    auto number = cast<IntegerAttr>(isCaptured ? held : narrowed(held));
    Type type = narrow(op.getResult(0).getType());
    unsigned width = type.getIntOrFloatBitWidth();
    APInt cast =
        isa<arith::IndexCastOp>(op) ? number.getValue().sextOrTrunc(width) : number.getValue().zextOrTrunc(width);
    set(op.getResult(0), cast.getSExtValue());
    return true;
  }
  Block arguments;
  OperationState state(op.getLoc(), op.getName());
  SmallVector<Attribute> operands;
  for (Value operand : op.getOperands()) {
    state.operands.push_back(arguments.addArgument(narrow(operand.getType()), op.getLoc()));
    operands.push_back(narrowed(lookUp(operand)));
  }
  for (Type type : op.getResultTypes())
    state.types.push_back(narrow(type));
  for (NamedAttribute attribute : op.getAttrs())
    state.addAttribute(attribute.getName(), narrowed(attribute.getValue()));
  Operation *copy = Operation::create(state);
  llvm::scope_exit dispose([&] { copy->destroy(); });
  SmallVector<OpFoldResult> results;
  if (failed(copy->fold(operands, results)) || results.size() != op.getNumResults())
    return false;
  for (auto [result, folded] : llvm::zip_equal(op.getResults(), results)) {
    auto attribute = dyn_cast<Attribute>(folded);
    if (auto value = dyn_cast<Value>(folded))
      attribute = operands[cast<BlockArgument>(value).getArgNumber()];
    if (!attribute)
      return false;
    if (auto number = dyn_cast<IntegerAttr>(attribute))
      set(result, number.getValue().getSExtValue());
    else
      values[result] = attribute;
  }
  return true;
}

bool RegionInterpreter::step(Operation &op) {
  if (isa<attn::LoadOp, attn::LoadRangeOp>(op))
    return load(op);
  // MLIR leaves those of numbers near the ends of 64 bits alone.
  if (isa<arith::CeilDivSIOp, arith::FloorDivSIOp>(op)) {
    std::optional<int64_t> a = integer(op.getOperand(0)), b = integer(op.getOperand(1));
    if (!a || !b || *b == 0 || (*b == -1 && *a == std::numeric_limits<int64_t>::min()))
      return false;
    bool rest = *a % *b != 0, isBelow = (*a < 0) != (*b < 0);
    set(op.getResult(0), isa<arith::CeilDivSIOp>(op) ? *a / *b + (rest && !isBelow) : *a / *b - (rest && isBelow));
    return true;
  }
  auto isIndex = [](Type type) { return type.isIndex(); };
  if (indexBits == 32 && !op.hasTrait<OpTrait::ConstantLike>() &&
      (llvm::any_of(op.getOperandTypes(), isIndex) || llvm::any_of(op.getResultTypes(), isIndex)))
    return stepNarrow(op);
  SmallVector<Attribute> operands = llvm::map_to_vector(op.getOperands(), [&](Value v) { return lookUp(v); });
  SmallVector<OpFoldResult> results;
  // Folding may change an operation in place.
  Operation *copy = op.clone();
  llvm::scope_exit dispose([&] { copy->destroy(); });
  if (failed(copy->fold(operands, results)) || results.size() != op.getNumResults())
    return false;
  for (auto [result, folded] : llvm::zip_equal(op.getResults(), results)) {
    Attribute attribute = dyn_cast<Attribute>(folded);
    if (auto value = dyn_cast<Value>(folded))
      attribute = lookUp(value);
    if (!attribute)
      return false;
    values[result] = attribute;
  }
  return true;
}

std::optional<std::vector<int64_t>> RegionInterpreter::run(const std::vector<int64_t> &coordinates) {
  values.clear();
  Block &block = region.front();
  for (auto [argument, coordinate] : llvm::zip_equal(block.getArguments(), coordinates))
    set(argument, coordinate);
  set(region.getParentOfType<func::FuncOp>().getArguments().back(), problem.width());
  for (Operation &op : block.without_terminator())
    if (!step(op)) {
      std::string text;
      llvm::raw_string_ostream(text) << op;
      ADD_FAILURE() << "the interpreter does not know how to compute " << text;
      return std::nullopt;
    }
  std::vector<int64_t> results;
  for (Value value : block.getTerminator()->getOperands()) {
    std::optional<int64_t> number = integer(value);
    if (!number)
      return std::nullopt;
    results.push_back(value.getType().isInteger(1) ? *number & 1 : *number);
  }
  return results;
}
