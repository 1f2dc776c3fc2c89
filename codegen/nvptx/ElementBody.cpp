//===- ElementBody.cpp - What a map or mask does to a row -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/ElementBody.h"
#include "codegen/nvptx/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::nvptx;

void ElementBody::start(int64_t group, ValueRange tileOperands, ValueRange rows, ValueRange colOperands, Value i,
                        Value j) {
  tiles = tileOperands;
  cols = colOperands;
  unsigned number = tiles.size();
  for (Value vector : rows)
    numbers[body.getArgument(number++)] = {context.row(vector, threadRow)};
  number += cols.size();
  auto coordinate = [&](Value start, Value thread, int64_t offset, int64_t step) {
    BlockArgument argument = body.getArgument(number++);
    if (!argument.use_empty())
      numbers[argument] = {ptx.add(context.scalar(start), thread), offset, step};
  };
  // Rows of a group share their position.
  if (group == 1)
    coordinate(i, context.place.row, rowOf(threadRow), 0);
  else
    coordinate(i, context.stepsOf(ptx.add(context.place.row, rowOf(threadRow)), group), 0, 0);
  coordinate(j, context.findColumn(cast<VectorType>(body.getParentOp()->getResult(0).getType())), 0, 1);
  for (Operation &inner : body.without_terminator())
    computeRow(inner);
}

//===----------------------------------------------------------------------===//
// Once a row
//===----------------------------------------------------------------------===//

/// The number that `value` is, where it does not depend on elements of tiles.
std::optional<RowNumber> ElementBody::find(Value value) {
  if (auto it = numbers.find(value); it != numbers.end())
    return it->second;
  if (value.getParentBlock() == &body)
    return std::nullopt;
  APInt constant;
  if (value.getType().isIndex() && matchPattern(value, m_ConstantInt(&constant)))
    return RowNumber{ptx.i32(0), constant.getSExtValue()};
  return RowNumber{context.scalar(value)};
}

/// a + b or a - b.
RowNumber ElementBody::combine(Operation &op, RowNumber a, RowNumber b) {
  if (isa<arith::AddIOp>(op))
    return {ptx.add(a.base, b.base), a.offset + b.offset, a.step + b.step};
  return {ptx.sub(a.base, b.base), a.offset - b.offset, a.step - b.step};
}

/// `factor`, in a form that the assembler takes for one that differs from lane to lane. What is the same for all it
/// puts into uniform registers where others are short, and from there moves it for each operation that has an immediate
/// operand as well: 29 of 273 instructions of a step with ALiBi.
Value ElementBody::keepFromUniform(Value factor) {
  if (matchPattern(factor, m_Constant()))
    return factor;
  Value lane = arith::UIToFPOp::create(ptx.b, ptx.loc, ptx.b.getF32Type(), context.place.lane);
  return math::FmaOp::create(ptx.b, ptx.loc, lane, ptx.f32(0), factor);
}

/// A product with a number that is linear in the column, rounded at the column of its `tile.anchor`: what differs by
/// columns is added to that, in one operation an element.
RowNumber ElementBody::distribute(Operation &op) {
  RowNumber a = *find(op.getOperand(0)), b = *find(op.getOperand(1));
  // One factor is the same in all columns.
  if (a.isUniform())
    std::swap(a, b);
  auto times = [&](Value x) -> Value { return arith::MulFOp::create(ptx.b, ptx.loc, x, b.base); };
  if (a.factor)
    return {times(a.base), a.offset, a.step, times(a.factor)};
  int64_t anchor = op.getAttrOfType<IntegerAttr>(tile::anchorAttrName).getInt();
  Value base = at(a, anchor);
  return {times(base), -a.step * anchor, a.step, keepFromUniform(b.base)};
}

/// The result of an operation that keeps a number linear in the column.
RowNumber ElementBody::computeLinear(Operation &op, tile::RowRule rule) {
  if (rule == tile::RowRule::Product)
    return distribute(op);
  RowNumber number = *find(op.getOperand(0));
  if (rule == tile::RowRule::Sum)
    return combine(op, number, *find(op.getOperand(1)));
  if (rule == tile::RowRule::Magnitude)
    number.magnitude = true;
  else if (rule == tile::RowRule::ToFloat)
    number.base = arith::SIToFPOp::create(ptx.b, ptx.loc, ptx.b.getF32Type(), number.base);
  return number;
}

/// Computes what `op` does, if it is the same for a row or linear in the column.
void ElementBody::computeRow(Operation &op) {
  std::optional<tile::RowRule> rule = terms.add(op);
  if (!rule)
    return;
  llvm::SaveAndRestore<Location> place(ptx.loc, op.getLoc());
  if (*rule != tile::RowRule::Uniform) {
    numbers[op.getResult(0)] = computeLinear(op, *rule);
    return;
  }
  SmallVector<Value> results = context.cloneScalar(op, [&](Value value) { return at(*find(value), 0); });
  for (auto [from, to] : llvm::zip_equal(op.getResults(), results))
    numbers[from] = {to};
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Value ElementBody::at(const RowNumber &number, int64_t column) {
  OpBuilder &b = ptx.b;
  int64_t distance = number.offset + number.step * column;
  Value value = number.base;
  bool isFloat = value.getType().isF32();
  if (distance && number.factor)
    value = math::FmaOp::create(b, ptx.loc, number.factor, ptx.f32(static_cast<float>(distance)), value);
  else if (distance && isFloat)
    value = arith::AddFOp::create(b, ptx.loc, value, ptx.f32(static_cast<float>(distance)));
  else
    value = ptx.add(value, static_cast<int32_t>(distance)); // the sum fits, whatever its parts do
  if (!number.magnitude)
    return value;
  return isFloat ? math::AbsFOp::create(b, ptx.loc, value).getResult() : ptx.magnitude(value);
}

Value ElementBody::splitShift() {
  Operation *sum = body.getTerminator()->getOperand(0).getDefiningOp();
  if (!sum || !sum->hasAttr(tile::rowShiftAttrName))
    return {};
  // The number linear in the column is the right operand.
  std::optional<RowNumber> term = find(sum->getOperand(1));
  if (!term || term->isUniform() || term->magnitude || !term->base.getType().isF32())
    return {};
  split = sum;
  // With a factor, the base is the number at the anchor, and offsets count from there.
  Value shift = term->factor ? term->base : at({term->base, term->offset, 0}, 0);
  return isa<arith::SubFOp>(sum) ? arith::NegFOp::create(ptx.b, ptx.loc, shift).getResult() : shift;
}

/// What an operation gives for an element that has a shift, which meets what is the same for the whole row first:
/// (x + s) * f + a is x * f + (s * f + a). Null for other operations.
Value ElementBody::emitShifted(Operation &op, int64_t element) {
  auto argument = op.getNumOperands() > 0 ? dyn_cast<BlockArgument>(op.getOperand(0)) : BlockArgument();
  if (!isa<math::FmaOp, arith::AddFOp, arith::SubFOp>(op) || !argument || argument.getOwner() != &body ||
      argument.getArgNumber() >= tiles.size())
    return {};
  auto fragment = context.tiles.find(tiles[argument.getArgNumber()]);
  if (fragment == context.tiles.end() || fragment->second.shifts.empty())
    return {};
  for (Value operand : llvm::drop_begin(op.getOperands()))
    if (std::optional<RowNumber> number = find(operand); !number || !number->isUniform())
      return {};
  auto with = [&](Value x, Value last) -> Value {
    if (isa<math::FmaOp>(op))
      return math::FmaOp::create(ptx.b, ptx.loc, x, find(op.getOperand(1))->base, last);
    return arith::AddFOp::create(ptx.b, ptx.loc, x, last);
  };
  Value &term = shiftedTerms[&op];
  if (!term) {
    Value last = find(op.getOperands().back())->base;
    if (isa<arith::SubFOp>(op))
      last = arith::NegFOp::create(ptx.b, ptx.loc, last);
    term = with(fragment->second.shifts[threadRow], last);
  }
  return with(fragment->second.values[element], term);
}

ElementBody::Element::Element(ElementBody &parent, int64_t number) : number(number) {
  unsigned argument = parent.body.getNumArguments() - 2 - parent.cols.size();
  for (Value vector : parent.cols)
    values[parent.body.getArgument(argument++)] = parent.context.column(vector, parent.context.threadColumnOf(number));
}

/// What `value` is for an element.
Value ElementBody::lookUp(Element &element, Value value) {
  Value &known = element.values[value];
  auto argument = dyn_cast<BlockArgument>(value);
  if (known)
    return known;
  if (argument && argument.getOwner() == &body && argument.getArgNumber() < tiles.size())
    return known = context.element(tiles[argument.getArgNumber()], element.number);
  return known = at(*find(value), context.columnOf(element.number));
}

/// Computes `inner` for an element.
void ElementBody::compute(Operation &inner, Element &element) {
  ptx.loc = inner.getLoc();
  auto lookup = [&](Value value) { return lookUp(element, value); };
  auto &values = element.values;
  bool packs =
      isa<arith::TruncFOp>(inner) && inner.getResult(0).hasOneUse() && *inner.user_begin() == body.getTerminator();
  if (packs) {
    Value wide = lookup(inner.getOperand(0));
    values[inner.getResult(0)] = wide;
    return;
  }
  if (Value shifted = emitShifted(inner, element.number)) {
    values[inner.getResult(0)] = shifted;
    return;
  }
  if (&inner == split) {
    RowNumber term = *find(inner.getOperand(1));
    int64_t sign = isa<arith::SubFOp>(inner) ? -1 : 1;
    values[inner.getResult(0)] =
        at({lookup(inner.getOperand(0)), term.factor ? sign * term.offset : 0, sign * term.step, term.factor},
           context.columnOf(element.number));
    return;
  }
  if (auto compare = dyn_cast<arith::CmpIOp>(inner))
    if (std::optional<Value> condition = emitCompare(compare, context.columnOf(element.number))) {
      values[compare.getResult()] = *condition;
      return;
    }
  SmallVector<Value> results = context.cloneScalar(inner, lookup);
  // Of so many columns one is left to multiply-add units.
  auto share = inner.getAttrOfType<IntegerAttr>(tile::multiplyAddShareAttrName);
  if (share && context.threadColumnOf(element.number) % share.getInt() == 0)
    results.front().getDefiningOp()->setAttr(multiplyAddAttrName, ptx.b.getUnitAttr());
  for (auto [from, to] : llvm::zip_equal(inner.getResults(), results))
    values[from] = to;
}

/// Computes `inner`, a function of one number, for all of `elements` as one vector.
void ElementBody::computeTogether(Operation &inner, MutableArrayRef<Element> elements) {
  auto operands = llvm::map_to_vector(elements, [&](Element &element) { return lookUp(element, inner.getOperand(0)); });
  auto type = VectorType::get(static_cast<int64_t>(operands.size()), operands.front().getType());
  OperationState state(ptx.loc, inner.getName());
  state.addOperands(vector::FromElementsOp::create(ptx.b, ptx.loc, type, operands).getResult());
  state.addTypes(type);
  state.addAttributes(inner.getAttrs());
  Value results = ptx.b.create(state)->getResult(0);
  for (auto [number, element] : llvm::enumerate(elements))
    element.values[inner.getResult(0)] =
        vector::ExtractOp::create(ptx.b, ptx.loc, results, static_cast<int64_t>(number));
}

/// How many elements an operation wants to be computed together.
static int64_t countTogether(Operation &op) {
  auto count = op.getAttrOfType<IntegerAttr>(tile::sharedReciprocalAttrName);
  return count ? count.getInt() : 1;
}

int64_t ElementBody::getGroup() const {
  int64_t group = 1;
  for (Operation &inner : body.without_terminator())
    group = std::max(group, countTogether(inner));
  return group;
}

SmallVector<SmallVector<Value>> ElementBody::emit(ArrayRef<int64_t> elements) {
  auto states = llvm::map_to_vector(elements, [&](int64_t element) { return Element(*this, element); });
  for (Operation &inner : body.without_terminator()) {
    if (numbers.contains(inner.getResult(0)))
      continue;
    if (elements.size() > 1 && countTogether(inner) > 1) {
      computeTogether(inner, states);
      continue;
    }
    for (Element &element : states)
      compute(inner, element);
  }
  return llvm::map_to_vector(states, [&](Element &element) {
    return llvm::map_to_vector(body.getTerminator()->getOperands(),
                               [&](Value value) { return lookUp(element, value); });
  });
}
