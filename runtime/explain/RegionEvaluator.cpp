//===- RegionEvaluator.cpp - Bounds and blocks as numbers -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/explain/RegionEvaluator.h"
#include "dialect/attn/AttnOps.h"
#include "dialect/attn/Coordinates.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::attn;
using namespace attnc::attn::reference;
using namespace attnc::explain;

/// Width of an integer or index type; 0 for floats.
static unsigned widthOf(Type type) {
  if (type.isIndex())
    return 64;
  auto integer = dyn_cast<IntegerType>(type);
  return integer ? integer.getWidth() : 0;
}

void RegionEvaluator::setInteger(Value value, int64_t integer) {
  Slot slot;
  slot.i = wrapToWidth(integer, widthOf(value.getType()));
  set(value, slot);
}

RegionEvaluator::Slot RegionEvaluator::get(Value value) {
  if (auto it = values.find(value); it != values.end())
    return it->second;
  Slot slot{};
  if (widthOf(value.getType()))
    slot.i = arguments.getInteger(value).value_or(0);
  else
    slot.f = arguments.getFloat(value).value_or(0);
  return slot;
}

int64_t RegionEvaluator::rowOf(Value index, bool isCoordinate) {
  return isCoordinate ? current[cast<BlockArgument>(index).getArgNumber()].row : get(index).i;
}

/// The least and the greatest element of a box; it is inverted where the box is empty.
bool RegionEvaluator::loadRange(Operation &op) {
  auto range = cast<LoadRangeOp>(op);
  const HostArray *array = arguments.getArray(range.getTensor());
  std::optional<ElementKind> kind = array ? getElementKind(array->elementType) : std::nullopt;
  if (!kind)
    return false;
  SmallVector<int64_t> first, last;
  bool empty = false;
  for (auto [dim, size] : llvm::enumerate(array->shape)) {
    bool isCoordinate = getIndexCoordinate(range, dim).has_value();
    int64_t begin = rowOf(range.getFirst()[dim], isCoordinate), end = rowOf(range.getLast()[dim], isCoordinate);
    empty |= size == 0 || begin > end;
    first.push_back(std::clamp<int64_t>(begin, 0, std::max<int64_t>(size - 1, 0)));
    last.push_back(std::clamp<int64_t>(end, 0, std::max<int64_t>(size - 1, 0)));
  }
  bool isFloat = widthOf(range.getMin().getType()) == 0;
  double least = INFINITY, greatest = -INFINITY;
  SmallVector<int64_t> index(first);
  for (bool more = !empty; more;) {
    double element = array->load(index);
    least = std::min(least, element);
    greatest = std::max(greatest, element);
    more = false;
    for (int64_t dim = static_cast<int64_t>(index.size()) - 1; dim >= 0 && !more; --dim) {
      auto d = static_cast<size_t>(dim);
      more = ++index[d] <= last[d];
      if (!more)
        index[d] = first[d];
    }
  }
  if (isFloat) {
    Slot slot;
    slot.f = least;
    set(range.getMin(), slot);
    slot.f = greatest;
    set(range.getMax(), slot);
    return true;
  }
  setInteger(range.getMin(), empty ? 1 : static_cast<int64_t>(least));
  setInteger(range.getMax(), empty ? 0 : static_cast<int64_t>(greatest));
  return true;
}

bool RegionEvaluator::step(Operation &op) {
  if (isa<LoadRangeOp>(op))
    return loadRange(op);
  if (op.getNumResults() != 1)
    return false;
  Value result = op.getResult(0);
  unsigned width = op.getNumOperands() ? widthOf(op.getOperand(0).getType()) : 0;
  StringRef name = op.getName().getStringRef();
  Slot slot{};
  if (auto load = dyn_cast<LoadOp>(op)) {
    const HostArray *array = arguments.getArray(load.getTensor());
    if (!array || array->shape.empty() != load.getIndices().empty())
      return false;
    SmallVector<int64_t> index;
    for (auto [dim, size] : llvm::enumerate(array->shape)) {
      int64_t row = rowOf(load.getIndices()[dim], getIndexCoordinate(load, dim).has_value());
      index.push_back(std::clamp<int64_t>(row, 0, std::max<int64_t>(size - 1, 0)));
    }
    slot.f = array->load(index);
    if (widthOf(result.getType()))
      return setInteger(result, static_cast<int64_t>(slot.f)), true;
  } else if (op.hasTrait<OpTrait::ConstantLike>()) {
    slot = get(result);
  } else if (auto select = dyn_cast<arith::SelectOp>(op)) {
    slot = get(select.getCondition()).i ? get(select.getTrueValue()) : get(select.getFalseValue());
  } else if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    IntegerFunction test = getIntegerComparison(static_cast<unsigned>(compare.getPredicate()));
    return setInteger(result, test(get(compare.getLhs()).i, get(compare.getRhs()).i, width)), true;
  } else if (auto compare = dyn_cast<arith::CmpFOp>(op)) {
    FloatPredicate test = getFloatComparison(static_cast<unsigned>(compare.getPredicate()));
    return setInteger(result, test(get(compare.getLhs()).f, get(compare.getRhs()).f)), true;
  } else if (isa<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp>(op)) {
    return setInteger(result, get(op.getOperand(0)).i), true;
  } else if (isa<arith::IndexCastUIOp, arith::ExtUIOp>(op)) {
    return setInteger(result, static_cast<int64_t>(toUnsigned(get(op.getOperand(0)).i, width))), true;
  } else if (isa<arith::SIToFPOp>(op)) {
    slot.f = signedToFloat(get(op.getOperand(0)).i, width);
  } else if (isa<arith::FPToSIOp>(op)) {
    return setInteger(result, floatToSigned(get(op.getOperand(0)).f, widthOf(result.getType()))), true;
  } else if (isa<arith::ExtFOp, arith::TruncFOp>(op)) {
    slot = get(op.getOperand(0));
  } else if (IntegerFunction rule = findIntegerRule(name)) {
    int64_t second = op.getNumOperands() > 1 ? get(op.getOperand(1)).i : 0;
    return setInteger(result, rule(get(op.getOperand(0)).i, second, width)), true;
  } else if (const BinaryRule *rule = findBinaryRule(name)) {
    slot.f = rule->value(get(op.getOperand(0)).f, get(op.getOperand(1)).f);
  } else if (const UnaryRule *rule = findUnaryRule(name)) {
    slot.f = rule->value(get(op.getOperand(0)).f);
  } else {
    return false;
  }
  set(result, slot);
  return true;
}

std::optional<SmallVector<int64_t>> RegionEvaluator::run(ArrayRef<Coordinate> coordinates) {
  values.clear();
  current.assign(coordinates.begin(), coordinates.end());
  Block &block = region.front();
  for (auto [argument, coordinate] : llvm::zip_equal(block.getArguments(), coordinates)) {
    Slot slot;
    slot.i = coordinate.position;
    set(argument, slot);
  }
  for (Operation &op : block.without_terminator())
    if (!step(op))
      return std::nullopt;
  SmallVector<int64_t> results;
  for (Value value : block.getTerminator()->getOperands())
    results.push_back(get(value).i);
  return results;
}
