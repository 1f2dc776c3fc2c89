//===- ScatterEmitter.cpp - Adding elements to sums in memory ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/nvptx/ScatterEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::nvptx;

ScatterEmitter::ScatterEmitter(EmitContext &context, tile::ScatterOp op) : context(context), ptx(context.ptx), op(op) {
  auto type = cast<VectorType>(op.getValue().getType());
  for (int64_t number = 0; number < context.countElements(type); ++number) {
    Element element{context.element(op.getValue(), number), {}};
    for (Value places : op.getPlaces())
      element.places.push_back(context.element(places, number));
    elements.push_back(std::move(element));
  }
  groups = type.getDimSize(1) / (2 * lanesOfRow);
  lane = context.place.lane;
  rowOfBlock = ptx.shiftRight(lane, 2);
  pair = ptx.bitAnd(lane, lanesOfRow - 1);
}

/// The thread's element of a group of columns, a row of its own, and one of two columns.
ScatterEmitter::Element &ScatterEmitter::at(int64_t group, int64_t threadRow, int64_t parity) {
  return elements[2 * (group * context.rowsOfThread + threadRow) + parity];
}

Value ScatterEmitter::both(Value a, Value b) { return arith::AndIOp::create(ptx.b, ptx.loc, a, b); }

Value ScatterEmitter::isNot(Value a) {
  return arith::XOrIOp::create(ptx.b, ptx.loc, a, arith::ConstantIntOp::create(ptx.b, ptx.loc, ptx.b.getI1Type(), 1));
}

/// Whether two elements go to the same place.
Value ScatterEmitter::isSame(ValueRange a, ValueRange b) {
  Value same;
  for (auto [x, y] : llvm::zip_equal(a, b)) {
    Value one = arith::CmpIOp::create(ptx.b, ptx.loc, arith::CmpIPredicate::eq, x, y);
    same = same ? both(same, one) : one;
  }
  return same ? same : arith::ConstantIntOp::create(ptx.b, ptx.loc, ptx.b.getI1Type(), 1).getResult();
}

Value ScatterEmitter::addIf(Value condition, Value sum, Value number) {
  return arith::AddFOp::create(ptx.b, ptx.loc, sum, ptx.select(condition, number, ptx.f32(0)));
}

ScatterEmitter::Element ScatterEmitter::select(Value condition, const Element &a, const Element &b) {
  Element selected{ptx.select(condition, a.number, b.number), {}};
  for (auto [x, y] : llvm::zip_equal(a.places, b.places))
    selected.places.push_back(ptx.select(condition, x, y));
  return selected;
}

/// What another lane has, and where it goes.
Value ScatterEmitter::numberFrom(const Element &element, Value lane) {
  Value word = arith::BitcastOp::create(ptx.b, ptx.loc, ptx.b.getI32Type(), element.number);
  return arith::BitcastOp::create(ptx.b, ptx.loc, ptx.b.getF32Type(), ptx.shuffleFrom(word, lane));
}

SmallVector<Value, 2> ScatterEmitter::placesFrom(const Element &element, Value lane) {
  SmallVector<Value, 2> places;
  for (Value place : element.places)
    places.push_back(ptx.shuffleFrom(place, lane));
  return places;
}

/// The second of two columns joins the first of the row before, which is on its diagonal.
void ScatterEmitter::mergeNeighbours(int64_t group, int64_t threadRow) {
  constexpr int64_t lastRow = 7;
  Element &first = at(group, threadRow, 0), &second = at(group, threadRow, 1);
  Value isLast = ptx.equal(rowOfBlock, lastRow), isFirst = ptx.equal(rowOfBlock, 0);
  Value below = ptx.add(lane, lanesOfRow), above = ptx.add(lane, -lanesOfRow);
  Value takes = both(isNot(isLast), isSame(first.places, placesFrom(second, below)));
  Value gives = both(isNot(isFirst), isSame(second.places, placesFrom(first, above)));
  first.number = addIf(takes, first.number, numberFrom(second, below));
  second.number = ptx.select(gives, ptx.f32(0), second.number);
}

/// The first of two columns joins the one that stands `rows` rows, 2 or 4, before it on its diagonal, where the second
/// of each pair, and what stands half as far, has joined already. What is past the end of a group of columns is in the
/// next.
void ScatterEmitter::mergeFurther(int64_t group, int64_t threadRow, int64_t rows) {
  int64_t pairs = rows / 2;
  bool hasNext = group + 1 < groups;
  Element &own = at(group, threadRow, 0), none{ptx.f32(0), own.places};
  Element &next = hasNext ? at(group + 1, threadRow, 0) : none;
  Value isLow = ptx.equal(ptx.bitAnd(rowOfBlock, rows), 0);
  // Of the lanes that give, those of the first columns give what they have of the next group.
  Value givesNext = ptx.less(pair, ptx.i32(pairs)), crosses = ptx.less(ptx.i32(lanesOfRow - 1 - pairs), pair);
  Element offered = select(givesNext, next, own);
  Value over = ptx.i32(lanesOfRow), zero = ptx.i32(0), step = ptx.i32(rows * lanesOfRow + pairs);
  Value giver = ptx.sub(ptx.add(lane, step), ptx.select(crosses, over, zero));
  Value taker = ptx.add(ptx.sub(lane, step), ptx.select(givesNext, over, zero));
  Value takes = both(isLow, isSame(own.places, placesFrom(offered, giver)));
  Value gives = both(isNot(isLow), isSame(offered.places, placesFrom(own, taker)));
  if (!hasNext) {
    takes = both(takes, isNot(crosses));
    gives = both(gives, isNot(givesNext));
  }
  own.number = addIf(takes, own.number, numberFrom(offered, giver));
  own.number = ptx.select(both(gives, isNot(givesNext)), ptx.f32(0), own.number);
  if (hasNext)
    next.number = ptx.select(both(gives, givesNext), ptx.f32(0), next.number);
}

void ScatterEmitter::mergeDiagonals() {
  int64_t rows = context.rowsOfThread;
  for (int64_t threadRow = 0; threadRow < rows; ++threadRow) {
    for (int64_t group = 0; group < groups; ++group)
      mergeNeighbours(group, threadRow);
    for (int64_t apart : {2, 4})
      for (int64_t group = 0; group < groups; ++group)
        mergeFurther(group, threadRow, apart);
  }
  // Eight rows and eight columns on, in the same thread.
  for (int64_t threadRow = rows - 2; threadRow >= 0; --threadRow)
    for (int64_t group = 0; group + 1 < groups; ++group) {
      Element &own = at(group, threadRow, 0), &next = at(group + 1, threadRow + 1, 0);
      Value same = isSame(own.places, next.places);
      own.number = addIf(same, own.number, next.number);
      next.number = ptx.select(same, ptx.f32(0), next.number);
    }
}

/// Adds an element to its sum: a reduction, of which nothing comes back, and nothing waits for it.
void ScatterEmitter::add(Value condition, const Element &element) {
  SmallVector<Value> position =
      llvm::map_to_vector(op.getIndices(), [&](Value index) { return context.scalar(index); });
  for (auto [axis, place] : llvm::zip_equal(op.getAxes(), element.places))
    position[axis] = ptx.add(position[axis], place);
  ptx.addFloatIf(condition, context.abi.getView(op.getView()).address(ptx.b, ptx.loc, position), element.number);
}

/// What is left of each lane: one addition, where all have it for the same place.
void ScatterEmitter::addRest(Element rest) {
  Value zero = ptx.f32(0);
  auto adds = [&](Value number) -> Value {
    return arith::CmpFOp::create(ptx.b, ptx.loc, arith::CmpFPredicate::UNE, number, zero);
  };
  Value differs = isNot(isSame(rest.places, placesFrom(rest, ptx.i32(0))));
  auto branch = scf::IfOp::create(ptx.b, ptx.loc, ptx.voteAny(differs), /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(ptx.b);
  ptx.b.setInsertionPoint(branch.thenBlock()->getTerminator());
  add(adds(rest.number), rest);
  ptx.b.setInsertionPoint(branch.elseBlock()->getTerminator());
  for (int64_t mask = 1; mask < lanesOfWarp; mask *= 2)
    rest.number = arith::AddFOp::create(ptx.b, ptx.loc, rest.number, ptx.shuffle(rest.number, mask));
  add(both(ptx.equal(lane, 0), adds(rest.number)), rest);
}

void ScatterEmitter::emit() {
  if (op.getDiagonals())
    mergeDiagonals();
  // Along a row, sums of neighbours go on while their place is the same. An element of 0 has none.
  Value zero = ptx.f32(0);
  auto isZero = [&](const Element &element) -> Value {
    return arith::CmpFOp::create(ptx.b, ptx.loc, arith::CmpFPredicate::OEQ, element.number, zero);
  };
  std::optional<Element> carried;
  for (int64_t threadRow = 0; threadRow < context.rowsOfThread; ++threadRow)
    for (int64_t group = 0; group < groups; ++group)
      for (int64_t parity : {0, 1}) {
        const Element &element = at(group, threadRow, parity);
        if (!carried) {
          carried = element;
          continue;
        }
        Value isNothing = isZero(element), wasNothing = isZero(*carried);
        Value goesOn = arith::OrIOp::create(ptx.b, ptx.loc, isNothing, isSame(carried->places, element.places));
        add(both(isNot(goesOn), isNot(wasNothing)), *carried);
        Element sum = *carried;
        sum.number = arith::AddFOp::create(ptx.b, ptx.loc, sum.number, element.number);
        // What carries nothing takes the place of the next.
        Value starts = both(isNot(isNothing), wasNothing);
        carried = select(both(goesOn, isNot(starts)), sum, element);
      }
  addRest(*carried);
}
